package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// countProcesses starts processes of one thread until it is refused one, which ends it, and
// says after each how many there are, itself included.
const countProcesses = `n=1; while :; do echo $n; sleep 30 & n=$((n+1)); done`

// TestProcessLimit: a program gets as many processes as its limit says and not many more:
// one where it has a user of its own, else initproc.InitThreads. docs/sandbox.md has these numbers. At
// WEAK, which counts them only now and then, they depend on what else the user runs. A cgroup of
// version 1 tells it also of a program that reaches its limit before init has left the cgroup.
func TestProcessLimit(t *testing.T) {
	more := initproc.InitThreads
	if os.Geteuid() == 0 {
		more = initproc.StarterThreads
	}
	for _, level := range levelsHere(t) {
		if level == LevelWeak && os.Geteuid() != 0 {
			continue
		}
		for _, most := range []int{24, DefaultLimit.Processes} {
			t.Run(fmt.Sprintf("%s/%d", level, most), func(t *testing.T) {
				spec := self(level)
				spec.Path, spec.Args, spec.Limit.Processes = "/bin/sh", []string{"sh", "-c", countProcesses}, most
				status, out := runToEnd(t, spec)
				var got int
				for _, word := range strings.Fields(out) {
					if n, err := strconv.Atoi(word); err == nil {
						got = n
					}
				}
				t.Logf("%d processes of %d; %s", got, most, status)
				if got < most || got > most+more {
					t.Errorf("%d processes of %d; it %s, and said %.300q", got, most, status, out)
				}
				v1, _, _ := ownGroups()
				if level == LevelFull && v1["pids"] != "" && status.Reason != ProcessLimit {
					t.Errorf("it %s, want the limit of processes", status)
				}
			})
		}
	}
}
