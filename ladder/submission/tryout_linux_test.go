package submission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/rules"
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

// The second fault of one kind ends a try-out, with its cause as the error.
func TestTryoutStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		file, text, want string
	}{
		"syntax": {"bot.py", "import sys\ndef f(:\n", "the bot did not start: SyntaxError: invalid syntax (bot.py, line 2)"},
		"raises": {
			"bot.py", "import sys\nfor line in sys.stdin:\n    if line.startswith('timba'): print('ready', flush=True)\n    if line.startswith('turn'): {}[line]\n",
			"the bot failed in the same way in two games: KeyError: 'turn",
		},
		"illegal": {"bot.sh", strings.Replace(shellBot(""), `"move $4"`, `"move x$4"`, 1), "the bot failed in the same way in two games: \"x"},
	} {
		games, _, said, err := w.runTryout(t.Context(), c.file, c.text)
		if len(games) != 2 || err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %d games, want 2 with %q: %v\n%s", name, len(games), c.want, err, said)
		}
	}
	var faults []TryoutFault
	_, err := w.RunTryout(t.Context(), Tryout{
		File: "bot.py", Text: "import sys\nfor line in sys.stdin:\n    if line.startswith('timba'): print('ready', flush=True)\n    if line.startswith('turn'): {}[line]\n", Game: "tebes",
		Opponent: ladder.Version{Bot: "@random"}, OnBuilt: func() {}, OnGame: func(_ *referee.GameResult, f []TryoutFault) { faults = append(faults, f...) },
	}, cores.Any)
	if len(faults) != 2 || faults[0].Line != 4 || !strings.HasSuffix(err.Error(), ", line 4") {
		t.Errorf("the faults are %+v, %v", faults, err)
	}
}

// A deal of a match is played again with another text of one file of a version, from the same position and with the
// same seeds of the bots.
func TestTryoutAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.buildOnly(w.add("sh", kit.Files(t, t.TempDir(), map[string]string{"timba.toml": "run = [\"sh\", \"bot.sh\"]", "bot.sh": "exit 1\n", "moves": "thinking\n"})))
	seed := rules.Seed{7}
	again := &PlayedDeal{
		Match: ladder.Match{Game: "tebes", Options: map[string]string{"size": "4"}, Clock: referee.DefaultClock}, Seed: seed, Deal: 3, Slot: 1,
		Versions: []ladder.Version{{Bot: "@random"}, v},
	}
	var games []*referee.GameResult
	tried := Tryout{
		File: "bot.sh", Text: shellBot("cat moves >&2; "), Base: v, Game: "tebes", Deal: again, OnBuilt: func() {},
		OnGame: func(g *referee.GameResult, _ []TryoutFault) { games = append(games, g) }, OnCheck: func(TryoutCheck) { t.Error("the check has run") },
	}
	if said, err := w.RunTryout(t.Context(), tried, cores.Any); err != nil || len(games) != 2 {
		t.Fatalf("%d games, %v\n%s", len(games), err, said)
	}
	for rotation, g := range games {
		own := rules.BotAt(1, rotation, 2)
		if g.Bots[own] != 1 || g.Seats[own].Name != "bot.sh" || !strings.Contains(string(g.Logs[own]), "thinking") || len(g.Faults) > 0 {
			t.Errorf("rotation %d: the seats are %+v, %q, %v", rotation, g.Seats, g.Logs, g.Faults)
		}
		if g.Match.Deal != 3 || g.Match.Rotation != rotation || *g.Match.Seed != rules.Hex(seed) || g.Seats[own].Seed != referee.BotSeed(seed, 3, rotation, own) {
			t.Errorf("rotation %d: it is %+v with the seats %+v", rotation, g.Match, g.Seats)
		}
	}
	again.Versions[0] = ladder.Version{Bot: "far", Remote: true}
	if _, err := w.TryoutMemory(tried); ladder.CodeOf(err) != ladder.Invalid {
		t.Errorf("against a remote bot: %v", err)
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
		if ladder.CodeOf(err) != ladder.Invalid || len(games) != 2 || !check.Summary.IsZero() {
			t.Errorf("%s: %d games, %v, %+v", name, len(games), err, check)
			continue
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
	if need, err := w.TryoutMemory(Tryout{Game: "tebes", Opponent: ladder.Version{Bot: "other"}}); err != nil || need < w.buildLimit().MaxMemory(w.Level) {
		t.Errorf("it needs %d, %v", need, err)
	}
	w.Room.Total = 1 << 20
	if _, err := w.TryoutMemory(Tryout{Game: "tute", Opponent: ladder.Version{Bot: "other"}}); w.Room.Bot > 0 && ladder.CodeOf(err) != ladder.Invalid {
		t.Errorf("what never fits: %v", err)
	}
	w.checkClean()
}
