package match

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/games"
)

// unchecked removes from a replay what nobody can verify: names, times, info lines, and the moves, because
// other moves may make another valid game.
func unchecked(r *referee.Replay) string {
	g := referee.GameResult{Replay: *r}
	g.Clock, g.Program = referee.ClockMS{}, ""
	if game, err := games.Find(r.Game); err == nil {
		if v, err := r.Resolve(game); err == nil {
			g.Options = v.Settings.Map() // an absent option has its default
		}
	}
	g.Seats = append([]referee.ReplaySeat(nil), r.Seats...)
	for i := range g.Seats {
		g.Seats[i] = referee.ReplaySeat{Seed: g.Seats[i].Seed}
	}
	g.Moves = append([]referee.ReplayMove(nil), r.Moves...)
	for i := range g.Moves {
		g.Moves[i].Info, g.Moves[i].Move = nil, ""
	}
	return timeless(&g)
}

// A changed replay does not verify, unless the change is in a place that nobody can verify.
func TestReplaysMutated(t *testing.T) {
	var docs [][]byte
	var whole []*referee.Replay // of docs
	for i, s := range scenes(t) {
		if s.seat > 0 {
			continue
		}
		sc := s.true
		if i%2 == 0 {
			sc.Pieces = sc.Pieces[:len(sc.Pieces)/2]
		}
		g := kit.Get[*referee.GameResult](t)(s.play(t.Context(), s.onPipes(sc), nil))
		g.Reveal(s.seed)
		docs = append(docs, g.Encode())
		whole = append(whole, kit.Get[*referee.Replay](t)(referee.DecodeReplay(g.Encode())))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	read, good := 0, 0
	changes := 600
	if kit.Soak {
		changes = 5000
	}
	for i := range changes {
		data, true := docs[i%len(docs)], whole[i%len(docs)]
		var doc any
		kit.Must(t, json.Unmarshal(data, &doc))
		doc = alter(rng, doc)
		changed, err := json.Marshal(doc)
		kit.Must(t, err)
		r, err := referee.DecodeReplay(changed)
		if err != nil {
			continue
		}
		read++
		g, err := games.Find(r.Game)
		if err != nil || len(r.Verify(g)) > 0 {
			continue
		}
		good++
		if r.Match.Seed == nil { // its place in the match is not known any more
			r.Match = true.Match
			r.Commitment = true.Commitment
			for i := range r.Seats {
				r.Seats[i].Seed = true.Seats[i].Seed
			}
		}
		if diff := cmp.Diff(unchecked(true), unchecked(r)); diff != "" {
			t.Errorf("this verifies: (-true +changed)\n%s", diff)
		}
	}
	if read < changes/4 || good < changes/40 {
		t.Errorf("%d could be read, %d verified", read, good)
	}
}

// strange are values that replace others.
var strange = []any{
	nil, true, "", "x", "brisca", "-1", "1o", "\x00é", 0, 1, 2, -1, 0.5, 1e3, 65536, -9223372036854775808, 9223372036854775807,
	1e300, []any{}, map[string]any{}, []any{0, 1}, "00000000000000000000000000000000000000000000000000000000000000ff",
}

// alter changes one place of a document.
func alter(rng *rand.Rand, doc any) any {
	switch d := doc.(type) {
	case map[string]any:
		if len(d) == 0 || rng.IntN(20) == 0 {
			break
		}
		keys := slices.Sorted(maps.Keys(d))
		key := keys[rng.IntN(len(keys))]
		if rng.IntN(20) == 0 {
			delete(d, key)
		} else {
			d[key] = alter(rng, d[key])
		}
		return d
	case []any:
		if len(d) == 0 || rng.IntN(20) == 0 {
			break
		}
		i, j := rng.IntN(len(d)), rng.IntN(len(d))
		switch rng.IntN(20) {
		case 0:
			return append(d[:i:i], d[i+1:]...)
		case 1:
			return append(append(d[:i:i], d[j]), d[i:]...)
		case 2:
			d[i], d[j] = d[j], d[i]
		default:
			d[i] = alter(rng, d[i])
		}
		return d
	case float64:
		if rng.IntN(2) == 0 {
			return d + float64(rng.IntN(5)-2)
		}
	}
	return strange[rng.IntN(len(strange))]
}
