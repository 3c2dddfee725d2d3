//go:build soak

package house

import (
	"flag"
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/stats"
)

// levelDeals is 0 by default, which only checks the order of the levels.
var levelDeals = flag.Int("levels", 0, "deals that TestLevelsInOrder plays for each pair of levels; 500 to measure them")

// topNodes is the node limit of the champion when it is measured, about a tenth of a second for a move.
var topNodes = map[string]int{"brisca": 20_000, "tute": 20_000, "podrida": 5_000, "tebes": 200_000, "teeko": 200_000}

// topPart means that one of this many deals is played with the champion.
const topPart = 5

// levelSpec returns the spec of a level that does not depend on the clock.
func levelSpec(game string, l ChampionLevel) string {
	if l.Number < topLevel {
		return l.Spec
	}
	return fmt.Sprintf("%s:nodes=%d", l.Spec, topNodes[game])
}

// levelTrials is the number of deals, by game, that show the order of the levels. The deals are always the same.
var levelTrials = map[string]int{"brisca": 200, "tute": 200, "podrida": 15, "tebes": 30, "teeko": 30}

// TestLevelsInOrder checks that each level is better than the one below. With -levels 500 it prints the
// differences in Elo for docs/house-bots.md.
func TestLevelsInOrder(t *testing.T) {
	for _, g := range games.All() {
		for i, weak := range Levels()[:topLevel-1] {
			strong := Levels()[i+1]
			t.Run(fmt.Sprintf("%s-%d", g.Name, strong.Number), func(t *testing.T) {
				deals := max(*levelDeals, levelTrials[g.Name])
				if strong.Number == topLevel {
					if deals = *levelDeals / topPart; deals == 0 {
						return
					}
				}
				t.Parallel()
				score := levelDuel(t, g, levelSpec(g.Name, weak), levelSpec(g.Name, strong), deals)
				t.Logf("%s: level %d is %+.0f Elo (%+.0f to %+.0f) above level %d, %d deals", g.Name, strong.Number,
					stats.Elo(score.Value), stats.Elo(score.Low), stats.Elo(score.High), weak.Number, deals)
				if score.Value <= 0.5 || *levelDeals > 0 && score.Low <= 0.5 {
					t.Errorf("level %d scores %.3f (%.3f to %.3f) against level %d", strong.Number, score.Value, score.Low, score.High, weak.Number)
				}
			})
		}
	}
}

// TestPodridaChampionIsBetter checks that the champion, with few nodes and fixed seeds, wins more points than
// @greedy and the bots of the study. docs/house-bots.md has the measurement with many nodes.
func TestPodridaChampionIsBetter(t *testing.T) {
	tb := resolve(t, podrida.Game, "")
	for _, other := range []string{"podrida-rules", "podrida-mcts", "greedy"} {
		t.Run(other, func(t *testing.T) {
			t.Parallel()
			tb := &table{variant: tb.variant}
			if d := tb.margin(t, "champion:nodes=300,memory=1", other, 16); d <= 0 {
				t.Errorf("the champion wins %.1f points more than @%s", d, other)
			} else {
				t.Logf("the champion wins %.1f points more than @%s", d, other)
			}
		})
	}
}

// TestNetBeatsTheThesis checks that @net scores more than half against each agent of the thesis.
// lab/README.md has the measurement with thousands of deals.
func TestNetBeatsTheThesis(t *testing.T) {
	const deals = uint64(150)
	for _, m := range []cards.Mode{{Players: 2}, {Tute: true, Players: 2}} {
		v := m.Variant(m.Rules()[0])
		g, err := games.Find(v.Game.Name)
		kit.Must(t, err)
		tb := resolve(t, g, v.Settings.String())
		for _, rival := range []string{"sl", "rl", "ga"} {
			won := 0.0
			for deal := range deals {
				for seat := range 2 {
					seats := []string{rival, rival}
					seats[seat] = "net"
					result, _ := tb.play(t, deal, seats)
					won += score(result, seat)
				}
			}
			if share := won / float64(2*deals); share <= 0.5 {
				t.Errorf("%v: @net has won %.3f against @%s", m, share, rival)
			} else {
				t.Logf("%v: %.3f against @%s", m, share, rival)
			}
		}
	}
}

// TestCardChampionScoresEverywhere checks that the champion is clearly better than simple bots even with few
// iterations, for all numbers of seats. Seeds are fixed.
func TestCardChampionScoresEverywhere(t *testing.T) {
	for _, c := range []championCase{
		{"brisca", "", "brisca-basic", 40, 0.6},
		{"brisca", "exchange=yes last10=yes blackhand=yes hunt3=yes", "random", 20, 0.75},
		{"brisca", "players=3", "random", 30, 0.6},
		{"brisca", "players=4", "random", 30, 0.6},
		{"brisca", "players=4 teams=yes exchange=yes", "random", 30, 0.7},
		{"tute", "", "random", 20, 0.6},
		{"tute", "exchange=yes last10=yes blackhand=yes hunt3=yes followonly=yes", "random", 20, 0.6},
		{"tute", "players=3", "random", 30, 0.6},
		{"tute", "players=4 teams=yes exchange=yes", "random", 30, 0.55},
	} {
		c.run(t)
	}
}

// TestRLBeatsRandom checks that the built-in models of @rl beat random players.
func TestRLBeatsRandom(t *testing.T) { rlBeatsRandom(t, 60) }

func TestAlphaBetaIsMinimaxInManyPositions(t *testing.T) { alphaBetaIsMinimax(t, 3000) }

func TestManyEndgamesAreExact(t *testing.T) { endgamesAreExact(t, 2000) }

func TestMCTSFindsDeepWins(t *testing.T) { mctsFindsWins(t, 3) }
