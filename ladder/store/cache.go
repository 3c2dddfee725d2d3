package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	stats "github.com/timba-arena/timba/referee/rating"
)

// cache has the ladders in memory, so that choices, results and standings do not read the database.
// A ladder is read when it is asked for, moved by what is committed, and forgotten when it changes in
// another way, or another program has written.
type cache struct {
	mu      sync.Mutex
	ladders map[string]*ladderState
	// waiting counts the transactions that have changed which matches wait.
	waiting uint64
}

// ladderState is a ladder with its active versions.
type ladderState struct {
	row  queries.Ladder // but for Finished, which moves
	pool *matchmaking.Pool

	// What follows is guarded by cache.mu.

	members map[int64]*member // by version
	order   []*member         // by place; nil until somebody asks
	places  []ladder.Standing // nil: something has changed
}

// member is an active version on a ladder.
type member struct {
	bot   int64
	owner int64
	entry rating.Entry
	place ladder.Standing // without its rank
	last  int64           // the order of its last match
}

// Change is something that a transaction has changed in the cache.
type Change struct {
	all    bool // anything
	bot    int64
	active []queries.StandingRow // the versions of the bot that play now
	ladder int64
	fits   map[int64]stats.Estimate
	opened bool // a match was added; it is over where there is nothing else
	match  int64

	versions []int64        // by slot, of a match that was added
	entries  []rating.Entry // by slot, after a finished match
	order    int64          // of the finished match
	at       time.Time
}

// forget makes the ladders be read again.
func (s *cache) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ladders = nil
	s.waiting++
}

// apply moves the ladders by a transaction that is committed. waits says that it has changed which
// matches wait.
func (s *cache) apply(changes []Change, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if waits {
		s.waiting++
	}
	for _, c := range changes {
		if c.all {
			s.ladders = nil
			return
		}
		for _, l := range s.ladders {
			if c.bot != 0 {
				l.enter(c)
			} else if l.row.ID == c.ladder {
				l.apply(c)
			}
		}
	}
}

// enter takes in which versions of a bot play.
func (s *ladderState) enter(c Change) {
	var in []matchmaking.Player
	var out []int64
	for id, m := range s.members {
		if m.bot == c.bot {
			out = append(out, id)
			delete(s.members, id)
		}
	}
	for _, r := range c.active {
		if r.LadderID != s.row.ID {
			continue
		}
		m := s.add(r)
		in = append(in, m.player())
		out = slices.DeleteFunc(out, func(id int64) bool { return id == m.entry.VersionID })
	}
	s.order, s.places = nil, nil
	s.pool.Change(in, out)
}

func (s *ladderState) apply(c Change) {
	switch {
	case c.fits != nil:
		for id, f := range c.fits {
			if m := s.members[id]; m != nil {
				m.place.Fit, m.place.PlusMinus = orNil(f.Value), orNil(f.PlusMinus())
			}
		}
		s.order, s.places = nil, nil
	case c.opened:
		s.pool.Open(c.match, c.versions)
	case c.entries == nil:
		s.pool.Close(c.match)
	default:
		s.finish(c)
	}
}

// finish takes in a finished match.
func (s *ladderState) finish(c Change) {
	s.places = nil
	moved := make([]matchmaking.Moved, len(c.entries))
	for slot, after := range c.entries {
		moved[slot] = matchmaking.Moved{ID: after.VersionID, Elo: after.Elo, Uncertainty: after.Uncertainty, Matches: after.Matches}
		m := s.members[after.VersionID]
		if m == nil {
			continue
		}
		m.entry, m.last = after, c.order
		p := m.place
		p.Elo, p.Matches, p.Faults, p.Last = after.Elo, after.Matches, after.Faults, moment(stamp(c.at))
		p.Games, p.Wins, p.Draws, p.Losses = after.Games, after.Wins, after.Draws, after.Losses
		s.move(m, p)
	}
	s.pool.Finish(c.match, int(c.order), moved)
}

// add adds a version.
func (s *ladderState) add(r queries.StandingRow) *member {
	m := &member{bot: r.BotID, owner: r.PersonID, last: r.Last, place: standing(r)}
	m.entry = entry(queries.Entry{
		VersionID: r.VersionID, Elo: r.Elo, Uncertainty: r.Uncertainty, Held: r.Held, Matches: r.Matches,
		Games: r.Games, Wins: r.Wins, Draws: r.Draws, Losses: r.Losses, Faults: r.Faults,
	})
	s.members[m.entry.VersionID] = m
	return m
}

// player returns what matchmaking needs of a version.
func (m *member) player() matchmaking.Player {
	return matchmaking.Player{
		ID: m.entry.VersionID, Owner: m.owner, Elo: m.entry.Elo, Uncertainty: m.entry.Uncertainty, Matches: m.entry.Matches,
		Last: int(m.last), Remote: m.place.Remote, House: m.owner == 0,
	}
}

// byPlace compares members by their place: the best first, of equals the newest version.
func byPlace(a, b *member) int {
	return cmp.Or(ladder.ComparePlaces(a.place, b.place), cmp.Compare(b.place.VersionID, a.place.VersionID))
}

// sorted returns the members by their places.
func (s *ladderState) sorted() []*member {
	if s.order == nil {
		s.order = slices.SortedFunc(maps.Values(s.members), byPlace)
	}
	return s.order
}

// move gives a member the place that it has after a match.
func (s *ladderState) move(m *member, after ladder.Standing) {
	if s.order == nil {
		m.place = after
		return
	}
	from, _ := slices.BinarySearchFunc(s.order, m, byPlace)
	to, _ := slices.BinarySearchFunc(s.order, &member{place: after}, byPlace)
	if to > from {
		to-- // its old place is free
		copy(s.order[from:to], s.order[from+1:to+1])
	} else {
		copy(s.order[to+1:from+1], s.order[to:from])
	}
	s.order[to] = m
	m.place = after
}

// standings returns the places. Nobody may change them.
func (s *ladderState) standings() []ladder.Standing {
	if s.places == nil {
		s.places = s.page(0, len(s.members))
	}
	return s.places
}

// page returns at most n places, beginning after the first ones.
func (s *ladderState) page(first, n int) []ladder.Standing {
	order := s.sorted()
	first = min(first, len(order))
	out := make([]ladder.Standing, min(n, len(order)-first))
	for i := range out {
		out[i] = order[first+i].place
	}
	rank(out, first)
	above := first // the first of the equals that begin before the page
	for len(out) > 0 && above > 0 && ladder.ComparePlaces(order[above-1].place, out[0]) == 0 {
		above--
	}
	for i := 0; i < len(out) && ladder.ComparePlaces(out[i], out[0]) == 0; i++ {
		out[i].Rank = above + 1
	}
	return out
}

// onLadder runs f on a ladder in memory, which does not change meanwhile.
func (s *Store) onLadder(ctx context.Context, name string, f func(*ladderState)) error {
	if s.cache.on(name, f) {
		return nil
	}
	// What is committed meanwhile would be counted twice, or not at all.
	if err := s.takeTurn(ctx); err != nil {
		return err
	}
	defer s.leaveTurn()
	var l *ladderState
	err := s.view(ctx, func(tx *Tx) (err error) {
		l, err = tx.readLadder(ctx, name)
		return err
	})
	if err != nil {
		return err
	}
	s.keepLadder(name, l)
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	f(l)
	return nil
}

// on runs f on a ladder, if that has been read.
func (c *cache) on(name string, f func(*ladderState)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.ladders[name]
	if l != nil {
		f(l)
	}
	return l != nil
}

func (s *Store) keepLadder(name string, l *ladderState) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.writer == nil { // nobody would tell it of changes
		return
	}
	if s.cache.ladders == nil {
		s.cache.ladders = map[string]*ladderState{}
	}
	s.cache.ladders[name] = l
}

func (tx *Tx) readLadder(ctx context.Context, name string) (*ladderState, error) {
	row, err := tx.ladder(ctx, name)
	if err != nil {
		return nil, err
	}
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
		players[i] = out.add(r).player()
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
func (s *Store) Pool(ctx context.Context, name string) (p *matchmaking.Pool, err error) {
	err = s.onLadder(ctx, name, func(l *ladderState) { p = l.pool })
	return p, err
}

// Learn tells the pool of a ladder whom a version has met.
func (s *Store) Learn(ctx context.Context, name string, versionID int64) error {
	var l *ladderState
	if err := s.onLadder(ctx, name, func(known *ladderState) { l = known }); err != nil {
		return err
	}
	for range 2 {
		met, matches, err := s.readMet(ctx, l.row.ID, versionID)
		if err != nil || l.pool.LearnAt(versionID, matches, met) {
			return err
		}
	}
	if err := s.takeTurn(ctx); err != nil { // it plays just now, or plays no more; as in onLadder
		return err
	}
	defer s.leaveTurn()
	met, _, err := s.readMet(ctx, l.row.ID, versionID)
	if err == nil {
		l.pool.Learn(versionID, met)
	}
	return err
}

// readMet returns whom a version has met on a ladder, and how many matches it has had there.
func (s *Store) readMet(ctx context.Context, ladderID, versionID int64) (met map[int64]int, matches int, err error) {
	met = map[int64]int{}
	err = s.view(ctx, func(tx *Tx) error {
		above, err := tx.MetAbove(ctx, ladderID, versionID)
		if err != nil {
			return err
		}
		below, err := tx.MetBelow(ctx, ladderID, versionID)
		if err != nil {
			return err
		}
		for _, m := range above {
			met[m.Other] = int(m.Matches)
		}
		for _, m := range below {
			met[m.Other] = int(m.Matches)
		}
		e, err := tx.Entry(ctx, ladderID, versionID)
		matches = int(e.Matches)
		return none(err, nil)
	})
	return met, matches, err
}

// Generation returns a number that changes when other matches wait than before, and may change when
// another program has written.
func (s *Store) Generation() uint64 {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	return s.cache.waiting
}

// rated reports whether a match moves ratings.
func rated(m queries.MatchRow) bool { return m.LadderID.Valid }

// dropMatch ends a match without a result, and tells who asked for it, but not who drops it.
func (tx *Tx) dropMatch(ctx context.Context, m queries.MatchRow, by int64, reason string) error {
	if rated(m) {
		tx.changes = append(tx.changes, Change{ladder: m.LadderID.Int64, match: m.ID})
	}
	if err := tx.tellBroken(ctx, m, reason); err != nil {
		return err
	}
	if m.AskedBy.Valid && m.AskedBy.Int64 != by {
		err := tx.AddMessage(ctx, queries.AddMessageParams{
			PersonID: m.AskedBy.Int64, Kind: string(ladder.MessageDropped), MatchID: nullID(m.ID), Reason: reason, Created: stamp(tx.now),
		})
		if err != nil {
			return err
		}
	}
	return tx.DropMatch(ctx, reason, nullStamp(tx.now), m.ID)
}

// tellBroken tells that a match has no result: it was dropped, or waits again.
func (tx *Tx) tellBroken(ctx context.Context, m queries.MatchRow, reason string) error {
	tx.waits = true
	e := events.Event{Kind: events.MatchBroken, Match: m.ID, Text: reason}
	if rated(m) {
		l, err := tx.LadderByID(ctx, m.LadderID.Int64)
		if err != nil {
			return err
		}
		e.Ladder = l.Name
	}
	tx.tell(e)
	return nil
}

func orNil(x float64) *float64 {
	if !finite(x) {
		return nil
	}
	return &x
}
