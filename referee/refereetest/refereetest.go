// Package refereetest has fixtures for tests of the referee and of packages that use it: test binaries that
// act as bots in processes of their own, variants, and replays.
package refereetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/timba-arena/timba"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

// Modes maps the first argument of a test binary to a function that the binary runs instead of the tests. The
// function receives the second argument.
type Modes map[string]func(arg string) error

// RunHouseBot runs a bot that is part of timba on stdin and stdout. name is the bot's name without @. A test binary
// with RunHouseBot as the mode "bot" can run such bots in place of the timba program.
func RunHouseBot(name string) error { return house.Run(name, os.Stdin, os.Stdout) }

// Main runs the tests of a package in TestMain and exits. It is for packages whose tests start their own test binary
// again as a bot or another program: modes has the functions that run in these processes. Main sets TMPDIR to a
// temporary directory that every user can read. If prepare is not nil, Main calls it with that directory before the
// tests.
func Main(m interface{ Run() int }, modes Modes, prepare func(dir string) error) {
	if len(os.Args) == 3 && modes[os.Args[1]] != nil {
		if err := modes[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		syscall.Exit(0) // os.Exit takes a second under the race detector where GORACE is not inherited
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // also for processes that tests start
	if bin := os.Getenv(binaries.EnvBin); kit.HasRaceDetector() && bin != "" {
		house.Executable = func() (string, error) { return filepath.Join(bin, "timba"), nil }
	}
	os.Exit(run(m, prepare))
}

func run(m interface{ Run() int }, prepare func(dir string) error) int {
	dir, err := os.MkdirTemp("", "timba-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err == nil && prepare != nil {
		err = prepare(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return binaries.Clean(m).Run()
}

// SpecGames returns the games that SPEC.md describes. Their rules are stable, and tests demand more of them than
// of games that others add.
func SpecGames(t testing.TB) (list []*rules.Game) {
	t.Helper()
	spec := string(kit.Get[[]byte](t)(fs.ReadFile(timba.Documents, "SPEC.md")))
	for _, g := range games.All() {
		if strings.Contains(spec, "\n## "+g.Display.Title+"\n") {
			list = append(list, g)
		}
	}
	return list
}

// Variant returns the variant of a game with the given options, a text such as "key=value key=value". It fails the
// test if the game or an option does not exist.
func Variant(t testing.TB, game, options string) *rules.Variant {
	t.Helper()
	g := kit.Get[*rules.Game](t)(games.Find(game))
	return kit.Get[*rules.Variant](t)(g.Resolve(protocol.Pairs(options).Map()))
}
