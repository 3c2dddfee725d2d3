package house

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/endgame"
)

// TestBriscaAgents checks the moves of the study's agents in positions where its rules allow a single move.
func TestBriscaAgents(t *testing.T) {
	const (
		begun = " points=0,0 played=- leaders=- known=-/-"
		lead  = "brisca seat=0 ply=0"
		put   = "brisca seat=1 ply=1"
	)
	for _, c := range []struct{ about, bot, game, view, want string }{
		{"leads its lowest-valued card", "basic", lead, "hand=11o,4c,12e trump=5c stock=34 leader=0 trick=-" + begun, "11o"},
		{"leads an ace before a trump", "basic", lead, "hand=1o,2c,4c trump=5c stock=34 leader=0 trick=-" + begun, "1o"},
		{"leads its lowest trump", "basic", lead, "hand=1c,4c,7c trump=5c stock=34 leader=0 trick=-" + begun, "4c"},
		{"leads the weakest of equal cards", "basic", lead, "hand=2o,7e,4b trump=5c stock=34 leader=0 trick=-" + begun, "2o"},
		{"answers with what gains most, whatever it costs", "basic", put, "hand=1o,3o,12e trump=5o stock=34 leader=0 trick=10o" + begun, "1o"},
		{"loses least", "basic", put, "hand=3e,12e,10b trump=5o stock=34 leader=0 trick=1o" + begun, "10b"},
		{"takes the trump card", "basic", "brisca exchange=yes seat=0 ply=0", "hand=2o,7c,4b trump=1c stock=34 leader=0 trick=-" + begun, "swap:7c"},
		{"leads up to a king", "weighted", lead, "hand=12o,2c,3e trump=5c stock=34 leader=0 trick=-" + begun, "12o"},
		{"leads a trump before a three", "weighted", lead, "hand=3o,1c,2c trump=5c stock=34 leader=0 trick=-" + begun, "2c"},
		{"leads a three before an ace", "weighted", lead, "hand=3o,1e,1b trump=5c stock=34 leader=0 trick=-" + begun, "3o"},
		{"the study's example", "weighted", put, "hand=1o,3o,12e trump=5o stock=34 leader=0 trick=10o" + begun, "3o"},
		{"without a cost, the greatest gain", "weighted:cost=0", put, "hand=1o,3o,12e trump=5o stock=34 leader=0 trick=10o" + begun, "1o"},
		{"no trump for nothing", "weighted", put, "hand=5o,2c,6e trump=5c stock=34 leader=0 trick=4b" + begun, "5o"},
		{"a trump for an ace", "weighted", put, "hand=5o,2c,6e trump=5c stock=34 leader=0 trick=1b" + begun, "2c"},
		{"minimax is weighted until the stock is gone", "minimax", put, "hand=1o,3o,12e trump=5o stock=34 leader=0 trick=10o" + begun, "3o"},
		{"points for a partner", "basic", "brisca players=4 teams=yes seat=2 ply=10", "hand=3o,4e,2b trump=5c stock=20 leader=0 trick=1o,2o points=30,0,0,0 played=1c,3c,12c,11c,10c,7c,6c,4c leaders=0,0 known=-/-/-/-", "3o"},
		{"no points for another side", "basic", "brisca players=4 seat=2 ply=10", "hand=3o,4e,2b trump=5c stock=20 leader=0 trick=1o,2o points=30,0,0,0 played=1c,3c,12c,11c,10c,7c,6c,4c leaders=0,0 known=-/-/-/-", "2b"},
	} {
		t.Run(c.bot+" "+c.about, func(t *testing.T) {
			for seed := range uint64(8) {
				if got := answer(t, "brisca-"+c.bot, c.game, c.view, seed); got != c.want {
					t.Fatalf("%s is played, want %s", got, c.want)
				}
			}
		})
	}
}

func answer(t testing.TB, bot, game, view string, seed uint64) string {
	t.Helper()
	p := kit.Get[Player](t)(NewPlayer(bot))
	at := turn(game, view, nil, seed)
	s := kit.Get[rules.State](t)(new(positions).positionAt(at))
	at.Moves = []byte(rules.Observe(s, at.Game.Seat).Moves)
	return string(p.Answer(at).Move)
}

// TestBriscaEffectiveValue checks the values in the study's example: oros are trumps, and the 10 of oros is led.
func TestBriscaEffectiveValue(t *testing.T) {
	at := turn("brisca seat=1 ply=1", "hand=1o,3o,12e trump=5o stock=34 leader=0 trick=10o points=0,0 played=- leaders=- known=-/-", nil, 1)
	s := kit.Get[rules.State](t)(new(positions).positionAt(at))
	a := studyAppraiser{gain: 9.5, cost: 2}
	a.read(s, 1)
	var got []string
	for _, m := range s.Legal(nil) {
		got = append(got, fmt.Sprintf("%s %v", s.MoveText(nil, m), a.worth(baraja.Card(m))))
	}
	if want := "1o -76.5, 3o -66, 12e -73"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestBriscaTrumpDraw checks the example of lab/experiments.md: the trump card is the 3 of copas, the loser of this trick
// draws it, and the 12 of oros is led. With the study's weights the 1 of oros wins the trick until the trump card weighs
// more than (122.5 + 42) / 180. With a need of trumps less weight suffices, because the hand has no trump.
func TestBriscaTrumpDraw(t *testing.T) {
	const view = "hand=1o,4e,5b trump=3c stock=2 leader=0 trick=12o points=95,0 played=3o,4o,11o,5o,10o,6o,1e,5e,3e,6e,12e,7e,11e,10e," +
		"1b,4b,3b,6b,12b,7b,11b,10b,1c,2c,12c,4c,11c,5c,10c,6c,7c,7o leaders=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 known=-/-"
	for weights, want := range map[string]string{
		"": "1o", ",draw=0.9": "1o", ",draw=0.92": "4e", ",draw=0.46,need=0.9": "1o", ",draw=0.46,need=1": "4e",
	} {
		bot := "brisca-plus:gain=9.5,plain=2,value=0,trump=0,steep=20,late=1" + weights
		if weights == "" {
			bot += ",draw=0"
		}
		if got := answer(t, bot, "brisca seat=1 ply=33", view, 1); got != want {
			t.Errorf("%s: %s is played, want %s", bot, got, want)
		}
	}
}

// exhaustive returns the margin at the end of the game after perfect play. It searches all moves, without bounds,
// table or move ordering.
func exhaustive[S any, G endgame.State[S]](g G) int32 {
	side := g.Turn()
	if side == rules.Over {
		return g.Margin()
	}
	best := int32(math.MinInt32)
	for _, m := range g.Legal(nil) {
		next := *g
		G(&next).Apply(m, nil)
		if v := exhaustive[S](G(&next)); side == 0 {
			best = max(best, v)
		} else {
			best = max(best, -v)
		}
	}
	if side != 0 {
		return -best
	}
	return best
}

// solved compares a solver with exhaustive search: it checks the margin, and that the expected moves lead to it.
func solved[S any, G endgame.State[S]](t *testing.T, s *endgame.Solver[S, G], g G, r *rules.Rand) {
	t.Helper()
	want := exhaustive[S](g)
	got := s.Solve(g, search.Budget{}, r)
	if !got.Exact || got.Margin != want {
		t.Fatalf("%+v, exhaustive search finds %d", got, want)
	}
	if margin := s.Margin(g); margin != want {
		t.Fatalf("margin %d, exhaustive search finds %d", margin, want)
	}
	next := *g
	G(&next).Apply(got.Move, nil)
	if after := exhaustive[S](G(&next)); after != want {
		t.Fatalf("%+v: after the move %d, before %d", got, after, want)
	}
	for _, m := range got.Line[1:] {
		G(&next).Apply(m, nil)
	}
	if end := exhaustive[S](G(&next)); end != want {
		t.Fatalf("%+v: after the line %d, before %d", got, end, want)
	}
}

// TestEndgamesAreExact checks that the solver agrees with exhaustive search at the end of random games with all
// options: every end of Brisca, and of Tute the last five tricks and some earlier ones with a choice of songs.
func TestEndgamesAreExact(t *testing.T) {
	t.Parallel()
	endgamesAreExact(t, 200)
}

func endgamesAreExact(t *testing.T, games int) {
	r := rules.NewRand(21)
	briscaSolver, tuteSolvers := newBriscaEnding(), map[tute.Rules]*endgame.Solver[tuteTree, *tuteTree]{}
	solvedAt := map[string]int{}
	for n := range games {
		options := brisca.Rules{
			Players: 2, Exchange: n&1 != 0, Last10: n&2 != 0, BlackHand: n&4 != 0, Hunt3: n&8 != 0,
		}
		stream := rules.FastStream(r)
		var b briscaTree
		b.Deal(options, &stream)
		for b.Turn() != rules.Over {
			if openHands(&b.Table) {
				solvedAt["brisca"]++
				solved(t, briscaSolver, &b, r)
			}
			legal := b.Legal(nil)
			b.Apply(legal[r.Below(len(legal))], nil)
		}
		if n%4 != 0 {
			continue
		}
		rest := tute.Rules{TableRules: options, FollowOnly: n&16 != 0}
		rest.Exchange = n&32 != 0
		rest.Last10 = n&64 != 0
		s := tuteSolvers[rest]
		if s == nil {
			s = endgame.New[tuteTree](1 << 20)
			tuteSolvers[rest] = s
		}
		x := tuteTree{shared: &cardsShared{}}
		x.Deal(rest, &stream)
		for x.Turn() != rules.Over {
			if openHands(&x.Table) && (x.Hands[x.Turn()].Len() <= 5 || x.SongChoice != 0 && x.Hands[x.Turn()].Len() <= 7) {
				solvedAt["tute"]++
				if x.SongChoice != 0 {
					solvedAt["a song to choose"]++
				}
				solved(t, s, &x, r)
			}
			legal := x.Legal(nil)
			m := legal[r.Below(len(legal))]
			if (baraja.Twelves | baraja.Elevens).Has(baraja.Card(m)) {
				m = legal[r.Below(len(legal))] // keeps the cards of songs in the hand
			}
			x.Apply(m, nil)
		}
	}
	if t.Log(solvedAt); solvedAt["brisca"] < 4*games || solvedAt["tute"] < games || solvedAt["a song to choose"] == 0 && games >= 1000 {
		t.Errorf("%v are solved: the test sees too little", solvedAt)
	}
}

// TestBriscaMinimaxEndsExactly checks that @brisca-minimax makes a best move, from its view alone, once both
// players know all cards, and that @brisca-weighted does not always.
func TestBriscaMinimaxEndsExactly(t *testing.T) {
	tb := resolve(t, brisca.Game, "last10=yes hunt3=yes")
	worse := map[string]int{}
	r, positions := rules.NewRand(22), 0
	for range 200 {
		stream := rules.FastStream(r)
		s := tb.variant.Deal(&stream).(*brisca.State)
		for s.StockSize() > 0 {
			legal := s.Legal(nil)
			s.Apply(legal[r.Below(len(legal))], nil)
		}
		if s.Turn() == rules.Over || s.TrickSize > 0 {
			continue
		}
		positions++
		before := exhaustive[briscaTree](&briscaTree{State: *s})
		for _, bot := range []string{"brisca-weighted", "brisca-minimax"} {
			p := kit.Get[Player](t)(NewPlayer(bot))
			game := &protocol.GameLine{Name: "brisca", Settings: protocol.Pairs(tb.variant.Settings.String()), Seat: s.Turn(), Players: 2}
			m := kit.Get[rules.Move](t)(s.ParseMove(string(p.Answer(tb.turn(s, game)).Move)))
			next := briscaTree{State: *s}
			next.Apply(m, nil)
			if exhaustive[briscaTree](&next) != before {
				worse[bot]++
			}
		}
	}
	if t.Logf("%v of %d", worse, positions); worse["brisca-minimax"] > 0 || worse["brisca-weighted"] == 0 {
		t.Errorf("moves that are not the best in %d positions: %v", positions, worse)
	}
}
