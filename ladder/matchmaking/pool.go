package matchmaking

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// maxMet is how many counts of meetings a pool keeps, some 50 bytes each. Of more all are forgotten.
const maxMet = 2_000_000

// Pool is a ladder that is kept in memory from match to match: it is told what changes, and chooses
// without looking at more players than a choice needs. Its methods may be called from any goroutine.
type Pool struct {
	mu       sync.Mutex
	sides    []int // by slot
	finished int   // matches

	// What follows is by player, in the order of their IDs.

	players []Player
	elo     []float64
	vague   []float64 // what the uncertainty adds to the distance
	urgency []urgent
	blocks  []block // of blockSize players each
	houses  int     // of the players

	index   map[int64]int
	open    map[int64][]int64 // the versions of the matches that are not over, by slot
	openOf  map[int64][]int64 // those matches of a version
	met     map[int64]map[int64]int
	metSize int
}

// NewPool returns a pool of a ladder that has finished so many matches. sides has the side of each
// slot: partners do not meet. Matches that are not over are opened then; Busy is theirs.
func NewPool(sides []int, finished int, players []Player) *Pool {
	p := &Pool{
		sides: sides, finished: finished,
		open: map[int64][]int64{}, openOf: map[int64][]int64{}, met: map[int64]map[int64]int{},
	}
	p.set(players)
	return p
}

// Change puts players in, in place of those with the same ID, and takes others out.
func (p *Pool) Change(in []Player, out []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	players := slices.DeleteFunc(slices.Clone(p.players), func(have Player) bool {
		return slices.Contains(out, have.ID) || slices.ContainsFunc(in, func(n Player) bool { return n.ID == have.ID })
	})
	p.set(append(players, in...))
}

func (p *Pool) set(players []Player) {
	slices.SortStableFunc(players, func(a, b Player) int { return cmp.Compare(a.ID, b.ID) })
	n := len(players)
	p.players, p.elo, p.vague = players, make([]float64, n), make([]float64, n)
	p.urgency, p.blocks = make([]urgent, n), make([]block, (n+blockSize-1)/blockSize)
	p.index, p.houses = make(map[int64]int, n), 0
	for _, player := range players {
		if player.House {
			p.houses++
		}
	}
	for i := range players {
		player := &players[i]
		p.index[player.ID], player.Busy = i, len(p.openOf[player.ID])
		p.derive(i)
	}
	for b := range p.blocks {
		p.sum(b)
	}
}

// moved brings what follows from a player up to date.
func (p *Pool) moved(i int) {
	p.derive(i)
	p.sum(i / blockSize)
}

// Open adds a match that is not over.
func (p *Pool) Open(match int64, versions []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[match] = versions
	for _, v := range versions {
		p.openOf[v] = append(p.openOf[v], match)
		p.busy(v)
	}
}

// Close takes a match out that is over.
func (p *Pool) Close(match int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(match)
}

func (p *Pool) close(match int64) {
	for _, v := range p.open[match] {
		p.openOf[v] = slices.DeleteFunc(p.openOf[v], func(m int64) bool { return m == match })
		if len(p.openOf[v]) == 0 {
			delete(p.openOf, v)
		}
		p.busy(v)
	}
	delete(p.open, match)
}

// busy counts the matches that a version is in.
func (p *Pool) busy(version int64) {
	if i, ok := p.index[version]; ok {
		p.players[i].Busy = len(p.openOf[version])
		p.moved(i)
	}
}

// Moved is what a match has made of a version.
type Moved struct {
	ID               int64
	Elo, Uncertainty float64
	Matches          int
}

// Finish closes a match with its result: its versions by slot, and its place among those of the
// ladder, from 1.
func (p *Pool) Finish(match int64, order int, moved []Moved) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close(match)
	p.finished = order
	for slot, m := range moved {
		if i, ok := p.index[m.ID]; ok {
			player := &p.players[i]
			player.Elo, player.Uncertainty, player.Matches, player.Last = m.Elo, m.Uncertainty, m.Matches, order
			p.moved(i)
		}
		for other, o := range moved {
			if p.sides[slot] != p.sides[other] {
				p.count(m.ID, o.ID)
			}
		}
	}
}

// count counts a meeting of a version whose meetings are known.
func (p *Pool) count(a, b int64) {
	if met := p.met[a]; met != nil {
		if met[b] == 0 {
			p.metSize++
		}
		met[b]++
	}
}

// Learn tells how often a version has met others as opponents, by their IDs, in finished matches.
func (p *Pool) Learn(version int64, met map[int64]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.learn(version, met)
}

func (p *Pool) learn(version int64, met map[int64]int) {
	if p.metSize > maxMet {
		p.met, p.metSize = map[int64]map[int64]int{}, 0
	}
	if met == nil {
		met = map[int64]int{}
	}
	p.metSize += len(met) - len(p.met[version])
	p.met[version] = met
}

// LearnAt is Learn of what was read beside what happens: it reports false, and learns nothing, unless
// the version has had so many matches in the pool, too.
func (p *Pool) LearnAt(version int64, matches int, met map[int64]int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, ok := p.index[version]; !ok || p.players[i].Matches != matches {
		return false
	}
	p.learn(version, met)
	return true
}

// Met returns how often a version has met others as opponents, by their IDs, matches that are not over
// included; nil where that has to be learned.
func (p *Pool) Met(version int64) map[int64]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	met := maps.Clone(p.met[version])
	if met == nil {
		return nil
	}
	for _, other := range p.meeting(version) {
		met[other]++
	}
	return met
}

// meeting returns the opponents of a version in the matches that are not over.
func (p *Pool) meeting(version int64) (others []int64) {
	for _, match := range p.openOf[version] {
		own := slices.Index(p.open[match], version)
		for slot, other := range p.open[match] {
			if p.sides[slot] != p.sides[own] {
				others = append(others, other)
			}
		}
	}
	return others
}

// Count returns how many players are such.
func (p *Pool) Count(such func(*Player) bool) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.players {
		if such(&p.players[i]) {
			n++
		}
	}
	return n
}

// Contains reports whether a player is such; of none it looks at more than it has to.
func (p *Pool) Contains(such func(*Player) bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.players {
		if such(&p.players[i]) {
			return true
		}
	}
	return false
}
