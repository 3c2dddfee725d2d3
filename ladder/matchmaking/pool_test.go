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
)

// referencePool chooses by the rule of docs/ratings.md in the simplest way: it looks at every player.
type referencePool struct {
	sides    []int
	finished int
	players  []Candidate
	met      map[int64]map[int64]int
}

func (l *referencePool) indexOf(id int64) int {
	return slices.IndexFunc(l.players, func(p Candidate) bool { return p.ID == id })
}

// urgency returns the urgency of a player: the share of the ladder that has played since its last match, and
// how new it is. House bots are less urgent while others play.
func (l *referencePool) urgency(p *Candidate) float64 {
	waited := 0.0
	if p.OpenMatches == 0 {
		waited = float64(l.finished-p.LastOrder) / float64(len(l.players))
	}
	if p.House && slices.ContainsFunc(l.players, func(p Candidate) bool { return !p.House }) {
		return waited
	}
	return waited + newness(p)
}

// first returns the most urgent player, drawn among equals.
func (l *referencePool) first(r *rand.Rand) *Candidate {
	var best *Candidate
	for _, i := range r.Perm(len(l.players)) {
		if p := &l.players[i]; best == nil || l.urgency(p) > l.urgency(best) {
			best = p
		}
	}
	return best
}

// opponent returns the nearest player.
func (l *referencePool) opponent(seated []*Candidate, r *rand.Rand) (best *Candidate) {
	first, least := seated[0], math.Inf(1)
	average := averageMeetings(first, len(l.sides), len(l.players))
	for i := range l.players {
		p := &l.players[i]
		if slices.Contains(seated, p) {
			continue
		}
		distance := math.Abs(p.Elo-first.Elo) + uncertaintyDistance(p) + chanceElo*r.Float64()
		for _, s := range seated {
			distance += meetingsElo * float64(l.met[s.ID][p.ID]) / average / float64(len(seated))
			if s.Owner == p.Owner && s.Owner != 0 {
				distance += sameOwnerElo
			}
		}
		if distance < least {
			best, least = p, distance
		}
	}
	return best
}

// next chooses a match.
func (l *referencePool) next(r *rand.Rand) (slots []int64) {
	var seated []*Candidate
	for p := l.first(r); ; p = l.opponent(seated, r) {
		seated = append(seated, p)
		slots = append(slots, p.ID)
		if len(slots) == len(l.sides) {
			return slots
		}
	}
}

// After any changes a pool equals one that is made from the current players, and its first choice is the most
// urgent one.
func TestPoolIsTheLadder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sides := rapid.SampledFrom([][]int{{0, 1}, {0, 1, 2}, {0, 1, 0, 1}}).Draw(t, "sides")
		seed := rapid.Uint64().Draw(t, "seed")
		r := newRand(seed)
		var id, match int64
		l := &referencePool{sides: sides, finished: 100, met: map[int64]map[int64]int{}}
		arrival := func() Candidate {
			id++
			l.met[id] = map[int64]int{}
			return Candidate{ID: id, Owner: id % 4, House: id%4 == 0, Elo: 100 * r.NormFloat64(), Uncertainty: r.Float64(), Matches: 1 + r.IntN(200), LastOrder: l.finished - r.IntN(50)}
		}
		for range rapid.IntRange(len(sides), 20).Draw(t, "players") {
			l.players = append(l.players, arrival())
		}
		p := NewPool(sides, l.finished, slices.Clone(l.players))
		open := map[int64][]int64{}
		idle := func(p *Candidate) bool { return p.House && p.Matches > 100 }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			for i := range l.players {
				player := &l.players[i]
				player.OpenMatches = 0
				for _, versions := range open {
					player.OpenMatches += len(slices.DeleteFunc(slices.Clone(versions), func(v int64) bool { return v != player.ID }))
				}
			}
			metOf := func(version int64) map[int64]int {
				out := maps.Clone(l.met[version])
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
			if diff := cmp.Diff(l.players, p.players, cmpopts.EquateEmpty()); diff != "" || p.finishedMatches != l.finished {
				t.Fatalf("%d are finished, want %d; players: %s", p.finishedMatches, l.finished, diff)
			}
			got, unknown := p.Next(Constraints{IsIdle: idle}, r)
			for unknown != 0 {
				p.SetMeetings(unknown, maps.Clone(l.met[unknown]))
				got, unknown = p.Next(Constraints{IsIdle: idle}, r)
			}
			if got != nil {
				checkSlots(t, p, got)
			}
			for _, player := range l.players {
				if met, want := p.Meetings(player.ID), metOf(player.ID); met != nil && !maps.Equal(met, want) {
					t.Fatalf("version %d has met %v, want %v", player.ID, met, want)
				}
			}
			first := p.mostUrgent(Constraints{}, r)
			if l.urgency(first) < l.urgency(l.first(r))-1e-9 {
				t.Fatalf("version %d is not the most urgent of %+v", first.ID, l.players)
			}
			switch step := r.IntN(10); {
			case step == 0 && len(l.players) > len(sides):
				i := r.IntN(len(l.players))
				p.Update(nil, []int64{l.players[i].ID})
				l.players = slices.Delete(l.players, i, i+1)
			case step == 1:
				l.players = append(l.players, arrival())
				p.Update(slices.Clone(l.players[len(l.players)-1:]), nil)
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
				moved := l.finish(versions, r)
				p.Finish(m, l.finished, moved)
			}
		}
	})
}

// finish ends a match and returns its results.
func (l *referencePool) finish(versions []int64, r *rand.Rand) (moved []PlayerRating) {
	l.finished++
	for slot, a := range versions {
		m := PlayerRating{ID: a, Elo: 100 * r.NormFloat64(), Uncertainty: r.Float64(), Matches: 1 + r.IntN(200)}
		moved = append(moved, m)
		if i := l.indexOf(a); i >= 0 {
			p := &l.players[i]
			p.Elo, p.Uncertainty, p.Matches, p.LastOrder = m.Elo, m.Uncertainty, m.Matches, l.finished
		}
		for other, b := range versions {
			if l.sides[slot] != l.sides[other] {
				l.met[a][b]++
			}
		}
	}
	return moved
}

// Equals are drawn with the same probability, whatever their order.
func TestPoolTies(t *testing.T) {
	p := newSoloPool(2, experiencedPlayers(200))
	p.Open(1, []int64{10, 11})
	r, count := newRand(1), map[int64]float64{}
	const draws = 19_800
	for range draws {
		count[p.mostUrgent(Constraints{}, r).ID]++
	}
	square := 0.0
	for _, n := range count {
		square += (n - 100) * (n - 100) / 100
	}
	if len(count) != 198 || square > 198+5*math.Sqrt(2*198) {
		t.Errorf("%d are drawn, chi² is %.0f", len(count), square)
	}
}

// Players that cannot play are not chosen, and the others are chosen as if they were alone.
func TestPoolMay(t *testing.T) {
	for seed := range uint64(50) {
		p := newSoloPool(4, experiencedPlayers(12))
		may := func(n int64) func(*Candidate) bool { return func(p *Candidate) bool { return p.ID <= n } }
		slots, _ := p.Next(Constraints{CanPlay: may(5)}, newRand(seed))
		if len(slots) != 4 || slices.Max(slots) > 5 {
			t.Errorf("the players are %v, of the first 5", slots)
		}
		if slots, _ := p.Next(Constraints{CanPlay: may(3)}, newRand(seed)); slots != nil {
			t.Errorf("the players are %v, of the first 3", slots)
		}
	}
}

func BenchmarkPool(b *testing.B) {
	lastTwo := func(players int) func(*Candidate) bool {
		return func(p *Candidate) bool { return p.ID > int64(players-2) }
	}
	for _, c := range []struct {
		name    string
		players int
		may     func(*Candidate) bool
	}{{"1000", 1000, nil}, {"10000", 10_000, nil}, {"5000 of which two may play", 5000, lastTwo(5000)}} {
		b.Run(c.name, func(b *testing.B) {
			r, p := newRand(1), newSoloPool(2, experiencedPlayers(c.players))
			order := 0
			b.ReportAllocs()
			for b.Loop() {
				slots, _ := p.Next(Constraints{CanPlay: c.may}, r)
				order++
				var moved []PlayerRating
				for _, id := range slots {
					moved = append(moved, PlayerRating{ID: id, Elo: float64(id * 7919 % 1000), Uncertainty: 0.02, Matches: 200 + order})
				}
				p.Finish(0, order, moved)
			}
		})
	}
}

// A pool forgets all meetings if it has more than maxMeetings. Setting the meetings of a version again adds none.
func TestMeetingsKept(t *testing.T) {
	p := newSoloPool(2, nil)
	met := map[int64]int{}
	for id := range int64(1000) {
		met[id] = 1
	}
	known := func(version int64) bool { return p.Meetings(version) != nil }
	for range 3 * maxMeetings / len(met) {
		p.SetMeetings(1, met)
	}
	p.SetMeetings(2, met)
	if !known(1) {
		t.Error("a version that is learned often takes more room")
	}
	last := int64(maxMeetings/len(met)) + 1
	for version := int64(3); version <= last; version++ {
		p.SetMeetings(version, met)
	}
	if !known(1) || !known(last) {
		t.Fatalf("%d versions with %d meetings each are not kept", last, len(met))
	}
	p.SetMeetings(last+1, met)
	if known(1) || known(last) || !known(last+1) {
		t.Error("more than maxMet are kept")
	}
}
