//go:build soak && linux

package commands

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/cores"
)

// BenchmarkWorkers counts the matches in a second of a server that plays on one core, alone and with a worker
// on another core of the same machine: docs/operating.md, "Other machines". An iteration is 200 matches.
func BenchmarkWorkers(b *testing.B) {
	all := cores.All()
	if len(all) < 2 {
		b.Skip("two workers need two cores")
	}
	b.Run("one", func(b *testing.B) { benchWorkers(b, cores.Any) })
	b.Run("two", func(b *testing.B) { benchWorkers(b, all[1]) })
}

// benchWorkers plays 200 matches for each iteration. If core is not cores.Any, a worker on that core helps.
func benchWorkers(b *testing.B, core int) {
	a := newArena(b, "pause = \"0s\"\n"+quickLadders(20))
	s := a.serve(b, "--workers", "1", "--cluster", "127.0.0.1:0")
	if core != cores.Any {
		creds := filepath.Join(b.TempDir(), "lab-1.creds")
		kit.Must(b, os.WriteFile(creds, []byte(a.timba(b, "", "admin", "worker", "add", "lab-1", "--data", a.dir)), 0o600))
		cmd := a.worker(s.cluster(b), creds, b.TempDir())
		cmd.Args = append([]string{"taskset", "-c", strconv.Itoa(core)}, cmd.Args...)
		var err error
		if cmd.Path, err = exec.LookPath("taskset"); err != nil {
			b.Fatal(err)
		}
		run(b, cmd, (*exec.Cmd).Start)
		kit.Until(b, "the worker plays", func() bool { return strings.Contains(s.log(), "machine=lab-1 ") })
	}
	finished := func() int { return strings.Count(s.log(), `msg="match finished"`) }
	reach := func(n int) {
		kit.Until(b, "matches are finished", func() bool { return finished() >= n })
	}
	reach(20)
	from := finished()
	b.ResetTimer()
	reach(from + 200*b.N)
	b.StopTimer()
	b.ReportMetric(float64(finished()-from)/b.Elapsed().Seconds(), "matches/s")
}
