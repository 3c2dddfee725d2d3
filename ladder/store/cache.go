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

// cache holds the data of ladders in memory, so that matchmaking, results and standings need not read the database. A
// ladder is read at its first use and updated after each commit. Some changes cannot be applied to a cached ladder.
// After such a change, or a write by another program, the ladder is removed from the cache, and is read again at its
// next use.
type cache struct {
	mu      sync.Mutex
	ladders map[string]*ladderState
	// generation counts the transactions that have changed the set of waiting matches.
	generation uint64
}

// ladderState is a cached ladder with its active versions.
type ladderState struct {
	row  queries.Ladder    // as it was read; its field Finished may be out of date
	pool *matchmaking.Pool // for choosing the next match

	// cache.mu guards the following fields.

	members map[int64]*member // by version ID
	order   []*member         // the members as they were sorted last; nil after members were added or removed
	places  []ladder.Standing // the standings; nil if they must be computed again
}

// member is a version that plays on a ladder at present.
type member struct {
	bot   int64           // ID of its bot
	place ladder.Standing // without its rank
}

// ladderChange is a change that a committed transaction makes to a cached ladder.
type ladderChange struct {
	ladder int64 // ID of the ladder; 0 means all ladders
	apply  func(*ladderState)
}

func (s *cache) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ladders = nil
	s.generation++
}

// apply applies the changes that a committed transaction has collected to the cached ladders. If
// tx.changesLadders is set, it removes all ladders from the cache instead.
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

// setVersionsOfBot sets which versions of the given bot play on this ladder. active has all standings of the bot's
// versions that play, on this and on other ladders; standings of other ladders are ignored.
func (s *ladderState) setVersionsOfBot(bot int64, active []queries.StandingRow) {
	var in []matchmaking.Candidate
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

// setFits sets the fitted (maximum-likelihood) rating of each version and the number of its opponents. The keys of
// both maps are version IDs.
func (s *ladderState) setFits(estimates map[int64]stats.Estimate, opponents map[int64]int64) {
	for id, f := range estimates {
		if m := s.members[id]; m != nil {
			m.place.Fit, m.place.PlusMinus, m.place.Opponents = orNil(f.Value), orNil(f.PlusMinus()), int(opponents[id])
		}
	}
	s.places = nil
}

// finishMatch updates the standings, and the pool from which matches are chosen, after a match has finished. match is
// the ID of the match, order is its number on the ladder, and at is the time of its end. entries has the new state of
// each version in the match.
func (s *ladderState) finishMatch(match, order int64, at time.Time, entries []rating.Entry) {
	s.places = nil
	moved := make([]matchmaking.PlayerRating, len(entries))
	for slot, after := range entries {
		moved[slot] = matchmaking.PlayerRating{ID: after.VersionID, Elo: after.Elo, Uncertainty: after.Uncertainty, Matches: after.Matches}
		if m := s.members[after.VersionID]; m != nil {
			p := &m.place
			p.Elo, p.Matches, p.Faults, p.LastMatchAt = after.Elo, after.Matches, after.Faults, moment(stamp(at))
			p.Games, p.Wins, p.Draws, p.Losses = after.Games, after.Wins, after.Draws, after.Losses
		}
	}
	s.pool.Finish(match, int(order), moved)
}

// addMember adds a version to the versions that play on the ladder, and returns it as a player for matchmaking.
func (s *ladderState) addMember(r queries.StandingRow) matchmaking.Candidate {
	s.members[r.VersionID] = &member{r.BotID, standing(r)}
	return matchmaking.Candidate{
		ID: r.VersionID, Owner: r.PersonID, Elo: r.Elo, Uncertainty: r.Uncertainty, Matches: int(r.Matches),
		LastOrder: int(r.Last), Remote: r.Remote != 0, House: r.PersonID == 0,
	}
}

// compareRows compares versions by their place in the standings, the best first. If two share a rank, the newer
// version comes first.
func compareRows(a, b ladder.Standing) int {
	return cmp.Or(ladder.ComparePlaces(a, b), cmp.Compare(b.VersionID, a.VersionID))
}

// standings returns the standings of the active versions, the best first. Equal versions have the same rank.
// The result is shared and must not be changed. The caller must hold cache.mu.
func (s *ladderState) standings() []ladder.Standing {
	if s.places != nil {
		return s.places
	}
	if s.order == nil {
		s.order = slices.Collect(maps.Values(s.members))
	}
	slices.SortFunc(s.order, func(a, b *member) int { return compareRows(a.place, b.place) }) // almost sorted already
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

// withLadder calls f with the ladder called name, which it reads into the cache if necessary. f has exclusive
// access to the ladder and must not use the cache.
func (s *db) withLadder(ctx context.Context, name string, f func(*ladderState)) error {
	if s.cache.withCached(name, f) {
		return nil
	}
	// Without the turn, a commit during the read would be counted twice or not at all.
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
	if s.writer != nil { // a read-only store does not learn of changes, so it caches nothing
		if s.cache.ladders == nil {
			s.cache.ladders = map[string]*ladderState{}
		}
		s.cache.ladders[name] = l
	}
	f(l)
	return nil
}

// withCached calls f with the ladder called name and returns true. If the ladder is not cached, it only
// returns false.
func (c *cache) withCached(name string, f func(*ladderState)) bool {
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
	players := make([]matchmaking.Candidate, len(members))
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

// Pool returns the data from which matchmaking chooses the matches of a ladder: its active versions and open matches.
// It returns nil for a paused ladder. The store updates the pool after each commit. After a change that clears the
// cache, the pool is no longer updated, and the caller must get a new one from Pool.
func (s Ladders) Pool(ctx context.Context, name string) (p *matchmaking.Pool, err error) {
	take := func(l *ladderState) {
		if !l.row.Paused.Valid {
			p = l.pool
		}
	}
	if err = s.withLadder(ctx, name, take); err == nil && p == nil { // another program may have resumed it
		if err = s.refreshCache(ctx); err == nil {
			err = s.withLadder(ctx, name, take)
		}
	}
	return p, err
}

// LoadPoolOpponents reads how often a version has met each other version on the ladder called name, and stores these
// numbers in the ladder's pool.
func (s Ladders) LoadPoolOpponents(ctx context.Context, name string, versionID int64) error {
	var l *ladderState
	if err := s.withLadder(ctx, name, func(known *ladderState) { l = known }); err != nil {
		return err
	}
	if err := s.acquireTurn(ctx); err != nil { // for the same reason as in withLadder
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

// Generation returns a number that changes whenever the set of waiting matches changes. It may also change when
// another program has written to the database.
func (s Matches) Generation() uint64 {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	return s.cache.generation
}

func isRated(m queries.MatchRow) bool { return m.LadderID.Valid }

// dropMatch ends a match without a result, for the given reason. by is the ID of the person who drops the match, or 0
// for the server. The person who requested the match gets a message, unless that person has dropped it.
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

// addBrokenEvent publishes that m was dropped or was interrupted, with the given reason as the text of the event.
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
