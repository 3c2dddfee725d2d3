package ga

import (
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"

	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// agentSpecies has the operations of a genetic search whose individuals are agents that learn by Monte Carlo (the
// variant rl). An agent learns from the games that it plays in its own generation. Its children inherit what it has
// learned.
type agentSpecies struct {
	*Config
	keys       policy.Keys
	crossovers []dictionaryCrossover
}

func newAgentSpecies(c *Config, _ cards.Mode) species[*dictionary] {
	a := &agentSpecies{Config: c}
	a.keys, _ = policy.ParseKeys(c.Keys)
	a.crossovers, _ = selectNamed("", c.Crossovers, dictionaryCrossovers, func(o dictionaryCrossover) string { return o.name })
	return a
}

// maxTables returns the largest number of tables that are in memory at once. A table has what one agent has
// learned. There is one table for each member of two generations, and there are four for each parent (an agent with
// children), two of them sorted copies.
func maxTables(population, parents int) int { return 2*population + 4*parents }

// tableMemory returns the memory limit of one table, in bytes. All tables have the same limit.
func (c *Config) tableMemory() int64 {
	return int64(c.Memory) << 20 / int64(maxTables(c.Population, c.Parents))
}

func (a *agentSpecies) newDictionary() *dictionary {
	t := rl.NewTable(a.tableMemory())
	t.UntriedAsZero = a.UntriedRule == rl.UntriedZero
	return &dictionary{table: t}
}

func (a *agentSpecies) firstGeneration(n int, _ *rules.Rand) (members []*dictionary) {
	for range n {
		members = append(members, a.newDictionary())
	}
	return members
}

func (a *agentSpecies) player() player[*dictionary] {
	return &explorer{keys: a.keys, config: a.Config, trace: rl.NewTrace()}
}

// applyLessons returns a copy of agent d that has learned from lessons, the returns (sums of rewards) in its games.
// In the copy, the pairs of state and action are also available in sorted order, for crossover.
func (a *agentSpecies) applyLessons(d *dictionary, lessons []rl.Update) *dictionary {
	grown := &dictionary{table: d.table.Clone(), games: d.games, drawnPlaces: maps.Clone(d.drawnPlaces)}
	if len(lessons) > 0 {
		grown.games += uint32(a.Games)
		if a.SecondRound {
			grown.games += uint32(a.Games)
		}
	}
	for _, u := range lessons {
		grown.table.Learn(u.Key, u.Action, u.Value, 0)
		delete(grown.drawnPlaces, u.Key)
	}
	grown.pairs = grown.sortedPairs()
	return grown
}

// resetting is the name of the only mutation of agents that learn. It replaces the best actions of random states by
// random actions, as in the study.
const resetting = "reset"

func (a *agentSpecies) breed(p, q *dictionary, o *outcome, counts map[string]int, r *rules.Rand) (x, y *dictionary, work func()) {
	x, y = a.newDictionary(), a.newDictionary()
	x.games, y.games = p.games, q.games
	born := &offspring{children: [...]*dictionary{x, y}}
	var c *dictionaryCrossover
	if uniform(r) < o.crossover {
		c = &a.crossovers[r.Below(len(a.crossovers))]
		counts[c.name]++
	}
	for i := range born.resetRates {
		if uniform(r) < o.mutation {
			born.resetRates[i] = mutatedShare * uniform(r)
			counts[resetting]++
		}
	}
	seed := r.Uint64()
	return x, y, func() {
		born.rand = rules.NewRand(seed)
		if c == nil {
			born.copy(p.pairs, q.pairs)
			return
		}
		n := max(countStates(p.pairs), countStates(q.pairs))
		born.cross(p.pairs, q.pairs, c.newMix(n, born.rand))
	}
}

// release runs the garbage collector if the tables of the old agents are large, to stay within the memory limit.
func (a *agentSpecies) release(old []*dictionary) {
	const worthwhile = 32 << 20
	size := int64(0)
	for _, d := range old {
		size += d.table.Bytes()
	}
	if size > worthwhile {
		runtime.GC()
	}
}

// metrics returns three numbers about a generation. The result turned is the second of them again, as an integer.
//
//   - "pairs": the mean number of pairs of state and action in the table of an agent
//   - "turned_away": how often a full table has rejected a new pair
//   - "spread": the share of states in which the best action of an elite agent differs from that of the best agent,
//     as a mean over the elite
func (a *agentSpecies) metrics(members []*dictionary, elite []int) (values []run.Metric, turned uint64) {
	pairs := 0
	for _, d := range members {
		pairs += d.table.Len()
		turned += d.table.Rejections()
	}
	best, spread := members[elite[0]].table, 0.0
	for _, i := range elite {
		spread += disagreement(best, members[i].table)
	}
	return []run.Metric{
		{Name: "pairs", Value: float64(pairs) / float64(len(members))},
		{Name: "turned_away", Value: float64(turned)},
		{Name: "spread", Value: spread / float64(len(elite))},
	}, turned
}

// spreadShards is the number of shards, parts of a table, from which the spread metric is estimated.
const spreadShards = policy.Shards / 8

// disagreement returns the share of states in which the best actions of two tables differ, among the states that
// both tables know. It looks only at a sample of the states, and returns 0 if the sample has none.
func disagreement(t, other *rl.ReturnTable) float64 {
	both, differ := 0, 0
	for n := range spreadShards {
		for p := range t.Shard(n) {
			if best, _ := t.BestTried(p.Key); best != p.Action {
				continue // count each state once
			}
			if best, known := other.BestTried(p.Key); known {
				both++
				if best != p.Action {
					differ++
				}
			}
		}
	}
	return float64(differ) / float64(max(1, both))
}

func (a *agentSpecies) drawPlots(f *run.Folder) error {
	return errors.Join(
		f.Plot("pairs", "What an agent knows", "generation", "pairs of a state and an action", "pairs"),
		f.Plot("spread", "Distance of the best agents", "generation", "part of the states known to both", "spread"),
	)
}

// memoryUse returns estimates, in bytes, of the memory use and of the size of the checkpoint at the end of the
// search. They assume that each table grows by the given factor until then, but not beyond its memory limit.
func (a *agentSpecies) memoryUse(members []*dictionary, growth float64) (bytes, disk int64) {
	all := int64(0)
	for _, d := range members {
		all += d.table.Bytes()
	}
	each := min(float64(a.tableMemory()), growth*float64(all)/float64(len(members)))
	return int64(each * float64(maxTables(a.Population, a.Parents))), int64(each * float64(a.Population+1+a.Parents))
}

// save writes the agent d to w in the binary form that load reads. It writes the mean returns, the number of games from
// which d and its ancestors have learned, and the states for which a mutation has chosen the action. For each of these
// states it writes the random number that selects the action (see dictionary.drawnPlaces). It returns only errors of w.
func (a *agentSpecies) save(w io.Writer, d *dictionary) error {
	if err := d.table.Save(w); err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32(nil, d.games)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(d.drawnPlaces)))
	for _, k := range slices.Sorted(maps.Keys(d.drawnPlaces)) {
		b = append(binary.LittleEndian.AppendUint64(b, uint64(k)), d.drawnPlaces[k])
	}
	_, err := w.Write(b)
	return err
}

func (a *agentSpecies) load(r io.Reader) (*dictionary, error) {
	d := a.newDictionary()
	if err := d.table.Load(r); err != nil {
		return nil, err
	}
	var counts [2]uint32
	if err := binary.Read(r, binary.LittleEndian, &counts); err != nil {
		return nil, err
	}
	d.games = counts[0]
	for range counts[1] {
		var drawn struct {
			Key   uint64
			Place uint8
		}
		if err := binary.Read(r, binary.LittleEndian, &drawn); err != nil {
			return nil, err
		}
		d.store(rl.Pair{Key: policy.Key(drawn.Key), Action: drawnMarker, Count: uint16(drawn.Place)})
	}
	return d, nil
}

func (a *agentSpecies) describe(d *dictionary, members []*dictionary, h *model.Header, r *SearchReport) {
	h.Encoding = a.Keys
	r.Pairs = d.table.Len()
	for _, m := range members {
		r.Rejections += m.table.Rejections()
	}
}

// writeModel writes the best action of each state of d to w, and sets r.States to the number of states.
func (a *agentSpecies) writeModel(w io.Writer, d *dictionary, r *SearchReport) (err error) {
	r.States, err = rl.WritePolicy(w, d.table, 1, d.drawnPlaces)
	return err
}

// explorer plays the moves of an agent. If learns is true, some moves are random, and it records the returns (sums
// of rewards) from which the agent can learn.
type explorer struct {
	keys    policy.Keys
	config  *Config
	epsilon float64 // of the agent
	agent   policy.Agent
	learns  bool
	rand    *rules.Rand
	view    policy.View
	trace   *rl.Trace
	seat    int
	updates []rl.Update
}

func (e *explorer) setIndividual(d *dictionary, learns bool) {
	e.agent.States, e.learns, e.updates = d, learns, nil
	e.epsilon = max(0, e.config.Epsilon-e.config.Fall*float64(d.games))
}

func (e *explorer) Begin(r *rules.Rand) {
	e.rand = r
	e.trace.Reset()
}

// Choose returns the agent's move or, if the agent learns, sometimes a random move.
func (e *explorer) Choose(p *cards.Position, legal []rules.Move) rules.Move {
	e.keys.Observe(&e.view, p, legal)
	if !e.learns {
		action, _ := e.agent.Choose(&e.view, e.rand)
		return e.view.Move(action)
	}
	action, _, _ := rl.EpsilonGreedy(&e.agent, &e.view, e.epsilon, e.rand)
	e.seat = p.Turn()
	e.trace.Add(&e.view, action, p.PointLead(e.seat))
	return e.view.Move(action)
}

func (e *explorer) observeEnd(p *cards.Position) {
	if e.learns {
		e.updates = e.trace.AppendUpdates(p.PointLead(e.seat), e.updates)
	}
}

func (e *explorer) lessons() []rl.Update { return e.updates }
