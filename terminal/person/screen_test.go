package person

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/terminal/draw"
)

// variantOf returns a game with any of its options, or the defaults if they exclude each other.
func variantOf(t *rapid.T) *rules.Variant {
	g := rapid.SampledFrom(games.All()).Draw(t, "game")
	given := map[string]string{}
	for _, o := range g.Options {
		if o.Values != nil {
			given[o.Name] = rapid.SampledFrom(o.Values).Draw(t, o.Name)
		} else if o.Name == "players" {
			given[o.Name] = strconv.Itoa(rapid.IntRange(o.Min, o.Max).Draw(t, o.Name))
		}
	}
	v, err := g.Resolve(given)
	if err != nil {
		if v, err = g.Resolve(map[string]string{}); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// seated returns a turn after some random moves, and the screen that the person then sees, in ASCII.
func seated(t *rapid.T, v *rules.Variant, columns int) (now turn, screen string) {
	var seed rules.Seed
	copy(seed[:], rapid.SliceOfN(rapid.Byte(), len(seed), len(seed)).Draw(t, "seed"))
	stream, dice := rules.NewStream(seed), rules.NewStream(seed.Derive("moves"))
	state := v.Deal(&stream)
	for state.Turn() == rules.Over { // there is no move in this deal
		state = v.Deal(&stream)
	}
	last := ""
	for range rapid.IntRange(0, 150).Draw(t, "plies") {
		moves := state.Legal(nil)
		next := state.Clone()
		m := moves[dice.Below(len(moves))]
		next.Apply(m, nil)
		if next.Turn() == rules.Over {
			break
		}
		last, state = string(state.MoveText(nil, m)), next
	}
	seat := state.Turn()
	var out strings.Builder
	p := Person{Match: match.Match{Variant: v}, Seat: seat, Out: &out, Style: draw.Style{Width: columns}, game: &game{last: last}}
	for i := range v.Players {
		p.names = append(p.names, fmt.Sprintf("a bot with a long name#%d", i))
	}
	p.names[seat] = "you"
	var legal []string
	for _, m := range state.Legal(nil) {
		legal = append(legal, string(state.MoveText(nil, m)))
	}
	now.Turn = &protocol.Turn{
		Game: &protocol.GameLine{Name: v.Game.Name, Settings: protocol.Pairs(v.Settings.String())},
		Ply:  state.Ply(), View: protocol.Pairs(state.View(nil, seat)),
	}
	now.hand = p.hand(now.Turn)
	now.choices = choicesOf(v.Game.Display, now.hand, legal)
	p.show(now)
	return now, out.String()
}

var (
	beside  = regexp.MustCompile(`(\d+) ([a-z]+:\S+)`)
	leaving = regexp.MustCompile(`(\d+) to((?: \d+)+)`)
)

// numbered returns the texts that a person can type according to the screen, each with the move that stands beside
// it.
func numbered(screen string) map[string]string {
	found := map[string]string{}
	lines := strings.Split(screen, "\n")
	hand := len(lines)
	for i, line := range lines {
		if strings.HasPrefix(line, " hand of seat ") {
			hand = i
		}
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "  bid: "):
			for _, n := range words[1:] {
				found[n] = "bid:" + n
			}
		case strings.HasPrefix(line, "  free: "), i > 0 && strings.HasPrefix(line, "        ") && strings.HasPrefix(lines[i-1], "  free: "):
			for _, n := range words {
				if n != "free:" {
					found[n] = n
				}
			}
		case i > hand:
			for _, m := range beside.FindAllStringSubmatch(line, -1) {
				found[m[1]] = m[2]
			}
		}
		for _, m := range leaving.FindAllStringSubmatch(line, -1) {
			for _, to := range strings.Fields(m[2]) {
				found[m[1]+"-"+to], found[m[1]+" "+to] = m[1]+"-"+to, m[1]+"-"+to
			}
		}
		if i <= hand || !strings.HasPrefix(line, " |") || i+2 >= len(lines) {
			continue
		}
		for at := 2; at+3 <= len(line); at += 4 { // cards in boxes, the number two lines below
			card, below := strings.TrimSpace(line[at:at+3]), lines[i+2]
			if at >= len(below) || strings.Contains(below, "-") {
				continue
			}
			if key := strings.TrimSpace(below[at:min(at+3, len(below))]); isNumber(key) {
				found[key] = card
			}
		}
	}
	return found
}

// TestNumbers checks that every number on the screen leads to the move beside it, that every move has a number, and
// that no other number is a move. It does so in all games, with all options and seats.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := variantOf(t)
		columns := rapid.SampledFrom([]int{40, 80}).Draw(t, "columns")
		now, screen := seated(t, v, columns)
		c, commands := now.choices, (&Person{}).commandNames()
		shown := numbered(screen)
		reached := map[string]bool{}
		for typed, move := range shown {
			if got := c.choose(typed, commands); got != move {
				t.Fatalf("%q is %q, and stands beside %q in\n%s", typed, got, move, screen)
			}
			reached[move] = true
		}
		for _, move := range c.legal {
			if !reached[move] {
				t.Fatalf("nothing to type stands beside %s in\n%s%v", move, screen, shown)
			}
			if got := c.choose(move, commands); got != move {
				t.Fatalf("%q in full is %q", move, got)
			}
		}
		for n := range 60 {
			typed := strconv.Itoa(n)
			got := c.choose(typed, commands)
			if moves := beginning(c.legal, typed+"-"); got != "" && shown[typed] != got && !(c.manner == bySteps && slices.Equal(moves, []string{got})) {
				t.Fatalf("%q is %q, which the screen does not say:\n%s", typed, got, screen)
			}
		}
		for line := range strings.Lines(screen) {
			if n := len(strings.TrimRight(line, "\n")); n > columns {
				t.Fatalf("%d columns where there are %d: %q", n, columns, line)
			}
		}
		if n := len("[60:00] " + c.prompt()); n > columns-4 {
			t.Fatalf("the prompt %q leaves no room to type", c.prompt())
		}
	})
}
