package referee

import (
	"fmt"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// firstMoves returns a replay in which every seat makes its first legal move, with the result of the rules.
func firstMoves(v *rules.Variant, seed rules.Seed) *Replay {
	r := &Replay{Seed: Hex(seed)}
	stream := rules.NewStream(seed)
	s := v.Deal(&stream)
	for s.Turn() != rules.Over {
		m := s.Legal(nil)[0]
		r.Moves = append(r.Moves, ReplayMove{Seat: s.Turn(), Move: string(s.MoveText(nil, m))})
		s.Apply(m, nil)
	}
	r.Points = s.Points()
	r.Ranks = v.Ranks(r.Points)
	return r
}

// Databases store fingerprints, so the fingerprints of old games must never change.
func TestFingerprintStays(t *testing.T) {
	for name, want := range map[string]string{
		"brisca":  "ec0b4b2051795d108813439d2540de67",
		"tute":    "09235717574cb89779987cba497ecc43",
		"podrida": "8dfc06622a5209f7b86d42e15b54e08d",
		"tebes":   "f63dbfd0d004e496e1f593e0837e5211",
		"teeko":   "bce39c2b5d7c2b389039e0580f76527b",
	} {
		g := kit.Get[*rules.Game](t)(games.Find(name))
		v := kit.Get[*rules.Variant](t)(g.Resolve(nil))
		bots := slices.Repeat([]int{1, 2}, v.Players)[:v.Players]
		if got := fmt.Sprintf("%x", firstMoves(v, rules.Seed{1}).Fingerprint(v, bots)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// The fingerprint changes with the bots in the seats, the start, a move, and the result. It does not depend
// on times, names and info lines.
func TestFingerprintDiffers(t *testing.T) {
	g := kit.Get[*rules.Game](t)(games.Find("teeko"))
	v := kit.Get[*rules.Variant](t)(g.Resolve(map[string]string{"start": "drop"}))
	bots := []int{0, 1}
	base := firstMoves(v, rules.Seed{1}).Fingerprint(v, bots)
	for what, c := range map[string]struct {
		change func(*Replay)
		bots   []int
		same   bool
	}{
		"the seed of a game without chance": {func(r *Replay) { r.Seed = Hex{2} }, bots, true},
		"names, times and thoughts": {func(r *Replay) {
			r.Seats = []ReplaySeat{{Name: "x"}}
			r.Moves[0].MS, r.Moves[0].Info = 3, []string{"hm"}
		}, bots, true},
		"another move":      {func(r *Replay) { r.Moves[0].Move = "z9" }, bots, false},
		"a move less":       {func(r *Replay) { r.Moves = r.Moves[1:] }, bots, false},
		"another seat":      {func(r *Replay) { r.Moves[0].Seat = 1 }, bots, false},
		"another result":    {func(r *Replay) { r.Ranks = []int{2, 1} }, bots, false},
		"other points":      {func(r *Replay) { r.Points = []float64{7, 7} }, bots, false},
		"the seats swapped": {func(*Replay) {}, []int{1, 0}, false},
		"another bot":       {func(*Replay) {}, []int{0, 2}, false},
	} {
		r := firstMoves(v, rules.Seed{1})
		c.change(r)
		if got := r.Fingerprint(v, c.bots); (got == base) != c.same {
			t.Errorf("%s: the same is %v", what, !c.same)
		}
	}
	random := kit.Get[*rules.Variant](t)(g.Resolve(nil))
	r := firstMoves(random, rules.Seed{1})
	one := r.Fingerprint(random, bots)
	if r.Seed = (Hex{2}); r.Fingerprint(random, bots) == one {
		t.Error("another start is the same game")
	}
}
