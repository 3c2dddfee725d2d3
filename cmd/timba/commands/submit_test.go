package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/web/wire"
)

// The reason why a stage failed is printed once: by the log, or by the last line of the log.
func TestFailureSaidOnce(t *testing.T) {
	for _, c := range []struct{ summary, log, want string }{
		{
			"teeko: it looked for weights.bin, which is not there; to change: put it there",
			"FAIL teeko\n  what  it looked for weights.bin,\n        which is not there\n\nfailed: teeko: it looked for weights.bin, which is not there; to change: put it there (4.7 s)\n",
			"FAIL teeko\n  what  it looked for weights.bin,\n        which is not there",
		},
		{"gcc: exit status 1", "bot.c:2: error\n\nfailed: gcc: exit status 1 (0.1 s)\n", "bot.c:2: error\n\nfailed: gcc: exit status 1 (0.1 s)"},
	} {
		var b strings.Builder
		stage := printFailure(&b, []wire.Stage{{Name: "unpack", OK: true, Log: "fine"}, {Name: "check", Summary: c.summary, Log: c.log, EndedAt: time.Unix(1, 0)}})
		if got := strings.TrimSpace(b.String()); got != c.want || stage != "check" {
			t.Errorf("stage %q is shown as %q, want %q", stage, got, c.want)
		}
	}
}
