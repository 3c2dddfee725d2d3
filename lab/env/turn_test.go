//go:build !race || slowrace

package env

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// turnPayload returns the payload of a turn frame for an observation.
func turnPayload(o rules.Observation) []byte {
	return fmt.Appendf(nil, "%cview %s\nturn %d 100 %s", rune(o.Seat), o.View, o.Ply, o.Moves)
}

// TestObserveTurn checks that a bot in a match gets the arrays that a learner gets in the same position.
func TestObserveTurn(t *testing.T) {
	for _, text := range variants {
		t.Run(text, func(t *testing.T) {
			settings := []any{"games", 1, "auto", false, "arrays", optionalArrays}
			learner, bot := newTestBatch(t, 1, text, settings...), newTestBatch(t, 1, text, settings...)
			r := rules.NewRand(1)
			for deal := range uint32(3) {
				kit.Must(t, learner.Reset(t.Context(), rules.Seed{5}, deal))
				for one(learner, "over", 0) == 0 {
					o := rules.Observe(learner.games.state(0), one(learner, "turn", 0))
					kit.Must(t, bot.ObserveTurn(t.Context(), turnPayload(o)))
					for _, a := range bot.layout.Arrays {
						if a.Name == "deal" || a.Name == "rewards" { // a bot knows neither
							continue
						}
						if got, want := numbersOf(bot, a.Name, 0), numbersOf(learner, a.Name, 0); !slices.Equal(got, want) {
							t.Fatalf("%s: %s is %v, of a learner %v", o.View, a.Name, got, want)
						}
					}
					kit.Must(t, learner.Step(t.Context(), randomActions(learner, r)))
				}
			}
		})
	}
}

// TestObserveTurnErrors checks that a turn that no match can have is refused, and that the games go on only after a
// reset.
func TestObserveTurnErrors(t *testing.T) {
	b := newTestBatch(t, 1, "brisca", "games", 1)
	kit.Must(t, b.Reset(t.Context(), rules.Seed{5}, 0))
	good := turnPayload(rules.Observe(b.games.state(0), one(b, "turn", 0)))
	kit.Must(t, b.ObserveTurn(t.Context(), good))
	if err := b.Step(t.Context(), []byte{0, 0}); err != errNotReset {
		t.Errorf("a step from the position of a turn: %v", err)
	}
	for payload, want := range map[string]string{
		"": "send the seat", "\x00view": "has no verb", "\x07" + string(good[1:]): "seat 7 of a turn is not the client's: try 0",
		"\x00turn 0 1 1o\nturn 0 1 1o": `the lines "turn" and "turn"`, "\x00view hand=1o\nturn 0 1 1o": "brisca",
	} {
		if err := b.ObserveTurn(t.Context(), []byte(payload)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", payload, err, want)
		}
	}
	two := newTestBatch(t, 1, "brisca", "games", 2)
	if err := two.ObserveTurn(t.Context(), good); err == nil || !strings.Contains(err.Error(), "one game, not of 2") {
		t.Error(err)
	}
}
