package commands

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

	"github.com/timba-arena/timba/cmd/internal/cli"
)

// A resumed match has every flag of its start. A flag next to --resume is rejected unless no result depends on it.
func TestResumeKeepsEveryFlag(t *testing.T) {
	t.Parallel()
	const seed = "0000000000000000000000000000000000000000000000000000000000000009"
	common := map[string]string{
		"deals": "2", "seed": seed, "set": "limit=12", "margin": "70", "startup": "60001",
		"sandbox": "full", "memory": "300m", "processes": "40", "ponder": "off",
		"draw": "plies=4,score=1,from=2", "resign": "plies=2,score=5.5", "out": "",
	}
	openings := filepath.Join(t.TempDir(), "openings.txt")
	if err := os.WriteFile(openings, []byte("teeko seed=5 moves=-\nteeko seed=6 moves=-\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for name, special := range map[string]map[string]string{
		"bank and test":      {"bank": "60000", "inc": "10", "sprt": "elo0=0,elo1=10,alpha=0.05,beta=0.05,model=normalized"},
		"movetime and Swiss": {"movetime": "60001", "format": "swiss", "rounds": "2"},
		"openings":           {"movetime": "60001", "openings": openings, "openings-order": "random", "ply": "0"},
		"one game":           {"movetime": "60001", "deals": "", "deal": "3", "rotation": "0"},
	} {
		t.Run(name, func(t *testing.T) {
			flags := maps.Clone(common)
			maps.Copy(flags, special)
			if flags["deals"] == "" {
				delete(flags, "deals")
			}
			dir := filepath.Join(t.TempDir(), "out")
			flags["out"] = dir
			args := []string{"match", "teeko", "@first", "@random"}
			for _, flag := range slices.Sorted(maps.Keys(flags)) {
				args = append(args, "--"+flag, flags[flag])
				tested[flag] = true
			}
			<-begin(t, args...).ended
			whole := contents(t, dir)
			for flag, value := range flags {
				if flag == "deals" {
					continue // it may change
				}
				said := resumeError(dir, "--"+flag, value)
				if want := "timba: resume: --" + flag + " cannot change: leave it out"; !strings.HasPrefix(said, want) {
					t.Errorf("--%s %s is refused without %q: %s", flag, value, want, said)
				}
			}
			for _, path := range []string{finished(t, dir)[0], filepath.Join(dir, "result.json")} {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			p := begin(t, "match", "--resume", dir)
			<-p.ended
			if diff := cmp.Diff(whole, contents(t, dir)); diff != "" {
				t.Errorf("the directory differs (-whole +resumed):\n%s\n%s", diff, p.out.String())
			}
		})
	}
	newMatch().Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "resume" && !tested[f.Name] && !slices.Contains(shownFlags, f.Name) {
			t.Errorf("--%s is neither tested nor among the flags that change no result", f.Name)
		}
	})
}

// resumeError returns what a match prints when it is resumed with further arguments, with its exit status
// unless that is cli.ExitError.
func resumeError(dir string, args ...string) string {
	var out, errs bytes.Buffer
	if status := cli.Run(newRoot(), append([]string{"match", "--resume", dir}, args...), strings.NewReader(""), &out, &errs); status != cli.ExitError {
		return fmt.Sprintf("status %d, %s%s", status, &out, &errs)
	}
	return errs.String()
}

// Without a clock each move has one second, as --help says.
func TestDefaultClock(t *testing.T) {
	f := matchFlags{start: startFlags{deals: 1, deal: -1, rotation: -1, order: "sequential", ply: -1}}
	if p, err := f.newPlan(nil, []string{"teeko", "@random", "@random"}, false); err != nil || p.Clock.Move != time.Second || p.Clock.Bank != 0 {
		t.Errorf("the clock is %+v: %v", p.Clock, err)
	}
}
