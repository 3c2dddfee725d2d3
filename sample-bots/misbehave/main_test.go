package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// TestMain makes the test binary run as the bot, so that no other binary must be built.
func TestMain(m *testing.M) {
	if os.Getenv("MISBEHAVE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestList(t *testing.T) {
	cmd := exec.Command(os.Args[0], "--list")
	cmd.Env = append(os.Environ(), "MISBEHAVE=1", "GORACE=atexit_sleep_ms=0")
	out := kit.Get[[]byte](t)(cmd.Output())
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		f := faults.All[i]
		if !strings.HasPrefix(line, f.Name+" ") || !strings.Contains(line, string(f.Code)) || !strings.HasSuffix(line, f.Help) {
			t.Errorf("line %d is %q, want %+v", i, line, f)
		}
	}
	cmd = exec.Command(os.Args[0], "--fault", "nothing")
	cmd.Env = append(os.Environ(), "MISBEHAVE=1", "GORACE=atexit_sleep_ms=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), `fault "nothing" does not exist`) {
		t.Errorf("a fault that does not exist: %v, %s", err, stderr.String())
	}
}
