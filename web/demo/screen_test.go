package demo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
)

// Columns are as wide as their widest word, and a bot that is not on a ladder has a
// dash there.
func TestTableLines(t *testing.T) {
	tb := table{
		ladders: []string{"brisca-2", "teeko", "tebes-6-random"},
		bots:    []string{"@greedy", "x"},
		elo: map[place]float64{
			{"brisca-2", "@greedy"}: 1203.6, {"teeko", "@greedy"}: 1100, {"tebes-6-random", "@greedy"}: 999.5,
			{"teeko", "x"}: -3.4,
		},
		known: map[place]bool{{"brisca-2", "@greedy"}: true, {"tebes-6-random", "@greedy"}: true},
	}
	got := tb.lines(tb.ladders, 80)
	want := []string{
		"        brisca  teeko   tebes",
		"             2              6",
		"Elo                    random",
		"@greedy   1204   1100?   1000",
		"x            -     -3?      -",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// On a terminal of any size, and on one that does not say its size, nothing is too long or too
// high, and no Elo is cut.
func TestEverySize(t *testing.T) {
	tb := table{elo: map[place]float64{}, known: map[place]bool{}}
	for _, l := range Config().Ladders {
		tb.ladders = append(tb.ladders, l.Name)
	}
	for i, b := range []string{"@greedy", "@random", "a-bot-with-a-name-of-32-characters"} {
		tb.bots = append(tb.bots, b)
		for j, l := range tb.ladders {
			tb.elo[place{l, b}] = float64(1000 + 100*i + j)
			tb.known[place{l, b}] = j%2 == 0
		}
	}
	for w := range 130 {
		for _, h := range []int{0, 1, 2, 7, 12, 24} {
			width, height := sized(w, h)
			var all strings.Builder
			for _, ladders := range tb.pages(width) {
				lines := layOut(tb.lines(ladders, width), []string{"news"}, width, height)
				if len(lines) > height-1 {
					t.Fatalf("%d x %d: %d lines", w, h, len(lines))
				}
				for _, line := range lines {
					if len(line) > width {
						t.Fatalf("%d x %d: the line %q is too long", w, h, line)
					}
				}
				all.WriteString(strings.Join(lines, "\n") + "\n")
			}
			if width < 20 || height < 12 {
				continue // too small for one ladder
			}
			for at, e := range tb.elo {
				want := fmt.Sprintf(" %.0f", e)
				if !tb.known[at] {
					want += "?"
				}
				if !strings.Contains(all.String(), want) {
					t.Fatalf("%d x %d: %q is missing in\n%s", w, h, want, all.String())
				}
			}
		}
	}
}

// A rating that is not yet known says so, and not by how much it jumps.
func TestChange(t *testing.T) {
	for _, c := range []struct {
		bot         string
		change      ladder.Change
		provisional bool
		want        string
	}{
		{"x", ladder.Change{Before: 1000, After: 1609}, true, "x 1609 (provisional) "},
		{"x", ladder.Change{Before: 1609, After: 1650}, false, "x 1650 (+41) "},
		{ladder.Anchor, ladder.Change{Before: 1000, After: 1000}, true, "@random 1000 (fixed) "},
	} {
		if got := change(c.bot, c.change, c.provisional); got != c.want {
			t.Errorf("%+v: %q, want %q", c.change, got, c.want)
		}
	}
}

// Where there is no terminal each line of news is written as it comes.
func TestSay(t *testing.T) {
	var out bytes.Buffer
	s := newScreen(&out, nil, &config.Config{})
	for range 2 * newsLines {
		s.say("%s is live", "x")
	}
	if want := strings.Repeat("x is live\n", 2*newsLines); out.String() != want || s.news != nil {
		t.Errorf("it says %q, and keeps %q", out.String(), s.news)
	}
}

// The demo's configuration is one that a server would accept, with short games.
func TestConfig(t *testing.T) {
	c := Config()
	for _, l := range c.Ladders {
		if err := l.Clock.Check(); err != nil || l.Clock.Move != move || l.Deals > deals || l.Deals < 1 {
			t.Errorf("%s: %+v, %v", l.Name, l, err)
		}
	}
	if c.Pause != 0 || c.Limits.Versions < 13 {
		t.Errorf("got %+v", c)
	}
}
