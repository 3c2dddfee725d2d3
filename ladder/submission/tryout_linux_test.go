package submission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
)

// runTryout tests a bot of one file and returns its games, the outcome of the check and the log.
func (w *world) runTryout(ctx context.Context, file, text string) (games []*referee.GameResult, check TryoutCheck, said string, err error) {
	w.t.Helper()
	t := Tryout{File: file, Text: text, Game: "tebes", Opponent: ladder.Version{Bot: "@random"}, OnBuilt: func() {}}
	t.OnGame = func(g *referee.GameResult, _ []TryoutFault) { games = append(games, g) }
	t.OnCheck = func(c TryoutCheck) { check = c }
	said, err = w.RunTryout(ctx, t, cores.Any)
	return games, check, said, err
}

// A try-out is built like a submission and plays ten games. Nothing is stored.
func TestTryout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	games, check, _, err := w.runTryout(t.Context(), "bot.sh", shellBot("echo thinking >&2; "))
	if err != nil || len(games) != 2*TryoutDeals {
		t.Fatalf("%d games, %v", len(games), err)
	}
	if !check.OK || !strings.Contains(check.Summary.String(), "passes") || !strings.Contains(check.Log, "timba check") {
		t.Errorf("the check says %+v", check)
	}
	for _, g := range games {
		seat := 0
		if g.Bots[1] == 0 {
			seat = 1
		}
		if len(g.Faults) > 0 || g.Seats[seat].Name != "bot.sh" || !strings.Contains(string(g.Logs[seat]), "thinking") {
			t.Errorf("a game has %v, %q", g.Faults, g.Logs[seat])
		}
		if _, err := referee.DecodeReplay(g.Encode()); err != nil {
			t.Error(err)
		}
	}
	w.checkClean()
}

// Errors of the bot are reported to its author, and the limits are those of a submission.
func TestTryoutFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct{ file, text, err, said string }{
		"it does not compile": {"bot.c", "int main(void) { return x; }", "cc: ", "‘x’ undeclared"},
		"a strange name":      {"bot.txt", "", "tells no language", ""},
	} {
		games, _, said, err := w.runTryout(t.Context(), c.file, c.text)
		if err == nil || !strings.Contains(err.Error(), c.err) || len(games) > 0 || c.said != "" && (ladder.CodeOf(err) != ladder.Invalid || !strings.Contains(said, "undeclared")) {
			t.Errorf("%s: %d games, %v\n%s", name, len(games), err, said)
		}
	}
	// 256 MiB do not fit into the 128 MiB of a bot; the file of 1 GiB does not fit into its directory.
	for name, text := range map[string]string{
		"memory": `x=$(head -c 256m /dev/zero | tr '\0' x); echo "${#x} were had" >&2; [ ${#x} -gt 1000000 ] || exit 3`,
		"disk":   `head -c 1g /dev/zero >here || exit 3; echo was had >&2`,
	} {
		games, check, _, err := w.runTryout(t.Context(), "bot.sh", text+"\n"+shellBot(""))
		if err != nil || len(games) != 2*TryoutDeals {
			t.Errorf("%s: %d games, %v", name, len(games), err)
			continue
		}
		if check.OK || check.Summary.IsZero() {
			t.Errorf("%s: the check says %+v", name, check)
		}
		for _, g := range games {
			if len(g.Faults) == 0 || strings.Contains(fmt.Sprintf("%s", g.Logs), "had") {
				t.Errorf("%s: the bot plays on: %s", name, g.Logs)
				break
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	text := shellBot("sleep 1000;")
	tried := Tryout{File: "bot.sh", Text: text, Game: "tebes", Opponent: ladder.Version{Bot: "@random"}, OnBuilt: cancel, OnGame: func(*referee.GameResult, []TryoutFault) {}}
	if _, err := w.RunTryout(ctx, tried, cores.Any); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled one: %v", err)
	}
	if need, err := w.TryoutMemory("tebes", ladder.Version{Bot: "other"}); err != nil || need < w.buildLimit().MaxMemory(w.Level) {
		t.Errorf("it needs %d, %v", need, err)
	}
	w.Room.Total = 1 << 20
	if _, err := w.TryoutMemory("tute", ladder.Version{Bot: "other"}); w.Room.Bot > 0 && ladder.CodeOf(err) != ladder.Invalid {
		t.Errorf("what never fits: %v", err)
	}
	w.checkClean()
}
