package matchmaking

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// acquaintances counts who met whom, both ways round.
type acquaintances map[int64]map[int64]int

func (m acquaintances) met(version int64) (map[int64]int, error) { return m[version], nil }

func (m acquaintances) add(slots []int64) {
	for _, a := range slots {
		if m[a] == nil {
			m[a] = map[int64]int{}
		}
		for _, b := range slots {
			if a != b {
				m[a][b]++
			}
		}
	}
}

// next chooses a match on a ladder on which nobody has met.
func next(l Ladder, r *rand.Rand) ([]int64, bool) {
	slots, ok, err := Next(l, nil, r)
	if err != nil {
		panic(err)
	}
	return slots, ok
}

// experienced returns a ladder of bots 10 Elo apart that have all played a lot.
func experienced(players, slots int) Ladder {
	l := Ladder{Slots: slots}
	for i := range players {
		l.Players = append(l.Players, Player{ID: int64(i + 1), Elo: 1000 + 10*float64(i), Uncertainty: 0.02, Matches: 200})
	}
	return l
}

// play lets a ladder play a match at once.
func play(t interface{ Fatalf(string, ...any) }, l *Ladder, known acquaintances, r *rand.Rand) []int64 {
	slots, ok, err := Next(*l, known.met, r)
	if !ok || err != nil {
		t.Fatalf("no match for %d players and %d slots: %v", len(l.Players), l.Slots, err)
	}
	known.add(slots)
	for i := range l.Players {
		p := &l.Players[i]
		p.Waited++
		if slices.Contains(slots, p.ID) {
			p.Waited = 0
			p.Matches++
		}
	}
	return slots
}

func checkSlots(t interface{ Fatalf(string, ...any) }, l Ladder, slots []int64) {
	if len(slots) != l.Slots {
		t.Fatalf("%d slots are filled, want %d", len(slots), l.Slots)
	}
	for i, id := range slots {
		if slices.Contains(slots[:i], id) {
			t.Fatalf("version %d plays itself: %v", id, slots)
		}
		if !slices.ContainsFunc(l.Players, func(p Player) bool { return p.ID == id }) {
			t.Fatalf("version %d is not a player of the ladder", id)
		}
	}
}

// Nobody waits for ever: every version on a ladder plays at least once in any
// 2N matches, where N is the most players that the ladder had meanwhile,
// whoever comes and goes.
func TestNobodyWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Ladder{Slots: rapid.IntRange(2, 4).Draw(t, "slots")}
		start := rapid.IntRange(l.Slots, 25).Draw(t, "players")
		arrivals := rapid.Float64Range(0, 0.8).Draw(t, "arrivals a match")
		departures := rapid.Float64Range(0, 0.4).Draw(t, "departures a match")
		spread := rapid.Float64Range(0, 2000).Draw(t, "spread")
		r := source(rapid.Uint64().Draw(t, "seed"))
		next := int64(0)
		arrive := func(matches int) {
			next++
			l.Players = append(l.Players, Player{ID: next, Elo: spread * r.NormFloat64(), Uncertainty: 30 / float64(1+matches), Matches: matches, House: r.IntN(3) == 0})
		}
		for range start {
			arrive(r.IntN(500))
		}
		most := map[int64]int{} // players since a version's last match
		known := acquaintances{}
		for range 300 {
			if r.Float64() < arrivals && len(l.Players) < 60 {
				arrive(0)
			}
			if r.Float64() < departures && len(l.Players) > l.Slots {
				i := r.IntN(len(l.Players))
				l.Players = slices.Delete(l.Players, i, i+1)
			}
			for _, p := range l.Players {
				most[p.ID] = max(most[p.ID], len(l.Players))
			}
			slots := play(t, &l, known, r)
			checkSlots(t, l, slots)
			for _, p := range l.Players {
				if p.Waited >= 2*most[p.ID] {
					t.Fatalf("version %d has waited for %d matches among at most %d players", p.ID, p.Waited, most[p.ID])
				}
				if p.Waited == 0 {
					most[p.ID] = 0
				}
			}
		}
	})
}

// The most uncertain first: among others that do not wait, a newcomer has the
// next match, and most of the next ten.
func TestNewcomersFirst(t *testing.T) {
	r, known := source(1), acquaintances{}
	l := experienced(100, 2)
	for range 500 {
		play(t, &l, known, r)
	}
	const newcomer = 1000
	l.Players = append(l.Players, Player{ID: newcomer, Elo: 1000, Uncertainty: 30})
	if slots := play(t, &l, known, r); !slices.Contains(slots, newcomer) {
		t.Errorf("versions %v play, not the newcomer", slots)
	}
	played := 1
	for range 100 {
		if slices.Contains(play(t, &l, known, r), newcomer) {
			played++
		}
	}
	// The others have two in that time.
	if played < 6 {
		t.Errorf("the newcomer plays %d of 101 matches among 100 others", played)
	}
}

// A newcomer plays before house bots that are as new, and most matches from then on.
func TestNewHouseBotsWait(t *testing.T) {
	for seed := range uint64(20) {
		r, known := source(seed), acquaintances{}
		l := Ladder{Slots: 2, Players: []Player{{ID: 9, Elo: 1000, Uncertainty: 30}}}
		for i := range 8 {
			l.Players = append(l.Players, Player{ID: int64(i + 1), Elo: 1000, Uncertainty: 30, House: true})
		}
		played := 0
		for range 20 {
			if slots := play(t, &l, known, r); slices.Contains(slots, 9) {
				played++
			} else if played == 0 {
				t.Fatalf("house bots %v play before the newcomer", slots)
			}
		}
		if played < 8 {
			t.Errorf("the newcomer plays %d of 20 matches among 8 new house bots", played)
		}
	}
}

// Among idle versions alone there is no match; others play them as before.
func TestIdle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, known := source(rapid.Uint64().Draw(t, "seed")), acquaintances{}
		slots := rapid.IntRange(2, 4).Draw(t, "slots")
		l := experienced(rapid.IntRange(slots, 12).Draw(t, "players"), slots)
		busy := rapid.IntRange(0, len(l.Players)).Draw(t, "not idle")
		for i := range l.Players {
			l.Players[i].House, l.Players[i].Idle = i >= busy, i >= busy
		}
		for range 30 {
			if busy == 0 {
				if s, ok := next(l, r); ok {
					t.Fatalf("idle versions %v play", s)
				}
				return
			}
			if s := play(t, &l, known, r); !slices.ContainsFunc(s, func(id int64) bool { return int(id) <= busy }) {
				t.Fatalf("idle versions %v play, and %d others are there", s, busy)
			}
		}
		for _, p := range l.Players {
			if p.Matches == 200 && 30 > 2*len(l.Players) {
				t.Fatalf("version %d of %d has not played in 30 matches", p.ID, len(l.Players))
			}
		}
	})
}

// Opponents are near in Elo and seldom met, and yet many are possible.
func TestOpponents(t *testing.T) {
	r, known := source(2), acquaintances{}
	l := experienced(100, 2)
	distance, matches := 0.0, 5000
	for range matches {
		s := play(t, &l, known, r)
		distance += math.Abs(float64(s[0]-s[1])) * 10 / float64(matches)
	}
	if distance < 40 || distance > 200 { // 333 were they drawn
		t.Errorf("opponents are %.0f Elo apart", distance)
	}
	often := 0
	for _, others := range known {
		for _, n := range others {
			often = max(often, n)
		}
	}
	if often > 20 { // a version has 100 matches
		t.Errorf("two versions met %d times", often)
	}
	// From the same state, nobody can foretell an opponent.
	opponents := map[int64]int{}
	l.Players[50].Waited = 1000
	for range 1000 {
		slots, _, err := Next(l, known.met, r)
		kit.Must(t, err)
		opponents[slots[0]+slots[1]-l.Players[50].ID]++
	}
	for id, n := range opponents {
		if n > 300 {
			t.Errorf("version %d is the opponent in %d of 1000 choices", id, n)
		}
	}
	if len(opponents) < 8 {
		t.Errorf("only %d versions can be the opponent", len(opponents))
	}
}

// What tells the most is an opponent whose Elo is known.
func TestKnownOpponents(t *testing.T) {
	l := Ladder{Slots: 2}
	for i := range 20 {
		l.Players = append(l.Players, Player{ID: int64(i), Elo: 1000, Uncertainty: 30})
	}
	l.Players[7].Uncertainty = 0
	for seed := range uint64(20) {
		if slots, _ := next(l, source(seed)); !slices.Contains(slots, 7) {
			t.Errorf("newcomers %v play each other, and not the one whose Elo is known", slots)
		}
	}
}

// Bots of one owner meet only where there is hardly anybody else.
func TestOwners(t *testing.T) {
	r, known := source(3), acquaintances{}
	l := experienced(30, 2)
	for i := range l.Players {
		if i >= 10 && i < 15 {
			l.Players[i].Owner = 9
		}
	}
	related := 0
	for range 1000 {
		s := play(t, &l, known, r)
		if s[0] > 10 && s[0] <= 15 && s[1] > 10 && s[1] <= 15 {
			related++
		}
	}
	if related > 3 {
		t.Errorf("bots of one owner met %d times in 1000 matches", related)
	}
	l.Players = l.Players[10:12]
	if _, ok, err := Next(l, known.met, r); !ok || err != nil {
		t.Error("two bots of one owner, alone on a ladder, have no match")
	}
}

func TestSlotsAreShuffled(t *testing.T) {
	r, l := source(4), experienced(4, 4)
	count := map[int64]int{}
	const choices = 4000
	for range choices {
		slots, _ := next(l, r)
		count[slots[0]]++
	}
	for id, n := range count {
		if math.Abs(float64(n)-choices/4) > 5*math.Sqrt(choices*3/16.0) {
			t.Errorf("version %d has slot 0 in %d of %d matches", id, n, choices)
		}
	}
}

func TestTooFewPlayers(t *testing.T) {
	for players := range 4 {
		if slots, ok := next(experienced(players, 4), source(1)); ok {
			t.Errorf("%d players fill %v", players, slots)
		}
	}
	twice := Ladder{Slots: 2, Players: []Player{{ID: 1}, {ID: 1}}}
	if slots, ok := next(twice, source(1)); ok {
		t.Errorf("version 1 plays itself: %v", slots)
	}
	if slots, ok := next(Ladder{Players: twice.Players}, source(1)); ok {
		t.Errorf("a ladder without slots has the match %v", slots)
	}
}

// Without knowing who met whom there is no choice.
func TestNextFails(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, ok, err := Next(experienced(4, 2), func(int64) (map[int64]int, error) { return nil, broken }, source(1))
	if ok || !errors.Is(err, broken) {
		t.Errorf("there is a match: %t, error %v", ok, err)
	}
}

// Any state gives a valid match or none, and the same from the same source.
func FuzzNext(f *testing.F) {
	f.Add(uint64(1), uint8(2), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add(uint64(2), uint8(4), []byte{255, 0, 255, 0, 255, 0, 128, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 9})
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e300, 1e300}
	f.Fuzz(func(t *testing.T, seed uint64, slots uint8, data []byte) {
		l := Ladder{Slots: int(slots % 9)}
		for len(data) >= 5 {
			p := Player{ID: int64(data[0]), Owner: int64(data[1] % 4), Elo: 16 * float64(data[2]), Uncertainty: float64(data[3]) / 8,
				Matches: int(data[4]) - 20, Waited: int(data[1]) * 3, Busy: int(data[3] % 3)}
			if n := int(data[2]); n < len(odd) {
				p.Elo, p.Uncertainty = odd[n], odd[len(odd)-1-n]
			}
			l.Players = append(l.Players, p)
			data = data[5:]
		}
		met := func(a int64) (map[int64]int, error) {
			others := map[int64]int{}
			for _, p := range l.Players {
				others[p.ID] = int(a^p.ID) % 7
			}
			return others, nil
		}
		first, ok, err := Next(l, met, source(seed))
		kit.Must(t, err)
		if again, _, _ := Next(l, met, source(seed)); !slices.Equal(first, again) {
			t.Fatalf("%v, and %v from the same source", first, again)
		}
		ids := map[int64]bool{}
		for _, p := range l.Players {
			ids[p.ID] = true
		}
		if want := l.Slots >= 2 && len(ids) >= l.Slots; ok != want {
			t.Fatalf("a match: %v, want %v, of %d versions for %d slots", ok, want, len(ids), l.Slots)
		}
		if ok {
			checkSlots(t, l, first)
		}
	})
}

func TestNextAllocates(t *testing.T) {
	for _, players := range []int{10, 1000} {
		l, r := experienced(players, 4), source(1)
		if n := testing.AllocsPerRun(100, func() { next(l, r) }); n > 2 {
			t.Errorf("a choice among %d players allocates %v times", players, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, c := range []struct {
		name           string
		players, slots int
	}{{"1000 of two", 1000, 2}, {"1000 of four", 1000, 4}, {"20 of two", 20, 2}} {
		b.Run(c.name, func(b *testing.B) {
			l, r, known := experienced(c.players, c.slots), source(1), acquaintances{}
			for range 10 * c.players {
				play(b, &l, known, r)
			}
			b.ReportAllocs()
			for b.Loop() {
				Next(l, known.met, r)
			}
		})
	}
}
