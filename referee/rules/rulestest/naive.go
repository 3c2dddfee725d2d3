package rulestest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/referee/rules"
)

// Naive is a game a second time, from the text of its rules with strings, slices and maps.
type Naive interface {
	Turn() int
	Ply() int
	Legal() []string
	Play(move string)
	View(seat int) string
	Told(seat int) []string // events since the last call
	Points() []float64
}

// Pair is a game by its engine and by the naive rules, in the same position. Each seat plays for itself.
type Pair[N Naive] struct {
	State   rules.State
	Naive   N
	variant rules.Variant
	seed    rules.Seed
	log     rules.Log
}

// NewPair deals a game by a seed, and compares it with that of the naive rules.
func NewPair[N Naive](v rules.Variant, seed rules.Seed, n N) (*Pair[N], error) {
	stream := rules.NewStream(seed)
	p := &Pair[N]{State: v.Deal(&stream), Naive: n, variant: v, seed: seed}
	p.State.Start(&p.log)
	return p, p.compare()
}

// compare compares the positions and what was said since the last time.
func (p *Pair[N]) compare() error {
	type position struct {
		Turn, Ply     int
		Legal         []string
		Views, Events []string
		Points        []float64
		Ranks         []int
	}
	fast := position{Turn: p.State.Turn(), Ply: p.State.Ply(), Points: p.State.Points(), Ranks: rules.Ranks(p.variant, p.State.Points())}
	slow := position{Turn: p.Naive.Turn(), Ply: p.Naive.Ply(), Points: p.Naive.Points(), Legal: p.Naive.Legal()}
	for _, m := range p.State.Legal(nil) {
		fast.Legal = append(fast.Legal, string(p.State.MoveText(nil, m)))
	}
	for seat, points := range slow.Points {
		// Of many seats, the views of one after the other and of the one to move.
		if n := len(slow.Points); n <= 4 || seat == slow.Turn || seat == slow.Ply%n || slow.Turn < 0 {
			fast.Views = append(fast.Views, string(p.State.View(nil, seat)))
			slow.Views = append(slow.Views, p.Naive.View(seat))
		}
		fast.Events = append(fast.Events, string(p.log.Events(nil, seat, "")))
		slow.Events = append(slow.Events, strings.Join(append(p.Naive.Told(seat), ""), "\n"))
		rank := 1
		for _, other := range slow.Points {
			if other > points {
				rank++
			}
		}
		slow.Ranks = append(slow.Ranks, rank)
	}
	p.log.Reset()
	if reflect.DeepEqual(slow, fast) {
		return nil
	}
	return p.failed("(-naive +fast)\n%s", cmp.Diff(slow, fast))
}

func (p *Pair[N]) failed(format string, args ...any) error {
	return fmt.Errorf("%s seed=%x, ply %d: "+format, append([]any{p.variant.Settings(), p.seed, p.Naive.Ply()}, args...)...)
}

// Try makes a move given by its text in both if the naive rules find it legal, and compares; else the engine
// must refuse it and stay as it is.
func (p *Pair[N]) Try(text string) error {
	legal := slices.Contains(p.Naive.Legal(), text)
	before := value(p.State)
	m, err := p.State.ParseMove(text)
	if err == nil {
		err = rules.Play(p.State, m, &p.log)
	}
	if legal != (err == nil) {
		return p.failed("%q is legal: %v, but the answer is %v", text, legal, err)
	}
	if !legal {
		if value(p.State) != before {
			return p.failed("refusing %q changes the state", text)
		}
		return nil
	}
	p.Naive.Play(text)
	return p.compare()
}

// PlayOn makes moves picked among the legal ones to the end, or as far as a ply.
func (p *Pair[N]) PlayOn(pick func(n int) int, last int) error {
	for p.Naive.Turn() >= 0 && p.Naive.Ply() < last {
		legal := p.Naive.Legal()
		if err := p.Try(legal[pick(len(legal))]); err != nil {
			return err
		}
	}
	return nil
}

// NaiveStream returns the stream of SPEC.md, "Seeds and deals", for naive rules: it
// draws numbers below a limit.
func NaiveStream(seed [32]byte) func(uint64) int {
	var block uint64
	var ready []uint32
	return func(limit uint64) int {
		for {
			if len(ready) == 0 {
				sum := sha256.Sum256(binary.BigEndian.AppendUint64(slices.Clone(seed[:]), block))
				block++
				for i := 0; i < 32; i += 4 {
					ready = append(ready, binary.BigEndian.Uint32(sum[i:]))
				}
			}
			v := uint64(ready[0])
			ready = ready[1:]
			if v < 1<<32/limit*limit {
				return int(v % limit)
			}
		}
	}
}
