//go:build !race || slowrace

package ga

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/rl"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// known is a dictionary in readable form. By state and action it has the mean and the count. For the action
// drawnMarker it has 0 and the drawn place. State n has the key n.
type known map[int]map[uint8][2]float32

func (k known) dictionary() *dictionary {
	d := &dictionary{table: rl.NewTable(1 << 20)}
	for state, actions := range k {
		for action, v := range actions {
			d.store(rl.Pair{Key: policy.Key(state), Action: action, Mean: v[0], Count: uint16(v[1])})
		}
	}
	return d
}

func knownOf(d *dictionary) known {
	k := known{}
	for _, p := range d.sortedPairs() {
		if k[int(p.Key)] == nil {
			k[int(p.Key)] = map[uint8][2]float32{}
		}
		k[int(p.Key)][p.Action] = [2]float32{p.Mean, float32(p.Count)}
	}
	return k
}

// empty returns two empty children.
func empty() [2]*dictionary { return [...]*dictionary{known{}.dictionary(), known{}.dictionary()} }

func (k known) equal(other known) bool {
	return maps.EqualFunc(k, other, func(a, b map[uint8][2]float32) bool { return maps.Equal(a, b) })
}

// Two parents. State 10 is in the first only, state 50 in the second only.
var (
	knownA = known{
		10: {0: {1, 1}},
		20: {0: {2, 4}, 1: {4, 2}},
		30: {0: {3, 1}},
		40: {2: {8, 6}},
	}
	knownB = known{
		20: {1: {8, 3}, 2: {6, 1}},
		30: {0: {7, 3}},
		40: {2: {0, 2}},
		50: {5: {5, 5}},
	}
)

// crossed returns the children of two dictionaries.
func crossed(a, b known, m mix) (x, y known) {
	born := offspring{children: empty(), rand: rules.NewRand(1)}
	born.cross(a.dictionary().sortedPairs(), b.dictionary().sortedPairs(), m)
	return knownOf(born.children[0]), knownOf(born.children[1])
}

// TestEpsilonFalls checks that an agent explores less after each generation, and that its children continue with that.
func TestEpsilonFalls(t *testing.T) {
	c := DefaultAgents("brisca2")
	c.Games, c.Epsilon, c.Fall = 10, 0.5, 0.03
	a := newAgentSpecies(&c, cards.Mode{Players: 2})
	e := a.player().(*explorer)
	parent := a.firstGeneration(1, nil)[0]
	for _, want := range []float64{0.5, 0.2, 0} {
		child, _, work := a.breed(parent, parent, &outcome{}, map[string]int{}, rules.NewRand(1))
		work()
		for _, d := range []*dictionary{parent, child} {
			if e.setIndividual(d, true); math.Abs(e.epsilon-want) > 1e-9 {
				t.Errorf("epsilon %v, not %v", e.epsilon, want)
			}
		}
		parent = a.applyLessons(child, []rl.Update{{Key: 1}})
	}
}

// TestReportedStates checks that the report counts the states of the model, where states with equal
// shortened keys count once.
func TestReportedStates(t *testing.T) {
	var r SearchReport
	var body bytes.Buffer
	a, d := &agentSpecies{Config: &Config{}}, knownA.dictionary()
	a.describe(d, nil, &model.Header{}, &r)
	kit.Must(t, a.writeModel(&body, d, &r))
	p := kit.Get[*policy.Policy](t)(policy.ReadPolicy(&body))
	if n := p.Len(); n != 1 || r.States != n {
		t.Errorf("%d states in the model, %d in the report", n, r.States)
	}
}

// TestDictionaryCrossovers compares each crossover with an example computed by hand, for given random
// numbers. Both children have the states that only one parent has.
func TestDictionaryCrossovers(t *testing.T) {
	only := func(k known) known {
		k[10], k[50] = knownA[10], knownB[50]
		return k
	}
	for _, test := range []struct {
		name string
		mix  mix
		x, y known
	}{
		{"one point, before state 30", segments([]policy.Key{30}, []bool{false, true}),
			only(known{20: knownA[20], 30: knownB[30], 40: knownB[40]}),
			only(known{20: knownB[20], 30: knownA[30], 40: knownA[40]})},
		{"several points, before states 30 and 40", segments([]policy.Key{25, 40}, []bool{false, true, false}),
			only(known{20: knownA[20], 30: knownB[30], 40: knownA[40]}),
			only(known{20: knownB[20], 30: knownA[30], 40: knownB[40]})},
		{"multivariate, the first and third of three segments", segments([]policy.Key{21, 39}, []bool{true, false, true}),
			only(known{20: knownB[20], 30: knownA[30], 40: knownB[40]}),
			only(known{20: knownA[20], 30: knownB[30], 40: knownA[40]})},
	} {
		if x, y := crossed(knownA, knownB, test.mix); !x.equal(test.x) || !y.equal(test.y) {
			t.Errorf("%s: children\n%v and\n%v, want\n%v and\n%v", test.name, x, y, test.x, test.y)
		}
	}
}

// someDictionary returns a random dictionary. It has a third of the states whose number is below states.
func someDictionary(seed uint64, states int) known {
	r, k := rules.NewRand(seed), known{}
	for n := range states {
		if r.Below(3) > 0 {
			continue
		}
		key := int(policy.NewKey(rules.NewRand(uint64(n)).Uint64()))
		k[key] = map[uint8][2]float32{}
		for range 1 + r.Below(3) {
			k[key][uint8(r.Below(6))] = [2]float32{float32(uniform(r)), float32(1 + r.Below(9))}
		}
	}
	return k
}

// TestDictionariesAreMerged checks every crossover on large dictionaries. Each child has the states of both
// parents and no others, with unchanged pairs if only one parent has the state. If pairs are exchanged, the
// children get the pairs of different parents.
func TestDictionariesAreMerged(t *testing.T) {
	a, b := someDictionary(1, 3000), someDictionary(2, 3000)
	for _, c := range dictionaryCrossovers {
		x, y := crossed(a, b, c.newMix(1000, rules.NewRand(3)))
		all := maps.Clone(a)
		maps.Copy(all, b)
		if len(x) != len(all) || len(y) != len(all) {
			t.Errorf("%s: children know %d and %d states, not %d", c.name, len(x), len(y), len(all))
		}
		swapped, both := 0, 0
		for key, p := range a {
			q, shared := b[key]
			switch {
			case !shared:
				if !maps.Equal(x[key], p) || !maps.Equal(y[key], p) {
					t.Fatalf("%s: state %d of one parent is %v and %v, not %v", c.name, key, x[key], y[key], p)
				}
			default:
				both++
				straight := maps.Equal(x[key], p) && maps.Equal(y[key], q)
				if !straight && !(maps.Equal(x[key], q) && maps.Equal(y[key], p)) {
					t.Fatalf("%s: state %d is %v and %v from %v and %v", c.name, key, x[key], y[key], p, q)
				}
				if !straight {
					swapped++
				}
			}
		}
		if both > 0 && (swapped == 0 || swapped == both) {
			t.Errorf("%s: %d of %d states are exchanged", c.name, swapped, both)
		}
	}
}

// TestReset checks the mutation: it draws actions in about the right number of states, with all places, and
// changes neither the pairs nor the other states and the other child.
func TestReset(t *testing.T) {
	a, b := someDictionary(1, 9000), someDictionary(2, 9000)
	born := offspring{children: empty(), rand: rules.NewRand(1), resetRates: [...]float64{0.05, 0}}
	born.copy(a.dictionary().sortedPairs(), b.dictionary().sortedPairs())
	x, y := born.children[0], born.children[1]
	if drawn := float64(len(x.drawnPlaces)) / float64(len(a)); drawn < 0.03 || drawn > 0.07 {
		t.Errorf("in %.3f of the states an action is drawn, not in 0.05", drawn)
	}
	taken := map[uint8]int{}
	for key, place := range x.drawnPlaces {
		action, known := x.Best(key, 0b1111)
		if taken[action]++; !known || action != place/32 {
			t.Errorf("state %d, place %d: action %d, known %t", key, place, action, known)
		}
	}
	if len(taken) != 4 {
		t.Errorf("the actions drawn are %v", taken)
	}
	same := knownOf(&dictionary{table: x.table})
	if !same.equal(a) || !knownOf(y).equal(b) {
		t.Error("what the children know is not what their parents do")
	}
}

// TestDrawn checks that children inherit a drawn action, that checkpoints and models have it, that another
// mutation replaces it, and that it is removed when the agent learns in its state.
func TestDrawn(t *testing.T) {
	const s20, s30, s40 = 20 << 30, 30 << 30, 40 << 30 // keys that differ in the bits that a policy has
	a := known{s20: {0: {5, 3}, drawnMarker: {0, 96}}, s30: {1: {2, 2}, drawnMarker: {0, 32}}}
	b := known{s30: {1: {4, 2}}, s40: {3: {1, 1}, drawnMarker: {0, 64}}}
	for _, test := range []struct {
		name string
		mix  mix
		x, y known
	}{
		{"an exchange", segments([]policy.Key{25 << 30}, []bool{false, true}),
			known{s20: a[s20], s30: b[s30], s40: b[s40]}, known{s20: a[s20], s30: a[s30], s40: b[s40]}},
	} {
		if x, y := crossed(a, b, test.mix); !x.equal(test.x) || !y.equal(test.y) {
			t.Errorf("%s: children\n%v and\n%v, want\n%v and\n%v", test.name, x, y, test.x, test.y)
		}
	}

	c := DefaultAgents("brisca2")
	species := newAgentSpecies(&c, cards.Mode{Players: 2}).(*agentSpecies)
	d := a.dictionary()
	var file bytes.Buffer
	kit.Must(t, species.save(&file, d))
	loaded := kit.Get[*dictionary](t)(species.load(bytes.NewReader(file.Bytes())))
	if !knownOf(loaded).equal(a) {
		t.Errorf("%v is loaded, not %v", knownOf(loaded), a)
	}
	for n := range file.Len() {
		if _, err := species.load(bytes.NewReader(file.Bytes()[:n])); err == nil {
			t.Fatalf("%d bytes of %d are loaded", n, file.Len())
		}
	}
	var body bytes.Buffer
	kit.Must(t, species.writeModel(&body, d, new(SearchReport)))
	read := kit.Get[*policy.Policy](t)(policy.ReadPolicy(&body))
	for state, want := range map[policy.Key]uint8{s20: 3, s30: 1, s40: 0} {
		got, known := d.Best(state, 0b1111)
		played, inModel := read.Best(state, 0b1111)
		if state < s40 && (got != want || !known) || got != played || known != inModel {
			t.Errorf("state %d: action %d, known %t, of the model %d, %t, want %d", state, got, known, played, inModel, want)
		}
	}

	grown := species.applyLessons(d, []rl.Update{{Key: s20, Action: 0, Value: 9}})
	if want := (known{s20: {0: {6, 4}}, s30: a[s30]}); !knownOf(grown).equal(want) || !knownOf(d).equal(a) {
		t.Errorf("after a lesson %v, want %v; before it %v", knownOf(grown), want, knownOf(d))
	}
	born := offspring{children: empty(), rand: rules.NewRand(1), resetRates: [...]float64{1, 1}}
	born.copy(grown.pairs, grown.pairs)
	if n := len(born.children[0].drawnPlaces); n != 2 || knownOf(born.children[0])[s30][1] != a[s30][1] {
		t.Errorf("another mutation comes to %v", knownOf(born.children[0]))
	}
}

// smallAgents returns the configuration of a very short search for agents.
func smallAgents(mode string) Config {
	c := DefaultAgents(mode)
	c.Population, c.Parents, c.Games, c.Generations, c.FinalGames, c.Memory = 8, 3, 6, 6, 20, 4
	return c
}

func newBriscaAgents(t testing.TB, c Config, workers int) *search[*dictionary] {
	t.Helper()
	s, err := newSearch(c, workers, nil, newAgentSpecies)
	kit.Must(t, err)
	return s
}

func TestAgentsDeterministic(t *testing.T) {
	for mode, change := range map[string]func(*Config){
		"brisca2":      func(c *Config) { c.SecondRound = true },
		"brisca3":      func(c *Config) { c.Rival = RandomRival },
		"tute-teams":   func(c *Config) { c.KeepElite = false },
		"follow4":      func(c *Config) { c.Keys = policy.Hand },
		"tute2":        func(c *Config) { c.Keys, c.Rules = policy.OneState, "1010" },
		"brisca-teams": func(c *Config) { c.Policy = policyHalf },
	} {
		c := smallAgents(mode)
		change(&c)
		testSame(t, c)
	}
}

// TestAgentsLearn checks that agents beat random moves after some generations.
func TestAgentsLearn(t *testing.T) {
	c := smallAgents("brisca2")
	c.Population, c.Parents, c.Games, c.Generations = 8, 2, 300, 20
	s := newBriscaAgents(t, c, 2)
	share := func() float64 {
		fit := kit.Get[Fitness](t)(s.testAgainstRandom(context.Background(), s.members[0], 2000, rules.NewRand(1)))
		return fit.WinShare()
	}
	first := share()
	for range c.Generations {
		if _, err := s.step(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	last := share()
	t.Logf("against random moves: at first %.3f, at last %.3f", first, last)
	if first > 0.55 || last < 0.67 {
		t.Errorf("against random moves: at first %.3f, at last %.3f, want 0.5 and 0.67 or more", first, last)
	}
}

// TestParentsLearn checks that the elite have their previous pairs and their lessons, that their children
// inherit both, and that no other individuals remain.
func TestParentsLearn(t *testing.T) {
	c := smallAgents("brisca2")
	c.Policy, c.Crossover, c.Mutation = policyCustom, 1, 0
	s := newBriscaAgents(t, c, 2)
	for range 3 {
		before := slices.Clone(s.members)
		o := kit.Get[outcome](t)(s.step(context.Background()))
		states := map[policy.Key]bool{}
		for k, i := range o.elite {
			want := &dictionary{table: before[i].table.Clone()}
			for _, u := range o.lessons[i] {
				want.table.Learn(u.Key, u.Action, u.Value, 0)
				states[u.Key] = true
			}
			if len(o.lessons[i]) < 20*c.Games || !knownOf(want).equal(knownOf(s.members[k])) {
				t.Errorf("agent %d, with %d lessons, has not learned them", i, len(o.lessons[i]))
			}
		}
		for _, child := range s.members[len(o.elite):] {
			if child.table.Len() < s.members[0].table.Len() {
				t.Errorf("a child knows %d pairs, its parents %d and more", child.table.Len(), s.members[0].table.Len())
			}
		}
	}
}

// TestAgentModel checks that the model has the best action of every state of the best agent, and that
// damaged models are errors.
func TestAgentModel(t *testing.T) {
	c := smallAgents("tute2")
	c.Keys = policy.Hand
	dir, report := trained(t, c)
	data := []byte(read(t, dir, run.ModelFile))
	h, n, p, err := readModel(data)
	kit.Must(t, err)
	states := p.States.(*policy.Policy).Len()
	if h.Mode != "tute2" || n != nil || p.Abstraction != policy.Hand || states == 0 || states != report.States || report.Pairs < states {
		t.Errorf("mode %s, keys %+v, %d states, report %+v", h.Mode, p.Keys, states, report)
	}
	if _, _, _, err := readModel(data[:len(data)-9]); err == nil {
		t.Error("a model cut short is no error")
	}
	var other bytes.Buffer
	h = model.Header{Kind: model.GA, Mode: "tute2", Variant: Agents, Encoding: "suits"}
	kit.Must(t, model.Write(&other, h, func(io.Writer) error { return nil }))
	if _, _, _, err := readModel(other.Bytes()); err == nil || !strings.Contains(err.Error(), `keys "suits" do not exist: try kinds, hand, os`) {
		t.Errorf("a model with other keys: error %v", err)
	}
}

// TestTablesAreFull checks that the tables of a search stay within its memory limit, and that it logs and
// continues when they are full.
func TestTablesAreFull(t *testing.T) {
	c := smallAgents("tute4")
	c.Keys, c.Memory, c.Games, c.Generations = policy.OneState, 1, 200, 4
	s, err := newSearch(c, 2, nil, newAgentSpecies)
	kit.Must(t, err)
	turned := uint64(0)
	for range c.Generations {
		o := kit.Get[outcome](t)(s.step(context.Background()))
		all := int64(0)
		for _, d := range s.members {
			all += d.table.Bytes()
		}
		if all > int64(c.Memory)<<20*int64(c.Population)/int64(maxTables(c.Population, c.Parents)) {
			t.Fatalf("the tables of a generation take %d bytes", all)
		}
		turned = o.rejections
	}
	if turned == 0 {
		t.Error("no pair is turned away")
	}
}

// TestAgentsConfigErrors checks that errors of the configuration name the value and a remedy.
func TestAgentsConfigErrors(t *testing.T) {
	for want, change := range map[string]func(*Config){
		`memory cannot be "62": try 75 to 262144, for 2400 tables`:                                func(c *Config) { c.Population, c.Parents, c.Memory = 1000, 100, 62 },
		`games cannot be "40000": all agents together play 320000 in a generation, more`:          func(c *Config) { c.Games = 40_000 },
		`positions cannot be "5": agents learn from games: try variant xn`:                        func(c *Config) { c.Positions = 5 },
		`crossover "x" does not exist: try some of one-point,several-points,uniform,multivariate`: func(c *Config) { c.Crossovers = []string{"x"} },
		`mutation "swap" does not exist: try some of reset`:                                       func(c *Config) { c.Mutations = []string{"swap"} },
	} {
		c := smallAgents("brisca2")
		change(&c)
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s...", err, want)
		}
	}
}
