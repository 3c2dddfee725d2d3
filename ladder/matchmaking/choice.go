package matchmaking

import (
	"math"
	"math/rand/v2"
	"slices"
)

// blockSize is how many players a pool sums up together: a choice looks at the sums of all, and into
// few blocks.
const blockSize = 64

// urgent is the urgency of a player but for the matches that the ladder has finished: these count for
// all who play in none.
type urgent struct {
	key   float64
	plays bool // a match that is not over
}

// block sums up some players.
type block struct {
	waits, plays top     // of those who play in no match, and in one
	vague        float64 // the least
	low, high    float64 // Elo
}

// top is the greatest urgency, and how many have it.
type top struct {
	key float64
	n   int
}

func (t *top) add(key float64) {
	switch {
	case t.n == 0 || key > t.key:
		*t = top{key, 1}
	case key == t.key:
		t.n++
	}
}

// derive computes what follows from a player.
func (p *Pool) derive(i int) {
	player := &p.players[i]
	p.elo[i], p.vague[i] = player.Elo, vagueness(*player)
	u := urgent{plays: player.Busy > 0}
	if !u.plays {
		u.key = -float64(player.Last) / float64(len(p.players))
	}
	if !player.House || p.houses == len(p.players) {
		u.key += newness(*player)
	}
	p.urgency[i] = u
}

// sum sums up a block.
func (p *Pool) sum(b int) {
	from, to := p.within(b)
	sum := block{vague: math.Inf(1), low: math.Inf(1), high: math.Inf(-1)}
	for i := from; i < to; i++ {
		p.urgency[i].into(&sum)
		sum.vague, sum.low, sum.high = min(sum.vague, p.vague[i]), min(sum.low, p.elo[i]), max(sum.high, p.elo[i])
	}
	p.blocks[b] = sum
}

func (u urgent) into(b *block) {
	if u.plays {
		b.plays.add(u.key)
	} else {
		b.waits.add(u.key)
	}
}

// within returns the places of a block's players.
func (p *Pool) within(b int) (from, to int) {
	return b * blockSize, min((b+1)*blockSize, len(p.players))
}

// Choice is what a match is wanted of.
type Choice struct {
	// May reports whether a player can play now; nil: all can. It must not use the pool, and is not
	// asked for more players than the choice needs.
	May func(*Player) bool
	// Idle reports whether a match among such players alone is not wanted now; nil: none is idle.
	Idle func(*Player) bool
}

// choice is one that is being made.
type choice struct {
	*Pool
	Choice
	r      *rand.Rand
	seated []seat
	at     []int // where they are
}

// Next chooses the versions of the next match by slot. The players of the ladder are those of the pool,
// whether they may play or not. It returns none when too few may play, or all are idle. Where unknown is
// not 0, the meetings of that version have to be learned first.
func (p *Pool) Next(c Choice, r *rand.Rand) (slots []int64, unknown int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.sides) < 2 || len(p.players) < len(p.sides) {
		return nil, 0
	}
	made := &choice{Pool: p, Choice: c, r: r}
	for i := made.first(); ; i = made.opponent() {
		if i < 0 {
			return nil, 0
		}
		made.at = append(made.at, i)
		made.seated = append(made.seated, seat{Player: &p.players[i]})
		if len(made.seated) == len(p.sides) {
			break
		}
		s := &made.seated[len(made.seated)-1]
		if s.Matches == 0 && p.met[s.ID] == nil {
			p.met[s.ID] = map[int64]int{}
		}
		if s.met, s.meeting = p.met[s.ID], p.meeting(s.ID); s.met == nil {
			return nil, s.ID
		}
	}
	slots = make([]int64, len(p.sides))
	for i, s := range made.seated {
		slots[i] = s.ID
	}
	r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	return slots, 0
}

func (c *choice) may(i int) bool { return c.May == nil || c.May(&c.players[i]) }

// first returns where the most urgent player is who may play, drawn among equals; -1 for none.
func (c *choice) first() int {
	blocks := slices.Clone(c.blocks)
	out := make([]bool, len(c.players)) // who may not
	for {
		i := c.draw(blocks, out)
		if i < 0 || c.may(i) {
			return i
		}
		out[i] = true
		from, to := c.within(i / blockSize)
		var sum block
		for j := from; j < to; j++ {
			if !out[j] {
				c.urgency[j].into(&sum)
			}
		}
		blocks[i/blockSize] = sum
	}
}

// draw returns where one of the most urgent of some blocks is, without those who are out; -1 for none.
func (c *choice) draw(blocks []block, out []bool) int {
	var waits, plays top
	for _, b := range blocks {
		waits.join(b.waits)
		plays.join(b.plays)
	}
	most, playing := waits, false
	if plays.n > 0 {
		lead := plays.key - (waits.key + float64(c.finished)/float64(len(c.players)))
		equal := math.Abs(lead) < 1e-12 // it is added up in another order
		if waits.n == 0 || lead > 0 && !equal || equal && c.r.IntN(waits.n+plays.n) < plays.n {
			most, playing = plays, true
		}
	}
	if most.n == 0 {
		return -1
	}
	k := c.r.IntN(most.n)
	for b, sum := range blocks {
		t := sum.waits
		if playing {
			t = sum.plays
		}
		if t.n == 0 || t.key != most.key {
			continue
		}
		if k >= t.n {
			k -= t.n
			continue
		}
		from, to := c.within(b)
		for i := from; i < to; i++ {
			if (c.urgency[i] != urgent{most.key, playing}) || out[i] {
				continue
			}
			if k == 0 {
				return i
			}
			k--
		}
	}
	return -1
}

// join adds those of another top.
func (t *top) join(o top) {
	switch {
	case o.n == 0:
	case t.n == 0 || o.key > t.key:
		*t = o
	case o.key == t.key:
		t.n += o.n
	}
}

// opponent returns where the best player for those seated is: nearest to the first of them, with
// the extra Elo for old acquaintances and some chance. The last one is not idle if all before it are.
// -1 when nobody is left.
//
// Of a block it looks only at those whose draw can make them nearer than the nearest so far. As each
// draw is alike, it is drawn how many come before the next such.
func (c *choice) opponent() int {
	first := c.seated[0]
	isIdle := func(s seat) bool { return c.Idle != nil && c.Idle(s.Player) }
	idle := len(c.seated) == len(c.sides)-1 && !slices.ContainsFunc(c.seated, func(s seat) bool { return !isIdle(s) })
	average := averageMet(*first.Player, len(c.sides), len(c.players))
	best, least := -1, math.Inf(1)
	for n := range c.blocks {
		b := (c.at[0]/blockSize + n) % len(c.blocks)
		sum := &c.blocks[b]
		nearest := sum.vague + max(0, sum.low-first.Elo, first.Elo-sum.high)
		from, to := c.within(b)
		for i := from; i < to; i++ {
			share := (least - nearest) / chance // of the draws, those that can be near enough
			if share <= 0 {
				break
			}
			if share = min(share, 1); share < 1 {
				skip := math.Log(1-c.r.Float64()) / math.Log1p(-share)
				if !(skip < float64(to-i)) {
					break
				}
				i += int(skip)
			}
			distance := math.Abs(c.elo[i]-first.Elo) + c.vague[i] + chance*share*c.r.Float64()
			if best >= 0 && distance >= least || slices.Contains(c.at, i) {
				continue
			}
			player := &c.players[i]
			distance += reluctance(c.seated, player, average)
			if (best < 0 || distance < least) && !(idle && c.Idle(player)) && c.may(i) {
				best, least = i, distance
			}
		}
	}
	return best
}
