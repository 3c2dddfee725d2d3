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

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// finishUntilKilled finishes matches in a directory, in groups, and says each on stdout.
func finishUntilKilled(dir string) error {
	tb := dying{}
	c := &competition{tb: tb, clock: newClock()}
	s, err := Open(dir, Options{Now: c.clock.now, Server: true})
	check(tb, err)
	c.Store = s
	c.begin()
	ids := c.ids("@random", "@first", "@greedy")
	var group sync.WaitGroup
	for range 4 { // they finish in groups
		group.Go(func() {
			for i := 0; ; i++ {
				m, _ := c.finished("tebes-4", ids[i%3], ids[(i+1)%3])
				fmt.Println(m.ID)
			}
		})
	}
	group.Wait()
	return nil
}

// dying is a testing.TB that ends the program.
type dying struct{ testing.TB }

func (dying) Helper() {}

func (dying) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(3)
}

// A process killed at any moment leaves every match that it has told of, and no
// part of any other.
func TestKill(t *testing.T) {
	kit.Slow(t)
	dir := t.TempDir()
	told := 0
	for range 5 {
		cmd := exec.Command(os.Args[0], "crash", dir)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		check(t, err)
		check(t, cmd.Start())
		lines := bufio.NewScanner(out)
		last := int64(0)
		for n := 1 + rand.IntN(4); n > 0 && lines.Scan(); n-- {
			last, err = strconv.ParseInt(lines.Text(), 10, 64)
			check(t, err)
			told++
		}
		check(t, cmd.Process.Kill())
		for lines.Scan() {
			told++
		}
		cmd.Wait()
		if last == 0 {
			t.Fatalf("nothing was finished: %s", stderr.String())
		}
		c := openStore(t, dir)
		m, err := c.Match(bg, last)
		check(t, err)
		if m.State != ladder.Finished {
			t.Errorf("match %d is %s", last, m.State)
		}
		if n := countFinished(t, c); n < told {
			t.Errorf("%d matches were finished, and %d are", told, n)
		} else {
			told = n
		}
		wantSound(t, c.Store)
		check(t, c.Close())
	}
}

func countFinished(t *testing.T, c *competition) (n int) {
	t.Helper()
	check(t, c.readers.QueryRow("SELECT count(*) FROM matches WHERE state = 'finished'").Scan(&n))
	return n
}
