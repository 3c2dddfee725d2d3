package decisions

import (
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// parse reads cards separated by spaces.
func parse(t *testing.T, text string) (list []baraja.Card) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		c := kit.Get[baraja.Card](t)(baraja.Parse(word))
		list = append(list, c)
	}
	return list
}

func mode(t *testing.T, name string) cards.Mode {
	t.Helper()
	return kit.Get[cards.Mode](t)(cards.ParseMode(name))
}

// situation describes a trick, in which seat 0 plays the first card and oros are trumps, with the hand and the
// legal cards of the seat to move.
type situation struct {
	mode, trick, hand string
	seen              string // cards of earlier tricks
	own, other        string // letter of the suit that the seat and the one opposite have declared
}

func (s situation) heuristic(t *testing.T) *Heuristic {
	m := mode(t, s.mode)
	p := &cards.Position{Mode: m}
	table := p.Board()
	table.Players = uint8(m.Players)
	table.SetTrump(baraja.CardOf(2, 0))
	for _, c := range parse(t, s.trick) {
		if table.PlayCard(c) {
			t.Fatalf("the trick %s is complete", s.trick)
		}
	}
	table.Hands[table.Mover] = baraja.SetOf(parse(t, s.hand))
	p.History = cards.History{PlayedCards: baraja.SetOf(parse(t, s.seen)) | baraja.SetOf(parse(t, s.trick))}
	if m.Tute {
		declared := &p.State().(*tute.State).DeclaredSuits
		seat := int(table.Mover)
		declared[seat] = uint8(strings.Index(baraja.Suits, s.own) + len(s.own))
		declared[(seat+m.Players/2)%m.Players] = uint8(strings.Index(baraja.Suits, s.other) + len(s.other))
	}
	j := new(Heuristic)
	j.SetPosition(p)
	return j
}

// TestHeuristic has a case for each rule of the heuristic. Trumps
// are oros.
func TestHeuristic(t *testing.T) {
	const brisca, three, teams, tute = "brisca2", "brisca3", "brisca-teams", "tute2"
	for _, test := range []struct {
		name string
		situation
		want string // card and value, by card
	}{
		{"lead: an ace or three with a cheaper card", situation{mode: brisca, hand: "1c 2e 4b"}, "1c -22, 2e 0"},
		{"lead: all cards are aces and threes", situation{mode: brisca, hand: "1e 3e"}, "3e 0, 1e -22"},
		{"lead: a trump instead of a card as cheap", situation{mode: brisca, hand: "4o 2e 12b"}, "4o -10, 2e 0"},
		{"lead: a trump cheaper than the others", situation{mode: brisca, hand: "4o 12b 11c"}, "4o 0"},
		{"lead: a suit with fewer aces and threes played", situation{mode: brisca, hand: "4c 5e", seen: "1c"}, "5e -5, 4c 5"},
		{"lead: no card of the suit of most", situation{mode: brisca, hand: "5e 6b", seen: "1c"}, "5e 0, 6b 0"},
		{"lead: most are trumps", situation{mode: brisca, hand: "5e 4o", seen: "1o"}, "5e 0, 4o -10"},
		{"lead: the own song's suit", situation{mode: tute, hand: "12c 4e 1b", own: "c"}, "12c -20, 4e 0, 1b 0"},
		{"lead: a rival's song's suit", situation{mode: tute, hand: "12c 4e 4o", other: "e"}, "4e 20, 12c -20, 4o -20"},
		{"lead: the own song's suit, and a rival's is in hand", situation{mode: tute, hand: "12c 4e", own: "c", other: "e"}, "12c -40, 4e 20"},
		{"lead: trumps are a rival's song", situation{mode: tute, hand: "4o 2e", other: "o"}, "4o 10, 2e -20"},
		{"lead: no such suit in hand", situation{mode: tute, hand: "4b 2c", other: "e"}, "4b 0"},
		{"lead: the partner's song counts as a rival's", situation{mode: "tute-teams", hand: "12c 4e", other: "e"}, "4e 20, 12c -20"},

		{"three of trumps", situation{mode: brisca, trick: "3o", hand: "1o 4c 5e"}, "1o 11, 4c -15"},
		{"partner wins, last to play", situation{mode: teams, trick: "2c 1c 4c", hand: "12e 4b 2o"}, "4b -4, 12e 4, 2o 2"},
		{"1: nothing beats the ace", situation{mode: brisca, trick: "1c", hand: "2c 4e 5b"}, "2c 0, 4e 0"},
		{"1: loses, big, canTrump", situation{mode: brisca, trick: "1c", hand: "2c 2o 12e"}, "2c -10, 12e -14"},
		{"1: loses, big, canHigh", situation{mode: brisca, trick: "3c", hand: "1c 4e 7o"}, "4e -10"},
		{"1: loses, big, canSuit", situation{mode: three, trick: "11c 1e", hand: "12c 4b"}, "4b -4"},
		{"1: loses, big, canHigh, partner winning", situation{mode: teams, trick: "12c 1e", hand: "3c 4b 2o"}, "4b -10"},
		{"1: loses, big, canTrump, partner winning", situation{mode: teams, trick: "12c 1e", hand: "4b 2o"}, "4b 0"},
		{"2: loses, canHigh", situation{mode: brisca, trick: "4c", hand: "3c 2c 12e"}, "2c -10, 12e -14"},
		{"3: wins, big, suit led", situation{mode: brisca, trick: "3c", hand: "1c 4e 7o"}, "1c 10"},
		{"3: wins, big, canHigh with a dear trump", situation{mode: brisca, trick: "3c", hand: "1c 4e 3o"}, "3o -10"},
		{"3: wins, big, with a card of the suit led", situation{mode: three, trick: "11c 1e", hand: "12c 4b"}, "12c 8"},
		{"3: wins, big, with a trump", situation{mode: brisca, trick: "1c", hand: "2c 2o 12e"}, "2o 6"},
		{"3: wins, big, with a trump on a trump", situation{mode: three, trick: "2o 1c", hand: "4o 12e"}, "4o 6"},
		{"2: a rank of another suit counts as that of the suit led", situation{mode: "brisca4", trick: "2c 7e 1b", hand: "5c 4b 12o"}, "5c -10"},
		{"a rank of another suit hides the partner's card", situation{mode: teams, trick: "2c 4c 7e", hand: "12e 4b"}, "12e -4, 4b 0"},
		{"4: wins, canHigh", situation{mode: brisca, trick: "4c", hand: "3c 2o 12e"}, "3c 10, 2o -10"},
		{"5: a cheaper trump wins too", situation{mode: brisca, trick: "4c", hand: "12o 2o 12e"}, "12o -4, 2o 0, 12e -4"},
		{"loses with a cheaper card in hand", situation{mode: brisca, trick: "12o", hand: "2e 11c 12b"}, "2e 0, 11c -3, 12b -4"},
		{"no big, low, a trump", situation{mode: brisca, trick: "4c", hand: "2o 5e 12b"}, "2o -30"},
		{"4, and no big, low, a trump", situation{mode: brisca, trick: "4c", hand: "3c 2o 5e"}, "2o -40"},
		{"neither canHigh nor canTrump, low, a trump", situation{mode: brisca, trick: "1o", hand: "2o 4c"}, "2o -5"},
		{"the same without big", situation{mode: brisca, trick: "12o", hand: "2o 4c"}, "2o -35"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := test.heuristic(t)
			for item := range strings.SplitSeq(test.want, ", ") {
				word, want, _ := strings.Cut(item, " ")
				if got := j.Worth(parse(t, word)[0]); strconv.Itoa(got) != want {
					t.Errorf("%+v: %s is worth %d, not %s", test.situation, word, got, want)
				}
			}
		})
	}
}
