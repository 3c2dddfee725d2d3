package commands

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
)

// A house bot runs before the packages of the server are initialized.
func TestBotStartsEarly(t *testing.T) {
	cmd := exec.Command(binaries.Program(t, "timba"), "bot", "first")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace kit.Output
	cmd.Stderr = &trace
	kit.Must(t, cmd.Run())
	for pkg, want := range map[string]bool{"github.com/timba-arena/timba/sample-bots/house": true, "crypto/rand": false, "path/filepath": false, "google.golang.org/protobuf/proto": false} {
		if strings.Contains(trace.String(), "init "+pkg+" ") != want {
			t.Errorf("%s is initialized before the bot runs: want %t\n%s", pkg, want, trace.String())
		}
	}
}
