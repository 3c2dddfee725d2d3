package draw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// position makes random moves up to the given ply, and returns the position as the seat to move sees it.
func position(t testing.TB, game, options string, plies int) Position {
	t.Helper()
	v := refereetest.Variant(t, game, options)
	var seed rules.Seed
	stream, dice := rules.NewStream(seed), rules.NewStream(seed.Derive("moves"))
	state := v.Deal(&stream)
	p := Position{Game: game, Display: v.Game.Display}
	p.Options = protocol.Pairs(v.Settings.String())
	for range plies {
		if state.Turn() == rules.Over {
			t.Fatalf("%s is over at ply %d", game, state.Ply())
		}
		moves := state.Legal(nil)
		m := moves[dice.Below(len(moves))]
		p.Last, p.LastBy = string(state.MoveText(nil, m)), state.Turn()
		state.Apply(m, nil)
	}
	p.Ply, p.Turn = state.Ply(), state.Turn()
	p.Seat = max(0, p.Turn)
	for seat := range v.Players {
		p.Names = append(p.Names, fmt.Sprintf("bot%d.py", seat))
		p.Open = append(p.Open, string(state.View(nil, seat)))
	}
	p.View = protocol.Pairs(p.Open[p.Seat])
	return p
}

var goldens = []struct {
	name, game, options string
	plies               int
	change              func(*Position)
}{
	{"brisca-deal", "brisca", "", 0, nil},
	{"brisca-trick", "brisca", "players=4 teams=yes exchange=yes", 10, func(p *Position) { p.Move = strings.Split(p.View.Get("hand"), ",")[1] }},
	{"brisca-open", "brisca", "players=3", 22, nil},
	{"tute-songs", "tute", "exchange=yes", 6, func(p *Position) { p.View = songs }},
	{"podrida-bids", "podrida", "", 26, nil},
	{"podrida-many", "podrida", "players=12 deck=40", 72, nil},
	{"podrida-long", "podrida", "players=3", 18*17/2 + 3*3, nil},
	{"tebes-start", "tebes", "", 0, nil},
	{"tebes-middle", "tebes", "board=random", 9, nil},
	{"tebes-small", "tebes", "size=4", 3, func(p *Position) { p.Move = "6-10" }},
	{"teeko-drop", "teeko", "start=drop", 3, nil},
	{"teeko-move", "teeko", "", 4, nil},
	{"unknown", "mus", "players=4", 0, func(p *Position) { p.View = protocol.Pairs("hand=1o,2c me=3") }},
}

// songs is a view with everything that a game of Tute can have.
var songs = protocol.Pairs("hand=11o,12o,1e,2e,10e,11e,12e,3b trump=7c stock=24 leader=1 trick=7e points=12,23 " +
	"played=1o,10o,3o,5b known=11o,12o/2c declared=o,- sung=e,b")

var styles = []struct {
	name  string
	style Style
}{
	{"80 columns", Style{Width: 80, Unicode: true}},
	{"40 columns", Style{Width: 40, Unicode: true}},
	{"ASCII", Style{}},
}

func TestPositions(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			game := g.game
			if g.name == "unknown" {
				game = "teeko"
			}
			options := g.options
			if g.name == "unknown" {
				options = ""
			}
			p := position(t, game, options, g.plies)
			if g.name == "unknown" {
				p.Game, p.Display = g.game, rules.Display{}
			}
			if g.name != "brisca-open" {
				p.Open = nil
			}
			if g.change != nil {
				g.change(&p)
			}
			var got strings.Builder
			for _, s := range styles {
				text := s.style.Position(p)
				for line := range strings.Lines(text) {
					if n := width(strings.TrimSuffix(line, "\n")); n > s.style.Columns() {
						t.Errorf("%s: %d columns: %q", s.name, n, line)
					}
				}
				fmt.Fprintf(&got, "-- %s --\n%s", s.name, text)
			}
			kit.Golden(t, g.name+".txt", got.String())
		})
	}
}

// TestEvents checks that every event of every game is described in words.
func TestEvents(t *testing.T) {
	names := []string{"you", "bot.py", "\x1b[2J"}
	s := Style{Unicode: true}
	for event, want := range map[string]string{
		"deal 1o,12c":              "dealt: 1● 12♥",
		"trump 5e":                 "trump: 5♠",
		"trump b 3b":               "trump: 3♣",
		"round 3 cards=3 dealer=1": "round 3: cards 3, dealer 1",
		"score -10 11":             "points so far: -10 11",
		"play 0 12c":               "you play 12♥",
		"play 1 19-14":             "bot.py plays 19-14",
		"bid 1 0":                  "bot.py bids 0",
		"draw 1 ?":                 "bot.py draws a card",
		"draw 0 5b":                "you draw 5♣",
		"swap 1 7o":                "bot.py takes the trump card and lays down 7●",
		"swap 0 7o":                "you take the trump card and lay down 7●",
		"trick 0 14":               "you win the trick: 14 points",
		"trick 1 1":                "bot.py wins the trick: 1 point",
		"trick 1":                  "bot.py wins the trick",
		"instant 1 tute":           "bot.py wins at once: tute",
		"sing 1 o 20":              "bot.py declares ● for 20",
		"song 0 40":                "you score the song: 40",
		"capture 1 7":              "bot.py captures on 7",
		"extra 1":                  "bot.py moves once more",
		"opening 1":                "the game begins after 1 random ply",
		"opening 6":                "the game begins after 6 random plies",
		"opening 0":                "the game begins without an opening",
		"play 2 1o":                "?[2J plays 1●",
		"play 3 1o":                "seat 3 plays 1●",
		"comet 1 x":                "comet 1 x",
		"sing 0":                   "you declare  for ",
		"":                         "",
	} {
		if got := s.Event(event, names); got != want {
			t.Errorf("%q is told as %q, want %q", event, got, want)
		}
	}
}

// TestColours checks that drawings in colors differ from others only in boards, whose squares have a background
// instead of a frame.
func TestColours(t *testing.T) {
	var got strings.Builder
	for _, c := range []struct {
		game string
		ply  int
	}{{"brisca", 5}, {"tebes", 2}, {"teeko", 1}} {
		p := position(t, c.game, "", c.ply)
		p.Open = nil
		text := Style{Width: 80, Colour: true, Unicode: true}.Position(p)
		if c.game == "brisca" && uncoloured(text) != (Style{Width: 80, Unicode: true}.Position(p)) {
			t.Errorf("without its colours it is\n%s", uncoloured(text))
		}
		got.WriteString(strings.ReplaceAll(text, "\x1b", "^"))
	}
	kit.Golden(t, "colours.txt", got.String())
}

// uncoloured removes the codes for colors from a text.
func uncoloured(text string) string {
	var out strings.Builder
	for text != "" {
		before, after, found := strings.Cut(text, "\x1b[")
		out.WriteString(before)
		if _, text, _ = strings.Cut(after, "m"); !found {
			break
		}
	}
	return out.String()
}

// TestPositionsFit checks that every position of random games fits its terminal.
func TestPositionsFit(t *testing.T) {
	for _, c := range []struct{ game, options string }{
		{"brisca", "players=4"}, {"tute", ""}, {"podrida", "players=3 rounds=updown"}, {"podrida", "players=12"}, {"tebes", ""}, {"teeko", ""},
	} {
		for ply := 0; ply < 60; ply += 7 {
			p := position(t, c.game, c.options, min(ply, map[string]int{"brisca": 30, "tute": 20, "tebes": 8, "teeko": 8}[c.game]+map[bool]int{true: 60}[c.game == "podrida"]))
			for _, columns := range []int{40, 60, 80, 100} {
				for line := range strings.Lines(Style{Width: columns, Unicode: true}.Position(p)) {
					if n := width(strings.TrimSuffix(line, "\n")); n > columns {
						t.Fatalf("%s %s, ply %d: %d columns where there are %d: %q", c.game, c.options, ply, n, columns, line)
					}
				}
			}
		}
	}
}

// displayOf returns the display of a game, if it exists.
func displayOf(game string) rules.Display {
	g, err := games.Find(game)
	if err != nil {
		return rules.Display{}
	}
	return g.Display
}

// FuzzPosition checks that the drawing of any view ends and has no control characters.
func FuzzPosition(f *testing.F) {
	for _, g := range goldens {
		if g.name != "unknown" {
			p := position(f, g.game, g.options, g.plies)
			f.Add(p.Game, string(p.Options), string(p.View), p.Last, "bot", p.Seat, p.Turn, p.Ply)
		}
	}
	f.Add("tebes", "players=99", "size=3 pieces=bw.bw.bw\x1b colours=b", "7-99999999999999999999", "\x1b[2J", -4, 77, -1)
	f.Add("podrida", "players=-3", "trump=99x hand=,,, bids=1,2,3,4,5,6 known=//// leader=-5 trick=1o,2o,3o,4o,5o,6o,7o,1o,2o,3o,4o,5o,6o,7o", "", "", 0, -1, 0)
	f.Fuzz(func(t *testing.T, game, options, view, move, name string, seat, turn, ply int) {
		p := Position{Game: game, Display: displayOf(game), Options: protocol.Pairs(options), View: protocol.Pairs(view), Seat: seat, Turn: turn, Ply: ply,
			Names: []string{name, name}, Open: []string{view, view}, Last: move, Move: move, LastBy: seat, Keys: map[string]string{move: move}}
		for _, s := range []Style{{}, {Width: 40, Unicode: true}} {
			for _, r := range s.Position(p) {
				if r < ' ' && r != '\n' || r == 0x7f {
					t.Fatalf("%q comes out", r)
				}
			}
		}
	})
}

func TestStyles(t *testing.T) {
	for _, c := range []struct {
		name           string
		all, ctype, la string
		want           bool
	}{
		{"nothing", "", "", "", false},
		{"LANG", "", "", "ca_ES.UTF-8", true},
		{"LC_ALL wins", "C", "en_US.UTF-8", "en_US.UTF-8", false},
		{"LC_CTYPE", "", "C.utf8", "C", true},
	} {
		t.Setenv("LC_ALL", c.all)
		t.Setenv("LC_CTYPE", c.ctype)
		t.Setenv("LANG", c.la)
		if s := StyleFor(&strings.Builder{}); s.Unicode != c.want || s.Colour || s.Width != normalWidth {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}
