package referee

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Clocks: a late answer is the bot's fault unless it lost more than the margin, and would have been in
// time without that.
func TestClocksJudgeLate(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		turn     time.Duration // of a limit of 1000 ms
		lost     time.Duration
		margin   time.Duration
		answered bool
		want     verdict
	}{
		{"it lost nothing", 1001 * ms, 0, 50 * ms, false, blamed},
		{"it lost nothing and answered", 1001 * ms, 0, 50 * ms, true, blamed},
		{"it lost the margin", 1001 * ms, 50 * ms, 50 * ms, true, blamed},
		{"it lost more than the margin", 1001 * ms, 51 * ms, 50 * ms, true, void},
		{"without a margin, what cannot be measured", 1001 * ms, 20 * ms, 0, true, blamed},
		{"without a margin, more than that", 1001 * ms, 21 * ms, 0, true, void},
		{"it has not had its time", 1001 * ms, 500 * ms, 50 * ms, false, waiting},
		{"it has had its time since", 1501 * ms, 500 * ms, 50 * ms, false, blamed},
		{"it has had its time since and answered", 1501 * ms, 500 * ms, 50 * ms, true, blamed},
		{"it answered within its time", 1500 * ms, 500 * ms, 50 * ms, true, void},
		{"it is not waited for longer", 2000 * ms, 1900 * ms, 50 * ms, false, void},
		{"it answered much later", 9000 * ms, 8500 * ms, 50 * ms, true, void},
		{"it took much too long", 9000 * ms, 7900 * ms, 50 * ms, true, blamed},
	} {
		if got := judgeLate(c.turn, 1000*ms, c.margin, c.lost, c.answered); got != c.want {
			t.Errorf("%s: verdict %d, want %d", c.name, got, c.want)
		}
	}
}

// Clocks: a game that is void again and again because others use the core is tried so often and no
// more, and the core is left to them for longer each time. Failures of the referee are counted apart.
func TestClocksStarvedLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		failed int // of the first tries, the referee's own failures
		voids  int
		rest   time.Duration
	}{
		{"starved", 0, maxStarved, 15 * time.Second},
		{"starved after failures", maxTries - 1, maxStarved + maxTries - 1, 15 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			starts := 0
			m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 1, Clock: patient}
			m.start = func(ctx context.Context, b Bot, scratch, tag string) (conn, error) {
				made, err := starter{}.start(ctx, b, scratch, tag)
				if b.Name != "bot0" {
					return made, err
				}
				starts++
				if starts <= c.failed {
					return &broken{made, 2, errOwn}, err
				}
				return &broken{made, 2, &Starved{Bot: b.Name}}, err
			}
			r := keep(m)
			began := time.Now()
			err := m.Play(t.Context())
			var s *Starved
			if want := fmt.Sprintf("deal 0, rotation 0 was void %d times: ", c.voids); !errors.As(err, &s) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: the match ends with %v, want %s", c.name, err, want)
			}
			if len(r.voids) != c.voids || len(r.games) > 0 || time.Since(began) != c.rest {
				t.Errorf("%s: %d voids and %d games in %v", c.name, len(r.voids), len(r.games), time.Since(began))
			}
		})
	}
}

// Clocks: a match that is called off while a core rests ends at once.
func TestClocksStarvedCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 1, Clock: patient}
	m.start = func(ctx context.Context, b Bot, scratch, tag string) (conn, error) {
		made, err := starter{}.start(ctx, b, scratch, tag)
		return &broken{made, 2, &Starved{Bot: b.Name}}, err
	}
	m.Void = func(int, int, error) { cancel() }
	if err := m.Play(ctx); !IsCancelled(err) {
		t.Errorf("the match ends with %v", err)
	}
}

// The text of a game that is void names core and bot.
func TestClocksStarvedText(t *testing.T) {
	s := &Starved{Bot: "mine", Core: 3, Turn: 1500 * time.Millisecond, Lost: Lost{Others: 400 * time.Millisecond, Stolen: 20 * time.Millisecond}}
	want := `core 3 was not there for "mine" for 420 of the 1500 ms that it took: `
	if !strings.HasPrefix(s.Error(), want) {
		t.Errorf("the error is %q, want %q", s, want)
	}
	s.Core = AnyCore
	if !strings.HasPrefix(s.Error(), "the cores were not there for ") {
		t.Errorf("the error is %q", s)
	}
}
