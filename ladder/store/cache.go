package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/stats"
)

// cache has the ladders in memory, so that choices, results and standings do not read the database.
// A ladder is read when it is asked for, moved by what is committed, and forgotten when it changes in
// another way, or another program has written.
type cache struct {
	mu      sync.Mutex
	ladders map[string]*ladderState
	// generation counts the transactions that have changed which matches wait.
	generation uint64
}

// ladderState is a ladder with its active versions.
type ladderState struct {
	row  queries.Ladder // but for Finished, which moves
	pool *matchmaking.Pool

	// What follows is guarded by cache.mu.

	members map[int64]*member // by version
	order   []*member         // the same, as they were sorted last; nil: others are members
	places  []ladder.Standing // nil: something has changed
}

// member is an active version on a ladder.
type member struct {
	bot   int64
	place ladder.Standing // without its rank
}

// ladderChange is what a transaction changes of a ladder in memory.
type ladderChange struct {
	ladder int64 // 0: all of them
	apply  func(*ladderState)
}

// clear makes the ladders be read again.
func (s *cache) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ladders = nil
	s.generation++
}

// apply moves the ladders by a transaction that is committed.
func (s *cache) apply(tx *Tx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tx.changesWaiting {
		s.generation++
	}
	if tx.changesLadders {
		s.ladders = nil
	}
	for _, l := range s.ladders {
		for _, c := range tx.ladderChanges {
			if c.ladder == 0 || c.ladder == l.row.ID {
				c.apply(l)
			}
		}
	}
}

// setVersionsOfBot takes in which versions of a bot play, on any ladder.
func (s *ladderState) setVersionsOfBot(bot int64, active []queries.StandingRow) {
	var in []matchmaking.Player
	var out []int64
	for id, m := range s.members {
		if m.bot == bot {
			out = append(out, id)
			delete(s.members, id)
		}
	}
	for _, r := range active {
		if r.LadderID == s.row.ID {
			in = append(in, s.addMember(r))
		}
	}
	s.order, s.places = nil, nil
	s.pool.Update(in, out)
}

// setFits takes in ratings of versions.
func (s *ladderState) setFits(estimates map[int64]stats.Estimate) {
	for id, f := range estimates {
		if m := s.members[id]; m != nil {
			m.place.Fit, m.place.PlusMinus = orNil(f.Value), orNil(f.PlusMinus())
		}
	}
	s.places = nil
}

// finishMatch takes in a finished match, with the entries after it by slot.
func (s *ladderState) finishMatch(match, order int64, at time.Time, entries []rating.Entry) {
	s.places = nil
	moved := make([]matchmaking.PlayerResult, len(entries))
	for slot, after := range entries {
		moved[slot] = matchmaking.PlayerResult{ID: after.VersionID, Elo: after.Elo, Uncertainty: after.Uncertainty, Matches: after.Matches}
		if m := s.members[after.VersionID]; m != nil {
			p := &m.place
			p.Elo, p.Matches, p.Faults, p.LastMatchAt = after.Elo, after.Matches, after.Faults, moment(stamp(at))
			p.Games, p.Wins, p.Draws, p.Losses = after.Games, after.Wins, after.Draws, after.Losses
		}
	}
	s.pool.Finish(match, int(order), moved)
}

// addMember adds a version, and returns what matchmaking needs of it.
func (s *ladderState) addMember(r queries.StandingRow) matchmaking.Player {
	s.members[r.VersionID] = &member{r.BotID, standing(r)}
	return matchmaking.Player{
		ID: r.VersionID, Owner: r.PersonID, Elo: r.Elo, Uncertainty: r.Uncertainty, Matches: int(r.Matches),
		LastOrder: int(r.Last), Remote: r.Remote != 0, House: r.PersonID == 0,
	}
}

// byPlace compares members by their place: the best first, of equals the newest version.
func byPlace(a, b *member) int {
	return cmp.Or(ladder.ComparePlaces(a.place, b.place), cmp.Compare(b.place.VersionID, a.place.VersionID))
}

// standings returns the places, equals with the same rank. Nobody may change them.
func (s *ladderState) standings() []ladder.Standing {
	if s.places != nil {
		return s.places
	}
	if s.order == nil {
		s.order = slices.Collect(maps.Values(s.members))
	}
	slices.SortFunc(s.order, byPlace) // few have moved since the last time
	s.places = make([]ladder.Standing, len(s.order))
	for i, m := range s.order {
		s.places[i] = m.place
		s.places[i].Rank = i + 1
		if i > 0 && ladder.ComparePlaces(s.places[i-1], m.place) == 0 {
			s.places[i].Rank = s.places[i-1].Rank
		}
	}
	return s.places
}

// withLadder runs f on a ladder in memory, which does not change meanwhile.
func (s *db) withLadder(ctx context.Context, name string, f func(*ladderState)) error {
	if s.cache.withLoaded(name, f) {
		return nil
	}
	// What is committed meanwhile would be counted twice, or not at all.
	if err := s.acquireTurn(ctx); err != nil {
		return err
	}
	defer s.releaseTurn()
	var l *ladderState
	err := s.viewLadder(ctx, name, func(tx *Tx, row queries.Ladder) (err error) {
		l, err = tx.readLadder(ctx, row)
		return err
	})
	if err != nil {
		return err
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.writer != nil { // else nobody would tell it of changes
		if s.cache.ladders == nil {
			s.cache.ladders = map[string]*ladderState{}
		}
		s.cache.ladders[name] = l
	}
	f(l)
	return nil
}

// withLoaded runs f on a ladder, if that has been read.
func (c *cache) withLoaded(name string, f func(*ladderState)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.ladders[name]
	if l != nil {
		f(l)
	}
	return l != nil
}

func (tx *Tx) readLadder(ctx context.Context, row queries.Ladder) (*ladderState, error) {
	c, err := ladderConfig(row)
	if err != nil {
		return nil, err
	}
	sides, err := c.Sides()
	if err != nil {
		return nil, err
	}
	out := &ladderState{row: row}
	members, err := tx.Members(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	out.members = make(map[int64]*member, len(members))
	players := make([]matchmaking.Player, len(members))
	for i, r := range members {
		players[i] = out.addMember(r)
	}
	out.pool = matchmaking.NewPool(sides, int(row.Finished), players)
	rows, err := tx.OpenOnLadder(ctx, nullID(row.ID))
	if err != nil {
		return nil, err
	}
	open := map[int64][]int64{}
	for _, r := range rows {
		if open[r.ID] == nil {
			open[r.ID] = make([]int64, len(sides))
		}
		open[r.ID][r.Slot] = r.VersionID
	}
	for match, versions := range open {
		out.pool.Open(match, versions)
	}
	return out, nil
}

// Pool returns a ladder in memory, for matchmaking: it moves with what happens, until there is
// another.
func (s Ladders) Pool(ctx context.Context, name string) (p *matchmaking.Pool, err error) {
	err = s.withLadder(ctx, name, func(l *ladderState) { p = l.pool })
	return p, err
}

// LoadPoolOpponents tells the pool of a ladder whom a version has met.
func (s Ladders) LoadPoolOpponents(ctx context.Context, name string, versionID int64) error {
	var l *ladderState
	if err := s.withLadder(ctx, name, func(known *ladderState) { l = known }); err != nil {
		return err
	}
	if err := s.acquireTurn(ctx); err != nil { // as in onLadder
		return err
	}
	defer s.releaseTurn()
	rows, err := s.read.Met(ctx, l.row.ID, versionID)
	if err != nil {
		return machineError(err)
	}
	met := make(map[int64]int, len(rows))
	for _, m := range rows {
		met[m.Other] = int(m.Matches)
	}
	l.pool.SetMeetings(versionID, met)
	return nil
}

// Generation returns a number that changes when other matches wait than before, and may change when
// another program has written.
func (s Matches) Generation() uint64 {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	return s.cache.generation
}

// isRated reports whether a match moves ratings.
func isRated(m queries.MatchRow) bool { return m.LadderID.Valid }

// dropMatch ends a match without a result, and tells who asked for it, but not who drops it.
func (tx *Tx) dropMatch(ctx context.Context, m queries.MatchRow, by int64, reason phrase.Text) error {
	if isRated(m) {
		tx.addLadderChange(m.LadderID.Int64, func(l *ladderState) { l.pool.Close(m.ID) })
	}
	if err := tx.addBrokenEvent(ctx, m, reason); err != nil {
		return err
	}
	if m.AskedBy.Valid && m.AskedBy.Int64 != by {
		err := tx.AddMessage(ctx, queries.AddMessageParams{
			PersonID: m.AskedBy.Int64, Kind: string(ladder.MessageDropped), MatchID: nullID(m.ID), Reason: phraseColumn(reason), Created: stamp(tx.now),
		})
		if err != nil {
			return err
		}
	}
	return tx.DropMatch(ctx, phraseColumn(reason), nullStamp(tx.now), m.ID)
}

// addBrokenEvent tells that a match has no result: it was dropped, or waits again.
func (tx *Tx) addBrokenEvent(ctx context.Context, m queries.MatchRow, reason phrase.Text) error {
	tx.changesWaiting = true
	e := events.Event{Kind: events.MatchBroken, Match: m.ID, Text: reason.String()}
	if isRated(m) {
		l, err := tx.LadderByID(ctx, m.LadderID.Int64)
		if err != nil {
			return err
		}
		e.Ladder = l.Name
	}
	tx.addEvent(e)
	return nil
}

func orNil(x float64) *float64 {
	if !finite(x) {
		return nil
	}
	return &x
}
