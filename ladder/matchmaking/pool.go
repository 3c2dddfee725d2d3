package matchmaking

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// maxMeetings limits the memory for counts of meetings (common matches) of two versions, which take some 50 bytes for
// each pair. If a pool has counts for more than maxMeetings pairs, it deletes all counts.
const maxMeetings = 2_000_000

// Pool has the players of one ladder in memory and chooses matches between them. The caller must report every change
// of the ladder to it. Its methods are safe for concurrent use.
type Pool struct {
	mu              sync.Mutex
	sides           []int // by slot
	finishedMatches int
	players         []Candidate // in the order of their IDs

	openMatches  map[int64][]int64       // versions by slot, of the matches that are not over
	meetings     map[int64]map[int64]int // by two version IDs, how often the first has met the second; nil if not known
	meetingCount int                     // number of entries in meetings

	equalBuffer []*Candidate // reused by mostUrgent
}

// NewPool returns a pool of the players of a ladder. finished is the number of the ladder's finished matches. sides
// has the side (team or player) of each place in a match; players on the same side do not count as opponents. The
// pool takes ownership of players and sets their OpenMatches. The caller must then call Open for each unfinished
// match.
func NewPool(sides []int, finished int, players []Candidate) *Pool {
	p := &Pool{sides: sides, finishedMatches: finished, openMatches: map[int64][]int64{}, meetings: map[int64]map[int64]int{}}
	p.setPlayers(players)
	return p
}

// Update adds the players in the first list and removes the players whose IDs are in the second list. An added player
// replaces a player with the same ID.
func (p *Pool) Update(in []Candidate, out []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	players := slices.DeleteFunc(slices.Clone(p.players), func(have Candidate) bool {
		return slices.Contains(out, have.ID) || slices.ContainsFunc(in, func(n Candidate) bool { return n.ID == have.ID })
	})
	p.setPlayers(append(players, in...))
}

func (p *Pool) setPlayers(players []Candidate) {
	slices.SortStableFunc(players, func(a, b Candidate) int { return cmp.Compare(a.ID, b.ID) })
	p.players = players
	for i := range players {
		players[i].OpenMatches = 0
	}
	for _, versions := range p.openMatches {
		p.countOpen(versions, 1)
	}
}

// player returns the player whose ID is version, or nil if the pool has none.
func (p *Pool) player(version int64) *Candidate {
	i, found := slices.BinarySearchFunc(p.players, version, func(p Candidate, id int64) int { return cmp.Compare(p.ID, id) })
	if !found {
		return nil
	}
	return &p.players[i]
}

// countOpen changes the number of open matches of each given version by matches: 1 for a match that starts, -1 for a
// match that is over.
func (p *Pool) countOpen(versions []int64, matches int) {
	for _, v := range versions {
		if player := p.player(v); player != nil {
			player.OpenMatches += matches
		}
	}
}

// Open adds an unfinished match to the pool. match is its ID, and versions has the IDs of the versions that play, in
// the order of their places in the match. The pool takes ownership of versions.
func (p *Pool) Open(match int64, versions []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openMatches[match] = versions
	p.countOpen(versions, 1)
	p.countMeetings(versions, 1)
}

// Close removes the match with the given ID, which has ended without a result.
func (p *Pool) Close(match int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(match)
}

func (p *Pool) close(match int64) {
	p.countOpen(p.openMatches[match], -1)
	p.countMeetings(p.openMatches[match], -1)
	delete(p.openMatches, match)
}

// PlayerRating has the rating of one version after a match, and the number of matches that the version has played on
// the ladder. Pool.Finish stores these values.
type PlayerRating struct {
	ID               int64
	Elo, Uncertainty float64
	Matches          int
}

// Finish removes the open match with the ID match and stores its result. order is the number of finished matches of
// the ladder, including this one. moved has the new rating of each version, in the order of the versions' places in
// the match.
func (p *Pool) Finish(match int64, order int, moved []PlayerRating) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(match)
	p.finishedMatches = order
	versions := make([]int64, len(moved))
	for slot, m := range moved {
		versions[slot] = m.ID
		if player := p.player(m.ID); player != nil {
			player.Elo, player.Uncertainty, player.Matches, player.LastOrder = m.Elo, m.Uncertainty, m.Matches, order
		}
	}
	p.countMeetings(versions, 1)
}

// countMeetings changes by matches, 1 or -1, how often the given versions of one match have met each other. It skips
// a version whose meetings are not in memory.
func (p *Pool) countMeetings(versions []int64, matches int) {
	for slot, v := range versions {
		met := p.meetings[v]
		if met == nil {
			continue
		}
		before := len(met)
		p.countOpponents(met, versions, slot, matches)
		p.meetingCount += len(met) - before
	}
}

// countOpponents changes the count of each opponent of versions[slot] by matches. met has these counts, by the ID of
// the opponent. It removes a count that becomes 0.
func (p *Pool) countOpponents(met map[int64]int, versions []int64, slot, matches int) {
	for other, v := range versions {
		if p.sides[slot] == p.sides[other] {
			continue
		}
		if met[v] += matches; met[v] == 0 {
			delete(met, v)
		}
	}
}

// SetMeetings sets how often a version has met each opponent in finished matches. met has these counts, by the ID of
// the opponent; nil means none. The pool takes ownership of met.
func (p *Pool) SetMeetings(version int64, met map[int64]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setMeetings(version, met)
}

func (p *Pool) setMeetings(version int64, met map[int64]int) {
	if p.meetingCount > maxMeetings {
		p.meetings, p.meetingCount = map[int64]map[int64]int{}, 0
	}
	if met == nil {
		met = map[int64]int{}
	}
	for _, versions := range p.openMatches {
		if slot := slices.Index(versions, version); slot >= 0 {
			p.countOpponents(met, versions, slot, 1)
		}
	}
	p.meetingCount += len(met) - len(p.meetings[version])
	p.meetings[version] = met
}

// Meetings returns how often a version has met each opponent, by ID, including open matches. The result is a copy. It
// is nil if the pool does not know the counts; SetMeetings must then be called first.
func (p *Pool) Meetings(version int64) map[int64]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.meetings[version])
}

// Contains reports whether pred returns true for any player. It stops at the first such player. pred must not call
// methods of the pool.
func (p *Pool) Contains(pred func(*Candidate) bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.players {
		if pred(&p.players[i]) {
			return true
		}
	}
	return false
}
