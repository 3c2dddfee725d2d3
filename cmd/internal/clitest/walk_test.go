package clitest

import (
	"strings"
	"testing"
)

func TestUselessFlag(t *testing.T) {
	for _, c := range []struct{ args, message, want string }{
		{"check x --games brisca --set a=b", `timba: check: bot x plays no game with a=b: leave --set out, or try --games`, "--games"},
		{"check x --set=a=b", `timba: check: bot x plays no game with a=b: leave --set out, or try --games`, ""},
		{"replay show x --step --ply 3", "timba: --step needs a terminal: leave it out, or use --ply", "--ply"},
		{"match x --out d", `timba: out: d has games: name another directory with --out`, ""},
		{"match x --draw y", `timba: --draw: "y" is not key=value: try --draw plies=8`, ""},
		{"match x --rounds 3", "timba: match: --rounds goes with --format swiss", ""},
		{"worker x --data d", `timba: data: "d" cannot be made: name a directory that you own with --data DIR`, "--data"},
	} {
		if got := uselessFlag(strings.Fields(c.args), c.message); got != c.want {
			t.Errorf("%s: %s: %q, want %q", c.args, c.message, got, c.want)
		}
	}
}
