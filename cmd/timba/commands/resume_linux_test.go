package commands

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/cmd/internal/clitest"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
)

// until waits for a condition.
var until = kit.Until

// finished returns a directory's finished games.
func finished(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "games", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// contents returns a directory's files by path, without times.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	return kit.Get[map[string]string](t)(clitest.Contents(dir))
}

// holder makes a bot that plays the first move of each list. While there is the file gate, it never
// answers from its second game on.
func holder(t *testing.T) (bot, gate string) {
	t.Helper()
	dir := t.TempDir()
	gate = filepath.Join(dir, "gate")
	kit.Files(t, dir, map[string]string{"gate": ""})
	return writeBot(t, filepath.Join(dir, "holding"), fmt.Sprintf(`
while read -r verb ply left move rest; do
	case $verb in
	timba) echo "ready holding 1" ;;
	game) games=x$games ;;
	turn)
		[ "$games" != x ] && [ -e %s ] && exec sleep 1000000
		echo "move $move" ;;
	esac
done
`, gate), "run = [\"sh\", \"bot.sh\"]\n"), gate
}

// Ctrl-C ends a match with status 3, the results so far and the command that resumes it. That command works.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	bot, gate := holder(t)
	match := []string{"match", "teeko", bot, "@random", "--sandbox", "off", "--movetime", "600000", "--startup", "600000"}
	p := begin(t, append(match, "--deals", "4", "--seed", "9", "--out", dir)...)
	until(t, "a game is kept", func() bool { return len(finished(t, dir)) > 0 })
	kit.Must(t, p.Process.Signal(os.Interrupt))
	p.exits(t, cli.ExitNoVerdict)
	const games = 8
	n := len(finished(t, dir)) // the first game of one process of the bot, or of two
	if n == games {
		t.Error("all games are kept")
	}
	for _, text := range []string{fmt.Sprintf("interrupted after %s\n", text.Count(n, "game")), "resume: timba match --resume " + dir + "\n", "@random", "replays: " + dir} {
		if !strings.Contains(p.out.String(), text) {
			t.Errorf("it says nothing of %q:\n%s", text, p.out.String())
		}
	}
	kit.Must(t, os.Remove(gate))
	again := begin(t, "match", "--resume", dir)
	again.exits(t, cli.ExitGood)
	if text := fmt.Sprintf("\n%s in ", text.Count(games-n, "game")); !strings.Contains(again.out.String(), text) {
		t.Errorf("%d games were kept, and it says:\n%s", n, again.out.String())
	}

	bot, _ = holder(t)
	match[2] = bot
	p = begin(t, match...)
	until(t, "the match goes on", func() bool { return len(family(p.Process.Pid)) > 1 })
	kit.Must(t, p.Process.Signal(syscall.SIGTERM))
	p.exits(t, cli.ExitNoVerdict)
	if !strings.Contains(p.out.String(), "only a match with --out DIR can be resumed\n") {
		t.Errorf("it says\n%s", p.out.String())
	}
}

// A second Ctrl-C ends the program at once, even while it waits for a reader of its output.
func TestInterruptTwice(t *testing.T) {
	kit.Slow(t)
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// The pipe is full, so that the program waits with its first line.
	size := kit.Get[int](t)(unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0))
	kit.Get[int](t)(w.Write(make([]byte, size)))
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("timba", "match", "teeko", "@random", "@greedy", "--deals", "100000", "--log", "--out", dir)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir())
	cmd.Stdout = w
	p := run(t, cmd, (*exec.Cmd).Start)
	w.Close()
	until(t, "the match is planned", func() bool {
		_, err := os.Stat(filepath.Join(dir, "plan.json"))
		return err == nil
	})
	until(t, "it has ended", func() bool {
		p.Process.Signal(os.Interrupt)
		return p.over()
	})
	if status := p.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v", p.ProcessState)
	}
}

// hung is an input that ends a context when it is read, and then blocks.
type hung struct {
	ctx  context.Context // of the test
	read func()
}

func (h hung) Read([]byte) (int, error) {
	h.read()
	<-h.ctx.Done()
	return 0, h.ctx.Err()
}

// The first Ctrl-C ends commands that wait for input, and commands that read many files.
func TestInterruptReading(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin(t, "match", "teeko", "--movetime", "60000", "@first", "@random", "--deals", "1", "--seed", "1", "--set", "limit=12", "--out", dir).exits(t, cli.ExitGood)
	for _, line := range []string{
		"replay verify -", "replay show -", "replay export -", "replay feed - --seat 0", "explain -",
		"login http://127.0.0.1:1 --token-file -", "bot first",
		"replay verify " + dir, "replay show " + dir, "replay export --format csv " + dir, "explain " + dir,
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		if strings.HasSuffix(line, dir) {
			interrupt()
		}
		var out, errs bytes.Buffer
		if status := cli.RunUntil(ctx, newRoot(), strings.Fields(line), hung{t.Context(), interrupt}, &out, &errs); status != cli.ExitNoVerdict || errs.Len() > 0 {
			t.Errorf("timba %s: status %d\n%s", line, status, &errs)
		}
	}
}

// The first Ctrl-C ends timba doctor during an attack.
func TestInterruptDoctor(t *testing.T) {
	t.Parallel()
	if sandbox.Probe().Level == sandbox.LevelNone {
		kit.Lacks(t, "a sandbox")
	}
	ctx, interrupt := context.WithCancel(t.Context())
	attacked := make(chan struct{})
	defer close(attacked)
	root := cli.Root(&cobra.Command{Use: "timba"}, newDoctor(func(sandbox.Level) []sandbox.Trial {
		interrupt()
		<-attacked
		return nil
	}))
	var out, errs bytes.Buffer
	if status := cli.RunUntil(ctx, root, []string{"doctor"}, strings.NewReader(""), &out, &errs); status != cli.ExitNoVerdict || out.Len() > 0 || errs.Len() > 0 {
		t.Errorf("status %d\n%s%s", status, &out, &errs)
	}
}
