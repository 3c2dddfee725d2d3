package matchmaking

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

// mostUrgent reports whether nobody is more urgent than a player.
func mostUrgent(l Ladder, id int64) bool {
	others := slices.ContainsFunc(l.Players, func(p Player) bool { return !p.House })
	of := func(p Player) float64 { return urgency(p, len(l.Players), others && p.House) }
	own := of(l.Players[slices.IndexFunc(l.Players, func(p Player) bool { return p.ID == id })])
	return !slices.ContainsFunc(l.Players, func(p Player) bool { return of(p) > own+1e-9 })
}

// A pool, whatever it was told, is the ladder as it is, and begins with the most urgent.
func TestPoolIsTheLadder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sides := rapid.SampledFrom([][]int{{0, 1}, {0, 1, 2}, {0, 1, 0, 1}}).Draw(t, "sides")
		seed := rapid.Uint64().Draw(t, "seed")
		r := source(seed)
		var id, match int64
		arrival := func() Player {
			id++
			return Player{ID: id, Owner: id % 4, House: id%4 == 0, Elo: 100 * r.NormFloat64(), Uncertainty: r.Float64(), Matches: 1 + r.IntN(200), Waited: r.IntN(50)}
		}
		l := Ladder{Name: "x", Slots: len(sides)}
		for range rapid.IntRange(len(sides), 20).Draw(t, "players") {
			l.Players = append(l.Players, arrival())
		}
		finished := 100
		p := NewPool(l.Name, sides, finished, slices.Clone(l.Players))
		known := acquaintances{}
		open := map[int64][]int64{}
		idle := func(p *Player) bool { return p.House && p.Matches > 100 }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			for i := range l.Players {
				player := &l.Players[i]
				player.Busy, player.Idle = 0, idle(player)
				for _, versions := range open {
					player.Busy += len(slices.DeleteFunc(slices.Clone(versions), func(v int64) bool { return v != player.ID }))
				}
			}
			metOf := func(version int64) map[int64]int {
				out := maps.Clone(known[version])
				if out == nil {
					out = map[int64]int{}
				}
				for _, versions := range open {
					own := slices.Index(versions, version)
					for slot, other := range versions {
						if own >= 0 && sides[slot] != sides[own] {
							out[other]++
						}
					}
				}
				return out
			}
			if diff := cmp.Diff(l, p.Ladder(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Player{}, "Idle")); diff != "" {
				t.Fatal(diff)
			}
			got, unknown := p.Next(Choice{Idle: idle}, r)
			for unknown != 0 {
				p.Learn(unknown, maps.Clone(known[unknown]))
				got, unknown = p.Next(Choice{Idle: idle}, r)
			}
			if got != nil {
				checkSlots(t, l, got)
			}
			for _, player := range l.Players {
				met, known := p.Met(player.ID)
				if want := metOf(player.ID); known && !maps.Equal(met, want) {
					t.Fatalf("version %d has met %v, want %v", player.ID, met, want)
				}
			}
			if i := (&choice{Pool: p, r: r}).first(); !mostUrgent(l, p.players[i].ID) {
				t.Fatalf("version %d is not the most urgent of %+v", p.players[i].ID, l.Players)
			}
			switch step := r.IntN(10); {
			case step == 0 && len(l.Players) > len(sides):
				i := r.IntN(len(l.Players))
				p.Change(nil, []int64{l.Players[i].ID})
				l.Players = slices.Delete(l.Players, i, i+1)
			case step == 1:
				l.Players = append(l.Players, arrival())
				p.Change(slices.Clone(l.Players[len(l.Players)-1:]), nil)
			case step < 6 && len(got) > 0:
				match++
				open[match] = got
				p.Open(match, got)
			default:
				if len(open) == 0 {
					continue
				}
				m := slices.Sorted(maps.Keys(open))[r.IntN(len(open))]
				versions := open[m]
				delete(open, m)
				if step == 9 {
					p.Close(m)
					continue
				}
				finished++
				p.Finish(m, finished, finish(&l, known, sides, versions, r))
			}
		}
	})
}

// finish ends a match on a ladder.
func finish(l *Ladder, known acquaintances, sides []int, versions []int64, r *rand.Rand) (moved []Moved) {
	for i := range l.Players {
		l.Players[i].Waited++
	}
	for slot, a := range versions {
		m := Moved{ID: a, Elo: 100 * r.NormFloat64(), Uncertainty: r.Float64(), Matches: 1 + r.IntN(200)}
		moved = append(moved, m)
		if i := slices.IndexFunc(l.Players, func(p Player) bool { return p.ID == a }); i >= 0 {
			p := &l.Players[i]
			p.Elo, p.Uncertainty, p.Matches, p.Waited = m.Elo, m.Uncertainty, m.Matches, 0
		}
		for other, b := range versions {
			if sides[slot] != sides[other] {
				if known[a] == nil {
					known[a] = map[int64]int{}
				}
				known[a][b]++
			}
		}
	}
	return moved
}

// A pool chooses opponents as often as Next does.
func TestPoolOpponents(t *testing.T) {
	const choices = 40_000
	for _, uncertainty := range []float64{0.02, 30} {
		l := experienced(300, 2)
		for i := range l.Players {
			p := &l.Players[i]
			p.Elo, p.Uncertainty, p.Owner = 2*p.Elo/10, uncertainty*float64(1+i%3), int64(i%5)
		}
		l.Players[150].Waited = 1000
		own := l.Players[150].ID
		met := map[int64]int{}
		for i := range int64(40) {
			met[130+i] = int(i) * 5
		}
		p := NewPool("x", []int{0, 1}, 1000, slices.Clone(l.Players))
		p.Learn(own, met)
		r := source(1)
		want, got := map[int64]float64{}, map[int64]float64{}
		for range choices {
			slots, _, err := Next(l, func(int64) (map[int64]int, error) { return met, nil }, r)
			kit.Must(t, err)
			want[slots[0]+slots[1]-own]++
			slots, _ = p.Next(Choice{}, r)
			got[slots[0]+slots[1]-own]++
		}
		// The difference of two counts with the same expectation.
		square, free := 0.0, 0.0
		for _, player := range l.Players {
			if sum := want[player.ID] + got[player.ID]; sum >= 20 {
				square += (want[player.ID] - got[player.ID]) * (want[player.ID] - got[player.ID]) / sum
				free++
			}
		}
		if free < 10 || square > free+5*math.Sqrt(2*free) {
			t.Errorf("uncertainty %g: chi² is %.0f of %.0f opponents", uncertainty, square, free)
		}
	}
}

// Equals are drawn alike, wherever they are.
func TestPoolTies(t *testing.T) {
	l := experienced(200, 2)
	p := NewPool("x", []int{0, 1}, 0, l.Players)
	p.Open(1, []int64{10, 11})
	r, count := source(1), map[int]float64{}
	const draws = 19_800
	for range draws {
		count[(&choice{Pool: p, r: r}).first()]++
	}
	square := 0.0
	for _, n := range count {
		square += (n - 100) * (n - 100) / 100
	}
	if len(count) != 198 || square > 198+5*math.Sqrt(2*198) {
		t.Errorf("%d are drawn, chi² is %.0f", len(count), square)
	}
}

// In a pool nobody waits for ever, as in TestNobodyWaits.
func TestNobodyWaitsInAPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := source(rapid.Uint64().Draw(t, "seed"))
		sides := rapid.SampledFrom([][]int{{0, 1}, {0, 1, 2, 3}}).Draw(t, "sides")
		var players []Player
		for i := range rapid.IntRange(len(sides), 150).Draw(t, "players") {
			players = append(players, Player{ID: int64(i + 1), Elo: 300 * r.NormFloat64(), Uncertainty: r.Float64(), Matches: r.IntN(500), House: r.IntN(3) == 0})
		}
		p := NewPool("x", sides, 0, players)
		for i := range players {
			p.Learn(int64(i+1), map[int64]int{})
		}
		for order := 1; order < 400; order++ {
			slots, _ := p.Next(Choice{}, r)
			var moved []Moved
			for _, id := range slots {
				i := p.index[id]
				moved = append(moved, Moved{ID: id, Elo: p.players[i].Elo, Uncertainty: 0.1, Matches: p.players[i].Matches + 1})
			}
			p.Finish(0, order, moved)
			for _, player := range p.Ladder().Players {
				if player.Waited >= 2*len(players) {
					t.Fatalf("version %d has waited for %d matches among %d players", player.ID, player.Waited, len(players))
				}
			}
		}
	})
}

// Who may not play is not chosen, and the others are as if they were alone.
func TestPoolMay(t *testing.T) {
	for seed := range uint64(50) {
		l := experienced(12, 4)
		p := NewPool("x", []int{0, 1, 2, 3}, 0, l.Players)
		for i := range 12 {
			p.Learn(int64(i+1), map[int64]int{})
		}
		may := func(n int64) func(*Player) bool { return func(p *Player) bool { return p.ID <= n } }
		slots, _ := p.Next(Choice{May: may(5)}, source(seed))
		if len(slots) != 4 || slices.Max(slots) > 5 {
			t.Errorf("the players are %v, of the first 5", slots)
		}
		if slots, _ := p.Next(Choice{May: may(3)}, source(seed)); slots != nil {
			t.Errorf("the players are %v, of the first 3", slots)
		}
	}
}

func BenchmarkPool(b *testing.B) {
	lastTwo := func(players int) func(*Player) bool {
		return func(p *Player) bool { return p.ID > int64(players-2) }
	}
	for _, c := range []struct {
		name    string
		players int
		may     func(*Player) bool
	}{{"1000", 1000, nil}, {"10000", 10_000, nil}, {"5000 of which two may play", 5000, lastTwo(5000)}} {
		b.Run(c.name, func(b *testing.B) {
			l := experienced(c.players, 2)
			p := NewPool("x", []int{0, 1}, 0, l.Players)
			for _, player := range l.Players {
				p.Learn(player.ID, map[int64]int{})
			}
			r := source(1)
			order := 0
			b.ReportAllocs()
			for b.Loop() {
				slots, _ := p.Next(Choice{May: c.may}, r)
				order++
				var moved []Moved
				for _, id := range slots {
					moved = append(moved, Moved{ID: id, Elo: float64(id * 7919 % 1000), Uncertainty: 0.02, Matches: 200 + order})
				}
				p.Finish(0, order, moved)
			}
		})
	}
}

// A pool forgets all meetings when it keeps more than maxMet; what is learned again takes no more.
func TestMeetingsKept(t *testing.T) {
	p := NewPool("x", []int{0, 1}, 0, nil)
	met := map[int64]int{}
	for id := range int64(1000) {
		met[id] = 1
	}
	known := func(version int64) bool {
		_, known := p.Met(version)
		return known
	}
	for range 3 * maxMet / len(met) {
		p.Learn(1, met)
	}
	p.Learn(2, met)
	if !known(1) {
		t.Error("a version that is learned often takes more room")
	}
	last := int64(maxMet/len(met)) + 1
	for version := int64(3); version <= last; version++ {
		p.Learn(version, met)
	}
	if !known(1) || !known(last) {
		t.Fatalf("%d versions with %d meetings each are not kept", last, len(met))
	}
	p.Learn(last+1, met)
	if known(1) || known(last) || !known(last+1) {
		t.Error("more than maxMet are kept")
	}
}
