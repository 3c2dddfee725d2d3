package house

import (
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/podrida"
)

// bidding returns the game and the view of a turn in which one of four seats must bid. bids has the bids of the
// seats before. Copas are trumps.
func bidding(round int, hand, bids string) (game, view string) {
	const players = 4
	ply := 0
	for earlier := 1; earlier < round; earlier++ {
		ply += players * (1 + earlier)
	}
	dealer := (round + players - 2) % players
	by := [players]string{"-", "-", "-", "-"}
	seat := (dealer + 1) % players
	for bid := range strings.FieldsSeq(bids) {
		by[seat] = bid
		seat = (seat + 1) % players
		ply++
	}
	hand = sorted(hand)
	return fmt.Sprintf("podrida players=4 seat=%d ply=%d", seat, ply),
		fmt.Sprintf("round=%d cards=%d dealer=%d trump=5c hand=%s bids=%s tricks=0,0,0,0 leader=%d trick=- played=- leaders=- points=0,0,0,0",
			round, round, dealer, hand, strings.Join(by[:], ","), (dealer+1)%players)
}

// sorted returns cards in the order of the pack.
func sorted(hand string) string {
	var cards baraja.Set
	for text := range strings.SplitSeq(hand, ",") {
		if c, err := baraja.Parse(text); err == nil {
			cards = cards.With(c)
		}
	}
	return string(cards.Text(nil))
}

// TestPodridaBidRules checks every rule for bids with a hand to which it applies. Rules 7, 8 and 15 never apply;
// see TestPodridaUnreachableRules.
func TestPodridaBidRules(t *testing.T) {
	for _, c := range []struct {
		rule       int
		round      int
		hand, bids string
		want       int
	}{
		{1, 3, "1c,2c,3o", "", 2},
		{1, 6, "2c,1o,1e,1b,12o,12e", "", 1},
		{2, 3, "1c,2o,3o", "1 1 0", 2},
		{2, 6, "1c,12c,2o,3o,4o,6o", "2 1 1", 4},
		{3, 3, "2c,3c,4o", "1 0 0", 1},
		{3, 3, "2c,3o,4o", "1 1 0", 0},
		{4, 7, "2c,1o,12e,2o,3o,4o,6o", "", 2},
		{4, 8, "1c,12c,1o,12e,2o,3o,4o,6o", "3 3", 4},
		{5, 7, "1c,1o,12o,1e,12e,1b,2b", "1 0 0", 7},
		{6, 7, "2c,1o,12e,2o,3o,4o,6o", "2 2 1", 1},
		{9, 4, "1o,1e,1b,12o", "", 0},
		{9, 4, "1o,1e,1b,12o", "2 1 1", 1}, // 0 is not allowed
		{10, 5, "1o,12e,2o,3o,4b", "", 2},
		{10, 11, "1o,12e,2o,3o,4o,6o,7o,8o,9o,10o,11o", "", 2},
		{11, 5, "1o,12o,1e,12e,2b", "1 0 0", 5},
		{12, 5, "1o,12e,2o,3o,4b", "2 1 0", 1},
		{13, 8, "1o,12e,2o,3o,4o,6o,2b,3b", "3 3 0", 3},
		{14, 8, "2o,3o,4o,6o,7o,2b,3b,4b", "1 1", 2},
		{16, 8, "2o,3o,4o,6o,7o,2b,3b,4b", "3 3", 1},
		{16, 8, "2o,3o,4o,6o,7o,2b,3b,4b", "2 2", 1},   // 4 is not below 8 - 4
		{17, 8, "2o,3o,4o,6o,7o,2b,3b,4b", "3 3 1", 0}, // 1 is not allowed
		{18, 5, "2o,3o,4o,6o,7o", "", 0},
		{18, 7, "2o,3o,4o,6o,7o,2b,3b", "3 3 1", 1},    // 0 is not allowed
		{gapRule, 8, "2o,3o,4o,6o,7o,2b,3b,4b", "", 0}, // below, but only one bid
		{gapRule, 8, "2o,3o,4o,6o,7o,2b,3b,4b", "5", 0},
		{gapRule, 8, "2c,3o,4o,6o,7o,2b,3b,4b", "", 0},
		{gapRule, 8, "1c,3o,4o,6o,7o,2b,3b,4b", "", 1},
		{gapRule, 9, "2c,1o,12o,6o,7o,2b,3b,4b,6b", "3 3 1", 1}, // 1 and 3 are equally near to 2
	} {
		game, view := bidding(c.round, c.hand, c.bids)
		checkRule(t, game, view, c.rule, fmt.Sprintf("bid:%d", c.want))
	}
}

// checkRule checks which rule applies and the move, with different hidden cards.
func checkRule(t *testing.T, game, view string, rule int, want string) {
	t.Helper()
	p := kit.Get[Player](t)(NewPlayer("podrida-rules"))
	moves := listed(t, game, view)
	for seed := range uint64(5) {
		a := p.Answer(turn(game, view, moves, seed))
		if got := string(a.Move); got != want || string(a.Info) != fmt.Sprintf("rule=%d", rule) {
			t.Errorf("%s\n%s plays %s, %s, want %s by rule %d", game, view, got, a.Info, want, rule)
		}
	}
}

// TestPodridaUnreachableRules shows that the study's rules 7, 8 and 15 never apply. Rules 7 and 8 require that neither
// g + t nor g + t - 1 is legal, but at most one bid is illegal. Rule 15 requires that 2 is not legal although the bids
// are more than 4 below the cards.
func TestPodridaUnreachableRules(t *testing.T) {
	const neither = (1<<8 - 1) &^ (1<<2 | 1<<3)
	for rule, f := range map[int]podridaFacts{
		7:  {cards: 7, legal: neither, trumps: 2, good: 2, goodT: 1, bidSum: 4, bidCount: 3},
		8:  {cards: 7, legal: neither, trumps: 1, good: 3, bidSum: 4, bidCount: 3},
		15: {cards: 8, legal: 0b1_1111_1011, bidSum: 3, bidCount: 2},
	} {
		f.round, f.enough = f.cards, 2
		n, got := f.bid(studyRules.gap)
		want := map[int]int{7: 4, 8: 1, 15: 1}[rule] // rule 8 has 2, and of 1 and 4 the first is nearer
		if got != rule || n != want {
			t.Errorf("rule %d bids %d, want %d by rule %d", got, n, want, rule)
		}
	}
}

// TestPodridaPlayRules checks every rule for cards.
func TestPodridaPlayRules(t *testing.T) {
	const (
		last = "podrida players=3 seat=1 ply=20"
		fill = " played=- leaders=- points=0,0,0"
		on   = "round=3 cards=3 dealer=1 trump=5c leader=2 trick=4e,7e tricks=0,0,0" + fill
		lead = "round=3 cards=3 dealer=1 trump=5c leader=2 trick=- tricks=0,0,0" + fill
		over = "round=3 cards=3 dealer=1 trump=5c leader=1 trick=- tricks=0,1,0 played=4e,7e,8e leaders=2 points=0,0,0 bids=1,0,1"
		lost = "round=4 cards=4 dealer=2 trump=5c leader=2 trick=10b,11b tricks=0,1,1 played=4e,8e,7e,2o,4o,3o leaders=0,1 points=0,0,0 bids=0,0,0"
	)
	for _, c := range []struct {
		rule             int
		game, view, want string
	}{
		{19, last, on + " hand=2e,6o,1c bids=0,1,1", "2e"},
		{20, last, on + " hand=8e,12e,2o bids=1,1,0", "12e"},
		{21, last, on + " hand=2e,6e,1c bids=1,1,0", "2e"},
		{22, last, on + " hand=8e,12e,2o bids=1,0,1", "8e"},
		{22, last, on + " hand=2c,12c,2o bids=1,0,1", "2c"},
		{23, last, on + " hand=2e,6e,1c bids=1,0,1", "6e"},
		{24, "podrida players=3 seat=1 ply=21", over + " hand=12o,2b", "12o"},
		{24, "podrida players=3 seat=1 ply=21", over + " hand=12o,2c", "2c"},
		{25, "podrida players=3 seat=1 ply=38", lost + " hand=2b,6b", "2b"},
		{20, "podrida players=3 seat=2 ply=18", lead + " hand=2c,11o,1e bids=1,0,1", "2c"},
		{22, "podrida players=3 seat=2 ply=18", lead + " hand=2c,11o,1e bids=1,0,0", "11o"},
		{23, last, on + " hand=2o,1o,12b bids=1,0,1", "1o"},
	} {
		before, hand, _ := strings.Cut(c.view, "hand=")
		hand, after, _ := strings.Cut(hand, " ")
		checkRule(t, c.game, strings.TrimSpace(before+"hand="+sorted(hand)+" "+after), c.rule, c.want)
	}
}

// TestPodridaRulesAreComplete checks that there are the study's 25 rules in their order, and that each has a test.
func TestPodridaRulesAreComplete(t *testing.T) {
	number := 0
	names := map[string]bool{}
	count := func(n int, name string) {
		if number++; n != number || name == "" || names[name] {
			t.Errorf("rule %d has number %d and name %q", number, n, name)
		}
		names[name] = true
	}
	for _, r := range bidRules {
		count(r.number, r.name)
	}
	for _, r := range playRules {
		count(r.number, r.name)
	}
	if number != 25 {
		t.Errorf("%d rules", number)
	}
}

// TestPodridaRulesBeatRandom checks that @podrida-rules wins most games against three random players, where
// chance would be a quarter. Seeds are fixed, so that the result is the same on every machine.
func TestPodridaRulesBeatRandom(t *testing.T) {
	tb := resolve(t, podrida.Game, "")
	if got := tb.wins(t, "podrida-rules", "random", 100); got < 0.75 {
		t.Errorf("@podrida-rules wins %.2f of the games against three random players", got)
	} else {
		t.Logf("@podrida-rules wins %.2f of the games", got)
	}
}

// wins returns how many games a bot wins. Its seat changes from game to game, and other plays all other seats. A
// shared win counts in part.
func (tb *table) wins(t testing.TB, bot, other string, deals int) float64 {
	sum := 0.0
	for deal := range deals {
		seats := make([]string, tb.variant.Players)
		for i := range seats {
			seats[i] = other
		}
		seats[deal%len(seats)] = bot
		r, _ := tb.play(t, uint64(deal), seats)
		first := 0
		for _, rank := range r.Ranks {
			if rank == 1 {
				first++
			}
		}
		if r.Ranks[deal%len(seats)] == 1 {
			sum += 1 / float64(first)
		}
	}
	return sum / float64(deals)
}
