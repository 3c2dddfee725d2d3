package baraja

import (
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"pgregory.net/rapid"
)

// cards parses cards separated by spaces.
func cards(t *testing.T, text string) (list []Card) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		c := kit.Get[Card](t)(Parse(word))
		list = append(list, c)
	}
	return list
}

func TestCardsPack(t *testing.T) {
	const suit = "1o 2o 3o 4o 5o 6o 7o 10o 11o 12o "
	want := ""
	for _, letter := range "oceb" {
		want += strings.ReplaceAll(suit, "o", string(letter))
	}
	if got := cards(t, want); !slices.Equal(got, Pack40) {
		t.Errorf("the pack of 40 is %v", Pack40)
	}
	if len(Pack48) != 48 || !slices.Contains(Pack48, CardOf(8, 2)) || !slices.IsSorted(Pack48) {
		t.Errorf("the pack of 48 is %v", Pack48)
	}
}

func TestCardsText(t *testing.T) {
	for _, c := range Pack48 {
		if got, err := Parse(c.String()); err != nil || got != c || CardOf(c.Rank(), c.Suit()) != c {
			t.Errorf("%v reads back as %v, %v", c, got, err)
		}
	}
	for _, text := range []string{"", "12", "c", "13c", "0c", "8", "12C", " 12c", "12c ", "012c", "?"} {
		if c, err := Parse(text); err == nil || c != NoCard {
			t.Errorf("%q reads as %v", text, c)
		}
	}
	if got := NoCard.String(); got != "?" {
		t.Errorf("no card is written %q", got)
	}
}

// TestCardsSet compares a Set with a map of cards.
func TestCardsSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfDistinct(rapid.SampledFrom(Pack48), rapid.ID[Card]).Draw(t, "cards")
		var set Set
		for _, c := range list {
			set = set.With(c)
		}
		slices.Sort(list)
		if set.Len() != len(list) || len(list) > 0 && set.First() != list[0] {
			t.Fatalf("%v has %d cards", list, set.Len())
		}
		if got, want := set.Text(nil), Text(nil, list); string(got) != string(want) {
			t.Fatalf("set %s, list %s", got, want)
		}
		var moves []rules.Move
		for _, c := range list {
			moves = append(moves, rules.Move(c))
		}
		if got := set.Moves(nil); !slices.Equal(got, moves) {
			t.Fatalf("%v gives the moves %v", list, got)
		}
		for _, c := range Pack48 {
			if set.Has(c) != slices.Contains(list, c) || set.Without(c).Has(c) {
				t.Fatalf("%v: has %v is %v", list, c, set.Has(c))
			}
			if set.OfSuit(c.Suit()).Has(c) != set.Has(c) || set.OfSuit((c.Suit()+1)%4).Has(c) {
				t.Fatalf("%v: of the suit of %v is %s", list, c, set.OfSuit(c.Suit()).Text(nil))
			}
		}
	})
}

func TestBriscaRanking(t *testing.T) {
	order := cards(t, "1c 3c 12c 11c 10c 7c 6c 5c 4c 2c")
	if !slices.IsSortedFunc(order, func(a, b Card) int { return Strength(b) - Strength(a) }) {
		t.Error("1, 3, 12, 11, 10, 7, 6, 5, 4, 2 is not the order of strength")
	}
	values := []int{11, 10, 4, 3, 2, 0, 0, 0, 0, 0}
	sum := 0
	for i, c := range order {
		if Value(c) != values[i] {
			t.Errorf("%v is worth %d, not %d", c, Value(c), values[i])
		}
	}
	for _, c := range Pack40 {
		sum += Value(c)
	}
	if sum != 120 {
		t.Errorf("the pack is worth %d", sum)
	}
}

func TestBriscaBeats(t *testing.T) {
	for _, test := range []struct {
		trumps, winning string
		beaten, not     string
	}{
		{"2o", "3c", "1c 2o 1o", "12c 2c 1e 1b 3c"},
		{"2c", "3c", "1c", "12c 2c 1e 1b 1o"},
		{"2b", "2e", "4e 1e 2b 10b", "2e 1o 1c"},
		{"2b", "1e", "2b 1b", "3e 12e 1o 1c"},
		{"2b", "10b", "11b 12b 3b 1b", "7b 1e 1o"},
	} {
		set := BeatingCards(cards(t, test.trumps)[0].Suit(), cards(t, test.winning)[0])
		for _, c := range cards(t, test.beaten) {
			if !set.Has(c) {
				t.Errorf("trumps %s: %v does not beat %s", test.trumps, c, test.winning)
			}
		}
		for _, c := range cards(t, test.not) {
			if set.Has(c) {
				t.Errorf("trumps %s: %v beats %s", test.trumps, c, test.winning)
			}
		}
	}
}
