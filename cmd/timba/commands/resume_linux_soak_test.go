//go:build soak && linux

package commands

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/rules/text"
)

// A match whose program is killed at any moment, and again after it resumes, loses no finished
// game and counts none twice.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	match := func(dir string) []string {
		return []string{"match", "teeko", "@random", "@greedy", "--deals", "20", "--set", "limit=30", "--seed", "9", "--concurrency", "2", "--out", dir}
	}
	whole := t.TempDir()
	begin(t, match(whole)...).exits(t, cli.ExitGood)
	want := contents(t, whole)
	const games = 40
	if n := len(finished(t, whole)); n != games {
		t.Fatalf("%d games are kept, want %d", n, games)
	}
	moment := rand.New(rand.NewPCG(1, 2))
	rounds, broken := 0, 0
	for ; rounds < 10 || rounds < 50 && broken < 10; rounds++ { // on a busy machine many kills come too late
		dir := t.TempDir()
		before := 0
		for range 2 {
			args := match(dir)
			if _, err := os.Stat(filepath.Join(dir, "plan.json")); err == nil {
				args = []string{"match", "--resume", dir}
			}
			p := begin(t, args...)
			least := before + moment.IntN(games-before+1)
			until(t, "it has come so far", func() bool { return len(finished(t, dir)) >= least })
			for began, more := time.Now(), time.Duration(moment.IntN(5_000_000)); time.Since(began) < more; {
			}
			p.Process.Kill()
			<-p.ended
			n := len(finished(t, dir))
			if n < before {
				t.Errorf("%d games are kept, there were %d", n, before)
			}
			if before = n; n > 0 && n < games {
				broken++
			}
		}
		args := match(dir)
		if _, err := os.Stat(filepath.Join(dir, "plan.json")); err == nil {
			args = []string{"match", "--resume", dir}
		}
		p := begin(t, args...)
		p.exits(t, cli.ExitGood)
		if text := fmt.Sprintf("\n%s in ", text.Count(games-before, "game")); !strings.Contains(p.out.String(), text) {
			t.Errorf("%d games were kept, and it says:\n%s", before, p.out.String())
		}
		if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
			t.Errorf("the directory differs (-whole +resumed):\n%s", diff)
		}
	}
	if broken < 10 {
		t.Errorf("only %d of %d kills came between the first game and the last", broken, 2*rounds)
	}
}
