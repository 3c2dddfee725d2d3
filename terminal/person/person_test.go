package person

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
)

// TestChoose checks that a person can choose a move by its text, its number, the square of a piece with one move,
// or a unique beginning that is no number.
func TestChoose(t *testing.T) {
	board := rules.Display{Board: &rules.Board{}}
	cards := []string{"1o", "10c", "12c", "12e", "swap:7o"}
	hand := cards[:4]
	bids := []string{"bid:0", "bid:1", "bid:3"}
	drops := []string{"1", "2", "12"}
	steps := []string{"8-4", "8-5", "10-5"}
	many := strings.Fields("1o 2o 3o 4o 5o 6o 7o 10o 11o 12o 1c 12c")
	for _, c := range []struct {
		display     rules.Display
		hand, legal []string
		line        string
		want        string
	}{
		{rules.Display{}, hand, cards, "12c", "12c"},
		{rules.Display{}, hand, cards, "2", "10c"},
		{rules.Display{}, hand, cards, "10", ""},
		{rules.Display{}, hand, cards, "12", ""},
		{rules.Display{}, hand, cards, "sw", "swap:7o"},
		{rules.Display{}, hand, cards, "s", ""}, // or show
		{rules.Display{}, hand, cards, "0", ""},
		{rules.Display{}, hand, cards, "6", ""},
		{rules.Display{}, hand, cards, "-1", ""},
		{rules.Display{}, hand, cards, "12C", ""},
		{rules.Display{}, hand, cards, "7o", ""},
		{rules.Display{}, many, many, "12", "12c"},
		{rules.Display{}, many, many, "12o", "12o"},
		{rules.Display{}, hand, bids, "0", "bid:0"},
		{rules.Display{}, hand, bids, "1", "bid:1"},
		{rules.Display{}, hand, bids, "2", ""},
		{rules.Display{}, hand, bids, "3", "bid:3"},
		{rules.Display{}, hand, bids, "bid:3", "bid:3"},
		{board, nil, drops, "1", "1"},
		{board, nil, drops, "2", "2"},
		{board, nil, drops, "3", ""},
		{board, nil, steps, "1", ""},
		{board, nil, steps, "10", "10-5"},
		{board, nil, steps, "8", ""},
		{board, nil, steps, "8-", ""},
		{board, nil, steps, "8-5", "8-5"},
		{board, nil, steps, "8 5", "8-5"},
		{board, nil, nil, "1", ""},
	} {
		if got := choicesOf(c.display, c.hand, c.legal).choose(c.line, (&Person{}).commandNames()); got != c.want {
			t.Errorf("%q of %v is %q, want %q", c.line, c.legal, got, c.want)
		}
	}
}

// TestSquareNames checks that squares have the names of the board on the screen, which are also those of the site.
func TestSquareNames(t *testing.T) {
	board := rules.Display{Board: &rules.Board{}}
	for _, c := range []struct {
		side        int
		legal, line string
		want        string
	}{
		{5, "12 20 24", "c3", "12"}, {5, "12 20 24", "A1", "20"}, {5, "12 20 24", "e1", "24"}, {5, "12 20 24", "e6", ""}, {5, "12 20 24", "f1", ""}, {5, "12 20 24", "c0", ""},
		{6, "18-12 18-13 30-24", "a3-a4", "18-12"}, {6, "18-12 18-13 30-24", "a3 b4", "18-13"}, {6, "18-12 18-13 30-24", "a3b4", "18-13"},
		{6, "18-12 18-13 30-24", "a1", "30-24"}, {6, "18-12 18-13 30-24", "a3", ""}, {6, "18-12 18-13 30-24", "a3-z9", ""},
		{0, "1c 12c", "c1", ""},
	} {
		choices := choicesOf(board, nil, strings.Fields(c.legal))
		choices.side = c.side
		if got := choices.choose(c.line, (&Person{}).commandNames()); got != c.want {
			t.Errorf("%q of %s is %q, want %q", c.line, c.legal, got, c.want)
		}
	}
	several := choicesOf(board, nil, []string{"18-12", "18-13"})
	several.side = 6
	if why := several.rejection("a3", nil); why != "the piece on a3 has several moves: type 18-12 or 18-13" {
		t.Error(why)
	}
}

// TestRefusals checks, in every game, that a move that a rule forbids is refused with the text of the rule.
func TestRefusals(t *testing.T) {
	begins := []string{
		"tute: You must beat ", "tute: You have ", "podrida: Cards are played when", "podrida: As the last to bid", "podrida: You must beat ",
		"teeko: There is a piece on ", "teeko: You have no piece on ", "tebes: You have no piece on ", "tebes: A piece goes one or two",
	}
	seen := map[string]bool{}
	for _, c := range []struct{ game, options string }{{"tute", ""}, {"podrida", ""}, {"brisca", ""}, {"teeko", ""}, {"teeko", "start=drop"}, {"tebes", "size=4"}} {
		v := refereetest.Variant(t, c.game, c.options)
		for deal := range 20 {
			seed := rules.Seed{byte(deal)}
			g := referee.NewGame(v, referee.Replay{Seed: referee.Hex(seed), Seats: make([]referee.ReplaySeat, v.Players)}, 0)
			g.Begin()
			p := &Person{game: new(game)}
			for ply := 0; !g.IsOver() && ply < 100; ply++ {
				p.recordPosition(g)
				legal := g.State.Legal(nil)
				var texts []string
				for _, m := range legal {
					texts = append(texts, string(g.State.MoveText(nil, m)))
				}
				hand := strings.Split(protocol.Pairs(g.State.View(nil, g.Turn())).Get("hand"), ",")
				choices := choicesOf(v.Game.Display, hand, texts)
				for _, line := range append(hand, "0", "5", "3 4", "12-13", "a1-b1") {
					why := p.refusal(choices, line)
					if strings.ContainsAny(why, "{}") || strings.HasPrefix(why, "table.") || why != "" && choices.choose(line, nil) != "" {
						t.Errorf("%s: %q of %v is refused with %q", c.game, line, texts, why)
					}
					for _, begin := range begins {
						if strings.HasPrefix(c.game+": "+why, begin) {
							seen[begin] = true
						}
					}
				}
				kit.Must(t, g.Move([]byte(texts[ply%len(texts)]), referee.MoveTime{}, nil))
			}
		}
	}
	for _, begin := range begins {
		if !seen[begin] {
			t.Errorf("no move is refused with %q", begin)
		}
	}
}

// TestPrompt checks that the prompt names the numbers that can be typed.
func TestPrompt(t *testing.T) {
	board := rules.Display{Board: &rules.Board{}}
	for _, c := range []struct {
		display rules.Display
		hand    string
		legal   string
		want    string
	}{
		{rules.Display{}, "1o 2c 3e", "1o 2c 3e", "your card (1 to 3): "},
		{rules.Display{}, "1o 2c 3e", "2c", "your card (1): "},
		{rules.Display{}, "1o 2c 3e", "1o 2c 3e swap:7o", "your move (1 to 4): "},
		{rules.Display{}, "1o", "bid:0 bid:1", "your bid (0 or 1): "},
		{rules.Display{}, "1o", "bid:0 bid:1 bid:2 bid:4", "your bid (0 to 4, not 3): "},
		{board, "", "3 4 5", "your move (a free square): "},
		{board, "", "19-12 19-13", "your move (from-to): "},
	} {
		got := choicesOf(c.display, strings.Fields(c.hand), strings.Fields(c.legal)).prompt()
		if got != c.want || len("[60:00] ")+len(got)+len("12-13") > 40 {
			t.Errorf("the prompt for %s is %q, want %q", c.legal, got, c.want)
		}
	}
}

func TestCommon(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, ""},
		{[]string{"hint"}, "hint"},
		{[]string{"help", "hint"}, "h"},
		{[]string{"12c", "why"}, ""},
		{[]string{"sing:o", "sing:c"}, "sing:"},
	} {
		if got := commonPrefix(c.words); got != c.want {
			t.Errorf("%v have %q in common, want %q", c.words, got, c.want)
		}
	}
}
