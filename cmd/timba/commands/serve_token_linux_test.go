package commands

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/datadir"
)

// The first start prints the admin's token, separated from other output, and writes it to a file that only
// its owner can read. The log has no messages while matches are played.
func TestServeShowsToken(t *testing.T) {
	t.Parallel()
	a := newArena(t, quickLadders(3))
	s := a.launch(t, "--log-level", "info")
	s.await(t, "(?m)^delete that file")
	all := s.out.String()
	file := datadir.Dir(a.dir).AdminToken()
	m := regexp.MustCompile(`^serving .*\nsite: http://\S+/\n\nadmin token: (timba_\w+)\nlog in with: timba login http://\S+ --token-file (\S+)\n`).FindStringSubmatch(all)
	if m == nil || m[2] != file || !strings.Contains(all, "It is also in "+file+",") {
		t.Fatalf("the server says\n%s\nand logs\n%s", all, s.log())
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != m[1]+"\n" {
		t.Errorf("the file has %q, %v", data, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	s.url = regexp.MustCompile(`http://[^/\s]+`).FindString(all)
	finished := regexp.MustCompile(`(?m)^timba_matches_finished_total\{.*\} [1-9]`)
	until(t, "a match is finished", func() bool {
		_, figures := s.get(t, "/metrics")
		return finished.MatchString(figures)
	})
	for line := range strings.Lines(s.log()) {
		if !strings.Contains(line, "msg=serving") && !strings.Contains(line, `msg="a machine has come"`) {
			t.Errorf("the log is not quiet: %s", line)
		}
	}
	kit.Must(t, s.Process.Signal(os.Interrupt))
	s.exits(t, cli.ExitGood)
	if log := s.log(); !regexp.MustCompile(`msg=summary matches=[1-9]`).MatchString(log) {
		t.Errorf("the log has no summary:\n%s", log)
	}
}
