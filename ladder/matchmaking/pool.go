package matchmaking

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// maxMeetings is the largest number of pairs of versions for which a pool counts their meetings (common matches), at
// some 50 bytes a pair. If there are more pairs, the pool deletes all counts.
const maxMeetings = 2_000_000

// Pool has the players of one ladder in memory and chooses matches between them. The caller reports every
// change. Its methods are safe for concurrent use.
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

// NewPool returns a pool of the players of a ladder. finished is the number of the ladder's finished matches.
// sides has the side of each slot (place) in a match; partners on one side do not count as opponents. The pool
// takes ownership of players and sets their OpenMatches. The caller must then call Open for each unfinished
// match.
func NewPool(sides []int, finished int, players []Candidate) *Pool {
	p := &Pool{sides: sides, finishedMatches: finished, openMatches: map[int64][]int64{}, meetings: map[int64]map[int64]int{}}
	p.setPlayers(players)
	return p
}

// Update adds the players of the list in, each in place of the player with the same ID, and removes the players whose
// IDs are in the list out.
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

// player returns the player with the ID version, or nil.
func (p *Pool) player(version int64) *Candidate {
	i, found := slices.BinarySearchFunc(p.players, version, func(p Candidate, id int64) int { return cmp.Compare(p.ID, id) })
	if !found {
		return nil
	}
	return &p.players[i]
}

// countOpen adds the number matches to the number of open matches of each version: 1 for a match that starts, -1 for
// one that is over.
func (p *Pool) countOpen(versions []int64, matches int) {
	for _, v := range versions {
		if player := p.player(v); player != nil {
			player.OpenMatches += matches
		}
	}
}

// Open adds an unfinished match between the versions with the given IDs.
func (p *Pool) Open(match int64, versions []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openMatches[match] = versions
	p.countOpen(versions, 1)
	p.countMeetings(versions, 1)
}

// Close removes a match that ends without a result.
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

// PlayerRating is the rating of a version after a match, and the number of matches that the version has played.
type PlayerRating struct {
	ID               int64
	Elo, Uncertainty float64
	Matches          int
}

// Finish replaces an open match by its result. order is the number of the match among the finished matches of the
// ladder, counted from 1. moved has the new ratings, in the order of the versions in the match.
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

// countMeetings adds the number matches, 1 or -1, to how often the versions in a match have met each other. It skips
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

// countOpponents adds the number matches to the count of each opponent of versions[slot] in met, whose keys are
// version IDs.
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

// SetMeetings sets how often a version has met others in finished matches. The key of met is the ID of the
// opponent. The pool takes over met.
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

// Meetings returns how often a version has met each opponent, by ID, including open matches. It returns nil if
// SetMeetings must be called first.
func (p *Pool) Meetings(version int64) map[int64]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.meetings[version])
}

// Contains reports whether any player satisfies pred. It stops at the first. pred must not call the pool.
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
