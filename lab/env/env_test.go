//go:build !race || slowrace

package env

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// variants are games with options that affect observations.
var variants = []string{
	"brisca", "brisca exchange=yes last10=yes blackhand=yes hunt3=yes", "brisca players=3 exchange=yes", "brisca players=4 teams=yes blackhand=yes",
	"tute", "tute exchange=yes last10=yes blackhand=yes hunt3=yes", "tute players=3 exchange=yes followonly=yes", "tute players=4 teams=yes",
	"podrida", "podrida players=3 rounds=updown", "podrida players=12 deck=40",
	"tebes", "tebes size=4 board=random cycles=allow limit=60", "tebes opening=6",
	"teeko", "teeko start=drop squares=advanced limit=50", "teeko opening=4",
}

// numbersOf returns the numbers of game i in the named array.
func numbersOf(b *Batch, name string, i int) (row []float64) {
	var a Array // without rows if it is left out
	for _, other := range b.layout.Arrays {
		if other.Name == name {
			a = other
		}
	}
	for data := b.rowOf(a, i); len(data) > 0; data = data[a.Type[1]-'0':] {
		switch a.Type {
		case "f4":
			row = append(row, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
		case "u4":
			row = append(row, float64(binary.LittleEndian.Uint32(data)))
		case "u2":
			row = append(row, float64(binary.LittleEndian.Uint16(data)))
		case "i2":
			row = append(row, float64(int16(binary.LittleEndian.Uint16(data))))
		case "u1":
			row = append(row, float64(data[0]))
		case "i1":
			row = append(row, float64(int8(data[0])))
		}
	}
	return row
}

// one returns the only number of game i in the named array.
func one(b *Batch, name string, i int) int { return int(numbersOf(b, name, i)[0]) }

// TestObservation checks that an observation matches the view line, that the actions are those of the turn
// line, and that all arrays of a frame are consistent.
func TestObservation(t *testing.T) {
	for _, text := range variants {
		t.Run(text, func(t *testing.T) {
			b := newTestBatch(t, 1, text, "games", 3, "auto", false, "arrays", optionalArrays)
			r := rules.NewRand(1)
			for deals := range uint32(4) {
				kit.Must(t, b.Reset(t.Context(), rules.Seed{7}, 3*deals))
				for over := 0; over < 3; {
					over = 0
					for i := range b.slots {
						compare(t, b, i)
						over += one(b, "over", i)
					}
					kit.Must(t, b.Step(t.Context(), randomActions(b, r)))
				}
			}
		})
	}
}

// compare compares the arrays of game i with its protocol lines.
func compare(t *testing.T, b *Batch, i int) {
	t.Helper()
	s := b.games.state(i)
	if one(b, "turn", i) != s.Turn() || one(b, "ply", i) != s.Ply() || (one(b, "over", i) == 1) != (s.Turn() == rules.Over) {
		t.Fatalf("game %d: turn %d, ply %d, over %d", i, one(b, "turn", i), one(b, "ply", i), one(b, "over", i))
	}
	for seat, p := range s.Points() {
		if got := numbersOf(b, "points", i)[seat]; got != p {
			t.Fatalf("game %d: points of seat %d are %v, want %v", i, seat, got, p)
		}
	}
	if s.Turn() == rules.Over {
		if bytes.Count(b.rowOf(b.arrays.planes, i), []byte{0}) != b.arrays.planes.rowBytes || one(b, "count", i) != 0 || bytes.IndexByte(b.rowOf(b.arrays.mask, i), 1) >= 0 {
			t.Fatalf("game %d is over, and there is something to see", i)
		}
		return
	}
	o := rules.Observe(s, s.Turn())
	var listed, masked []string
	for j, a := range numbersOf(b, "legal", i) {
		if j < one(b, "count", i) {
			listed = append(listed, b.layout.Actions[int(a)])
		} else if a != noAction {
			t.Fatalf("game %d: action %v is behind the list", i, a)
		}
	}
	for a, legal := range numbersOf(b, "mask", i) {
		if legal != 0 {
			masked = append(masked, b.layout.Actions[a])
		}
	}
	if want := o.Moves.Strings(); !slices.Equal(listed, want) || !slices.Equal(masked, want) {
		t.Fatalf("game %d: legal %q and %q, want %q", i, listed, masked, want)
	}
	planes, rest := map[string]string{}, b.rowOf(b.arrays.planes, i)
	for _, p := range b.layout.Planes {
		var set []string
		for place, bit := range rest[:p.Size] {
			if bit != 0 {
				set = append(set, placeName(p.Size, place))
			}
		}
		planes[p.Name], rest = strings.Join(set, ","), rest[p.Size:]
	}
	numbers := map[string]int{}
	for j, n := range numbersOf(b, "numbers", i) {
		numbers[b.layout.Numbers[j]] = int(n)
	}
	wantPlanes, wantNumbers := seen(b.layout, o)
	for name, want := range wantPlanes {
		if planes[name] != want {
			t.Fatalf("game %d: plane %s has %q, want %q\n%s", i, name, planes[name], want, o.View)
		}
	}
	for name, want := range wantNumbers {
		if numbers[name] != want {
			t.Fatalf("game %d: number %s is %d, want %d\n%s", i, name, numbers[name], want, o.View)
		}
	}
	if len(planes) != len(wantPlanes) || len(numbers) != len(wantNumbers) {
		t.Fatalf("game %d: planes %v, numbers %v; want %v, %v", i, planes, numbers, wantPlanes, wantNumbers)
	}
}

// placeName returns the name of a card, or the number of a square.
func placeName(size, place int) string {
	if size == baraja.Cards {
		return baraja.Card(place).String()
	}
	return strconv.Itoa(place)
}

// TestRewards checks that the rewards of a game add up to its points, or are its outcome. With automatic
// reset, the frame after the last action must report the end of the old game.
func TestRewards(t *testing.T) {
	for _, text := range variants {
		for _, rewards := range []Rewards{RewardPoints, RewardOutcome} {
			b := newTestBatch(t, 1, text, "games", 5, "rewards", rewards)
			kit.Must(t, b.Reset(t.Context(), rules.Seed{3}, 10))
			sum, r, ends := make([][]float64, 5), rules.NewRand(2), 0
			for i := range sum {
				sum[i] = make([]float64, b.layout.Players)
				if deal := one(b, "deal", i); deal%5 != (10+i)%5 {
					t.Fatalf("%s: game %d begins with deal %d", text, i, deal)
				}
			}
			for ends < 12 {
				before := make([]int, 5)
				for i := range before {
					before[i] = one(b, "deal", i)
				}
				kit.Must(t, b.Step(t.Context(), randomActions(b, r)))
				for i := range b.slots {
					for seat, x := range numbersOf(b, "rewards", i) {
						sum[i][seat] += x
					}
					if one(b, "over", i) == 0 {
						if one(b, "deal", i) != before[i] {
							t.Fatalf("%s: game %d changes its deal before its end", text, i)
						}
						continue
					}
					ends++
					if d := one(b, "deal", i) - before[i]; d <= 0 || d%5 != 0 {
						t.Fatalf("%s: game %d: deal %d follows %d", text, i, one(b, "deal", i), before[i])
					}
					points, want := numbersOf(b, "points", i), numbersOf(b, "points", i)
					ranks := make([]int, len(points))
					for seat, rank := range numbersOf(b, "ranks", i) {
						ranks[seat] = int(rank)
					}
					if !slices.Equal(b.config.Variant.Ranks(points), ranks) {
						t.Fatalf("%s: game %d: ranks %v of points %v", text, i, ranks, points)
					}
					if rewards == RewardOutcome {
						for seat := range want {
							record := rules.RecordOf(b.config.Variant, ranks, seat)
							want[seat] = float64(record.Wins - record.Losses)
						}
					}
					if !slices.Equal(sum[i], want) {
						t.Fatalf("%s: game %d: rewards %v, want %v", text, i, sum[i], want)
					}
					clear(sum[i])
				}
			}
		}
	}
}

// TestNext checks that Next starts the next deal of the selected games, and changes no other game.
func TestNext(t *testing.T) {
	b := newTestBatch(t, 1, "brisca", "games", 3, "auto", false)
	kit.Must(t, b.Reset(t.Context(), rules.Seed{1}, 0))
	r := rules.NewRand(1)
	for range 40 {
		kit.Must(t, b.Step(t.Context(), randomActions(b, r)))
	}
	if b.slots[1].seat != rules.Over {
		t.Fatal("a game of Brisca is not over after 40 cards")
	}
	// Games that are over accept any action and do not change.
	if err := b.Step(t.Context(), bytes.Repeat([]byte{0xff}, 6)); err != nil || one(b, "over", 2) != 1 || numbersOf(b, "rewards", 2)[0] != 0 {
		t.Fatal(err, one(b, "over", 2))
	}
	kit.Must(t, b.Next(t.Context(), []byte{0, 1, 0}))
	for i, want := range []int{0, 4, 2} {
		if one(b, "deal", i) != want || (one(b, "over", i) == 0) != (i == 1) || (one(b, "turn", i) == 0) != (i == 1) {
			t.Errorf("game %d: deal %d, over %d, turn %d", i, one(b, "deal", i), one(b, "over", i), one(b, "turn", i))
		}
	}
}

// TestNextTellsNoEndAgain checks that, with automatic reset, only one frame reports the end of a game, even
// if the next frame starts other games.
func TestNextTellsNoEndAgain(t *testing.T) {
	b := newTestBatch(t, 1, "brisca", "games", 2)
	kit.Must(t, b.Reset(t.Context(), rules.Seed{1}, 0))
	for r := rules.NewRand(1); one(b, "over", 0) == 0; {
		kit.Must(t, b.Step(t.Context(), randomActions(b, r)))
	}
	kit.Must(t, b.Next(t.Context(), []byte{0, 1}))
	points, ranks := numbersOf(b, "points", 0), numbersOf(b, "ranks", 0)
	if one(b, "over", 0) != 0 || points[0]+points[1] != 0 || ranks[0]+ranks[1] != 0 || one(b, "deal", 0) != 2 {
		t.Errorf("over %d, points %v, ranks %v of deal %d", one(b, "over", 0), points, ranks, one(b, "deal", 0))
	}
}

// TestIllegal checks that an illegal action changes no game.
func TestIllegal(t *testing.T) {
	b := newTestBatch(t, 1, "brisca", "games", 2)
	kit.Must(t, b.Reset(t.Context(), rules.Seed{1}, 0))
	before := slices.Clone(b.message)
	good := randomActions(b, rules.NewRand(1))
	for action, want := range map[uint16]string{
		12:    `env: game 1, deal 1: action 12: "1c" is not in hand: play one of `,
		60:    `env: game 1, deal 1: action 60: "swap:1c" is not in this game: play a card, or set exchange=yes`,
		96:    "env: game 1, deal 1: action 96 is no move of brisca: try ",
		65535: "env: game 1, deal 1: action 65535 is no move of brisca: try ",
	} {
		bad := slices.Clone(good)
		binary.LittleEndian.PutUint16(bad[2:], action)
		if err := b.Step(t.Context(), bad); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("action %d: %v, want %s", action, err, want)
		}
	}
	if !bytes.Equal(before, b.message) {
		t.Error("the games have changed")
	}
	if err := b.Step(t.Context(), good); err != nil {
		t.Error(err)
	}
}

// TestAllocations checks that a step allocates memory only at the end of a game.
func TestAllocations(t *testing.T) {
	b := newTestBatch(t, 1, "brisca", "games", 100, "arrays", optionalArrays)
	kit.Must(t, b.Reset(t.Context(), rules.Seed{1}, 0))
	actions := make([]byte, 200)
	if n := testing.AllocsPerRun(30, func() {
		for i := range b.slots {
			binary.LittleEndian.PutUint16(actions[2*i:], uint16(b.legal(i)[0]))
		}
		kit.Must(t, b.Step(t.Context(), actions))
	}); n > 10 {
		t.Errorf("%v allocations for a step of 100 games", n)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, text := range variants {
		b.Run(strings.ReplaceAll(text, " ", ","), func(b *testing.B) {
			const games = 1024
			e := newTestBatch(b, 1, text, "games", games)
			kit.Must(b, e.Reset(b.Context(), rules.Seed{1}, 0))
			r := rules.NewRand(1)
			n := 0
			for b.Loop() {
				kit.Must(b, e.Step(b.Context(), randomActions(e, r)))
				n += games
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/action")
		})
	}
}
