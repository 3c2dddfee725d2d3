package tute

import (
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/baraja/barajatest"
	"github.com/timba-arena/timba/rules/rulestest"
)

// naive implements Tute a second time, slowly and plainly, from the text of the rules. rulestest.Pair
// compares it with State.
type naive struct {
	*barajatest.Naive
	// declared has the suit that each seat has declared in this trick, or "-". asked is the number of seats
	// that were asked for a song, and choosing has the suits from which the seat to move may choose.
	declared []string
	asked    int
	choosing []string
	sung     []string
}

// newNaive deals from a shuffled pack.
func newNaive(option map[string]string, pack []string) *naive {
	g := &naive{Naive: barajatest.NewNaive(option, pack, 8)}
	g.startTrick()
	return g
}

func (g *naive) Turn() int {
	if !g.Over && len(g.choosing) > 0 {
		return (g.Leader + g.asked) % g.Seats
	}
	return g.Naive.Turn()
}

func (g *naive) Legal() []string {
	if g.Over {
		return nil
	}
	if len(g.choosing) > 0 {
		var moves []string
		for _, suit := range g.choosing {
			moves = append(moves, "sing:"+suit)
		}
		return moves
	}
	hand := g.Hands[g.Turn()]
	return append(barajatest.InPackOrder(g.playable(hand)), g.Swaps(hand)...)
}

// some returns the cards for which test returns true.
func some(cards []string, test func(string) bool) (found []string) {
	for _, card := range cards {
		if test(card) {
			found = append(found, card)
		}
	}
	return found
}

// playable follows the six lines of the rules, one after the other.
func (g *naive) playable(hand []string) []string {
	if len(g.Trick) == 0 { // line 1
		return hand
	}
	led, trumps := barajatest.Suit(g.Trick[0]), barajatest.Suit(g.Trump)
	trumpsIn := some(g.Trick, func(c string) bool { return barajatest.Suit(c) == trumps })
	follow := some(hand, func(c string) bool { return barajatest.Suit(c) == led })
	if g.Option["followonly"] == "yes" {
		if len(follow) > 0 {
			return follow
		}
		return hand
	}
	if len(trumpsIn) == 0 || led == trumps { // line 2
		ledIn := some(g.Trick, func(c string) bool { return barajatest.Suit(c) == led })
		higher := some(follow, func(c string) bool {
			return len(some(ledIn, func(d string) bool { return barajatest.Strength(d) > barajatest.Strength(c) })) == 0
		})
		if len(higher) > 0 {
			return higher
		}
	}
	if len(follow) > 0 { // line 3
		return follow
	}
	own := some(hand, func(c string) bool { return barajatest.Suit(c) == trumps })
	if len(trumpsIn) == 0 && len(own) > 0 { // line 4
		return own
	}
	if len(trumpsIn) > 0 && led != trumps { // line 5
		higher := some(own, func(c string) bool {
			return len(some(trumpsIn, func(d string) bool { return barajatest.Strength(d) > barajatest.Strength(c) })) == 0
		})
		if len(higher) > 0 {
			return higher
		}
	}
	return hand // line 6
}

func (g *naive) Play(text string) {
	g.Plies++
	if card, ok := strings.CutPrefix(text, "swap:"); ok {
		g.Swap(card)
		g.CheckInstantWins(true)
	} else if suit, ok := strings.CutPrefix(text, "sing:"); ok {
		seat := g.Turn()
		g.EventCounts["chosen"]++
		g.choosing = nil
		g.sing(seat, suit)
		g.asked++
		g.ask()
	} else if g.PlayCard(text) {
		goesOn := g.FinishTrick(g.song)
		g.declared = slices.Repeat([]string{"-"}, g.Seats)
		if goesOn {
			g.startTrick()
		}
	}
}

// song scores the song of the winner of a trick, if it still can.
func (g *naive) song(seat int) {
	if suit := g.declared[seat]; suit != "-" && g.holds(seat, suit) {
		g.Score[seat] += g.worthOf(suit)
		g.sung = append(g.sung, suit)
		g.NotifyAll("song %d %d", seat, g.worthOf(suit))
	}
}

// startTrick checks for wins at once, then asks for songs.
func (g *naive) startTrick() {
	g.declared = slices.Repeat([]string{"-"}, g.Seats)
	g.asked = 0
	g.CheckInstantWins(true)
	if !g.Over {
		g.ask()
	}
}

// ask asks the remaining seats for their songs.
func (g *naive) ask() {
	for g.asked < g.Seats {
		seat := (g.Leader + g.asked) % g.Seats
		var can []string
		for _, suit := range []string{"o", "c", "e", "b"} {
			if g.holds(seat, suit) && !slices.Contains(g.sung, suit) {
				can = append(can, suit)
			}
		}
		if slices.Contains(can, barajatest.Suit(g.Trump)) {
			can = []string{barajatest.Suit(g.Trump)}
		}
		if len(can) > 1 {
			g.choosing = can
			return
		}
		if len(can) == 1 {
			g.sing(seat, can[0])
		}
		g.asked++
	}
}

// holds reports whether a seat has the 12 and the 11 of a suit.
func (g *naive) holds(seat int, suit string) bool {
	return slices.Contains(g.Hands[seat], "12"+suit) && slices.Contains(g.Hands[seat], "11"+suit)
}

func (g *naive) worthOf(suit string) int {
	if suit == barajatest.Suit(g.Trump) {
		return 40
	}
	return 20
}

func (g *naive) sing(seat int, suit string) {
	g.declared[seat] = suit
	for _, card := range []string{"12" + suit, "11" + suit} {
		g.KnownCards[seat] = append(barajatest.RemoveCard(g.KnownCards[seat], card), card)
	}
	g.NotifyAll("sing %d %s %d", seat, suit, g.worthOf(suit))
}

func (g *naive) View(seat int) string {
	sung := slices.DeleteFunc([]string{"o", "c", "e", "b"}, func(suit string) bool { return !slices.Contains(g.sung, suit) })
	return g.Naive.View(seat) + " declared=" + strings.Join(g.declared, ",") + " sung=" + barajatest.List(sung)
}

// newPair deals the same shuffled pack to both implementations.
func newPair(t kit.T, v *rules.Variant, pack []baraja.Card) *rulestest.Pair[*naive] {
	t.Helper()
	s, text := new(State), string(baraja.Text(nil, pack))
	s.Layout(v.Rules.(Rules), pack)
	n := newNaive(v.Settings.Map(), strings.Split(text, ","))
	return kit.Get[*rulestest.Pair[*naive]](t)(rulestest.NewPair(v, s, n, text))
}

// everyVariant returns every combination of options that the game accepts.
func everyVariant(t kit.T) []*rules.Variant {
	return kit.Get[[]*rules.Variant](t)(rulestest.Variants(Game))
}

// shuffled returns a pack to deal from. Two packs of three are arranged so that rare events happen: one seat is
// dealt, or soon draws, most of the high trumps, or most of the 12s or 11s, and the next seat most of the 11s.
func shuffled(v *rules.Variant, r *rules.Rand) []baraja.Card {
	pack := slices.Clone(v.Rules.(Rules).Pack())
	stream := rules.FastStream(r)
	rules.Shuffle(&stream, pack)
	n := v.Players
	seat := r.Below(n)
	suit := pack[n*handCards].Suit()
	switch r.Below(6) {
	case 0, 1:
		stack(pack, n, seat, r, cardsOf([]int{1, 3, 12, 11, 7, 2}, suit))
	case 2:
		stack(pack, n, seat, r, cardsOf([]int{12}, 0, 1, 2, 3))
		stack(pack, n, (seat+1)%n, r, cardsOf([]int{11}, 0, 1, 2, 3))
	case 3:
		stack(pack, n, seat, r, cardsOf([]int{12, 11}, (suit+1)%4, (suit+2)%4, (suit+3)%4))
	}
	return pack
}

func cardsOf(ranks []int, suits ...baraja.Suit) (cards []baraja.Card) {
	for _, rank := range ranks {
		for _, suit := range suits {
			cards = append(cards, baraja.CardOf(rank, suit))
		}
	}
	return cards
}

// stack moves cards to where a seat gets them: to its deal, and a few to the front of the stock.
func stack(pack []baraja.Card, n, seat int, r *rules.Rand, cards []baraja.Card) {
	for i, c := range cards {
		at, to := slices.Index(pack, c), i*n+seat
		if r.Below(6) == 0 {
			to = n*handCards + 1 + r.Below(n*2)
		}
		if at >= 0 && at != n*handCards && to < len(pack) { // a 2 may be left out
			pack[at], pack[to] = pack[to], pack[at]
		}
	}
}

// TestTuteAgainstNaive compares thousands of games with all options, in which every rare event must happen.
func TestTuteAgainstNaive(t *testing.T) {
	games := 12
	if kit.Soak {
		games = 60
	}
	met, r := map[string]int{}, rules.NewRand(1)
	for _, v := range everyVariant(t) {
		for range games {
			p, mode := newPair(t, v, shuffled(v, r)), r.Below(3)
			for p.Naive.Turn() >= 0 {
				kit.Must(t, p.Try(p.Naive.Pick(p.Naive.Legal(), mode, r)))
			}
			for event, n := range p.Naive.EventCounts {
				met[event] += n
			}
		}
	}
	for _, event := range []string{"swap", "sing", "song", "chosen", "instant blackhand", "instant hunt3", "instant tute", "two at once"} {
		if met[event] < games/4 {
			t.Errorf("%s happened only %d times in %d games of each variant", event, met[event], games)
		}
	}
}

// FuzzPlay compares a game that the input determines with the naive implementation.
func FuzzPlay(f *testing.F) {
	variants := everyVariant(f)
	rulestest.FuzzNaive(f, func(t *testing.T, head [4]byte) *rulestest.Pair[*naive] {
		v := variants[int(head[0])%len(variants)]
		return newPair(t, v, shuffled(v, rules.NewRand(uint64(head[1]))))
	})
}
