package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	stats "github.com/timba-arena/timba/referee/rating"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// states has the ladders in memory, so that choices, results and standings do not read the database.
// A ladder is read when it is asked for, moved by what is committed, and forgotten when it changes in
// another way, or another program has written.
type states struct {
	mu      sync.Mutex
	ladders map[string]*state
	// others counts the transactions that were more than results and new matches, which change
	// nothing of what waits.
	others uint64
}

// state is a ladder with its active versions.
type state struct {
	row     queries.Ladder // but for Finished, which moves
	config  ladder.Ladder
	variant *rules.Variant
	formula rating.Formula
	pool    *matchmaking.Pool

	// What follows is guarded by states.mu.

	finished int64
	members  map[int64]*member // by version
	order    []*member         // by place; nil until somebody asks
	places   []ladder.Standing // nil: something has changed
}

// member is an active version on a ladder.
type member struct {
	bot   int64
	owner int64
	entry rating.Entry
	place ladder.Standing // without its rank
	last  int64           // the order of its last match
}

// effect is what a transaction changes in the states.
type effect struct {
	all    bool // anything
	bot    int64
	active []queries.MembersOfBotRow // the versions of the bot that play now
	ladder int64
	fits   map[int64]stats.Estimate
	opened bool // a match was added; it is over where there is nothing else
	match  int64

	running  *running       // the attempt of a match that was added, if it runs
	versions []int64        // by slot, of a match that was added
	entries  []rating.Entry // by slot, after a finished match
	order    int64          // of the finished match
	at       time.Time
}

// forget makes the states be read again.
func (s *states) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ladders = nil
	s.others++
}

// apply moves the states by a transaction that is committed. others says that it was more than results
// and new matches.
func (s *states) apply(effects []effect, others bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if others {
		s.others++
	}
	for _, e := range effects {
		if e.all {
			s.ladders = nil
			return
		}
		for _, l := range s.ladders {
			if e.bot != 0 {
				l.change(e)
			} else if l.row.ID == e.ladder {
				l.apply(e)
			}
		}
	}
}

// change takes in which versions of a bot play.
func (s *state) change(e effect) {
	var in []matchmaking.Player
	var out []int64
	for id, m := range s.members {
		if m.bot == e.bot {
			out = append(out, id)
			delete(s.members, id)
		}
	}
	for _, r := range e.active {
		if r.Entry.LadderID != s.row.ID {
			continue
		}
		m := s.add(queries.MembersRow(r))
		in = append(in, m.player())
		out = slices.DeleteFunc(out, func(id int64) bool { return id == m.entry.VersionID })
	}
	s.order, s.places = nil, nil
	s.pool.Change(in, out)
}

func (s *state) apply(e effect) {
	switch {
	case e.fits != nil:
		for id, f := range e.fits {
			if m := s.members[id]; m != nil {
				m.place.Fit, m.place.PlusMinus = orNil(f.Value), orNil(f.PlusMinus())
			}
		}
		s.order, s.places = nil, nil
	case e.opened:
		s.pool.Open(e.match, e.versions)
	case e.entries == nil:
		s.pool.Close(e.match)
	default:
		s.finish(e)
	}
}

// finish takes in a finished match.
func (s *state) finish(e effect) {
	s.finished, s.places = e.order, nil
	moved := make([]matchmaking.Moved, len(e.entries))
	for slot, after := range e.entries {
		moved[slot] = matchmaking.Moved{ID: after.VersionID, Elo: after.Elo, Uncertainty: after.Uncertainty, Matches: after.Matches}
		m := s.members[after.VersionID]
		if m == nil {
			continue
		}
		m.entry, m.last = after, e.order
		p := m.place
		p.Elo, p.Matches, p.Faults, p.Last = after.Elo, after.Matches, after.Faults, moment(stamp(e.at))
		p.Games, p.Wins, p.Draws, p.Losses = after.Games, after.Wins, after.Draws, after.Losses
		s.move(m, p)
	}
	s.pool.Finish(e.match, int(e.order), moved)
}

// add adds a version.
func (s *state) add(r queries.MembersRow) *member {
	m := &member{
		bot: r.BotID, owner: r.PersonID, entry: entry(r.Entry), last: r.Entry.Last,
		place: standing(r.Entry, s.row.Name, r.Name, r.Owner, r.Number, r.Remote),
	}
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
	return cmp.Or(cmp.Compare(b.place.Rating(), a.place.Rating()), cmp.Compare(b.place.VersionID, a.place.VersionID))
}

// sorted returns the members by their places.
func (s *state) sorted() []*member {
	if s.order == nil {
		s.order = slices.SortedFunc(maps.Values(s.members), byPlace)
	}
	return s.order
}

// move gives a member the place that it has after a match.
func (s *state) move(m *member, after ladder.Standing) {
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
func (s *state) standings() []ladder.Standing {
	if s.places == nil {
		s.places = s.page(0, len(s.members))
	}
	return s.places
}

// page returns at most n places, beginning after the first ones.
func (s *state) page(first, n int) []ladder.Standing {
	order := s.sorted()
	first = min(first, len(order))
	out := make([]ladder.Standing, min(n, len(order)-first))
	for i := range out {
		out[i] = order[first+i].place
	}
	rank(out, first)
	above := first // the first of the equals that begin before the page
	for len(out) > 0 && above > 0 && order[above-1].place.Rating() == out[0].Rating() {
		above--
	}
	for i := 0; i < len(out) && out[i].Rating() == out[0].Rating(); i++ {
		out[i].Rank = above + 1
	}
	return out
}

// state returns that of a ladder and locks the states; who has it unlocks them.
func (s *Store) state(ctx context.Context, name string) (*state, error) {
	s.states.mu.Lock()
	if l := s.states.ladders[name]; l != nil {
		return l, nil
	}
	s.states.mu.Unlock()
	// What is committed meanwhile would be counted twice, or not at all.
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var l *state
	err := s.view(ctx, func(q *queries.Queries) (err error) {
		l, err = s.readState(ctx, q, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.keepState(name, l)
	s.states.mu.Lock()
	return l, nil
}

// stateHere is state for who has the turn, within a transaction that has not written to ladders.
func (s *Store) stateHere(ctx context.Context, q *queries.Queries, name string) (*state, error) {
	s.states.mu.Lock()
	l := s.states.ladders[name]
	s.states.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l, err := s.readState(ctx, q, name)
	if err == nil {
		s.keepState(name, l)
	}
	return l, err
}

func (s *Store) keepState(name string, l *state) {
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	if s.writer == nil { // nobody would tell it of changes
		return
	}
	if s.states.ladders == nil {
		s.states.ladders = map[string]*state{}
	}
	s.states.ladders[name] = l
}

func (s *Store) readState(ctx context.Context, q *queries.Queries, name string) (*state, error) {
	row, err := s.ladder(ctx, q, name)
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
	out := &state{row: row, config: c, finished: row.Finished}
	game, err := games.Find(c.Game)
	if err != nil {
		return nil, err
	}
	if out.variant, err = game.Resolve(c.Options); err != nil {
		return nil, err
	}
	if out.formula, err = rating.ParseFormula(row.Formula); err != nil {
		return nil, err
	}
	members, err := q.Members(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	out.members = make(map[int64]*member, len(members))
	players := make([]matchmaking.Player, len(members))
	for i, r := range members {
		players[i] = out.add(r).player()
	}
	out.pool = matchmaking.NewPool(sides, int(row.Finished), players)
	rows, err := q.OpenOnLadder(ctx, nullID(row.ID))
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
func (s *Store) Pool(ctx context.Context, name string) (*matchmaking.Pool, error) {
	l, err := s.state(ctx, name)
	if err != nil {
		return nil, err
	}
	defer s.states.mu.Unlock()
	return l.pool, nil
}

// Learn tells the pool of a ladder whom a version has met.
func (s *Store) Learn(ctx context.Context, name string, versionID int64) error {
	l, err := s.state(ctx, name) // made if there is none
	if err != nil {
		return err
	}
	s.states.mu.Unlock()
	for range 2 {
		met, matches, err := s.readMet(ctx, l.row.ID, versionID)
		if err != nil || l.pool.LearnAt(versionID, matches, met) {
			return err
		}
	}
	select { // it plays just now, or plays no more; as in state
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	met, _, err := s.readMet(ctx, l.row.ID, versionID)
	if err == nil {
		l.pool.Learn(versionID, met)
	}
	return err
}

// readMet returns whom a version has met on a ladder, and how many matches it has had there.
func (s *Store) readMet(ctx context.Context, ladderID, versionID int64) (met map[int64]int, matches int, err error) {
	met = map[int64]int{}
	err = s.view(ctx, func(q *queries.Queries) error {
		above, err := q.MetAbove(ctx, ladderID, versionID)
		if err != nil {
			return err
		}
		below, err := q.MetBelow(ctx, ladderID, versionID)
		if err != nil {
			return err
		}
		for _, m := range above {
			met[m.Other] = int(m.Matches)
		}
		for _, m := range below {
			met[m.Other] = int(m.Matches)
		}
		e, err := q.Entry(ctx, ladderID, versionID)
		matches = int(e.Matches)
		return none(err, nil)
	})
	return met, matches, err
}

// Generation returns a number that changes when anything but results and new matches of ladders is
// stored: what waits has not changed while it stays.
func (s *Store) Generation() uint64 {
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	return s.states.others
}

// rated reports whether a match moves ratings.
func rated(m queries.Match) bool { return m.LadderID.Valid }

// dropMatch ends a match without a result.
func (s *Store) dropMatch(ctx context.Context, q *queries.Queries, id int64, reason string) error {
	m, err := q.Match(ctx, id)
	if err != nil {
		return err
	}
	if rated(m) && ladder.MatchState(m.State) != ladder.Finished {
		s.effects = append(s.effects, effect{ladder: m.LadderID.Int64, match: id})
	}
	delete(s.running, id)
	return q.DropMatch(ctx, reason, nullStamp(s.now()), id)
}

func orNil(x float64) *float64 {
	if !finite(x) {
		return nil
	}
	return &x
}
