package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// 200 remote bots are connected and play at once, without a fault.
func TestBenchRemote(t *testing.T) {
	bots, most := 200, "200"
	if testing.Short() {
		bots, most = 10, "10"
	}
	t.Setenv("TMPDIR", t.TempDir())
	var out strings.Builder
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cmd.SetOut(&out)
	if err := benchRemote(cmd, bots); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(most + ` bots .* 0 *\n`).MatchString(out.String()) {
		t.Errorf("it prints\n%s", out.String())
	}
	t.Log("\n" + out.String())
}
