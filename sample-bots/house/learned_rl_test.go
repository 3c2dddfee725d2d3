package house

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/learn"
)

// The built-in models beat random players.
func TestRLRaced(t *testing.T) { rlBeatsRandom(t, 10) }

func rlBeatsRandom(t *testing.T, rounds uint64) {
	for _, mode := range rlModes(t) {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			v := mode.Variant(mode.Rules()[0])
			g := kit.Get[*rules.Game](t)(games.Find(v.Game.Name))
			tb := resolve(t, g, v.Settings.String())
			total, n := 0.0, 0
			for deal := range rounds {
				for seat := range mode.Players {
					seats := make([]string, mode.Players)
					for i := range seats {
						seats[i] = "random"
						if mode.Side(i) == mode.Side(seat) {
							seats[i] = "rl"
						}
					}
					result, _ := tb.play(t, deal, seats)
					total += score(result, seat)
					n++
				}
			}
			if mean := total / float64(n); mean < 0.55 { // chance is 0.5
				t.Errorf("%.3f of the games of %v", mean, mode)
			}
		})
	}
}

// rlModes returns the modes that the program has a model for: those of two players at least.
func rlModes(t *testing.T) (modes []learn.Mode) {
	for _, mode := range learn.Modes() {
		_, err := rlModels.load(builtIn, mode)
		switch {
		case err == nil:
			modes = append(modes, mode)
		case mode.Players == 2 || err.Error() != noModel("rl", mode).Error():
			t.Error(err)
		}
	}
	return modes
}

func TestRLForAnotherMode(t *testing.T) {
	p := kit.Get[Player](t)(Find("rl:model=models/rl/tute2.timba"))
	tb := resolve(t, brisca.Game, "")
	a := p.Answer(firstTurn(tb))
	want := "models/rl/tute2.timba: the model is for tute2, not for brisca2: train one by timba train rl --mode brisca2"
	if a.Err == nil || a.Err.Error() != want {
		t.Errorf("%v, not %s", a.Err, want)
	}
}

// firstTurn returns the first turn of a deal.
func firstTurn(tb *table) *protocol.Turn {
	stream := rules.NewStream(rules.Seed{1})
	return tb.turn(tb.variant.Deal(&stream), &protocol.Game{
		Name: tb.variant.Game.Name, Settings: protocol.Pairs(tb.variant.Settings.String()), Players: tb.variant.Players,
	})
}

func BenchmarkRLLoad(b *testing.B) {
	for b.Loop() {
		if _, err := rlModels.load(builtIn, learn.Mode{Tute: true, FollowOnly: true, Players: 2}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRLMove(b *testing.B) {
	p := kit.Get[Player](b)(Find("rl"))
	turn := firstTurn(resolve(b, brisca.Game, ""))
	for b.Loop() {
		p.Answer(turn)
	}
}
