package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestMachineMemory checks that the minimum of the machine's memory and of all cgroups' limits counts, in
// both versions, and that a limit that is not a number is ignored.
func TestMachineMemory(t *testing.T) {
	const gib = 1 << 30
	for _, file := range []string{"memory.max", "memory.limit_in_bytes"} {
		dir := t.TempDir()
		inner := filepath.Join(dir, "service", "bots")
		kit.Must(t, os.MkdirAll(inner, 0o755))
		set := func(in, text string) {
			t.Helper()
			kit.Must(t, os.WriteFile(filepath.Join(in, file), []byte(text+"\n"), 0o644))
		}
		expect := func(what string, want int64) {
			t.Helper()
			if got := limitByGroups(8*gib, inner, file); got != want {
				t.Errorf("%s, %s: %d, want %d", file, what, got, want)
			}
		}
		expect("no limit", 8*gib)
		set(inner, "max")
		set(dir, "9223372036854771712") // no limit in version 1
		expect("none that counts", 8*gib)
		set(filepath.Dir(inner), "3221225472")
		expect("the service's", 3*gib)
		set(inner, "4294967296")
		expect("a larger one within", 3*gib)
		set(inner, "1073741824")
		expect("its own", gib)
		if got := limitByGroups(0, inner, file); got != gib {
			t.Errorf("%s: where the machine's is not known: %d", file, got)
		}
	}
	if got := limitByGroups(8*gib, "", "memory.max"); got != 8*gib {
		t.Errorf("without a cgroup it is %d", got)
	}
	if got := MachineMemory(); got < 64<<20 {
		t.Errorf("this machine has %d bytes", got)
	}
}
