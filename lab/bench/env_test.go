package bench

import (
	"os"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/lab/env"
)

func TestMain(m *testing.M) { os.Exit(binaries.Clean(m).Run()) }

// TestEnv checks that the Python benchmark measures every way to choose actions that is possible on this machine.
func TestEnv(t *testing.T) {
	self := binaries.Program(t, "timba-lab")
	_, numpy, err := env.FindPython(t.Context())
	if err != nil {
		kit.Lacks(t, "Python: "+err.Error())
	}
	r, err := Env{Time: time.Millisecond, self: self}.Run(t.Context(), new(kit.Output))
	kit.Must(t, err)
	rows := r.Tables[0].Rows
	if want := map[bool]int{true: 11, false: 5}[numpy]; len(rows) != want {
		t.Errorf("%d figures, want %d: %v", len(rows), want, rows)
	}
	for _, row := range rows {
		for _, cell := range row[2:5] {
			if f := cell.(figure); f.value <= 0 {
				t.Errorf("%v", row)
			}
		}
	}
}
