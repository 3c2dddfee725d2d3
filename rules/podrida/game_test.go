package podrida

import (
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/rulestest"
)

func TestPodridaConformance(t *testing.T) {
	rulestest.Run(t, Game, rulestest.Options{
		Games: 60, // the games are long
		CheckTotal: func(v *rules.Variant, s rules.State) error {
			for seat, p := range s.Points() {
				// A round gives -10 points, or 10 plus the number of tricks.
				if worst := float64(-10 * v.Rules.(Rules).Rounds()); p < worst {
					return fmt.Errorf("seat %d has %v points, fewer than %v", seat, p, worst)
				}
			}
			return nil
		},
	})
}

// cards parses cards separated by spaces.
func cards(t *testing.T, text string) (list []baraja.Card) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		c := kit.Get[baraja.Card](t)(baraja.Parse(word))
		list = append(list, c)
	}
	return list
}

func set(list []baraja.Card) (s baraja.Set) {
	for _, c := range list {
		s = s.With(c)
	}
	return s
}

// TestPodridaRounds checks the largest hand, the number of rounds and their hands.
func TestPodridaRounds(t *testing.T) {
	for _, c := range []struct {
		rules Rules
		want  string
	}{
		{Rules{4, 48, false, false}, "[1 2 3 4 5 6 7 8 9 10 11 12]"},
		{Rules{5, 48, false, false}, "[1 2 3 4 5 6 7 8 9]"},
		{Rules{9, 40, false, false}, "[1 2 3 4]"},
		{Rules{12, 48, true, false}, "[1 2 3 4 3 2 1]"},
		{Rules{12, 40, true, false}, "[1 2 3 2 1]"},
		{Rules{3, 40, false, false}, "[1 2 3 4 5 6 7 8 9 10 11 12 13]"},
		{Rules{4, 48, false, true}, "[1 2 3 4 5]"},
		{Rules{12, 40, false, true}, "[1 2 3]"},
	} {
		var got []int
		for round := 1; round <= c.rules.Rounds(); round++ {
			got = append(got, c.rules.HandSize(round))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: got %v, want %s", c.rules, got, c.want)
		}
	}
	v := kit.Get[*rules.Variant](t)(Game.Resolve(map[string]string{"players": "4", "rounds": "short"}))
	if got := [2]int{v.Display().Cards.Rounds, Game.Display.Cards.Rounds}; got != [2]int{5, 0} {
		t.Errorf("the numbers of rounds of a variant and its game are drawn as %d", got)
	}
}

// TestPodridaDealZeroSeed checks the worked example of SPEC.md for the seed of 32 zero bytes.
func TestPodridaDealZeroSeed(t *testing.T) {
	v := kit.Get[*rules.Variant](t)(Game.Resolve(nil))
	stream := rules.NewStream(rules.Seed{})
	s := v.Deal(&stream)
	var log rules.Log
	s.LogStart(&log)
	for seat, want := range []string{"11c", "9e", "8e", "3o"} {
		want = "round 1 cards=1 dealer=3\ndeal " + want + "\ntrump o 12o\n"
		if got := string(log.AppendEvents(nil, seat, "")); got != want {
			t.Errorf("seat %d is told\n%swant\n%s", seat, got, want)
		}
	}
	for s.Ply() < 8 {
		log.Reset()
		s.Apply(s.Legal(nil)[0], &log)
	}
	// The deal begins with seat 1, after dealer 0: 11o 3o 9e 5c, then a second round of cards.
	for seat, want := range []string{"5c", "11o", "3o", "9e"} {
		got := string(log.AppendEvents(nil, seat, ""))
		for _, line := range []string{"\nround 2 cards=2 dealer=0\ndeal " + want + ",", "\ntrump b 10b\n"} {
			if !strings.Contains(got, line) {
				t.Errorf("seat %d is told\n%swithout %q", seat, got, line)
			}
		}
	}
}

// dealRound starts a game with one of its rounds, which is also the last.
func (s *State) dealRound(r Rules, round int, src *rules.Stream) {
	*s = State{rules: r, round: uint8(round - 1), lastRound: uint8(round), stream: *src, ply: r.plies(round)}
	s.dealer = int8((round + int(r.Players) - 3) % int(r.Players)) // the seat before
	s.nextRound(nil)
	*src = s.stream
}

// TestPodridaDealUsesThePackUp checks rounds that use up the pack. The last card dealt is the trump card: all
// seats know it, and a redeal leaves it with the dealer until it is played.
func TestPodridaDealUsesThePackUp(t *testing.T) {
	for _, r := range everyRules() {
		stream := rules.NewStream(rules.Seed{})
		var s State
		s.dealRound(r, r.MaxHand(), &stream)
		used := r.MaxHand()*int(r.Players) == int(r.Deck)
		if got := s.hands[s.dealer].Has(s.trumpCard); got != used {
			t.Fatalf("%+v: the dealer holds the card turned up: %v", r, got)
		}
		if !used {
			continue
		}
		rand := rules.NewRand(1)
		for s.turn >= 0 {
			played := set(s.playedCards[:s.playedCount]).Has(s.trumpCard)
			for seat := range int(r.Players) {
				c := s
				c.Redeal(seat, rand)
				if c.hands[c.dealer].Has(c.trumpCard) == played {
					t.Fatalf("%+v: played is %v, and seat %d's redeal moves the dealer's %s", r, played, seat, s.trumpCard)
				}
			}
			legal := s.Legal(nil)
			s.Apply(legal[rand.Below(len(legal))], nil)
		}
	}
}

// TestPodridaBids checks which bids the last bidder may make.
func TestPodridaBids(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules Rules
		round int
		bids  string
		want  string
	}{
		{"first bidder", Rules{4, 48, false, false}, 3, "", "0 1 2 3"},
		{"third bidder", Rules{4, 48, false, false}, 3, "1 1", "0 1 2 3"},
		{"last bidder", Rules{4, 48, false, false}, 3, "1 1 0", "0 2 3"},
		{"last bidder may not bid 0", Rules{4, 48, false, false}, 3, "1 1 1", "1 2 3"},
		{"last bidder may not bid all", Rules{4, 48, false, false}, 3, "0 0 0", "0 1 2"},
		{"the sum is past the cards", Rules{4, 48, false, false}, 3, "3 3 3", "0 1 2 3"},
		{"round 1 is free", Rules{4, 48, false, false}, 1, "1 0 0", "0 1"},
		{"round 2 is free", Rules{4, 48, false, false}, 2, "1 0 0", "0 1 2"},
		{"the number of the round counts, not of cards", Rules{12, 40, true, false}, 5, "0 0 0 0 0 0 0 0 0 0 0", "0"},
		{"all bids high", Rules{12, 48, false, false}, 4, "4 4 4 4 4 4 4 4 4 4 4", "0 1 2 3 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream := rules.NewStream(rules.Seed{})
			var s State
			s.dealRound(c.rules, c.round, &stream)
			for word := range strings.FieldsSeq(c.bids) {
				m, err := s.ParseMove("bid:" + word)
				if err == nil {
					err = rules.Play(&s, m, nil)
				}
				kit.Must(t, err)
			}
			var got []string
			for _, m := range s.Legal(nil) {
				got = append(got, strings.TrimPrefix(string(s.MoveText(nil, m)), "bid:"))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

// TestPodridaPlay checks which cards may be played, with bastos as trumps.
func TestPodridaPlay(t *testing.T) {
	for _, c := range []struct{ name, trick, hand, want string }{
		{"leading", "", "2o 5c 1b", "2o 5c 1b"},
		{"must beat in the suit", "7o", "2o 10o 1o 1b", "1o 10o"},
		{"the 1 is the highest", "12o", "2o 11o 1o", "1o"},
		{"nothing beats the 1", "1o", "2o 12o 1b", "2o 12o"},
		{"8 and 9 stand between 7 and 10", "8o", "7o 9o 2c", "9o"},
		{"must beat the card that is winning, not the one led", "3o 11o", "4o 12o 1b", "12o"},
		{"cannot beat: any of the suit", "3o 11o", "2o 4o 1b", "2o 4o"},
		{"another suit discarded does not count", "3o 12c", "2o 4o", "4o"},
		{"trumped: any of the suit", "7o 2b", "2o 1o 5b", "1o 2o"},
		{"trumps led: must beat", "7b", "2b 10b 1o", "10b"},
		{"trumps led: cannot beat", "12b", "2b 10b 1o", "2b 10b"},
		{"trumps led and void: anything", "7b", "2o 1c", "2o 1c"},
		{"void: must trump", "7o", "2c 3b 1b", "1b 3b"},
		{"void: above the trump", "7o 5b", "2c 3b 6b 1b", "1b 6b"},
		{"void: above the best of two trumps", "7o 5b 11b", "2c 6b 12b", "12b"},
		{"void: under-trumps when it cannot go above", "7o 11b", "2c 3b 6b", "3b 6b"},
		{"void without trumps: anything", "7o 11b", "2c 3e", "2c 3e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := emptyTable(everyCard.OfSuit(3))
			for _, card := range cards(t, c.trick) {
				on.put(card)
			}
			if got, want := on.playable(set(cards(t, c.hand))), set(cards(t, c.want)); got != want {
				t.Errorf("got %s, want %s", got.Text(nil), want.Text(nil))
			}
		})
	}
}

// TestPodridaTrick checks who wins a trick, with bastos as trumps.
func TestPodridaTrick(t *testing.T) {
	for _, c := range []struct {
		trick string
		want  int
	}{
		{"7o 8o 10o", 2},
		{"1o 12o 11o", 0},
		{"7o 1c 12e", 0},
		{"7o 2b 1o", 1},
		{"7o 2b 3b", 2},
		{"7o 1b 3b", 1},
		{"7b 12b 1b", 2},
	} {
		on, got := emptyTable(everyCard.OfSuit(3)), -1
		for i, card := range cards(t, c.trick) {
			if on.put(card) {
				got = i
			}
		}
		if got != c.want {
			t.Errorf("%s: card %d wins, want %d", c.trick, got, c.want)
		}
	}
}

// TestPodridaScore checks the points and the events of a round with met and missed bids.
func TestPodridaScore(t *testing.T) {
	stream := rules.NewStream(rules.Seed{})
	var s State
	s.Deal(Rules{Players: 4, Deck: 48}, &stream)
	var log rules.Log
	// Oros are trumps: seat 3 wins the only trick with the 3o.
	for _, text := range strings.Fields("bid:1 bid:0 bid:0 bid:1 11c 9e 8e 3o") {
		m := kit.Get[rules.Move](t)(s.ParseMove(text))
		log.Reset()
		kit.Must(t, rules.Play(&s, m, &log))
	}
	want := "play 3 3o\ntrick 3\nscore -10 10 10 11\nround 2 cards=2 dealer=0\n"
	if got := string(log.AppendEvents(nil, 0, "")); !strings.HasPrefix(got, want) {
		t.Errorf("told\n%swant first\n%s", got, want)
	}
	if got, want := fmt.Sprint(s.Points()), "[-10 10 10 11]"; got != want {
		t.Errorf("points %s, want %s", got, want)
	}
}

// TestPodridaErrors checks that errors say what is wrong and what to do.
func TestPodridaErrors(t *testing.T) {
	stream := rules.NewStream(rules.Seed{})
	var bidding State
	bidding.dealRound(Rules{Players: 4, Deck: 48}, 3, &stream)
	for range 3 {
		bidding.Apply(bidMove, nil)
	}
	playing := bidding
	playing.Apply(bidMove, nil)
	playing.table = emptyTable(everyCard.OfSuit(3))
	playing.hands[playing.turn] = set(cards(t, "2o 10o 1b"))
	lead := func(s *State, c baraja.Card) {
		s.table.put(c)
		s.playedCards[0], s.playedCount, s.trickSize = c, 1, 1
	}
	lead(&playing, baraja.CardOf(7, 0))
	void := playing
	void.table = emptyTable(everyCard.OfSuit(3))
	lead(&void, baraja.CardOf(7, 1))
	over := playing
	over.turn = rules.Over
	for _, c := range []struct {
		s                State
		move, want, code string
	}{
		{bidding, "bid:3", `"bid:3" makes the bids add up to the 3 cards, which the last bidder may not: bid another number`, "bids-add-up count=3"},
		{bidding, "bid:4", `"bid:4" is more than the hand: bid from bid:0 to bid:3`, ""},
		{bidding, "12o", `"12o" cannot be played before the bids are made: bid, from bid:0 to bid:3`, "bid"},
		{playing, "bid:1", `"bid:1" comes too late, the bids are made: play one of 10o`, ""},
		{playing, "12c", `"12c" is not in hand: play one of 10o`, ""},
		{playing, "1b", `"1b" does not follow suit: play one of 10o`, "beat card=7o"},
		{playing, "2o", `"2o" is below the trick: play one of 10o`, "beat card=7o"},
		{void, "2o", `"2o" does not trump: play one of 1b`, "trump suit=b"},
		{over, "2o", `"2o" cannot be played: the game is over`, ""},
		{playing, "13o", `"13o" is not a move: write a card as rank and suit (12c) or a bid (bid:2)`, ""},
		{bidding, "bid:17", `"bid:17" is not a bid: write bid:0 to bid:16`, ""},
		{bidding, "bid:01", `"bid:01" is not a bid: write bid:0 to bid:16`, ""},
	} {
		m, err := c.s.ParseMove(c.move)
		if err == nil {
			err = c.s.Check(m)
		}
		if err == nil || err.Error() != c.want || rulestest.Refusal(err) != c.code {
			t.Errorf("%s: got  %v, %s\nwant %s, %s", c.move, err, rulestest.Refusal(err), c.want, c.code)
		}
	}
}

// TestPodridaOptions checks options out of range.
func TestPodridaOptions(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"players", "2", `option players cannot be "2": try 3 to 12`},
		{"players", "13", `option players cannot be "13": try 3 to 12`},
		{"deck", "52", `option deck cannot be "52": try 48 or 40`},
		{"rounds", "down", `option rounds cannot be "down": try up or updown or short`},
	} {
		if _, err := Game.Resolve(map[string]string{c.name: c.value}); err == nil || err.Error() != c.want {
			t.Errorf("%s=%s: got  %v\nwant %s", c.name, c.value, err, c.want)
		}
	}
}
