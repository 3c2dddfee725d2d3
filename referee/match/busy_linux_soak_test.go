//go:build soak && linux

package match

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

func init() { modes["worker"] = laborious }

// laborious runs a house bot that works for some milliseconds before each move, in one or more threads at the
// same time. "greedy 25 2" means 25 ms and 2 threads.
func laborious(what string) error {
	var name string
	var ms, threads int
	if _, err := fmt.Sscan(what, &name, &ms, &threads); err != nil {
		return err
	}
	in, lines := io.Pipe()
	go func() {
		for scan := bufio.NewScanner(os.Stdin); scan.Scan(); {
			if strings.HasPrefix(scan.Text(), "turn ") {
				var group sync.WaitGroup
				for range threads {
					group.Go(func() { work(time.Duration(ms) * time.Millisecond / time.Duration(threads)) })
				}
				group.Wait()
			}
			fmt.Fprintln(lines, scan.Text())
		}
		lines.Close()
	}()
	return house.Run(name, in, os.Stdout)
}

// Clocks: four programs that never rest use two cores, on which bots play that need half of their clock,
// one of them at a time with two threads as well. Nobody is late, no game is void, the results are those
// of the idle machine, and a match takes at most four times as long. A bot that works for longer than its
// clock is late in each game, whether the machine is busy or not.
func TestClocksBusyMachine(t *testing.T) {
	const ms = time.Millisecond
	clock := referee.Clock{Move: 50 * ms, Margin: 50 * ms, Startup: time.Minute}
	play := func(game string, deals int, bots ...string) (text []string, late int, credit float64, took time.Duration) {
		t.Helper()
		m := &Match{Variant: variant(t, game, ""), Deals: deals, Seed: rules.Seed{9}, Clock: clock, Resources: Resources{Workers: cores.All()}}
		var commands [][]string
		for _, b := range bots {
			commands = append(commands, []string{self(t), "worker", b})
		}
		m.Bots = real(commands...)
		began := time.Now()
		for _, g := range playAll(t, m) {
			for _, f := range g.Faults {
				if f.Code != protocol.Timeout {
					t.Fatalf("%s: %v", game, f)
				}
				late++
			}
			for _, mv := range g.Moves {
				credit += mv.Credit
			}
			g.Faults = nil
			text = append(text, timeless(g))
		}
		return text, late, credit, time.Since(began)
	}
	busy := func(on bool) (end func()) {
		var all []*exec.Cmd
		for range 4 {
			if on {
				cmd := exec.Command(self(t), "burn", "forever")
				kit.Must(t, cmd.Start())
				all = append(all, cmd)
			}
		}
		return func() {
			for _, cmd := range all {
				cmd.Process.Kill()
				cmd.Wait()
			}
		}
	}
	all := 0.0 // credit, of all games
	for _, game := range []string{"teeko", "brisca", "podrida"} {
		for _, bots := range [][]string{{"greedy 25 1", "random 25 1"}, {"greedy 25 2", "random 25 1"}, {"greedy 25 1", "random 25 2"}} {
			if game != "teeko" && game != "brisca" {
				bots = []string{strings.Replace(bots[0], "greedy", "first", 1), bots[1]}
			}
			for len(bots) < variant(t, game, "").Players {
				bots = append(bots, bots[len(bots)-1])
			}
			t.Run(fmt.Sprint(game, bots), func(t *testing.T) {
				deals := 20 / len(bots)
				idle, late, _, alone := play(game, deals, bots...)
				if late > 0 {
					t.Fatalf("%d are late on an idle machine", late)
				}
				defer busy(true)()
				again, late, credit, took := play(game, deals, bots...)
				t.Logf("%d games: %v on an idle machine, %v on a busy one, with %.0f ms of credit", len(again), alone, took, credit)
				all += credit
				if late > 0 || took > 4*alone {
					t.Errorf("%d are late, and it took %.1f times as long", late, took.Seconds()/alone.Seconds())
				}
				if diff := cmp.Diff(idle, again); diff != "" {
					t.Errorf("the games differ (-idle +busy)\n%s", diff)
				}
			})
		}
	}
	if all == 0 {
		t.Error("nobody got credit")
	}
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprint("late by itself, busy ", on), func(t *testing.T) {
			defer busy(on)()
			lost := 0
			for range 50 { // a third fault would disqualify it
				_, late, _, _ := play("brisca", 1, "first 120 1", "first 1 1")
				lost += late
			}
			if lost != 100 {
				t.Errorf("in %d of 100 games the bot is late", lost)
			}
		})
	}
}
