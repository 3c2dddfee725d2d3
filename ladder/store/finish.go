package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/elo"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Finish keeps a running match with all its games and moves the ratings, in one
// transaction: all of it is on the disk, or nothing. The games are every deal in
// every rotation, their replays with the seed of the running attempt revealed: so
// what an older attempt left cannot get in. SQLite has one writer, so matches
// that finish at the same time have an order, which is theirs for ever.
func (s *Store) Finish(ctx context.Context, matchID int64, played []ladder.Game) ([]ladder.Change, error) {
	packed, err := s.pack(played) // outside the transaction: it takes a while
	if err != nil {
		return nil, fmt.Errorf("match %d: %w", matchID, err)
	}
	var changes []ladder.Change
	err = s.update(ctx, func(q *queries.Queries) error {
		m, err := s.matchIn(ctx, q, matchID, ladder.Running)
		if err != nil {
			return err
		}
		f := &finish{store: s, ctx: ctx, q: q, match: m, now: s.now(), games: packed}
		if err := f.check(); err != nil {
			return fmt.Errorf("match %d: %w", matchID, err)
		}
		if err := f.keepGames(); err != nil {
			return err
		}
		if changes, err = f.rate(); err != nil {
			return err
		}
		return f.end()
	})
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// packedGame is a game with its documents compressed.
type packedGame struct {
	ladder.Game
	doc    *referee.Replay
	replay []byte
	logs   [][]byte // in the order of Logs
}

// pack compresses, and puts the games in the order of deals and rotations.
func (s *Store) pack(played []ladder.Game) ([]packedGame, error) {
	out := make([]packedGame, len(played))
	for i, g := range played {
		doc, err := referee.DecodeReplay(g.Replay)
		if err != nil {
			return nil, fmt.Errorf("deal %d, rotation %d: %w", g.Deal, g.Rotation, err)
		}
		out[i] = packedGame{Game: g, doc: doc, replay: s.codec.pack(g.Replay)}
		for _, l := range g.Logs {
			out[i].logs = append(out[i].logs, s.codec.pack(l.Text))
		}
	}
	slices.SortStableFunc(out, func(a, b packedGame) int { return cmp.Or(a.Deal-b.Deal, a.Rotation-b.Rotation) })
	return out, nil
}

// finish is one run of Finish.
type finish struct {
	store    *Store
	ctx      context.Context
	q        *queries.Queries
	match    queries.Match
	now      time.Time
	games    []packedGame
	order    int64 // on the ladder; 0 for an unrated match
	versions []int64
	variant  rules.Variant
	attempt  queries.Attempt
}

// check refuses games that are not those of the match.
func (f *finish) check() (err error) {
	m, err := match(f.match)
	if err != nil {
		return err
	}
	slots, err := f.q.SlotsOf(f.ctx, []int64{m.ID})
	if err != nil {
		return err
	}
	for _, r := range slots {
		f.versions = append(f.versions, r.VersionID)
	}
	if f.attempt, err = f.q.LastAttempt(f.ctx, m.ID); err != nil {
		return err
	}
	g, err := games.Find(m.Game)
	if err != nil {
		return err
	}
	if f.variant, err = rules.Settle(g, m.Options); err != nil {
		return err
	}
	if want := m.Deals * len(f.versions); len(f.games) != want {
		return fmt.Errorf("there are %d games, not %d deals in %d rotations", len(f.games), m.Deals, len(f.versions))
	}
	for i, g := range f.games {
		if g.Deal != i/len(f.versions) || g.Rotation != i%len(f.versions) {
			return fmt.Errorf("deal %d, rotation %d is there where deal %d, rotation %d is due", g.Deal, g.Rotation, i/len(f.versions), i%len(f.versions))
		}
		if err := f.checkGame(g, m); err != nil {
			return fmt.Errorf("deal %d, rotation %d: %w", g.Deal, g.Rotation, err)
		}
	}
	return nil
}

// checkGame holds a game against its replay and the match.
func (f *finish) checkGame(g packedGame, m ladder.Match) error {
	r := g.doc
	if _, err := r.Settle(f.variant.Game()); err != nil {
		return err
	}
	seed := hexOf(f.attempt.Seed)
	switch {
	case r.Match.Seed == nil || *r.Match.Seed != seed:
		return fmt.Errorf("the replay is not of attempt %d: it has another seed", f.attempt.Number)
	case text(r.Options) != f.match.Options:
		return fmt.Errorf("the replay's options are %v, the match's %v", r.Options, m.Options)
	}
	return seatsAgree(g.Game, r, len(f.versions))
}

// seatsAgree says in what the figures of a game are not those of its replay.
func seatsAgree(g ladder.Game, r *referee.Replay, slots int) error {
	want := seatsOf(r, slots)
	switch {
	case r.Match.Deal != g.Deal || r.Match.Rotation != g.Rotation:
		return fmt.Errorf("the replay is of deal %d, rotation %d", r.Match.Deal, r.Match.Rotation)
	case g.Plies != len(r.Moves):
		return fmt.Errorf("there are %d plies where the replay has %d", g.Plies, len(r.Moves))
	case len(g.Seats) != len(want):
		return fmt.Errorf("there are %d seats where the replay has %d", len(g.Seats), len(want))
	}
	for i, s := range g.Seats {
		if s != want[i] {
			return fmt.Errorf("seat %d is %+v where the replay gives %+v", i, s, want[i])
		}
	}
	return nil
}

// seatsOf is what a replay tells of its seats.
func seatsOf(r *referee.Replay, slots int) []ladder.GameSeat {
	seats := make([]ladder.GameSeat, len(r.Seats))
	for i := range seats {
		seats[i] = ladder.GameSeat{Seat: i, Slot: (i + r.Match.Rotation) % slots}
		if i < len(r.Ranks) && i < len(r.Points) {
			seats[i].Rank, seats[i].Points = r.Ranks[i], r.Points[i]
		}
	}
	for _, f := range r.Faults {
		if f.Seat < 0 || f.Seat >= len(seats) {
			continue
		}
		if s := &seats[f.Seat]; s.Faults == 0 {
			s.Fault, s.Faults = string(f.Code), 1
		} else {
			s.Faults++
		}
	}
	return seats
}

func (f *finish) keepGames() error {
	for _, g := range f.games {
		id, err := f.q.AddGame(f.ctx, queries.AddGameParams{
			MatchID: f.match.ID, LadderID: f.match.LadderID, Deal: int64(g.Deal), Rotation: int64(g.Rotation), Plies: int64(g.Plies), Took: g.Took.Microseconds(),
		})
		if err != nil {
			return err
		}
		for _, s := range g.Seats {
			err := f.q.AddSeat(f.ctx, queries.AddSeatParams{
				GameID: id, Seat: int64(s.Seat), Slot: int64(s.Slot), Rank: int64(s.Rank), Points: s.Points, Fault: s.Fault, Faults: int64(s.Faults),
			})
			if err != nil {
				return err
			}
		}
		if err := f.q.AddReplay(f.ctx, id, int64(len(g.Replay)), g.replay); err != nil {
			return err
		}
		for i, l := range g.Logs {
			if err := f.q.AddLog(f.ctx, queries.AddLogParams{GameID: id, Seat: int64(l.Seat), Size: int64(len(l.Text)), Data: g.logs[i]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// rate moves the ratings, the sums and the counts of pairs of a rated match.
func (f *finish) rate() ([]ladder.Change, error) {
	if !f.match.LadderID.Valid {
		return nil, nil
	}
	l, err := f.q.LadderByID(f.ctx, f.match.LadderID.Int64)
	if err != nil {
		return nil, err
	}
	if f.order, err = f.q.NextOrder(f.ctx, l.ID); err != nil {
		return nil, err
	}
	entries := make([]queries.Entry, len(f.versions))
	for slot, id := range f.versions {
		if entries[slot], err = f.q.Entry(f.ctx, l.ID, id); err != nil {
			return nil, err
		}
	}
	list := make([]ladder.Game, len(f.games))
	for i, g := range f.games {
		list[i] = g.Game
	}
	out, err := outcomeOf(f.variant, entries, list)
	if err != nil {
		return nil, fmt.Errorf("match %d: %w", f.match.ID, err)
	}
	var changes []ladder.Change
	for slot, e := range entries {
		move, sum := out.moves[slot], out.sums[slot]
		row := queries.AddChangeParams{
			MatchID: f.match.ID, Slot: int64(slot), LadderID: l.ID, VersionID: e.VersionID, Number: e.Matches + 1,
			EloBefore: move.Before, EloAfter: move.After, K: move.K, Score: move.Score, Expected: move.Expected, Uncertainty: move.Uncertainty,
		}
		if err := f.q.AddChange(f.ctx, row); err != nil {
			return nil, err
		}
		err := f.q.MoveEntry(f.ctx, queries.MoveEntryParams{
			Elo: move.After, Uncertainty: move.Uncertainty, Last: f.order, LastAt: nullStamp(f.now), Games: sum.games, Wins: sum.wins, Draws: sum.draws,
			Losses: sum.losses, Faults: sum.faults, LadderID: l.ID, VersionID: e.VersionID,
		})
		if err != nil {
			return nil, err
		}
		changes = append(changes, change(queries.Change(row), l.Name, int(f.match.Deals)))
	}
	for _, p := range out.pairs {
		a := pairRow(l.ID, f.versions[p.A], f.versions[p.B], p)
		if err := f.q.AddPair(f.ctx, a); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// pairRow has the smaller version first.
func pairRow(ladderID, a, b int64, p rating.Pair) queries.AddPairParams {
	if a > b {
		a, b = b, a
		p.Squares = max(p.Deals-2*p.Score+p.Squares, 0) // the sum of (1-s)²
		p.Score = p.Deals - p.Score
	}
	return queries.AddPairParams{LadderID: ladderID, A: a, B: b, Deals: p.Deals, Score: p.Score, Squares: p.Squares}
}

func (f *finish) end() error {
	err := f.q.EndAttempt(f.ctx, queries.EndAttemptParams{Ended: nullStamp(f.now), MatchID: f.match.ID, Number: f.attempt.Number})
	if err != nil {
		return err
	}
	var took time.Duration
	for _, g := range f.games {
		took += g.Took.Truncate(time.Microsecond)
	}
	order := nullID(f.order)
	p := queries.FinishMatchParams{Finished: nullStamp(f.now), Ord: order, ID: f.match.ID}
	p.Took.Int64, p.Took.Valid = took.Microseconds(), true
	return f.q.FinishMatch(f.ctx, p)
}

// outcome is what a rated match does, by slot. It follows from the entries before
// it and the games alone, so that Verify can compute it again.
type outcome struct {
	moves []elo.Move
	pairs []rating.Pair // of slots
	sums  []sums
}

// sums is what a match adds to an entry. A game counts once, for the slot's side:
// a win is the first rank alone, a draw the first rank shared, as in match tables.
type sums struct{ games, wins, draws, losses, faults int64 }

func outcomeOf(v rules.Variant, entries []queries.Entry, played []ladder.Game) (outcome, error) {
	slots := len(entries)
	sides, err := ladder.SlotSides(v, slots)
	if err != nil {
		return outcome{}, err
	}
	sheets := make([]rating.Sheet, len(played)/slots)
	o := outcome{sums: make([]sums, slots)}
	for _, g := range played {
		seats := make([]rating.Seat, len(g.Seats))
		for i, s := range g.Seats {
			seats[i] = rating.Seat{Bot: s.Slot, Side: v.Side(s.Seat), Rank: s.Rank, Points: s.Points}
		}
		if err := sheets[g.Deal].Add(seats); err != nil {
			return o, err
		}
		o.add(v, g)
	}
	deals := make([]rating.Deal, len(sheets))
	for i := range sheets {
		deals[i] = sheets[i].Deal()
	}
	players := make([]elo.Player, slots)
	for i, e := range entries {
		players[i] = elo.Player{Elo: e.Elo, Uncertainty: e.Uncertainty, Held: e.Held != 0}
	}
	if o.moves, err = elo.Match(players, sides, deals); err != nil {
		return o, err
	}
	o.pairs, err = elo.Counts(deals, sides)
	return o, err
}

func (o *outcome) add(v rules.Variant, g ladder.Game) {
	firsts := map[int]bool{} // sides
	for _, s := range g.Seats {
		if s.Rank == 1 {
			firsts[v.Side(s.Seat)] = true
		}
	}
	counted := make([]bool, len(o.sums))
	for _, s := range g.Seats {
		sum := &o.sums[s.Slot]
		sum.faults += int64(s.Faults)
		if counted[s.Slot] {
			continue
		}
		counted[s.Slot] = true
		sum.games++
		switch {
		case s.Rank > 1:
			sum.losses++
		case len(firsts) > 1:
			sum.draws++
		default:
			sum.wins++
		}
	}
}
