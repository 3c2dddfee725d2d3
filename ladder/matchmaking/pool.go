package matchmaking

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// maxMeetings is how many counts of meetings a pool keeps, some 50 bytes each. Of more all are forgotten.
const maxMeetings = 2_000_000

// Pool is a ladder that is kept in memory from match to match: it is told what changes, and chooses.
// Its methods may be called from any goroutine.
type Pool struct {
	mu              sync.Mutex
	sides           []int       // by slot
	finishedMatches int         // matches
	players         []Candidate // in the order of their IDs

	openMatches  map[int64][]int64       // the versions of the matches that are not over, by slot
	meetings     map[int64]map[int64]int // how often versions have met others, in open matches, too; nil: not known
	meetingCount int

	equalBuffer []*Candidate // for first, which needs room for some of the players
}

// NewPool returns a pool of a ladder that has finished so many matches. sides has the side of each
// slot: partners do not meet. Matches that are not over are opened then; Busy is theirs.
func NewPool(sides []int, finished int, players []Candidate) *Pool {
	p := &Pool{sides: sides, finishedMatches: finished, openMatches: map[int64][]int64{}, meetings: map[int64]map[int64]int{}}
	p.setPlayers(players)
	return p
}

// Update puts players in, in place of those with the same ID, and takes others out.
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

// player returns a player, nil for a version that is none.
func (p *Pool) player(version int64) *Candidate {
	i, found := slices.BinarySearchFunc(p.players, version, func(p Candidate, id int64) int { return cmp.Compare(p.ID, id) })
	if !found {
		return nil
	}
	return &p.players[i]
}

// countOpen counts a match of versions that begins, or with -1 one that is over.
func (p *Pool) countOpen(versions []int64, matches int) {
	for _, v := range versions {
		if player := p.player(v); player != nil {
			player.OpenMatches += matches
		}
	}
}

// Open adds a match that is not over.
func (p *Pool) Open(match int64, versions []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openMatches[match] = versions
	p.countOpen(versions, 1)
	p.countMeetings(versions, 1)
}

// Close takes a match out that is over.
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

// PlayerResult is what a match has made of a version.
type PlayerResult struct {
	ID               int64
	Elo, Uncertainty float64
	Matches          int
}

// Finish closes a match with its result: its versions by slot, and its place among those of the
// ladder, from 1.
func (p *Pool) Finish(match int64, order int, moved []PlayerResult) {
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

// countMeetings counts the meetings in a match, by slot, of the versions whose meetings are known.
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

// countOpponents counts the opponents of a slot.
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

// SetMeetings tells how often a version has met others as opponents, by their IDs, in finished matches.
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

// Meetings returns how often a version has met others as opponents, by their IDs, matches that are not over
// included; nil where that has to be learned.
func (p *Pool) Meetings(version int64) map[int64]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.meetings[version])
}

// Contains reports whether a player is such; of none it looks at more than it has to.
func (p *Pool) Contains(such func(*Candidate) bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.players {
		if such(&p.players[i]) {
			return true
		}
	}
	return false
}
