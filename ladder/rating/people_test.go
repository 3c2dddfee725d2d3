package rating

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// The worked example of Glickman's paper.
func TestGlicko(t *testing.T) {
	got := Current.afterPeriod(Glicko{1500, 200, 0.06}, []duel{
		{Glicko{1400, 30, 0.06}, 1}, {Glicko{1550, 100, 0.06}, 0}, {Glicko{1700, 300, 0.06}, 0},
	})
	checkNear(t, "rating", got.Rating, 1464.06, 0.01)
	checkNear(t, "deviation", got.Deviation, 151.52, 0.01)
	checkNear(t, "volatility", got.Volatility, 0.05999, 0.00001)
}

// The volatility solves the equation of step 5 in the paper, whatever the result.
func TestVolatility(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := Glicko{1500, rapid.Float64Range(30, 350).Draw(rt, "deviation"), rapid.Float64Range(0.03, 0.1).Draw(rt, "volatility")}
		square := math.Pow(p.Deviation/Current.Scale, 2)
		v, delta := rapid.Float64Range(0.5, 50).Draw(rt, "v"), rapid.Float64Range(-30, 30).Draw(rt, "delta")
		x, a := 2*math.Log(Current.volatility(p, square, v, delta)), 2*math.Log(p.Volatility)
		f := math.Exp(x)*(delta*delta-square-v-math.Exp(x))/(2*math.Pow(square+v+math.Exp(x), 2)) - (x-a)/(Current.Tau*Current.Tau)
		if math.Abs(f) > 1e-9 {
			rt.Errorf("f is %v at %v", f, x)
		}
	})
}

// Ratings of people have the same bits on every machine.
func TestPeopleBits(t *testing.T) {
	got := Current.afterPeriod(Glicko{1612.25, 211.5, 0.061}, []duel{{Glicko{1444.75, 82.125, 0.059}, 0}, {Current.Person, 0.5}})
	want := [3]uint64{0x40970c34a44992f9, 0x40660db5037cc13f, 0x3faf3b88d3561845}
	if bits := [3]uint64{math.Float64bits(got.Rating), math.Float64bits(got.Deviation), math.Float64bits(got.Volatility)}; bits != want {
		t.Errorf("the rating is %+v, %#x, want %#x", got, bits, want)
	}
}

func variantOf(t *testing.T, game string, options map[string]string) *rules.Variant {
	g := kit.Get[*rules.Game](t)(games.Find(game))
	return kit.Get[*rules.Variant](t)(g.Resolve(options))
}

// A game counts as a result against each person of another side.
func TestPeople(t *testing.T) {
	two := variantOf(t, "brisca", nil)
	after := Current.People(two, []Glicko{Current.Person, Current.Person}, []int{2, 1})
	if want := Current.afterPeriod(Current.Person, []duel{{Current.Person, 0}}); after[0] != want {
		t.Errorf("who has lost has %+v, want %+v", after[0], want)
	}
	checkNear(t, "what both have won", after[0].Rating+after[1].Rating, 2*Current.Person.Rating, 1e-9)
	if after := Current.People(two, []Glicko{Current.Person, Current.Person}, []int{1, 1}); after[0].Rating != Current.Person.Rating || after[0].Deviation >= 350 {
		t.Errorf("a draw gives %+v", after[0])
	}
	four := variantOf(t, "brisca", map[string]string{"players": "4"})
	after = Current.People(four, []Glicko{Current.Person, Current.Person, Current.Person, Current.Person}, []int{1, 2, 2, 4})
	if want := Current.afterPeriod(Current.Person, []duel{{Current.Person, 0}, {Current.Person, 0.5}, {Current.Person, 1}}); after[1] != want || after[2] != want {
		t.Errorf("those in the middle have %+v and %+v, want %+v", after[1], after[2], want)
	}
	teams := variantOf(t, "brisca", map[string]string{"players": "4", "teams": "yes"})
	after = Current.People(teams, []Glicko{Current.Person, Current.Person, Current.Person, Current.Person}, []int{1, 2, 1, 2})
	if want := Current.afterPeriod(Current.Person, []duel{{Current.Person, 1}, {Current.Person, 1}}); after[0] != want || after[2] != want {
		t.Errorf("the partners have %+v and %+v, want %+v", after[0], after[2], want)
	}
}

// After a dozen games with equals a rating is no longer provisional, and it stays so.
func TestPeopleSettle(t *testing.T) {
	v := variantOf(t, "teeko", nil)
	now, settled := []Glicko{Current.Person, Current.Person}, 0
	for n := range 500 {
		ranks := []int{1, 2}
		if n%2 == 1 {
			ranks = []int{2, 1}
		}
		now = Current.People(v, now, ranks)
		if settled == 0 && now[0].Deviation <= 110 {
			settled = n + 1
		}
		if settled > 0 && now[0].Deviation > 110 {
			t.Fatalf("after %d games the deviation is %v", n+1, now[0].Deviation)
		}
	}
	if settled < 8 || settled > 20 {
		t.Errorf("a rating is provisional for %d games", settled)
	}
}
