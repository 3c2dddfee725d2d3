package store

import (
	"context"
	"database/sql"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// loadMatches calls find and converts the rows to matches, with their versions, their attempts (tries to play them)
// and their rating changes.
func (s Matches) loadMatches(ctx context.Context, find func(*Tx) ([]queries.MatchRow, error)) (out []ladder.Match, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := find(tx)
		if err != nil {
			return err
		}
		out, err = tx.completeMatches(ctx, rows)
		return err
	})
	return out, err
}

// ListWaiting returns at most limit waiting matches: first the matches that the server paired, then the matches that
// people requested, each group from the oldest to the newest.
func (s Matches) ListWaiting(ctx context.Context, limit int) ([]ladder.Match, error) {
	return s.loadMatches(ctx, func(tx *Tx) ([]queries.MatchRow, error) { return tx.WaitingMatches(ctx, int64(limit)) })
}

// MatchFilter selects matches. An empty field does not restrict the selection, except that an empty Limit means
// 50.
type MatchFilter struct {
	Ladder   string // name of the ladder
	Unrated  bool   // only unrated matches; cannot be combined with Ladder, Bot or Version
	Bot      string // name of a bot that plays; ignored if Version is set
	Version  int64  // ID of a version that plays
	Opponent int64  // ID of a version that plays against Version on Ladder; State is ignored then
	State    ladder.MatchState
	BeforeID int64 // only matches with a smaller ID; 0 means all
	Limit    int   // 0 means 50
}

// List returns the matches that f selects, the newest first.
func (s Matches) List(ctx context.Context, f MatchFilter) ([]ladder.Match, error) {
	return s.loadMatches(ctx, func(tx *Tx) ([]queries.MatchRow, error) { return tx.findMatches(ctx, f) })
}

func (tx *Tx) findMatches(ctx context.Context, f MatchFilter) ([]queries.MatchRow, error) {
	before, limit, state := upperBound(f.BeforeID), int64(f.Limit), string(f.State)
	if limit <= 0 {
		limit = 50
	}
	open := f.State == ladder.Waiting || f.State == ladder.Running
	var on sql.NullInt64 // the ladder's ID
	if f.Ladder != "" {
		l, err := tx.ladder(ctx, f.Ladder)
		if err != nil {
			return nil, err
		}
		on = nullID(l.ID)
	}
	switch {
	case f.Opponent != 0: // looks up the newer version, which has fewer matches
		return tx.MatchesOfPair(ctx, queries.MatchesOfPairParams{
			VersionID: max(f.Version, f.Opponent), Against: min(f.Version, f.Opponent),
			Before: before, LadderID: on, N: limit,
		})
	case f.Version != 0 && open:
		return tx.MatchesOfIn(ctx, queries.MatchesOfInParams{
			VersionID: f.Version, Before: before, LadderID: on, State: state, N: limit,
		})
	case f.Version != 0:
		return tx.MatchesOfVersion(ctx, queries.MatchesOfVersionParams{VersionID: f.Version, Before: before, LadderID: on, State: state, N: limit})
	case f.Bot != "":
		b, err := tx.BotByName(ctx, f.Bot)
		if err != nil {
			return nil, ifNoRows(err, noBotError(f.Bot))
		}
		if open {
			return tx.MatchesOfIn(ctx, queries.MatchesOfInParams{
				BotID: b.ID, Before: before, LadderID: on, State: state, N: limit,
			})
		}
		return tx.MatchesOfBot(ctx, queries.MatchesOfBotParams{BotID: b.ID, Before: before, LadderID: on, State: state, N: limit})
	case (f.Ladder != "" || f.Unrated) && state != "":
		return tx.MatchesOnLadderIn(ctx, queries.MatchesOnLadderInParams{LadderID: on, State: state, ID: before, Limit: limit})
	case f.Ladder != "" || f.Unrated:
		return tx.MatchesOnLadder(ctx, on, before, limit)
	case state != "":
		return tx.MatchesIn(ctx, state, before, limit)
	}
	return tx.MatchesBefore(ctx, before, limit)
}

// Find returns the match with the given ID.
func (s Matches) Find(ctx context.Context, id int64) (out ladder.Match, err error) {
	list, err := s.loadMatches(ctx, func(tx *Tx) ([]queries.MatchRow, error) {
		m, err := tx.Match(ctx, id)
		return []queries.MatchRow{m}, ifNoRows(err, noMatchError(id))
	})
	if err != nil {
		return out, err
	}
	return list[0], nil
}

// completeMatches converts rows to matches, and adds their versions, their attempts (tries to play them) and their
// rating changes.
func (tx *Tx) completeMatches(ctx context.Context, rows []queries.MatchRow) ([]ladder.Match, error) {
	out := make([]ladder.Match, len(rows))
	ids := make([]int64, len(rows))
	index := make(map[int64]*ladder.Match, len(rows))
	ladders := map[int64]string{}
	for i, r := range rows {
		m, err := matchOf(r)
		if err != nil {
			return nil, err
		}
		if id := r.LadderID.Int64; r.LadderID.Valid {
			if ladders[id] == "" {
				l, err := tx.LadderByID(ctx, id)
				if err != nil {
					return nil, err
				}
				ladders[id] = l.Name
			}
			m.Ladder = ladders[id]
		}
		out[i], ids[i], index[r.ID] = m, r.ID, &out[i]
	}
	if len(rows) == 0 {
		return out, nil
	}
	slots, err := tx.SlotsOf(ctx, jsonText(ids))
	if err != nil {
		return nil, err
	}
	for _, r := range slots {
		m := index[r.MatchID]
		m.Versions, m.Bots, m.Numbers = append(m.Versions, r.VersionID), append(m.Bots, r.Name), append(m.Numbers, int(r.Number))
		m.Remote = append(m.Remote, r.Remote != 0)
	}
	attempts, err := tx.AttemptsOf(ctx, jsonText(ids))
	if err != nil {
		return nil, err
	}
	for _, r := range attempts {
		m := index[r.MatchID]
		m.Attempts = append(m.Attempts, attempt(r))
	}
	changes, err := tx.ChangesOf(ctx, jsonText(ids))
	if err != nil {
		return nil, err
	}
	for _, r := range changes {
		m := index[r.MatchID]
		m.Changes = append(m.Changes, change(r, m.Ladder, m.DistinctDeals))
	}
	return out, nil
}

// ChangeHistory returns how matches changed the rating of a version on the ladder called name. It returns at most
// limit changes, evenly spaced over the matches of the version, with the last match among them. If limit is 0, it
// returns all changes.
func (s Ladders) ChangeHistory(ctx context.Context, name string, versionID int64, limit int) (out []ladder.Change, err error) {
	err = s.viewLadder(ctx, name, func(tx *Tx, l queries.Ladder) error {
		e, err := tx.Entry(ctx, l.ID, versionID)
		if err != nil {
			return ifNoRows(err, notFound("", "version %d has not played on ladder %q", versionID, name))
		}
		step := int64(1)
		if limit > 0 {
			step = max(1, (e.Matches+int64(limit)-1)/int64(limit))
		}
		rows, err := tx.History(ctx, queries.HistoryParams{LadderID: l.ID, VersionID: versionID, Step: step, Phase: e.Matches % step})
		for _, r := range rows {
			out = append(out, change(r.Change, name, int(r.Deals)))
		}
		return err
	})
	return out, err
}
