package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/ladder/tournament"
)

// unplanned are the flags of a match that no result depends on; plan.json does not have them.
var unplanned = []string{"affinity", "concurrency", "json", "log", "out", "quiet", "resume", "score-interval", "verbose"}

// A match that is resumed with nothing but --resume has every flag of its start. A flag that
// is neither in the plan nor among those that change no result fails the test.
func TestResumeKeepsEveryFlag(t *testing.T) {
	t.Parallel()
	const seed = "0000000000000000000000000000000000000000000000000000000000000009"
	common := map[string]string{
		"deals": "2", "seed": seed, "set": "limit=12", "margin": "70", "startup": "20000",
		"sandbox": "full", "memory": "300m", "processes": "40", "ponder": "off",
		"draw": "plies=4,score=1,from=2", "resign": "plies=2,score=5.5",
	}
	others := map[string]string{ // values that differ, also from the defaults
		"deals": "1", "seed": "8", "set": "limit=13", "margin": "71", "startup": "20001",
		"sandbox": "reduced", "memory": "301m", "processes": "41", "ponder": "on",
		"draw": "plies=4,score=2", "resign": "plies=2,score=6",
		"bank": "60001", "inc": "11", "movetime": "50001", "sprt": "elo0=0,elo1=20", "rounds": "3", "format": "round-robin",
	}
	tested := map[string]bool{}
	for name, special := range map[string]map[string]string{
		"bank and test":      {"bank": "60000", "inc": "10", "sprt": "elo0=0,elo1=10,alpha=0.05,beta=0.05,model=normalized"},
		"movetime and Swiss": {"movetime": "50000", "format": "swiss", "rounds": "2"},
	} {
		t.Run(name, func(t *testing.T) {
			flags := maps.Clone(common)
			maps.Copy(flags, special)
			dir := filepath.Join(t.TempDir(), "out")
			args := []string{"match", "teeko", "@first", "@random", "--out", dir}
			for _, flag := range slices.Sorted(maps.Keys(flags)) {
				args = append(args, "--"+flag, flags[flag])
				tested[flag] = true
			}
			begin(t, args...).Wait()
			whole := contents(t, dir)
			plan, err := (&tournament.Dir{Path: dir}).ReadPlan()
			if err != nil {
				t.Fatal(err)
			}
			for flag, value := range flags {
				if !slices.ContainsFunc(plan.Flags(), func(f tournament.Flag) bool { return f.Name == flag && f.Text() == value }) {
					t.Errorf("the plan does not have --%s %s: %v", flag, value, plan.Flags())
				}
				now := strings.TrimPrefix(others[flag], "limit=")
				if flag == "seed" {
					now = strings.Repeat("0", 63) + now
				}
				said := resumeError(dir, "--"+flag, others[flag])
				for _, part := range []string{"resume: ", "--" + flag + " ", strings.TrimPrefix(value, "limit="), " and is now ", now} {
					if !strings.Contains(said, part) {
						t.Errorf("--%s %s instead of %s is refused without %q: %s", flag, others[flag], value, part, said)
					}
				}
			}
			for _, path := range []string{finished(t, dir)[0], filepath.Join(dir, "result.json")} {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			p := begin(t, "match", "--resume", dir)
			p.Wait()
			if diff := cmp.Diff(whole, contents(t, dir)); diff != "" {
				t.Errorf("the directory differs (-whole +resumed):\n%s\n%s", diff, p.out.String())
			}
		})
	}
	newMatch().Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "bot" && !tested[f.Name] && !slices.Contains(unplanned, f.Name) {
			t.Errorf("--%s is neither in the plan of a match nor among the flags that change no result", f.Name)
		}
	})
}

// resumeError returns what a match that is resumed with more arguments says, with its status if
// that is not exitError.
func resumeError(dir string, args ...string) string {
	var out, errs bytes.Buffer
	if status := run(append([]string{"match", "--resume", dir}, args...), strings.NewReader(""), &out, &errs); status != exitError {
		return fmt.Sprintf("status %d, %s%s", status, &out, &errs)
	}
	return errs.String()
}

// Without a clock each move has a second, as --help says.
func TestDefaultClock(t *testing.T) {
	if c := new(matchFlags).clock(); c.Move != time.Second || c.Bank != 0 {
		t.Errorf("the clock is %+v", c)
	}
}
