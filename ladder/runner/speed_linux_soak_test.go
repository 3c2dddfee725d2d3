//go:build soak && linux

package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/attempt/attempttest"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/cores"
)

// processTime returns the CPU time that this process has used, which a busy machine distorts less than the clock.
func processTime(b *testing.B) time.Duration {
	var u unix.Rusage
	kit.Must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFleet measures the server's work for a ladder of 10,000 versions (TIMBA_VERSIONS) with 1,000 cores
// that return random games at once: choosing, starting and finishing matches while standings are read. An
// iteration is 20,000 matches.
func BenchmarkFleet(b *testing.B) {
	const matches = 20_000 // of an iteration
	versions := 10_000
	if n, err := strconv.Atoi(os.Getenv("TIMBA_VERSIONS")); err == nil {
		versions = n
	}
	w := newWorld(b, "[limits]\nbots = 1000000\nversions = 1000000\n"+tiny)
	began := time.Now()
	var owner ladder.Person
	for i := range versions {
		if i%20 == 0 {
			owner = w.AddPerson(fmt.Sprintf("owner%d", i), false)
		}
		v := w.Submit(owner.ID, fmt.Sprintf("bot%d", i), hashOf(fmt.Sprint(i)))
		w.MakeLive(v.ID, store.BuildInfo{Hash: hashOf(""), Language: "Bash", Command: []string{"sh", "bot.sh"}})
	}
	b.Logf("%d versions in %s", versions, time.Since(began).Round(time.Second))
	f := laddertest.NewFleet()
	for i := range 100 {
		f.AddMachine(attempt.WorkerInfo{Name: fmt.Sprintf("w%d", i), Cores: slices.Repeat([]int{cores.Any}, 10)})
	}
	f.Quick = func(j attempt.Job) attempt.Result { return attempttest.PlayAtRandom(j) }
	r := w.startRunner(0, func(o *runnerParts) { o.Fleet, o.Log = f, nil })
	r.awaitMatches(200)
	asked, stop := make(chan []time.Duration), make(chan struct{})
	go func() {
		var took []time.Duration
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-stop:
				asked <- took
				return
			case <-tick.C:
				began := time.Now()
				if _, err := w.Store.Ladders.Standings(context.Background(), "tebes"); err == nil {
					took = append(took, time.Since(began))
				}
			}
		}
	}()
	used := processTime(b)
	began = time.Now()
	b.ResetTimer()
	r.awaitMatches(b.N * matches)
	b.StopTimer()
	b.ReportMetric(float64(b.N*matches)/time.Since(began).Seconds(), "matches/s")
	b.ReportMetric(float64((processTime(b)-used).Microseconds())/float64(b.N*matches), "cpu-us/match")
	close(stop)
	if took := <-asked; len(took) > 0 {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1e3, "standings-p95-ms")
	}
	r.stop()
}
