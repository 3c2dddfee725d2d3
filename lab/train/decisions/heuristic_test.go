package decisions

import (
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/baraja"
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
	own, rival        string // letters of the suits that the seat and another have sung
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
	seat := int(table.Mover)
	for suit, letter := range baraja.Suits {
		if strings.ContainsRune(s.own, letter) {
			p.History.ScoredSongs[seat] |= 1 << suit
		}
		if strings.ContainsRune(s.rival, letter) {
			p.History.ScoredSongs[(seat+1)%m.Players] |= 1 << suit
		}
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
		{"lead: an ace or three with a cheaper card", situation{mode: brisca, hand: "1c 2e 4b"}, "1c -17, 2e 5"},
		{"lead: all cards are aces and threes", situation{mode: brisca, hand: "1e 3e"}, "3e 5, 1e -17"},
		{"lead: a trump instead of a card as cheap", situation{mode: brisca, hand: "4o 2e 12b"}, "4o -10, 2e 5"},
		{"lead: a trump cheaper than the others", situation{mode: brisca, hand: "4o 12b 11c"}, "4o 0"},
		{"lead: a suit with fewer aces and threes played", situation{mode: brisca, hand: "4c 5e", seen: "1c"}, "5e -5, 4c 5"},
		{"lead: no card of the suit of most", situation{mode: brisca, hand: "5e 6b", seen: "1c"}, "5e 0, 6b 0"},
		{"lead: most are trumps", situation{mode: brisca, hand: "5e 4o", seen: "1o"}, "5e 0, 4o -10"},
		{"lead: the own song's suit", situation{mode: tute, hand: "12c 4e 1b", own: "c"}, "12c -15, 4e 5, 1b 5"},
		{"lead: a rival's song's suit", situation{mode: tute, hand: "12c 4e 4o", rival: "e"}, "4e 25, 12c -15, 4o -20"},
		{"lead: trumps are a rival's song", situation{mode: tute, hand: "4o 2e", rival: "o"}, "4o 10, 2e -15"},
		{"lead: no such suit in hand", situation{mode: tute, hand: "4b 2c", rival: "e"}, "4b 5"},

		{"three of trumps", situation{mode: brisca, trick: "3o", hand: "1o 4c 5e"}, "1o 13, 4c -15"},
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
