package commands

import (
	"os"
	"testing"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/client/mirror"
)

// --out - is standard output, not a directory.
func TestReplaysToStdout(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, out := range []string{"", "-"} {
		f := replaysFlags{out: out, match: 77}
		kit.Must(t, kit.Get[*mirror.Mirror](t)(f.mirror(new(cobra.Command))).Close())
	}
	if made := kit.Get[[]os.DirEntry](t)(os.ReadDir(".")); len(made) > 0 {
		t.Errorf("%v is made", made)
	}
}
