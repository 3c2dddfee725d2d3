package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// TestMain makes the test binary the bot itself when asked to, so that nothing
// need be built.
func TestMain(m *testing.M) {
	if os.Getenv("MISBEHAVE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Each fault is made when its list says. What it leads to is tested in referee and referee/check.
func TestEveryFaultIsMade(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range faults.All {
		if seen[f.Name] {
			t.Errorf("%s is listed twice", f.Name)
		}
		seen[f.Name] = true
		start, turn := starts[f.Name] != nil, turns[f.Name] != nil
		if start != (f.When == faults.Start) || turn != (f.When == faults.Once || f.When == faults.Every) {
			t.Errorf("%s is listed for another moment than it is made", f.Name)
		}
		if f.Help == "" {
			t.Errorf("%s has no help", f.Name)
		}
	}
	for name := range starts {
		if !seen[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	for name := range turns {
		if !seen[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}

func TestList(t *testing.T) {
	cmd := exec.Command(os.Args[0], "--list")
	cmd.Env = append(os.Environ(), "MISBEHAVE=1", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
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

func TestNotListed(t *testing.T) {
	var all []string
	for i := range 48 {
		all = append(all, fmt.Sprintf("%d%c", i/4%12+1, "oceb"[i%4]))
	}
	for _, list := range []string{"1o", "12c", "1o 1c 1e 1b 2o", strings.Join(all, " "), strings.Join(all, " ") + " 0 1"} {
		if m := notListed(protocol.Words(list)); protocol.Words(list).Has([]byte(m)) {
			t.Errorf("%s is in %s", m, list)
		}
	}
}
