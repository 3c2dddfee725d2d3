package rulestest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// Naive is a second, simple implementation of a game, written from the text of its rules. Its methods
// correspond to those of rules.State.
type Naive interface {
	Turn() int
	Ply() int
	Legal() []string
	Play(move string)
	View(seat int) string
	NewEvents(seat int) []string // events that the seat may see, since the last call
	Points() []float64
}

// Pair plays one game in two implementations in parallel: the real one, called the engine, and a naive one.
type Pair[N Naive] struct {
	State   rules.State
	Naive   N
	variant *rules.Variant
	deal    any // identifies the deal in errors
	log     rules.Log
}

// NewPair returns a Pair of s and n, or an error if these are different positions. s and n must be first positions of
// a game of v. deal identifies the game in errors; it can be the game's seed.
func NewPair[N Naive](v *rules.Variant, s rules.State, n N, deal any) (*Pair[N], error) {
	p := &Pair[N]{State: s, Naive: n, variant: v, deal: deal}
	p.State.LogStart(&p.log)
	return p, p.compare()
}

// FirstPosition returns the first position of a game of v for a seed.
func FirstPosition(v *rules.Variant, seed rules.Seed) rules.State {
	stream := rules.NewStream(seed)
	return v.Deal(&stream)
}

// compare returns an error if the two implementations are in different positions, or have reported different
// events since the last call.
func (p *Pair[N]) compare() error {
	type position struct {
		Turn, Ply     int
		Legal         []string
		Views, Events []string
		Points        []float64
		Ranks         []int
	}
	fast := position{Turn: p.State.Turn(), Ply: p.State.Ply(), Points: p.State.Points(), Ranks: p.variant.Ranks(p.State.Points())}
	slow := position{Turn: p.Naive.Turn(), Ply: p.Naive.Ply(), Points: p.Naive.Points(), Legal: p.Naive.Legal()}
	for _, m := range p.State.Legal(nil) {
		fast.Legal = append(fast.Legal, string(p.State.MoveText(nil, m)))
	}
	for seat := range slow.Points {
		// With many seats, compare only the views of the seat to move and of one other seat at each ply.
		if n := len(slow.Points); n <= 4 || seat == slow.Turn || seat == slow.Ply%n || slow.Turn < 0 {
			fast.Views = append(fast.Views, string(p.State.View(nil, seat)))
			slow.Views = append(slow.Views, p.Naive.View(seat))
		}
		fast.Events = append(fast.Events, string(p.log.AppendEvents(nil, seat, "")))
		slow.Events = append(slow.Events, strings.Join(append(p.Naive.NewEvents(seat), ""), "\n"))
		slow.Ranks = append(slow.Ranks, p.rank(seat, slow.Points))
	}
	p.log.Reset()
	if reflect.DeepEqual(slow, fast) {
		return nil
	}
	return p.errorf("(-naive +fast)\n%s", cmp.Diff(slow, fast))
}

// rank returns the rank of a seat, given the points of all seats: 1 plus the number of sides with more points.
func (p *Pair[N]) rank(seat int, points []float64) int {
	sums := map[int]float64{}
	for other, n := range points {
		sums[p.variant.Side(other)] += n
	}
	rank := 1
	for _, sum := range sums {
		if sum > sums[p.variant.Side(seat)] {
			rank++
		}
	}
	return rank
}

func (p *Pair[N]) errorf(format string, args ...any) error {
	return fmt.Errorf("%s, deal %v, ply %d: "+format, append([]any{p.variant.Settings, p.deal, p.Naive.Ply()}, args...)...)
}

// Try makes the move with the given text in both implementations, and returns an error if they differ afterwards. If
// the move is illegal in the naive implementation, Try returns an error unless the engine refuses it too and stays
// unchanged.
func (p *Pair[N]) Try(text string) error {
	legal := slices.Contains(p.Naive.Legal(), text)
	before := valueOf(p.State)
	m, err := p.State.ParseMove(text)
	if err == nil {
		err = rules.Play(p.State, m, &p.log)
	}
	if legal != (err == nil) {
		return p.errorf("%q is legal: %v, but the answer is %v", text, legal, err)
	}
	if !legal {
		if valueOf(p.State) != before {
			return p.errorf("refusing %q changes the state", text)
		}
		return nil
	}
	p.Naive.Play(text)
	return p.compare()
}

// PlayOn makes moves until the game ends or last moves have been made since its start. After each move it compares
// the two implementations of the rules, and returns an error if they differ. pick chooses each move: it gets the
// number n of legal moves and returns the index of the move to make, from 0 to n-1.
func (p *Pair[N]) PlayOn(pick func(n int) int, last int) error {
	for p.Naive.Turn() >= 0 && p.Naive.Ply() < last {
		legal := p.Naive.Legal()
		if err := p.Try(legal[pick(len(legal))]); err != nil {
			return err
		}
	}
	return nil
}

// FuzzNaive is a fuzz test that compares the engine with naive rules. It passes the first four bytes of the
// input to deal, which creates the game. Each following byte below 192 selects a legal move. Any other byte,
// together with the byte after it, is the number of a move that may be illegal.
func FuzzNaive[N Naive](f *testing.F, deal func(t *testing.T, head [4]byte) *Pair[N]) {
	f.Add([]byte{})
	f.Add([]byte("\x01\x00\x01\x02playing whatever these words happen to say"))
	f.Add([]byte{7, 1, 0, 0, 0, 1, 2, 200, 7, 3, 3, 3, 255, 60, 192, 1, 1, 192, 96, 194, 20, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var head [4]byte
		data = data[copy(head[:], data):]
		p := deal(t, head)
		for len(data) > 0 && p.Naive.Turn() >= 0 {
			legal, choice := p.Naive.Legal(), int(data[0])
			data = data[1:]
			text := legal[choice%len(legal)]
			if choice >= 192 {
				m := rules.Move(choice-192) << 8
				if len(data) > 0 {
					m, data = m|rules.Move(data[0]), data[1:]
				}
				text = string(p.State.MoveText(nil, m))
			}
			kit.Must(t, p.Try(text))
		}
	})
}

// NaiveStream is a second, simple implementation of rules.NewStream, the random numbers that SPEC.md, "Seeds and
// deals", defines for a seed. Each call of the returned function with an argument n draws a random number from 0 to
// n-1.
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
