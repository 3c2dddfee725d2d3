package referee

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/sandbox"
)

func init() {
	modes["hungry"] = hungry
}

// hungry has 40 MiB from its first turn on, and thinks for 40 ms of CPU time
// about the first turn of each game, in its last of which it ends.
func hungry(games string) error {
	var memory []byte
	n, thought := 0, true
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "timba":
			fmt.Println("ready hungry 1")
		case "bye":
			return nil
		case "game":
			n, thought = n+1, false
		case "turn":
			for len(memory) < 40<<20 {
				memory = append(memory, 1)
			}
			for from := cpuTime(); !thought && cpuTime() < from+40*time.Millisecond; {
			}
			if thought = true; fmt.Sprint(n) == games {
				os.Exit(1)
			}
			fmt.Println("move", words[3])
		}
	}
	return nil
}

func cpuTime() time.Duration {
	var r unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestMeter: what a bot uses is told of each game, be it held or not, also when
// its process has ended in it.
func TestMeter(t *testing.T) {
	for _, h := range holds(t, true) {
		t.Run(h.name, func(t *testing.T) {
			bots := real([]string{self(t), "hungry", "3"}, nil)
			bots[0].Dir, bots[0].Sandbox = builds, h.sandbox
			m := &Match{Variant: variant(t, "tebes", ""), Bots: bots, Clock: patient, Deals: 3, Only: []int{0}, Meter: true}
			m.start = starter{}.start
			for _, g := range playAll(t, m) {
				u := g.Usage[0]
				if u.CPU < 20*time.Millisecond || u.CPU > 10*time.Second || u.Memory < 40<<20 || u.Memory > 1<<30 {
					t.Errorf("deal %d: %+v", g.Match.Deal, u)
				}
				if g.Usage[1] != (sandbox.Usage{}) {
					t.Errorf("deal %d: a bot without a process has used %+v", g.Match.Deal, g.Usage[1])
				}
				if faults := len(g.Faults); faults != g.Match.Deal/2 {
					t.Errorf("deal %d: %v", g.Match.Deal, g.Faults)
				}
			}
		})
	}
}
