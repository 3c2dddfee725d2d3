package match

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/timba-arena/timba/internal/kit"
)

func init() {
	modes["priority"] = func(string) error { return tellPriority() }
}

// tellPriority runs a bot that plays the first legal move and reports its nice value as info.
func tellPriority() error {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch words := strings.Fields(lines.Text()); words[0] {
		case "timba":
			fmt.Println("ready priority 1")
		case "bye":
			return nil
		case "turn":
			n, err := niceValue()
			if err != nil {
				return err
			}
			fmt.Printf("info nice=%d\nmove %s\n", n, words[3])
		}
	}
	return nil
}

// niceValue returns the nice value of the calling thread.
func niceValue() (int, error) {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	return 20 - n, err // as the kernel counts
}

// Bots of a match with Low have the lowest priority, in a sandbox too; those of the next match have
// that of the program again.
func TestLow(t *testing.T) {
	own := kit.Get[int](t)(niceValue())
	for _, h := range holds(t, true) {
		t.Run(h.name, func(t *testing.T) {
			for _, low := range []bool{true, false} {
				want := fmt.Sprintf("nice=%d", own)
				if low {
					want = "nice=19"
				}
				bots := real([]string{self(t), "priority", "-"}, nil)
				bots[0].Dir, bots[0].Sandbox = builds, h.sandbox
				m := &Match{Variant: variant(t, "teeko", "limit=6"), Bots: bots, Clock: patient, Deals: 1, OnlyRotations: []int{0}, Resources: Resources{Low: low}}
				m.start = starter{}.start
				for _, g := range playAll(t, m) {
					told := 0
					for _, move := range g.Moves {
						for _, info := range move.Info {
							if told++; info != want {
								t.Errorf("low %v: a bot has %s, want %s", low, info, want)
							}
						}
					}
					if told == 0 || len(g.Faults) > 0 {
						t.Fatalf("low %v: the bot has told nothing: %v", low, g.Faults)
					}
				}
			}
		})
	}
}
