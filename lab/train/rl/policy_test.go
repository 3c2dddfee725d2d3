//go:build !race || slowrace

package rl

import (
	"bytes"
	"io"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// TestPolicy checks that a policy has the best action of every state with enough visits.
func TestPolicy(t *testing.T) {
	table := NewTable(testMemory)
	r := rules.NewRand(3)
	for range 30_000 {
		table.Learn(spread(uint64(r.Below(3000))), uint8(r.Below(5)), float32(r.Below(100)), 0)
	}
	for _, visits := range []int{1, 10} {
		var b bytes.Buffer
		n, err := WritePolicy(&b, table, visits, nil)
		kit.Must(t, err)
		p, err := policy.ReadPolicy(&b)
		if err != nil || p.Len() != n {
			t.Fatalf("%v: %d states, not %d", err, p.Len(), n)
		}
		known := 0
		for i := range uint64(3100) {
			k := spread(i)
			want, tried := table.Best(k, policy.AllActions)
			got, ok := p.Best(k, policy.AllActions)
			if keep := tried && table.best(k, policy.AllActions).visits >= visits; ok != keep || ok && got != want {
				t.Fatalf("state %d: %d %t, not %d %t", i, got, ok, want, keep)
			}
			if ok {
				known++
				if _, legal := p.Best(k, policy.AllActions&^(1<<want)); legal {
					t.Fatalf("state %d: an action that is not legal", i)
				}
			}
		}
		if known != n || n == 0 {
			t.Errorf("visits %d: %d of %d states", visits, known, n)
		}
	}
}

// TestPolicyUntried checks that a policy chooses like its table among any legal actions that include the
// tried ones, if untried actions count as 0, and uses the drawn places.
func TestPolicyUntried(t *testing.T) {
	table, r := NewTable(testMemory), rules.NewRand(3)
	table.UntriedAsZero = true
	for range 6000 {
		table.Learn(spread(uint64(r.Below(1500))), uint8(r.Below(8)), float32(r.Below(100)-60), 0)
	}
	drawn := map[policy.Key]uint8{spread(5): 0, spread(6): 64, spread(7): 127}
	for _, visits := range []int{1, 4} {
		var b bytes.Buffer
		n := kit.Get[int](t)(WritePolicy(&b, table, visits, drawn))
		p := kit.Get[*policy.Policy](t)(policy.ReadPolicy(&b))
		if p.Len() != n {
			t.Errorf("%d states, not %d", p.Len(), n)
		}
		known, negative := 0, 0
		for i := range uint64(1600) {
			k := spread(i)
			if table.best(k, policy.AllActions).visits < visits {
				if _, ok := p.Best(k, policy.AllActions); ok {
					t.Errorf("state %d was visited too seldom", i)
				}
				continue
			}
			known++
			if place, ok := drawn[k]; ok {
				if got, ok := p.Best(k, 0b1111_0000); !ok || got != 4+place/32 {
					t.Errorf("state %d: action %d for place %d, known %t", i, got, place, ok)
				}
				continue
			}
			found := table.best(k, policy.AllActions)
			if found.mean < 0 {
				negative++
			}
			for _, legal := range []uint64{found.triedActions, found.triedActions | uint64(r.Below(256)), policy.AllActions} {
				want, _ := table.Best(k, legal)
				if got, ok := p.Best(k, legal); !ok || got != want {
					t.Fatalf("state %d, legal %b: %d %t, not %d", i, legal, got, ok, want)
				}
			}
		}
		if known != n || negative < 100 {
			t.Errorf("%d of %d states, %d with negative means", known, n, negative)
		}
	}
}

// TestPolicyKeys checks that a policy stores no more bytes of its keys than its states need, and rarely
// confuses an unknown state with a known one.
func TestPolicyKeys(t *testing.T) {
	table := NewTable(16 << 20)
	const states = 1 << 18
	for n := range uint64(states) {
		table.Learn(spread(n), uint8(n%7), 1, 0)
	}
	var b bytes.Buffer
	if n, err := WritePolicy(&b, table, 1, nil); err != nil || n < states*99/100 {
		t.Fatalf("%d of %d states, %v", n, states, err)
	}
	if width := b.Bytes()[0]; width != 3 {
		t.Fatalf("keys of %d bytes", width)
	}
	p := kit.Get[*policy.Policy](t)(policy.ReadPolicy(&b))
	strange, wrong := 0, 0
	for n := range uint64(states) {
		if _, known := p.Best(spread(n+states), policy.AllActions); known {
			strange++
		}
		if action, known := p.Best(spread(n), policy.AllActions); !known || action != uint8(n%7) {
			wrong++
		}
	}
	if strange > 100 || strange == 0 || wrong > 100 {
		t.Errorf("of %d states that it does not know it takes %d for others, want about 64; %d are wrong", states, strange, wrong)
	}
}

// modelOf trains a small model and returns its file.
func modelOf(t testing.TB, change func(*Config)) []byte {
	t.Helper()
	c := Default("tute2")
	c.Keys, c.Episodes, c.Memory = allKeys[3], 300, 4
	change(&c)
	kit.Must(t, c.Check())
	l := train(t, c, 2, CardGames(c))
	var b bytes.Buffer
	h := model.Header{Kind: model.RL, Mode: c.Mode, Variant: c.Variant, Encoding: c.Encoding(), Defects: c.Defects}
	kit.Must(t, model.Write(&b, h, func(w io.Writer) error {
		_, err := l.WriteModel(w)
		return err
	}))
	return b.Bytes()
}

func TestReadModel(t *testing.T) {
	for _, k := range allKeys {
		data := modelOf(t, func(c *Config) { c.Keys = k })
		m, err := readModel(data)
		if err != nil || m.Keys != k || (m.Votes != nil) != (k.Variant == policy.ManyStates) {
			t.Fatalf("%+v: %+v, %v", k, m, err)
		}
		for n := 0; n < len(data); n += 1 + len(data)/50 {
			if _, err := readModel(data[:n]); err == nil {
				t.Errorf("%+v: %d bytes of %d are read", k, n, len(data))
			}
		}
	}
}

func readModel(data []byte) (*policy.Model, error) {
	h, body, err := model.Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return policy.Read(h, policy.KeysOf(h.Variant, h.Encoding), body)
}

func FuzzReadModel(f *testing.F) {
	f.Add(modelOf(f, func(*Config) {}))
	f.Add(modelOf(f, func(c *Config) { c.Keys = allKeys[1] }))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if m, err := readModel(data); err == nil {
			m.States.Best(policy.Key(1), policy.AllActions)
		}
	})
}

// FuzzReadPolicy tests reading without the compression, which FuzzReadModel rarely gets past.
func FuzzReadPolicy(f *testing.F) {
	table := NewTable(testMemory)
	for n := range uint64(100) {
		table.Learn(spread(n), uint8(n%9), 1, 0)
	}
	var b bytes.Buffer
	if _, err := WritePolicy(&b, table, 1, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := policy.ReadPolicy(bytes.NewReader(data))
		if err != nil {
			return
		}
		if size := 1 + p.Len()*(int(data[0])+1) + 4*policy.Shards; size > len(data) {
			t.Errorf("%d states of %d bytes", p.Len(), len(data))
		}
	})
}

// TestIndex checks that with DefectIndex a model may choose an illegal card in Tute, and that without it all
// moves are legal.
func TestIndex(t *testing.T) {
	for _, defects := range [][]string{nil, {DefectIndex}} {
		m, err := readModel(modelOf(t, func(c *Config) { c.Keys, c.Defects = allKeys[2], defects }))
		kit.Must(t, err)
		r, illegal, moves := rules.NewRand(5), 0, 0
		var s policy.View
		for n := range uint64(50) {
			mode := cards.Mode{Tute: true, Players: 2}
			walk(mode, mode.Rules()[0], n, func(p *cards.Position, legal []rules.Move) {
				move, _ := m.Move(&s, p, legal, r)
				if moves++; p.State().Check(move) != nil {
					illegal++
				}
			})
		}
		if (illegal > 0) != (defects != nil) {
			t.Errorf("defects %q: %d of %d moves are not legal", defects, illegal, moves)
		}
	}
}
