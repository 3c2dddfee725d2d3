package house

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/sample-bots/search"
	"github.com/timba-arena/timba/sample-bots/search/mcts"
)

// podridaTruth follows a game in which it sees all cards.
type podridaTruth struct {
	state podrida.State
	cards int                        // cards of the round, by which a new round is recognized
	seen  baraja.Set                 // cards played in this round, or shown as trumps
	void  [rules.MaxSeats][4]bool    // by seat and suit: whether the seat has failed to follow
	below [rules.MaxSeats]baraja.Set // by seat: cards that it cannot hold, because they would have beaten a card that it had to beat
}

func (tr *podridaTruth) newRound() {
	tr.cards = tr.state.HandSize()
	tr.seen, tr.void, tr.below = tr.state.ShownCards(), [rules.MaxSeats][4]bool{}, [rules.MaxSeats]baraja.Set{}
}

// apply makes a move and records what all seats can see.
func (tr *podridaTruth) apply(m rules.Move) {
	s, seat := &tr.state, tr.state.Turn()
	trick := append([]baraja.Card(nil), s.Trick()...)
	if _, bid := podrida.Bid(m); !bid {
		c := baraja.Card(m)
		if len(trick) > 0 {
			led, beats := trick[0].Suit(), s.WinningCards()
			switch {
			case c.Suit() == led && !beats.Has(c):
				tr.below[seat] |= beats.OfSuit(led)
			case c.Suit() != led:
				tr.void[seat][led] = true
				if c.Suit() != s.Trumps() {
					tr.void[seat][s.Trumps()] = true
				} else if !beats.Has(c) {
					tr.below[seat] |= beats.OfSuit(s.Trumps())
				}
			}
		}
		tr.seen = tr.seen.With(c)
	}
	s.Apply(m, nil)
	if s.Turn() != rules.Over && s.IsBidding() && len(s.Trick()) == 0 {
		if bids, _ := s.Bids(); bids == 0 {
			tr.newRound()
		}
	}
}

// consistent checks that the hands which a seat has dealt agree with what the seat knows.
func (tr *podridaTruth) consistent(t interface{ Fatalf(string, ...any) }, w *podrida.State, seat int, k podrida.Knowledge) {
	truth := &tr.state
	players := int(truth.Rules().Players)
	var all baraja.Set
	for p := range players {
		hand := w.Hand(p)
		if hand.Len() != truth.Hand(p).Len() || hand&all != 0 {
			t.Fatalf("seat %d has %s, in truth %s", p, hand.Text(nil), truth.Hand(p).Text(nil))
		}
		all |= hand
		if p == seat || k == podrida.OwnHand {
			continue
		}
		if bad := hand & tr.seen &^ (truth.Hand(p) & truth.ShownCards()); bad != 0 {
			t.Fatalf("seat %d is dealt %s, which has been seen", p, bad.Text(nil))
		}
		if k == podrida.Played {
			continue
		}
		for suit, void := range tr.void[p] {
			if bad := hand.OfSuit(baraja.Suit(suit)); void && bad != 0 {
				t.Fatalf("seat %d is dealt %s of a suit that it failed to follow", p, bad.Text(nil))
			}
		}
		if bad := hand & tr.below[p]; bad != 0 {
			t.Fatalf("seat %d is dealt %s, with which it could have beaten a card", p, bad.Text(nil))
		}
	}
	if w.Hand(seat) != truth.Hand(seat) {
		t.Fatalf("the own hand is %s, not %s", w.Hand(seat).Text(nil), truth.Hand(seat).Text(nil))
	}
	if got, want := string(w.View(nil, seat)), string(truth.View(nil, seat)); got != want {
		t.Fatalf("a world has the view\n%s\nnot\n%s", got, want)
	}
}

// TestPodridaWorldsAreConsistent checks that all hands that @podrida-mcts deals, and the true ones, agree
// with its view and with its option hands.
func TestPodridaWorldsAreConsistent(t *testing.T) {
	again := 0
	rapid.Check(t, func(t *rapid.T) {
		v := kit.Get[*rules.Variant](t)(podrida.Game.Resolve(map[string]string{
			"players": strconv.Itoa(rapid.IntRange(3, 6).Draw(t, "players")),
			"deck":    rapid.SampledFrom([]string{"40", "48"}).Draw(t, "deck"),
			"rounds":  rapid.SampledFrom([]string{"up", "updown", "short"}).Draw(t, "rounds"),
		}))
		r := rules.NewRand(rapid.Uint64().Draw(t, "seed"))
		src := rules.FastStream(r)
		var tr podridaTruth
		tr.state.Deal(v.Rules.(podrida.Rules), &src)
		tr.newRound()
		for plies := rapid.IntRange(0, v.MaxPlies-1).Draw(t, "plies"); plies > 0; plies-- {
			legal := tr.state.Legal(nil)
			tr.apply(legal[r.Below(len(legal))])
		}
		seat := tr.state.Turn()
		tr.consistent(t, &tr.state, seat, podrida.Failures)
		seen := kit.Get[rules.State](t)(v.FromView(rules.Observe(&tr.state, seat), r))
		for _, k := range podridaKnowledge {
			bot := voter{hands: k}
			for range 5 {
				bot.dealWorld(seen.(*podrida.State), seat, r)
				tr.consistent(t, &bot.world.State, seat, k)
				for p := range v.Players {
					again += (bot.world.Hand(p) & tr.seen).Len()
				}
			}
		}
	})
	if again == 0 {
		t.Error("hands=random never deals a card again")
	}
}

// TestMCTSBest checks the move that each Criterion selects from the same tree, and that these sometimes differ.
func TestMCTSBest(t *testing.T) {
	const c, iterations, positions = 1.0, 60, 40
	bound := func(r search.Result) float64 {
		return r.Value + c*math.Sqrt(math.Log(iterations)/float64(r.Visits))
	}
	searchers := map[mcts.Criterion]*mcts.Searcher[podridaTree, *podridaTree]{}
	for _, best := range []mcts.Criterion{mcts.ByValue, mcts.ByVisits, mcts.ByBound} {
		searchers[best] = mcts.New[podridaTree](mcts.Options{C: c, Sides: 4, Arena: 1 << 20, Criterion: best})
	}
	differ := 0
	for seed := range uint64(positions) {
		src := rules.FastStream(rules.NewRand(seed))
		var world podridaTree
		world.Deal(podrida.Rules{Players: 4, Deck: 48}, &src)
		for r := rules.NewRand(seed); world.HandSize() < 5; {
			legal := world.Legal(nil)
			world.Apply(legal[r.Below(len(legal))], nil)
		}
		world.EndWithRound()
		found := map[mcts.Criterion]search.Result{}
		for best, s := range searchers {
			s.Forget()
			found[best] = s.Search(&world, search.Budget{Nodes: iterations}, rules.NewRand(seed))
		}
		for best, r := range found {
			switch {
			case r.Nodes != iterations || r.Visits == 0:
				t.Fatalf("seed %d, best %d: %d iterations, %d of the move", seed, best, r.Nodes, r.Visits)
			case r.Value > found[mcts.ByValue].Value || r.Visits > found[mcts.ByVisits].Visits || bound(r) > bound(found[mcts.ByBound])+1e-5:
				t.Errorf("seed %d: %+v of all %+v", seed, r, found)
			}
			if r.Move != found[mcts.ByVisits].Move {
				differ++
			}
		}
	}
	if differ == 0 {
		t.Error("the three are always the same")
	}
}

// TestPodridaWorldsHaveTheTruth checks that the true hands are among those dealt, with every value of the
// option hands, near the end of a round where there are few.
func TestPodridaWorldsHaveTheTruth(t *testing.T) {
	for seed := range uint64(20) {
		r := rules.NewRand(seed)
		src := rules.FastStream(r)
		var s podrida.State
		v := kit.Get[*rules.Variant](t)(podrida.Game.Resolve(nil))
		s.Deal(v.Rules.(podrida.Rules), &src)
		for range v.MaxPlies - 8 + r.Below(5) {
			legal := s.Legal(nil)
			s.Apply(legal[r.Below(len(legal))], nil)
		}
		seat := s.Turn()
		seen := kit.Get[rules.State](t)(v.FromView(rules.Observe(&s, seat), r))
		for text, k := range podridaKnowledge {
			if k == podrida.OwnHand {
				continue // the whole pack has too many deals
			}
			bot, found := voter{hands: k}, false
			for range 3000 {
				bot.dealWorld(seen.(*podrida.State), seat, r)
				same := true
				for p := range 4 {
					same = same && bot.world.Hand(p) == s.Hand(p)
				}
				found = found || same
			}
			if !found {
				t.Errorf("seed %d, hands=%s: the true hands are never dealt", seed, text)
			}
		}
	}
}

// TestPodridaMCTSPositions checks that the bot makes the best move where it does not depend on hidden cards.
func TestPodridaMCTSPositions(t *testing.T) {
	const begun = " tricks=0,0,0 trick=- played=- leaders=- points=0,0,0"
	for _, c := range []struct{ about, game, view, want string }{
		{"the 1 of trumps wins", "podrida players=3 seat=2 ply=2", "round=1 cards=1 dealer=2 trump=5c hand=1c bids=0,0,- leader=0" + begun, "bid:1"},
		{"the 2 of another suit does not", "podrida players=3 seat=2 ply=2", "round=1 cards=1 dealer=2 trump=5c hand=2o bids=0,1,- leader=0" + begun, "bid:0"},
		{"the two best trumps win twice", "podrida players=3 seat=1 ply=6", "round=2 cards=2 dealer=0 trump=5c hand=1c,12c bids=-,-,- leader=1" + begun, "bid:2"},
	} {
		for seed := range uint64(5) {
			p := kit.Get[Player](t)(NewPlayer("podrida-mcts:it=2000,det=20"))
			if a := p.Answer(turn(c.game, c.view, listed(t, c.game, c.view), seed)); string(a.Move) != c.want {
				t.Errorf("%s: %s is played, want %s (%s)", c.about, a.Move, c.want, a.Info)
			}
		}
	}
}

// fulfils reports whether a seat can fulfill its bid by the end of the round. If hope is false, it must be able to
// do so whatever the other seats play. If hope is true, all seats help.
func fulfils(s *podrida.State, seat int, hope bool) bool {
	if s.Turn() == rules.Over {
		return s.MissingTricks(seat) == 0
	}
	any := hope || s.Turn() == seat
	for _, m := range s.Legal(nil) {
		next := *s
		if next.Apply(m, nil); fulfils(&next, seat, hope) == any {
			return any
		}
	}
	return !any
}

// onlyHope returns the only move that makes the bid certain, if all other moves make it impossible.
func onlyHope(s *podrida.State) (only rules.Move, ok bool) {
	for _, m := range s.Legal(nil) {
		next := *s
		next.Apply(m, nil)
		switch {
		case !ok && fulfils(&next, s.Turn(), false):
			only, ok = m, true
		case fulfils(&next, s.Turn(), true):
			return 0, false
		}
	}
	return only, ok && len(s.Legal(nil)) > 1
}

// TestPodridaMCTSFindsCertainBids checks that every tree finds the card that makes the bid certain while all
// others make it impossible.
func TestPodridaMCTSFindsCertainBids(t *testing.T) {
	s := mcts.New[podridaTree](mcts.Options{C: math.Sqrt2 / 10, Sides: 4, Arena: 1 << 20})
	r := rules.NewRand(21)
	for found := 0; found < 50; {
		src := rules.FastStream(r)
		var world podridaTree
		world.Deal(podrida.Rules{Players: 4, Deck: 48}, &src)
		for world.HandSize() < 3 || world.IsBidding() {
			legal := world.Legal(nil)
			world.Apply(legal[r.Below(len(legal))], nil)
		}
		world.EndWithRound()
		for range r.Below(4) {
			legal := world.Legal(nil)
			world.Apply(legal[r.Below(len(legal))], nil)
		}
		want, ok := onlyHope(&world.State)
		if !ok {
			continue
		}
		found++
		s.Forget()
		if got := s.Search(&world, search.Budget{Nodes: 2000}, r); got.Move != want {
			t.Errorf("%s is played, want %s: %s", world.MoveText(nil, got.Move), world.MoveText(nil, want), world.View(nil, world.Turn()))
		}
	}
}

// TestPodridaPlayouts checks where playouts end, that those by rules are not random, and that rewards are from 0 to 1 and
// in the order of what counts.
func TestPodridaPlayouts(t *testing.T) {
	r := rules.NewRand(22)
	for n := range 200 {
		variant := podrida.Rules{Players: uint8(3 + r.Below(4)), Deck: 48, UpDown: n%2 == 0}
		bot := voter{}
		bot.world.playouts = podridaPlayouts{byRules: n%3 == 0, isWholeGame: n%4 < 2, isByPoints: n%5 < 2}
		s := randomPodrida(r, variant)
		bot.dealWorld(&s, s.Turn(), r)
		ends := map[podrida.State]bool{}
		for range 3 {
			w := bot.world
			w.Playout(r)
			ends[w.State] = true
			if w.Turn() != rules.Over || (w.Round() == s.Round()) == (w.playouts.isWholeGame && s.Round() < variant.Rounds()) {
				t.Fatalf("%+v: the playout from round %d of %d ends in round %d", w.playouts, s.Round(), variant.Rounds(), w.Round())
			}
			checkRewards(t, &s, &w)
		}
		if bot.world.playouts.byRules && len(ends) > 1 {
			t.Fatal("playouts by rules differ")
		}
	}
}

// checkRewards checks the rewards at the end of a playout that began at from.
func checkRewards(t *testing.T, from *podrida.State, w *podridaTree) {
	t.Helper()
	counts := func(seat int) int {
		switch p := w.playouts; {
		case p.isByPoints:
			return w.PointsOf(seat) - from.PointsOf(seat)
		case p.isWholeGame:
			return w.PointsOf(seat)
		}
		return -max(w.MissingTricks(seat), -w.MissingTricks(seat))
	}
	best := 0.0
	for seat := range int(w.Rules().Players) {
		reward := w.Reward(seat)
		best = max(best, reward)
		for other := range seat {
			more, before := counts(seat) > counts(other), w.Reward(other)
			if reward < 0 || reward > 1 || more && reward < before || reward > before && !more {
				t.Fatalf("%+v: %d counts %v, %d counts %v", w.playouts, counts(seat), reward, counts(other), before)
			}
		}
	}
	if w.playouts.isWholeGame && !w.playouts.isByPoints && best < 0.5 {
		t.Fatalf("the best reward of a game is %v", best)
	}
}

// TestPodridaMCTSBudget checks that the search is limited by it times det, or by nodes if that is less.
func TestPodridaMCTSBudget(t *testing.T) {
	game, view := bidding(8, "1c,1o,2o,3o,4o,2b,3b,4b", "3")
	moves := listed(t, game, view)
	for spec, want := range map[string]int{
		"podrida-mcts": 400, "podrida-mcts:it=7,det=3": 21, "podrida-mcts:nodes=50": 50, "podrida-mcts:nodes=1000": 400,
	} {
		p := kit.Get[Player](t)(NewPlayer(spec))
		a := p.Answer(turn(game, view, moves, 1))
		if got := protocol.Pairs(a.Info).Int("nodes"); got != want {
			t.Errorf("%s: %d iterations, want %d: %s", spec, got, want, a.Info)
		}
	}
}

// TestPodridaMCTSAllocations checks that an iteration does not allocate, and that ArenaSize is large enough.
func TestPodridaMCTSAllocations(t *testing.T) {
	const iterations = 1000
	s := mcts.New[podridaTree](mcts.Options{C: math.Sqrt2 / 10, Sides: 4, Arena: mcts.ArenaSize(iterations, podrida.MostMoves)})
	r := rules.NewRand(1)
	src := rules.FastStream(r)
	var world podridaTree
	world.Deal(podrida.Rules{Players: 4, Deck: 48}, &src)
	search := func(nodes uint64) func() {
		return func() { s.Forget(); s.Search(&world, search.Budget{Nodes: nodes}, r) }
	}
	few, many := testing.AllocsPerRun(3, search(10)), testing.AllocsPerRun(3, search(iterations))
	if many > few+2 {
		t.Errorf("%v allocations in 10 iterations, %v in %d", few, many, iterations)
	}
}

// podridaTurns returns the turns of ten fixed games of four seats that play by the rules of the study.
func podridaTurns(tb testing.TB) (turns []*protocol.Turn) {
	table := resolve(tb, podrida.Game, "")
	for deal := range uint64(10) {
		r := rules.NewRand(deal)
		src := rules.FastStream(r)
		s := table.variant.Deal(&src).(*podrida.State)
		for s.Turn() != rules.Over {
			t := table.turn(s, &protocol.GameLine{
				Name: "podrida", Settings: protocol.Pairs(table.variant.Settings.String()), Seat: s.Turn(), Players: 4,
			})
			table.text = nil
			turns = append(turns, t)
			move, _ := studyRules.choose(s, s.Turn())
			s.Apply(move, nil)
		}
	}
	return turns
}
