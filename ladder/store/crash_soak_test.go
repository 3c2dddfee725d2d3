//go:build soak

package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

func init() {
	modes["crash"], modes["move"] = finishUntilKilled, moveUntilKilled
}

// finishUntilKilled finishes matches in groups and prints each on stdout, until it is killed.
func finishUntilKilled(dir string) error {
	tb := exitingTB{}
	c := &competition{tb: tb, clock: newClock()}
	s := kit.Get[*Store](tb)(Open(dir, Options{Now: c.clock.now, Server: true}))
	c.Store = s
	c.syncConfig()
	ids := c.liveIDs("@random", "@first", "@greedy")
	var group sync.WaitGroup
	for range 4 { // they finish in groups
		group.Go(func() {
			for i := 0; ; i++ {
				m, _ := c.playRatedMatch("tebes-4", ids[i%3], ids[(i+1)%3])
				fmt.Println(m.ID)
			}
		})
	}
	group.Wait()
	return nil
}

// exitingTB is a testing.TB whose Fatal ends the program.
type exitingTB struct{ testing.TB }

func (exitingTB) Helper() {}

func (exitingTB) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(3)
}

// TestKill checks that a process killed at any moment leaves every match that it reported, and no part of any
// other.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	told := 0
	for range 5 {
		cmd := exec.Command(os.Args[0], "crash", dir)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		kit.Must(t, err)
		kit.Must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		last := int64(0)
		for n := 1 + rand.IntN(4); n > 0 && lines.Scan(); n-- {
			last, err = strconv.ParseInt(lines.Text(), 10, 64)
			kit.Must(t, err)
			told++
		}
		kit.Must(t, cmd.Process.Kill())
		for lines.Scan() {
			told++
		}
		cmd.Wait()
		if last == 0 {
			t.Fatalf("nothing was finished: %s", stderr.String())
		}
		c := openStore(t, dir)
		m, err := c.Matches.Find(bg, last)
		kit.Must(t, err)
		if m.State != ladder.Finished {
			t.Errorf("match %d is %s", last, m.State)
		}
		if n := c.countRows(finishedMatches); n < told {
			t.Errorf("%d matches were finished, and %d are", told, n)
		} else {
			told = n
		}
		wantSound(t, c.Store)
		kit.Must(t, c.Close())
	}
}

// moveUntilKilled finishes matches and moves their documents, and prints each step on stdout, until it is killed.
func moveUntilKilled(dir string) error {
	tb := exitingTB{}
	c := &competition{tb: tb, clock: newClock()}
	s := kit.Get[*Store](tb)(Open(dir, Options{Now: c.clock.now, Server: true}))
	c.Store = s
	c.syncConfig()
	ids := c.liveIDs("@random", "@first", "@greedy")
	var last int64
	kit.Must(tb, c.readers.QueryRow("SELECT coalesce(max(finished), 0) FROM matches").Scan(&last))
	c.clock.skip(max(0, moment(last).Sub(c.clock.now()))) // the time goes on
	for i := 0; ; i++ {
		m, _ := c.playRatedMatch("tebes-4", ids[i%3], ids[(i+1)%3])
		c.clock.skip(2 * day)
		_, err := c.MoveDocuments(bg, ladder.Storage{Days: 1})
		kit.Must(tb, err)
		fmt.Println(m.ID)
	}
}

// TestKillMove checks that killing a process while it moves documents loses and duplicates nothing.
func TestKillMove(t *testing.T) {
	dir := t.TempDir()
	for range 5 {
		cmd := exec.Command(os.Args[0], "move", dir)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		kit.Must(t, err)
		kit.Must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			cmd.Wait()
			t.Fatalf("nothing was moved: %s", stderr.String())
		}
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) // any moment
		kit.Must(t, cmd.Process.Kill())
		for lines.Scan() {
		}
		cmd.Wait()

		c := openStore(t, dir)
		wantSound(t, c.Store) // every game has its replay
		finished := c.countRows(finishedMatches)
		if n := len(c.storedDocuments()); n != finished {
			t.Errorf("%d of %d matches have replays", n, finished)
		}
		if n := c.countRows("documents WHERE kind = 'replays'"); n != finished {
			t.Errorf("%d matches have %d documents of replays", finished, n)
		}
		named := c.countRows("archives")
		if n := len(c.archiveFiles()); n < named || n > named+1 {
			t.Errorf("there are %d files, and %d have names", n, named)
		}
		_, err = c.MoveDocuments(bg, ladder.Storage{Days: 1000})
		kit.Must(t, err)
		left, err := os.ReadDir(c.Dir().Archive())
		kit.Must(t, err)
		if len(left) != named {
			t.Errorf("%d files are left where %d have names", len(left), named)
		}
		kit.Must(t, c.Close())
	}
}
