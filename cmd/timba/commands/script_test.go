package commands

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/cmd/internal/clitest"
	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/ladder/cluster/clustertest"
)

// TestMain makes the test binary run as timba, also for house bots.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "bot" { // a match of this process starts house bots
		os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) == 3 && os.Args[1] == clustertest.Mode { // a NATS server beside timba
		if err := clustertest.Main(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	database.NoSync = true
	checkDefaults.Waits.Grace = time.Hour
	testscript.Main(binaries.Clean(m), map[string]func(){
		"timba": func() { os.Exit(cli.Run(newRoot(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the scripts of testdata/script, each in its own directory.
func TestScripts(t *testing.T) {
	t.Parallel()
	clitest.Scripts(t, "testdata/script", scriptCommands)
}

// scriptCommands are commands that only the scripts of this package need.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){"screen": shownColumns}
