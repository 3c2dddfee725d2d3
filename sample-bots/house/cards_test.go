package house

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/endgame"
	"github.com/timba-arena/timba/sample-bots/search/ismcts"
)

// TestCardChampionScores checks that the champion is clearly better than simple bots even with few
// iterations. Seeds are fixed.
func TestCardChampionScores(t *testing.T) {
	for _, c := range []championCase{
		{"brisca", "", "random", 10, 0.6},
		{"brisca", "players=4 teams=yes exchange=yes", "random", 10, 0.6},
		{"tute", "players=3", "random", 10, 0.55},
	} {
		c.run(t)
	}
}

// championCase describes games of the champion against another bot.
type championCase struct {
	game, options, other string
	deals                int
	floor                float64
}

func (c championCase) run(t *testing.T) {
	t.Run(strings.TrimSpace(c.game+" "+c.options), func(t *testing.T) {
		t.Parallel()
		g := kit.Get[*rules.Game](t)(games.Find(c.game))
		got := resolve(t, g, c.options).measure(t, "champion:nodes=200,memory=1", c.other, c.deals)
		if t.Logf("%.3f against %s", got, c.other); got < c.floor {
			t.Errorf("the champion scores %.3f against %s, want %v", got, c.other, c.floor)
		}
	})
}

// TestBriscaLevels checks that each level of Brisca is better than the one before.
func TestBriscaLevels(t *testing.T) {
	tb := resolve(t, brisca.Game, "")
	for _, c := range []struct{ bot, other string }{
		{"brisca-basic", "random"}, {"brisca-weighted", "brisca-basic"},
		{"brisca-minimax", "brisca-weighted"}, {"brisca-plus", "brisca-weighted"},
	} {
		got := tb.measure(t, c.bot, c.other, 400)
		if t.Logf("%s scores %.3f against %s", c.bot, got, c.other); got < 0.53 {
			t.Errorf("%s scores %.3f against %s", c.bot, got, c.other)
		}
	}
	for _, options := range []string{"players=3", "players=4", "players=4 teams=yes", "exchange=yes last10=yes blackhand=yes hunt3=yes"} {
		tb := resolve(t, brisca.Game, options)
		for _, bot := range []string{"brisca-basic", "brisca-weighted", "brisca-minimax", "brisca-plus"} {
			if got := tb.measure(t, bot, "random", 100); got < 0.6 {
				t.Errorf("%s: %s scores %.3f against random", options, bot, got)
			}
		}
	}
}

// TestBriscaPlus checks the moves of @brisca-plus in positions with one good move, and that with the study's
// weights it answers as the study does.
func TestBriscaPlus(t *testing.T) {
	for _, c := range []struct{ about, bot, game, view, want string }{
		{"a low trump for a king", "", "brisca seat=1 ply=1", "hand=3o,2c,6e trump=5c stock=34 leader=0 trick=12b points=0,0 played=- leaders=- known=-/-", "2c"},
		{"no ace of trumps for nothing", "", "brisca seat=1 ply=1", "hand=6o,1c,6e trump=5c stock=34 leader=0 trick=4b points=0,0 played=- leaders=- known=-/-", "6o|6e"},
		{"as the study", ":plain=2,value=0,trump=0,steep=20,late=1,draw=0", "brisca seat=1 ply=1", "hand=1o,3o,12e trump=5o stock=34 leader=0 trick=10o points=0,0 played=- leaders=- known=-/-", "3o"},
	} {
		t.Run(c.about, func(t *testing.T) {
			for seed := range uint64(8) {
				if got := answer(t, "brisca-plus"+c.bot, c.game, c.view, seed); !strings.Contains(c.want, got) {
					t.Fatalf("%s is played, want %s", got, c.want)
				}
			}
		})
	}
}

// TestBriscaPlusDraws checks that @brisca-plus loses the last trick with a draw more readily if the trump
// card, which the loser draws, is good.
func TestBriscaPlusDraws(t *testing.T) {
	r := rules.NewRand(51)
	lost, seen := map[string]int{}, 0
	for range 3000 {
		stream := rules.FastStream(r)
		var s brisca.State
		s.Deal(brisca.Rules{Players: 2}, &stream)
		for s.StockSize() > 2 || s.TrickSize == 0 {
			legal := s.Legal(nil)
			s.Apply(legal[r.Below(len(legal))], nil)
		}
		seen++
		for name, draw := range map[string]float64{"0": 0, "fitted": fittedWeights.draw} {
			w := fittedWeights
			w.draw = draw
			a := &briscaAgent{appraiser: &plusAppraiser{weights: w}}
			m, _ := a.choose(&s, rules.NewRand(1))
			next := s
			next.Apply(m, nil)
			if int(next.Winner) != s.Turn() {
				lost[name]++
			}
		}
	}
	if t.Logf("%v lost of %d", lost, seen); lost["fitted"] < lost["0"]+seen/20 {
		t.Errorf("of %d tricks, %v are lost", seen, lost)
	}
}

// TestCardChampionDeals checks that hands dealt by the champion agree with what the seat sees and the others
// have shown.
func TestCardChampionDeals(t *testing.T) {
	r := rules.NewRand(52)
	deals, fit := 0, 0
	for game := range 60 {
		options := tute.Rules{TableRules: brisca.Rules{Players: uint8(2 + game%3)}}
		stream := rules.FastStream(r)
		var s tute.State
		s.Deal(options, &stream)
		for s.Turn() != rules.Over {
			view := string(s.View(nil, s.Turn()))
			shared := &cardsShared{lacks: s.Lacks(nil, s.Turn())}
			for range 3 {
				x := tuteTree{s, shared}
				x.Redeal(s.Turn(), r)
				if got := string(x.View(nil, s.Turn())); got != view {
					t.Fatalf("got %s\nwant %s", got, view)
				}
				deals++
				if x.isConsistent() {
					fit++
				}
			}
			legal := s.Legal(nil)
			s.Apply(legal[r.Below(len(legal))], nil)
		}
	}
	if t.Logf("%d of %d deals fit", fit, deals); fit < deals*9/10 {
		t.Errorf("%d of %d deals fit what was shown", fit, deals)
	}
}

// TestCardSearchConverges checks that the search finds the best move where it is known: when both know all cards.
func TestCardSearchConverges(t *testing.T) {
	r := rules.NewRand(53)
	shared := &cardsShared{ending: newBriscaEnding()}
	s := ismcts.NewGuided[tuteTree](ismcts.Options{C: exploration, Arena: 4 << 20})
	solver := endgame.New[tuteTree](1 << 20)
	const positions = 30
	found := 0
	for range positions {
		x := openTute(tute.Rules{TableRules: brisca.Rules{Players: 2}}, r)
		x.shared = shared
		for x.Turn() != rules.Over && x.Hands[x.Turn()].Len() > 4 {
			legal := x.Legal(nil)
			x.Apply(legal[r.Below(len(legal))], nil)
		}
		want := solver.Margin(x)
		got := s.Search(x, x.Turn(), search.Budget{Nodes: 4000}, r)
		next := *x
		next.Apply(got.Move, nil)
		after := solver.Margin(&next)
		if (want > 0) == (after > 0) && (want < 0) == (after < 0) {
			found++
		}
	}
	if t.Logf("%d of %d", found, positions); found < positions-1 {
		t.Errorf("the search keeps the result in %d of %d positions", found, positions)
	}
}

// TestCardChampionInfo checks the champion's info, also for an end that it has solved.
func TestCardChampionInfo(t *testing.T) {
	tb := resolve(t, tute.Game, "")
	r := rules.NewRand(54)
	stream := rules.FastStream(r)
	s := tb.variant.Deal(&stream).(*tute.State)
	p := kit.Get[Player](t)(NewPlayer("champion:nodes=300,memory=1"))
	for s.Turn() != rules.Over {
		game := &protocol.GameLine{Name: "tute", Settings: protocol.Pairs(tb.variant.Settings.String()), Seat: s.Turn(), Players: 2}
		turn := tb.turn(s, game)
		a := p.Answer(turn)
		for _, key := range []string{"score=", "nodes=", "pv=" + string(a.Move)} {
			if !strings.Contains(string(a.Info), key) {
				t.Fatalf("info %q has no %q", a.Info, key)
			}
		}
		if visits := strings.Contains(string(a.Info), "visits="); visits && turn.Moves.Len() == 1 && !strings.Contains(string(a.Info), "nodes=100") {
			t.Errorf("info %q of the only move", a.Info)
		}
		m := kit.Get[rules.Move](t)(s.ParseMove(string(a.Move)))
		s.Apply(m, nil)
	}
}

// TestCardSearchAllocations checks that an iteration of the champion's search does not allocate.
func TestCardSearchAllocations(t *testing.T) {
	r := rules.NewRand(55)
	stream := rules.FastStream(r)
	x := &briscaTree{shared: &cardsShared{ending: newBriscaEnding()}}
	x.Deal(brisca.Rules{Players: 2, Exchange: true}, &stream)
	s := ismcts.NewGuided[briscaTree](ismcts.Options{C: exploration, Arena: 1 << 20})
	s.Search(x, x.Turn(), search.Budget{Nodes: 1000}, r)
	if n := testing.AllocsPerRun(3, func() { s.Search(x, x.Turn(), search.Budget{Nodes: 1000}, r) }); n > 0 {
		t.Errorf("%v allocations in 1000 iterations", n)
	}
}
