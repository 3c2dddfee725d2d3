package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/sandbox/internal/initproc"
)

// countProcesses starts processes with one thread until that fails, which ends it. After each it prints their
// number, including its own.
const countProcesses = `n=1; while :; do echo $n; sleep 30 & n=$((n+1)); done`

// TestProcessLimit checks that a program gets as many processes as its limit says and few more: one more if
// it has its own user, otherwise initproc.InitThreads. docs/sandbox.md has these numbers. At LevelWeak, which
// counts processes only now and then, the number depends on the user's other processes. Cgroup v1 must report
// the limit even if it is reached before init has left the cgroup.
func TestProcessLimit(t *testing.T) {
	more := initproc.InitThreads
	if os.Geteuid() == 0 {
		more = initproc.StarterThreads
	}
	for _, level := range levelsHere(t) {
		if level == LevelWeak && os.Geteuid() != 0 {
			continue
		}
		for _, limit := range []int{24, DefaultLimit.Processes} {
			t.Run(fmt.Sprintf("%s/%d", level, limit), func(t *testing.T) {
				spec := self(level)
				spec.Path, spec.Args, spec.Limit.Processes = "/bin/sh", []string{"sh", "-c", countProcesses}, limit
				status, out := runToEnd(t, spec)
				var got int
				for _, word := range strings.Fields(out) {
					if n, err := strconv.Atoi(word); err == nil {
						got = n
					}
				}
				t.Logf("%d processes of %d; %s", got, limit, status)
				if got < limit || got > limit+more {
					t.Errorf("%d processes of %d; it %s, and said %.300q", got, limit, status, out)
				}
				v1, _, _ := ownGroups()
				if level == LevelFull && v1["pids"] != "" && status.Reason != ProcessLimit {
					t.Errorf("it %s, want the limit of processes", status)
				}
			})
		}
	}
}
