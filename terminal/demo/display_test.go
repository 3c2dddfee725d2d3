package demo

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
)

// TestWrap checks that the bots of a ladder stand behind its name, in lines that are no wider than the terminal.
func TestWrap(t *testing.T) {
	s := newDisplay(io.Discard, nil, &config.Config{})
	got := s.wrap("tebes-6-random", []string{"@champion 1405 ", "@greedy 1204? ", "a-bot-with-a-name-of-32-characters 1100 ", "@random 1000 "})
	want := []string{
		"tebes-6-random      @champion 1405  @greedy 1204?",
		"                    a-bot-with-a-name-of-32-characters 1100  @random 1000",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestChange checks that a provisional rating is marked as such, and shown without the difference to the old one.
func TestChange(t *testing.T) {
	for _, c := range []struct {
		bot         string
		change      ladder.Change
		provisional bool
		want        string
	}{
		{"x", ladder.Change{EloBefore: 1000, EloAfter: 1609}, true, "x 1609 (provisional) "},
		{"x", ladder.Change{EloBefore: 1609, EloAfter: 1650}, false, "x 1650 (+41) "},
		{ladder.Anchor, ladder.Change{EloBefore: 1000, EloAfter: 1000}, true, "@random 1000 (fixed) "},
	} {
		if got := change(c.bot, c.change, c.provisional); got != c.want {
			t.Errorf("%+v: %q, want %q", c.change, got, c.want)
		}
	}
}

// TestSay checks that each line of news is written when it comes if there is no terminal.
func TestSay(t *testing.T) {
	var out bytes.Buffer
	s := newDisplay(&out, nil, &config.Config{})
	for range 2 * newsLines {
		s.addNews("%s is live", "x")
	}
	if want := strings.Repeat("x is live\n", 2*newsLines); out.String() != want || s.news != nil {
		t.Errorf("it says %q, and keeps %q", out.String(), s.news)
	}
}

// TestConfig checks that the configuration of the demo is one that a server accepts, with short games.
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
