package cluster

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee/cores"
)

// BenchmarkHeartbeat measures the server's work for a heartbeat of one of many machines with four matches
// each. It does not depend on the number of machines.
func BenchmarkHeartbeat(b *testing.B) {
	for _, machines := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("machines=%d", machines), func(b *testing.B) {
			a := newArena(b, func(o *DispatcherOptions) { o.Listen = "" })
			var all []heartbeat
			for i := range machines {
				says := heartbeat{WorkerInfo: attempt.WorkerInfo{Name: fmt.Sprintf("lab-%d", i), Protocol: Protocol, Sandbox: "FULL", Cores: []int{cores.Any}}, Session: "s"}
				a.machine(says.Name).limit = rate.NewLimiter(rate.Inf, 0)
				for n := range 4 {
					j := job(int64(4*i+n), 1, greedy, greedy2)
					if _, err := a.awaitAttempt(says.Name, expectationOf(j), acknowledged); err != nil {
						b.Fatal(err)
					}
					says.Attempts = append(says.Attempts, attempt.ReportedAttempt{Match: j.Match, Attempt: 1})
				}
				all = append(all, says)
			}
			n := 0
			for b.Loop() {
				a.recordHeartbeat(all[n%machines], time.Now())
				n++
			}
		})
	}
}
