package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// NewMatch describes a match to be added. For a rated match, Ladder gives the game, options, clock and deals.
// For an unrated match, Ladder is empty and the other fields give them.
type NewMatch struct {
	Ladder   string
	Versions []int64 // version IDs by slot

	Game        string
	Options     map[string]string
	Clock       referee.Clock
	Deals       int
	RequestedBy int64 // ID of the person; 0 for nobody
	// MaxOpen is the largest number of unfinished unrated matches that the person RequestedBy may have. 0 means no
	// limit.
	MaxOpen int
	// MaxTime is the longest time that an unrated match may take, as computed from its game and clock. 0 means no
	// limit.
	MaxTime time.Duration
	// Memory is the memory for the bots of a match, which all run at the same time. An unrated match that needs
	// more is refused.
	Memory ladder.MemoryBudget
	// Allowance is the time for network delays that is added to the margin of the clock if a remote version plays.
	Allowance time.Duration
}

// Add adds a match that waits to be played. In a rated match, each version must be active on the ladder. In an
// unrated match, each must be live (its bot plays with it), retired or suspended; a remote version, which runs on its
// owner's machine, must be live.
func (s Matches) Add(ctx context.Context, n NewMatch) (out ladder.Match, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		tx.changesWaiting = true
		out, err = tx.addMatch(ctx, n)
		return err
	})
	return out, err
}

func (tx *Tx) addMatch(ctx context.Context, n NewMatch) (out ladder.Match, err error) {
	m, err := tx.newMatch(ctx, n)
	if err != nil {
		return out, err
	}
	rows, err := tx.matchVersions(ctx, m, n)
	if err != nil {
		return out, err
	}
	remote := slices.ContainsFunc(rows, func(r queries.VersionRow) bool { return r.Remote != 0 })
	if m.Clock, err = n.clock(remote, m.Clock); err != nil {
		return out, err
	}
	m.State, m.Created = string(ladder.Waiting), stamp(tx.now)
	settings, err := tx.settingsID(ctx, m)
	if err != nil {
		return out, err
	}
	m.ID, err = tx.AddMatch(ctx, queries.AddMatchParams{LadderID: m.LadderID, SettingsID: settings, AskedBy: m.AskedBy, Created: m.Created})
	if err != nil {
		return out, err
	}
	if out, err = matchOf(m); err != nil {
		return out, err
	}
	out.Ladder, out.Versions = n.Ladder, slices.Clone(n.Versions)
	for slot, row := range rows {
		if err := tx.AddSlot(ctx, queries.AddSlotParams{MatchID: m.ID, Slot: int64(slot), VersionID: row.ID, BotID: row.BotID}); err != nil {
			return out, err
		}
		out.Bots, out.Numbers = append(out.Bots, row.Name), append(out.Numbers, int(row.Number))
		out.Remote = append(out.Remote, row.Remote != 0)
	}
	if out.Rated {
		tx.addLadderChange(m.LadderID.Int64, func(l *ladderState) { l.pool.Open(m.ID, slices.Clone(n.Versions)) })
		return out, nil
	}
	return out, n.checkLimits(out)
}

// settingsID returns the ID of the row that has the game, the options, the clock and the number of deals of match m.
// If there is no such row, it adds one.
func (tx *Tx) settingsID(ctx context.Context, m queries.MatchRow) (int64, error) {
	p := queries.AddSettingsParams{Game: m.Game, Options: m.Options, Clock: m.Clock, Deals: m.Deals}
	id, err := tx.SettingsID(ctx, queries.SettingsIDParams(p))
	if errors.Is(err, sql.ErrNoRows) {
		id, err = tx.AddSettings(ctx, p)
	}
	return id, err
}

// matchVersions returns the versions of the new match m, in the same order as in m. It returns an error if one of
// them may not play in it.
func (tx *Tx) matchVersions(ctx context.Context, m queries.MatchRow, n NewMatch) (rows []queries.VersionRow, err error) {
	for slot, id := range n.Versions {
		row, err := tx.matchVersion(ctx, m.LadderID.Int64, id)
		if err != nil {
			return nil, err
		}
		if slices.Contains(n.Versions[:slot], id) {
			return nil, invalid("name different versions", "version %d of %s cannot play against itself", row.Number, row.Name)
		}
		if !m.LadderID.Valid && !playsMatch(row, m) {
			return nil, invalid("choose a bot that does", "version %d of %s does not play %s", row.Number, row.Name, m.Game)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// clock returns the clock of the new match as JSON. The argument clock is the configured clock, as JSON. If remote is
// true, a version runs on its owner's machine; then n.Allowance is added to the clock's margin.
func (n *NewMatch) clock(remote bool, clock string) (string, error) {
	if !remote {
		return clock, nil
	}
	var c referee.Clock
	if err := parse("a clock", clock, &c); err != nil {
		return "", err
	}
	c.Margin += n.Allowance
	return jsonText(c), nil
}

// checkLimits returns an error if the unrated match m needs more time or memory than n permits.
func (n *NewMatch) checkLimits(m ladder.Match) error {
	v, err := m.Variant()
	if err != nil {
		return err
	}
	if n.MaxTime > 0 {
		if err := ladder.CheckMatchTime(v, m.Clock, len(m.Versions), m.Deals, n.MaxTime); err != nil {
			return err
		}
	}
	return n.Memory.Check("match", v, m.HouseOrRemote())
}

// newMatch returns the row of a new match without adding it, so it has no ID yet.
func (tx *Tx) newMatch(ctx context.Context, n NewMatch) (m queries.MatchRow, err error) {
	if n.Ladder == "" {
		return tx.newUnrated(ctx, n)
	}
	l, err := tx.ladder(ctx, n.Ladder)
	if err != nil {
		return m, err
	}
	switch {
	case l.Active == 0:
		return m, inactiveError(n.Ladder)
	case l.Paused.Valid:
		return m, conflict("", "ladder %q is paused", n.Ladder)
	case n.RequestedBy != 0:
		return m, invalid("request an unrated one", "rated matches cannot be requested")
	case len(n.Versions) != int(l.Slots):
		return m, invalid("", "%d versions cannot play on ladder %q, which takes %d", len(n.Versions), n.Ladder, l.Slots)
	}
	return queries.MatchRow{LadderID: nullID(l.ID), Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: l.Deals}, nil
}

// maxUnratedDeals limits the deals of an unrated match.
const maxUnratedDeals = 100

func (tx *Tx) newUnrated(ctx context.Context, n NewMatch) (m queries.MatchRow, err error) {
	g, err := games.Find(n.Game)
	if err != nil {
		return m, invalid("", "%w", err)
	}
	v, err := g.Resolve(n.Options)
	if err != nil {
		return m, invalid("", "%w", err)
	}
	if _, err := ladder.SlotSides(v, len(n.Versions)); err != nil {
		return m, invalid("", "%w", err)
	}
	if err := referee.Clock(n.Clock).Check(); err != nil {
		return m, invalid("", "%w", err)
	}
	if n.Deals < 1 || n.Deals > maxUnratedDeals {
		return m, invalid("", "deals cannot be %d", n.Deals).Try("try %d to %d", 1, maxUnratedDeals)
	}
	if n.MaxOpen > 0 && n.RequestedBy != 0 {
		open, err := tx.CountAsked(ctx, nullID(n.RequestedBy))
		if err != nil {
			return m, err
		}
		if open >= int64(n.MaxOpen) {
			return m, conflict(ladder.HintCancelMatch, "%d unrated matches at a time are the limit", n.MaxOpen)
		}
	}
	return queries.MatchRow{Game: n.Game, Options: jsonText(v.Settings.Map()), Clock: jsonText(n.Clock), Deals: int64(n.Deals), AskedBy: nullID(n.RequestedBy)}, nil
}

// matchVersion returns the version with the given ID. If the version may not play in a match on the ladder, it
// returns an error. ladderID is 0 for an unrated match.
func (tx *Tx) matchVersion(ctx context.Context, ladderID, id int64) (queries.VersionRow, error) {
	row, err := tx.VersionByID(ctx, id)
	if err != nil {
		return row, ifNoRows(err, noVersionError(id))
	}
	if ladderID == 0 {
		b, err := tx.Bot(ctx, row.BotID)
		switch {
		case err != nil:
			return row, err
		case b.Banned.Valid:
			return row, conflict("choose another bot", "bot %q is banned", row.Name)
		case b.Withdrawn.Valid:
			return row, conflict("choose another bot", "bot %q is withdrawn", row.Name)
		}
		owner, err := tx.Person(ctx, row.PersonID.Int64)
		if err = ifNoRows(err, nil); err != nil { // a house bot has none
			return row, err
		}
		if owner.Blocked.Valid {
			return row, conflict("choose another bot", "the owner of %s is blocked", row.Name)
		}
		hint := "choose one that is live, retired or suspended"
		switch ladder.VersionState(row.State) {
		case ladder.Live:
			return row, nil
		case ladder.Retired, ladder.Suspended:
			if row.Remote == 0 {
				return row, nil
			}
			hint = "choose one that is live: remote bots connect with no other"
		}
		return row, conflict(hint, "version %d of %s is %s", row.Number, row.Name, row.State)
	}
	e, err := tx.Entry(ctx, ladderID, id)
	if err = ifNoRows(err, nil); err != nil {
		return row, err
	}
	if e.Active == 0 {
		return row, conflict("", "version %d of %s does not play on that ladder", row.Number, row.Name)
	}
	return row, nil
}

func playsMatch(row queries.VersionRow, m queries.MatchRow) bool {
	v, err := version(row)
	var options map[string]string
	return err == nil && parse("a match's options", m.Options, &options) == nil && v.Plays(m.Game, options)
}

// maxFailures is how many times playing a match may fail before the match is dropped.
const maxFailures = 3

// MatchStart is a request to start a try to play a match.
type MatchStart struct {
	Match   int64     // ID of a waiting match; 0 if New is to be added first
	New     *NewMatch // a rated match
	Machine string    // name of the machine that will play it
	Seed    rules.Seed
}

// StartedMatch is the result of one MatchStart: either the match and the new attempt (try to play it), or an error.
type StartedMatch struct {
	Match   ladder.Match // in the state Running
	Attempt ladder.Attempt
	Err     error // if it is not nil, the match was not started, and a new one not added
}

// Start starts matches on machines and returns one result for each request, in the same order. The requests share a
// transaction, but each succeeds or fails alone. Once a match has started, its commitment, a hash of its seed, is
// public. The seed becomes public when this try to play the match is over.
func (s Matches) Start(ctx context.Context, starts []MatchStart) []StartedMatch {
	out := make([]StartedMatch, len(starts))
	makes := make([]func(context.Context, *Tx) error, len(starts))
	for i, start := range starts {
		makes[i] = func(ctx context.Context, tx *Tx) (err error) {
			out[i], err = tx.startMatch(ctx, start)
			return err
		}
	}
	for i, err := range s.updateGrouped(ctx, makes...) {
		out[i].Err = err
	}
	return out
}

func (tx *Tx) startMatch(ctx context.Context, start MatchStart) (out StartedMatch, err error) {
	number := int64(1)
	if start.Match == 0 {
		out.Match, err = tx.addMatch(ctx, *start.New)
	} else {
		tx.changesWaiting = true
		out.Match, number, err = tx.waitingMatch(ctx, start.Match)
	}
	if err != nil {
		return out, err
	}
	row := queries.AddAttemptParams{MatchID: out.Match.ID, Number: number, Machine: start.Machine, Seed: start.Seed[:], Began: stamp(tx.now)}
	if err := tx.AddAttempt(ctx, row); err != nil {
		return out, err
	}
	if err := tx.BeginMatch(ctx, nullStamp(tx.now), row.MatchID); err != nil {
		return out, err
	}
	tx.addEvent(events.Event{Kind: events.MatchStarted, Ladder: out.Match.Ladder, Match: row.MatchID})
	out.Attempt = ladder.Attempt{Number: int(number), Machine: row.Machine, Commitment: referee.Commitment(start.Seed), StartedAt: moment(row.Began)}
	out.Match.State = ladder.Running
	out.Match.Attempts = append(out.Match.Attempts, out.Attempt)
	if out.Match.StartedAt.IsZero() {
		out.Match.StartedAt = out.Attempt.StartedAt
	}
	return out, nil
}

// waitingMatch returns the waiting match with the given ID, and the number of its next attempt (try to play it). If
// the match is not waiting, it returns an error.
func (tx *Tx) waitingMatch(ctx context.Context, id int64) (out ladder.Match, number int64, err error) {
	m, err := tx.matchInState(ctx, id, ladder.Waiting)
	if err != nil {
		return out, 0, err
	}
	list, err := tx.completeMatches(ctx, []queries.MatchRow{m})
	if err != nil {
		return out, 0, err
	}
	return list[0], int64(len(list[0].Attempts)) + 1, nil
}

// matchInState returns the match with the given ID, or an error if it is not in the given state.
func (tx *Tx) matchInState(ctx context.Context, id int64, state ladder.MatchState) (queries.MatchRow, error) {
	m, err := tx.Match(ctx, id)
	if err != nil {
		return m, ifNoRows(err, noMatchError(id))
	}
	if m.State != string(state) {
		return m, conflict("", "match %d is %s, not %s", id, m.State, state)
	}
	return m, nil
}

// runningAttempt returns a running match and its attempt (try to play it) with the given number. If that attempt is
// over, the error wraps ErrAttemptOver.
func (tx *Tx) runningAttempt(ctx context.Context, id int64, number int) (m queries.MatchRow, a queries.Attempt, err error) {
	m, err = tx.matchInState(ctx, id, ladder.Running)
	if err != nil {
		if ladder.CodeOf(err) == ladder.Conflict {
			err = &ladder.Error{Code: ladder.Conflict, Text: phrase.FromError(err), Err: ErrAttemptOver}
		}
		return m, a, err
	}
	if a, err = tx.LastAttempt(ctx, id); err != nil {
		return m, a, err
	}
	if a.Number != int64(number) {
		return m, a, conflict("", "match %d, attempt %d: %w: it is at attempt %d", id, number, ErrAttemptOver, a.Number)
	}
	return m, a, nil
}

func noMatchError(id int64) error { return notFound("", "match %d does not exist", id) }

// InterruptAttempt ends an attempt (one try to play a match) without a result. Its seed becomes public, and the
// match waits for another attempt. failed is true if the attempt failed, and false if it was only stopped, for
// example with the server. After the third failed attempt, or if a version no longer plays, the match is dropped;
// then dropped is true. If the attempt is over already, the error wraps ErrAttemptOver.
func (s Matches) InterruptAttempt(ctx context.Context, matchID int64, attempt int, reason phrase.Text, failed bool) (dropped bool, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		m, _, err := tx.runningAttempt(ctx, matchID, attempt)
		if err != nil {
			return err
		}
		if err := tx.interruptAttempt(ctx, m, reason, failed); err != nil {
			return err
		}
		if m, err = tx.Match(ctx, matchID); err != nil {
			return err
		}
		dropped = m.State == string(ladder.Dropped)
		return nil
	})
	return dropped && err == nil, err
}

func (tx *Tx) interruptAttempt(ctx context.Context, m queries.MatchRow, reason phrase.Text, failed bool) error {
	if err := tx.endAttempt(ctx, m, reason, failed); err != nil {
		return err
	}
	failures, err := tx.CountFailed(ctx, m.ID)
	if err != nil {
		return err
	}
	if failures >= maxFailures {
		return tx.dropMatch(ctx, m, 0, reason)
	}
	if err := tx.WaitAgain(ctx, m.ID); err != nil {
		return err
	}
	if err := tx.addBrokenEvent(ctx, m, reason); err != nil {
		return err
	}
	return tx.dropUnplayable(ctx)
}

// endAttempt ends the last attempt (try to play) of a running match. failed is true if the attempt failed, and false
// if it was only stopped.
func (tx *Tx) endAttempt(ctx context.Context, m queries.MatchRow, reason phrase.Text, failed bool) error {
	last, err := tx.LastAttempt(ctx, m.ID)
	if err != nil {
		return err
	}
	return tx.EndAttempt(ctx, queries.EndAttemptParams{Ended: nullStamp(tx.now), Reason: phraseColumn(reason), Failed: boolColumn(failed), MatchID: m.ID, Number: last.Number})
}

// RunningAttempt identifies a try to play a match that is now in progress on a machine.
type RunningAttempt struct {
	Match   int64
	Attempt int
	Machine string
}

// ListRunning returns the tries to play a match that are now in progress, ordered by match.
func (s Matches) ListRunning(ctx context.Context) (out []RunningAttempt, err error) {
	rows, err := s.read.RunningAttempts(ctx)
	for _, r := range rows {
		out = append(out, RunningAttempt{Match: r.MatchID, Attempt: int(r.Number), Machine: r.Machine})
	}
	return out, machineError(err)
}
