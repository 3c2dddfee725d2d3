package house

import (
	"math"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/ismcts"
)

// randomPodrida returns a position of a game after random moves.
func randomPodrida(r *rules.Rand, variant podrida.Rules) podrida.State {
	src := rules.FastStream(r)
	var s podrida.State
	s.Deal(variant, &src)
	for range r.Below(variant.MaxPlies()) {
		legal := s.Legal(nil)
		s.Apply(legal[r.Below(len(legal))], nil)
	}
	return s
}

// worldOf returns the champion's search state for a position.
func worldOf(s podrida.State, round *podridaRound) podridaWorld {
	round.prepare(&s, s.Turn())
	s.EndWithRound()
	return podridaWorld{s, round}
}

// TestPodridaChampionPlayouts checks that playouts make legal moves only, and that each seat that fulfills
// its bid has a higher score than each that does not.
func TestPodridaChampionPlayouts(t *testing.T) {
	r := rules.NewRand(31)
	kept, bids := 0, 0
	for range 2000 {
		variant := podrida.Rules{Players: uint8(3 + r.Below(6)), Deck: 48, UpDown: r.Below(2) == 0}
		s := randomPodrida(r, variant)
		var round podridaRound
		w := worldOf(s, &round)
		before, _ := s.Bids()
		for w.Turn() != rules.Over {
			move := rules.Move(0)
			if w.IsBidding() {
				move = podrida.BidMove(w.playoutBid())
			} else {
				move = rules.Move(w.playoutCard(r))
			}
			kit.Must(t, w.Check(move))
			w.Apply(move, nil)
		}
		var scores [rules.MaxSeats]float32
		w.Scores(&scores)
		for a := range w.round.players {
			if before == 0 {
				bids++
			}
			if before == 0 && w.MissingTricks(a) == 0 {
				kept++
			}
			if scores[a] < 0 || scores[a] > 1 {
				t.Fatalf("a score of %v", scores[a])
			}
			for b := range w.round.players {
				if w.MissingTricks(a) == 0 && w.MissingTricks(b) != 0 && scores[a] <= scores[b] {
					t.Fatalf("%v for a bid fulfilled, %v for one that is not", scores[a], scores[b])
				}
			}
		}
	}
	if bids == 0 || kept*10 < bids*3 {
		t.Errorf("%d of %d bids of playouts are fulfilled", kept, bids)
	}
}

// TestPodridaEstimate checks that the expected tricks of all hands add up to about all tricks, and that
// stronger hands expect more.
func TestPodridaEstimate(t *testing.T) {
	r := rules.NewRand(32)
	for cards := 1; cards <= 12; cards++ {
		sum, n := 0.0, 0
		for range 200 {
			src := rules.FastStream(r)
			var s podrida.State
			s.Deal(podrida.Rules{Players: 4, Deck: 48}, &src)
			for s.HandSize() < cards {
				legal := s.Legal(nil)
				s.Apply(legal[r.Below(len(legal))], nil)
			}
			var round podridaRound
			w := worldOf(s, &round)
			for seat := range 4 {
				e := float64(round.expectedTricks(w.Hand(seat)))
				if e < 0 || e > float64(cards) {
					t.Fatalf("%v tricks of %d", e, cards)
				}
				sum, n = sum+e, n+1
			}
			best, worst := podridaHonours.OfSuit(w.Trumps())&w.Pack(), baraja.Set(0)
			for suit := range baraja.Suit(4) {
				if suit != w.Trumps() {
					worst = worst.With(baraja.CardOf(2, suit))
				}
			}
			if cards >= 3 && round.expectedTricks(best) <= round.expectedTricks(worst) {
				t.Fatalf("%d cards: %v for %s, %v for %s", cards, round.expectedTricks(best), best.Text(nil), round.expectedTricks(worst), worst.Text(nil))
			}
		}
		if each := sum / float64(n); math.Abs(each-float64(cards)/4) > 0.15+float64(cards)/40 {
			t.Errorf("%d cards: a hand should win %.2f tricks", cards, each)
		}
	}
}

// TestPodridaChampionWorlds checks that dealt hands agree with the view of the seat, and agree better with
// the bids than random ones.
func TestPodridaChampionWorlds(t *testing.T) {
	r := rules.NewRand(33)
	var plain, chosen float64
	for range 300 {
		s := randomPodrida(r, podrida.Rules{Players: 4, Deck: 48})
		var round podridaRound
		w := worldOf(s, &round)
		seat := s.Turn()
		view := string(w.View(nil, seat))
		for range 5 {
			one := w
			one.State.Redeal(seat, r)
			plain += float64(one.misfit())
			w.Redeal(seat, r)
			chosen += float64(w.misfit())
			if got := string(w.View(nil, seat)); got != view {
				t.Fatalf("got\n%s\nwant\n%s", got, view)
			}
		}
	}
	if chosen >= plain {
		t.Errorf("the misfit is %.0f, without regard to the bids %.0f", chosen, plain)
	}
}

// TestPodridaChampionPositions checks that the champion makes the best move where it does not depend on
// hidden cards, respects its node limit, and reports its line.
func TestPodridaChampionPositions(t *testing.T) {
	const begun = " tricks=0,0,0 trick=- played=- leaders=- points=0,0,0"
	for _, c := range []struct{ about, game, view, want string }{
		{"the 1 of trumps wins", "podrida players=3 seat=2 ply=2", "round=1 cards=1 dealer=2 trump=5c hand=1c bids=0,0,- leader=0" + begun, "bid:1"},
		{"the 2 of another suit does not", "podrida players=3 seat=2 ply=2", "round=1 cards=1 dealer=2 trump=5c hand=2o bids=0,1,- leader=0" + begun, "bid:0"},
		{"the two best trumps win twice", "podrida players=3 seat=1 ply=6", "round=2 cards=2 dealer=0 trump=5c hand=1c,12c bids=-,-,- leader=1" + begun, "bid:2"},
		{"the 1 is kept for the last trick", "podrida players=3 seat=0 ply=11", "round=2 cards=2 dealer=0 trump=5c hand=1e,11e bids=2,0,0 tricks=0,0,0 leader=1 trick=4e,7e played=- leaders=- points=0,0,0", "11e"},
	} {
		for seed := range uint64(5) {
			p := kit.Get[Player](t)(NewPlayer("champion:nodes=3000,memory=1"))
			a := p.Answer(turn(c.game, c.view, listed(t, c.game, c.view), seed))
			info := protocol.Pairs(a.Info)
			if string(a.Move) != c.want {
				t.Errorf("%s: %s is played, want %s (%s)", c.about, a.Move, c.want, a.Info)
			}
			if line := info.Get("pv"); info.Int("nodes") != 3000 || info.Int("visits") == 0 || len(line) == 0 {
				t.Errorf("%s: info %s", c.about, a.Info)
			}
		}
	}
}

// TestPodridaChampionAllocations checks that an iteration does not allocate.
func TestPodridaChampionAllocations(t *testing.T) {
	r := rules.NewRand(34)
	s := randomPodrida(r, podrida.Rules{Players: 4, Deck: 48})
	var round podridaRound
	w := worldOf(s, &round)
	searcher := ismcts.New[podridaWorld](ismcts.Options{C: podridaC, Arena: 1 << 20})
	search := func(nodes uint64) func() {
		return func() { searcher.Search(&w, s.Turn(), search.Budget{Nodes: nodes}, r) }
	}
	few, many := testing.AllocsPerRun(3, search(10)), testing.AllocsPerRun(3, search(1000))
	if many > few+2 {
		t.Errorf("%v allocations in 10 iterations, %v in 1000", few, many)
	}
}

// margin returns by how many points a bot is better than the average of the others, over games from each seat
// in turn.
func (tb *table) margin(t testing.TB, bot, other string, deals int) float64 {
	sum, n := 0.0, tb.variant.Players
	for deal := range deals {
		seats := make([]string, n)
		for i := range seats {
			seats[i] = other
		}
		seats[deal%n] = bot
		r, _ := tb.play(t, uint64(deal), seats)
		for seat, points := range r.Points {
			if seat == deal%n {
				sum += points
			} else {
				sum -= points / float64(n-1)
			}
		}
	}
	return sum / float64(deals)
}
