package matchmaking

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// experiencedPlayers returns n players, 10 Elo apart, that have all played many matches.
func experiencedPlayers(n int) (players []Candidate) {
	for i := range n {
		players = append(players, Candidate{ID: int64(i + 1), Elo: 1000 + 10*float64(i), Uncertainty: 0.02, Matches: 200})
	}
	return players
}

// newSoloPool returns a pool of a ladder without teams, on which nobody has met.
func newSoloPool(slots int, players []Candidate) *Pool {
	sides := make([]int, slots)
	for i := range sides {
		sides[i] = i
	}
	p := NewPool(sides, 0, players)
	for _, player := range players {
		p.SetMeetings(player.ID, nil)
	}
	return p
}

// playMatch chooses and finishes a match that changes no Elo.
func playMatch(t interface{ Fatalf(string, ...any) }, p *Pool, c Constraints, r *rand.Rand) []int64 {
	slots, unknown := p.Next(c, r)
	if slots == nil {
		t.Fatalf("no match for %d players and %d slots; the meetings of %d are unknown", len(p.players), len(p.sides), unknown)
	}
	checkSlots(t, p, slots)
	var moved []PlayerRating
	for _, id := range slots {
		player := p.player(id)
		moved = append(moved, PlayerRating{ID: id, Elo: player.Elo, Uncertainty: player.Uncertainty, Matches: player.Matches + 1})
	}
	p.Finish(0, p.finishedMatches+1, moved)
	return slots
}

func checkSlots(t interface{ Fatalf(string, ...any) }, p *Pool, slots []int64) {
	if len(slots) != len(p.sides) {
		t.Fatalf("%d slots are filled, want %d", len(slots), len(p.sides))
	}
	for i, id := range slots {
		if slices.Contains(slots[:i], id) {
			t.Fatalf("version %d plays itself: %v", id, slots)
		}
		if p.player(id) == nil {
			t.Fatalf("version %d is not a player of the ladder", id)
		}
	}
}

// Nobody waits forever: every version plays at least once in any 2N matches, where N is the largest number of
// players meanwhile, whatever players come and go.
func TestNobodyWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(2, 4).Draw(t, "slots")
		start := rapid.IntRange(slots, 80).Draw(t, "players")
		arrivals := rapid.Float64Range(0, 0.8).Draw(t, "arrivals a match")
		departures := rapid.Float64Range(0, 0.4).Draw(t, "departures a match")
		spread := rapid.Float64Range(0, 2000).Draw(t, "spread")
		r := newRand(rapid.Uint64().Draw(t, "seed"))
		p := newSoloPool(slots, nil)
		last := int64(0)
		arrive := func(matches int) {
			last++
			p.Update([]Candidate{{ID: last, Elo: spread * r.NormFloat64(), Uncertainty: 30 / float64(1+matches), Matches: matches, LastOrder: p.finishedMatches, House: r.IntN(3) == 0}}, nil)
			p.SetMeetings(last, nil)
		}
		for range start {
			arrive(r.IntN(500))
		}
		most := map[int64]int{} // largest number of players since a version's last match
		for range 300 {
			if r.Float64() < arrivals && len(p.players) < 120 {
				arrive(0)
			}
			if r.Float64() < departures && len(p.players) > slots {
				p.Update(nil, []int64{p.players[r.IntN(len(p.players))].ID})
			}
			for _, player := range p.players {
				most[player.ID] = max(most[player.ID], len(p.players))
			}
			playMatch(t, p, Constraints{}, r)
			for _, player := range p.players {
				if waited := p.finishedMatches - player.LastOrder; waited >= 2*most[player.ID] {
					t.Fatalf("version %d has waited for %d matches among at most %d players", player.ID, waited, most[player.ID])
				} else if waited == 0 {
					most[player.ID] = 0
				}
			}
		}
	})
}

// Uncertain players come first: a newcomer has the next match, and most of the next ten.
func TestNewcomersFirst(t *testing.T) {
	r, p := newRand(1), newSoloPool(2, experiencedPlayers(100))
	for range 500 {
		playMatch(t, p, Constraints{}, r)
	}
	const newcomer = 1000
	p.Update([]Candidate{{ID: newcomer, Elo: 1000, Uncertainty: 30, LastOrder: p.finishedMatches}}, nil)
	p.SetMeetings(newcomer, nil)
	if slots := playMatch(t, p, Constraints{}, r); !slices.Contains(slots, newcomer) {
		t.Errorf("versions %v play, not the newcomer", slots)
	}
	played := 1
	for range 100 {
		if slices.Contains(playMatch(t, p, Constraints{}, r), newcomer) {
			played++
		}
	}
	// The other players have two matches in that time.
	if played < 6 {
		t.Errorf("the newcomer plays %d of 101 matches among 100 others", played)
	}
}

// A newcomer plays before house bots that are equally new, and has most of the matches from then on.
func TestNewHouseBotsWait(t *testing.T) {
	for seed := range uint64(20) {
		players := []Candidate{{ID: 9, Elo: 1000, Uncertainty: 30}}
		for i := range 8 {
			players = append(players, Candidate{ID: int64(i + 1), Elo: 1000, Uncertainty: 30, House: true})
		}
		r, p := newRand(seed), newSoloPool(2, players)
		played := 0
		for range 20 {
			if slots := playMatch(t, p, Constraints{}, r); slices.Contains(slots, 9) {
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

// There is no match of idle versions alone. Other versions play them as before.
func TestIdle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRand(rapid.Uint64().Draw(t, "seed"))
		slots := rapid.IntRange(2, 4).Draw(t, "slots")
		players := experiencedPlayers(rapid.IntRange(slots, 12).Draw(t, "players"))
		busy := rapid.IntRange(0, len(players)).Draw(t, "not idle")
		for i := range players {
			players[i].House = i >= busy
		}
		p := newSoloPool(slots, players)
		idle := Constraints{IsIdle: func(p *Candidate) bool { return p.House }}
		if busy == 0 {
			if s, _ := p.Next(idle, r); s != nil {
				t.Fatalf("idle versions %v play", s)
			}
			return
		}
		for range 30 {
			if s := playMatch(t, p, idle, r); !slices.ContainsFunc(s, func(id int64) bool { return int(id) <= busy }) {
				t.Fatalf("idle versions %v play, and %d others are there", s, busy)
			}
		}
		for _, player := range p.players {
			if player.Matches == 200 && 30 > 2*len(players) {
				t.Fatalf("version %d of %d has not played in 30 matches", player.ID, len(players))
			}
		}
	})
}

// Opponents are near in Elo and have seldom met, and yet many different ones are chosen.
func TestOpponents(t *testing.T) {
	r, p := newRand(2), newSoloPool(2, experiencedPlayers(100))
	distance, matches := 0.0, 5000
	for range matches {
		s := playMatch(t, p, Constraints{}, r)
		distance += math.Abs(float64(s[0]-s[1])) * 10 / float64(matches)
	}
	if distance < 40 || distance > 200 { // 333 if they were drawn
		t.Errorf("opponents are %.0f Elo apart", distance)
	}
	often := 0
	for _, others := range p.meetings {
		for _, n := range others {
			often = max(often, n)
		}
	}
	if often > 20 { // a version has 100 matches
		t.Errorf("two versions met %d times", often)
	}
	// The opponent cannot be predicted from the state of the pool.
	own := p.players[50]
	own.LastOrder -= 1000
	p.Update([]Candidate{own}, nil)
	opponents := map[int64]int{}
	for range 1000 {
		slots, _ := p.Next(Constraints{}, r)
		opponents[slots[0]+slots[1]-own.ID]++
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

// Opponents with a certain Elo are preferred.
func TestKnownOpponents(t *testing.T) {
	var players []Candidate
	for i := range 20 {
		players = append(players, Candidate{ID: int64(i + 1), Elo: 1000, Uncertainty: 30})
	}
	players[7].Uncertainty = 0
	for seed := range uint64(20) {
		if slots := playMatch(t, newSoloPool(2, slices.Clone(players)), Constraints{}, newRand(seed)); !slices.Contains(slots, players[7].ID) {
			t.Errorf("newcomers %v play each other, and not the one whose Elo is known", slots)
		}
	}
}

// Bots of one owner meet only if there are hardly any other players.
func TestOwners(t *testing.T) {
	players := experiencedPlayers(30)
	for i := 10; i < 15; i++ {
		players[i].Owner = 9
	}
	r, p := newRand(3), newSoloPool(2, slices.Clone(players))
	related := 0
	for range 1000 {
		s := playMatch(t, p, Constraints{}, r)
		if s[0] > 10 && s[0] <= 15 && s[1] > 10 && s[1] <= 15 {
			related++
		}
	}
	if related > 3 {
		t.Errorf("bots of one owner met %d times in 1000 matches", related)
	}
	playMatch(t, newSoloPool(2, players[10:12]), Constraints{}, r)
}

func TestSlotsAreShuffled(t *testing.T) {
	r, p := newRand(4), newSoloPool(4, experiencedPlayers(4))
	count := map[int64]int{}
	const choices = 4000
	for range choices {
		slots, _ := p.Next(Constraints{}, r)
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
		if slots, _ := newSoloPool(4, experiencedPlayers(players)).Next(Constraints{}, newRand(1)); slots != nil {
			t.Errorf("%d players fill %v", players, slots)
		}
	}
	if slots, _ := newSoloPool(0, experiencedPlayers(2)).Next(Constraints{}, newRand(1)); slots != nil {
		t.Errorf("a ladder without slots has the match %v", slots)
	}
}

// Every state gives a valid match or none, and the same one from the same random numbers.
func FuzzNext(f *testing.F) {
	f.Add(uint64(1), uint8(2), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add(uint64(2), uint8(4), []byte{255, 0, 255, 0, 255, 0, 128, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 9})
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e300, 1e300}
	f.Fuzz(func(t *testing.T, seed uint64, slots uint8, data []byte) {
		var players []Candidate
		for len(data) >= 5 {
			p := Candidate{ID: int64(len(data)), Owner: int64(data[1] % 4), Elo: 16 * float64(data[2]), Uncertainty: float64(data[3]) / 8,
				Matches: int(data[4]), LastOrder: int(data[1]) * -3}
			if n := int(data[2]); n < len(odd) {
				p.Elo, p.Uncertainty = odd[n], odd[len(odd)-1-n]
			}
			players = append(players, p)
			data = data[5:]
		}
		p := newSoloPool(int(slots%9), players)
		for _, a := range players {
			others := map[int64]int{}
			for _, b := range players {
				others[b.ID] = int(a.ID^b.ID) % 7
			}
			p.SetMeetings(a.ID, others)
		}
		if len(p.sides) > 0 {
			for i := 0; i < len(players); i += 3 {
				p.Open(int64(-i-1), slices.Repeat([]int64{players[i].ID}, len(p.sides)))
			}
		}
		first, _ := p.Next(Constraints{}, newRand(seed))
		if again, _ := p.Next(Constraints{}, newRand(seed)); !slices.Equal(first, again) {
			t.Fatalf("%v, and %v from the same source", first, again)
		}
		if want := len(p.sides) >= 2 && len(players) >= len(p.sides); (first != nil) != want {
			t.Fatalf("a match: %v, want %v, of %d versions for %d slots", first, want, len(players), len(p.sides))
		}
		if first != nil {
			checkSlots(t, p, first)
		}
	})
}
