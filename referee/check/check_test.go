package check

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

// resolve makes a program of what a user would write.
func resolve(t testing.TB, bot string) program.Program {
	t.Helper()
	p, err := program.Resolver{Builtins: house.Registry{}}.Resolve(t.Context(), bot)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// checkup is a bot to check, and how. The times are wide, so that a busy machine
// does not make a bot fail, unless change makes them short.
type checkup struct {
	name   string
	bot    string
	change func(*Options)
}

// checked returns the reports on bots by name. Since most of a check is waiting,
// several are made at the same time.
func checked(t *testing.T, list []checkup) map[string]*Report {
	t.Helper()
	kit.Slow(t)
	reports := map[string]*Report{}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(16)
	for _, c := range list {
		p := resolve(t, c.bot)
		o := Defaults()
		o.Clock.Move, o.Clock.Startup = time.Minute, time.Minute
		o.Quick, o.Pause = true, 10*time.Millisecond
		if c.change != nil {
			c.change(&o)
		}
		group.Go(func() error {
			r, err := Run(t.Context(), p, o)
			mu.Lock()
			defer mu.Unlock()
			reports[c.name] = r
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return reports
}

// text is a report as people see it.
func summary(r *Report) string {
	var b bytes.Buffer
	for _, c := range r.Checks {
		c.WriteLine(&b)
	}
	r.WriteSummary(&b)
	return b.String()
}

func TestHouseBotsPass(t *testing.T) {
	var list []checkup
	for _, b := range house.List() {
		bot, quick := "@"+b.Name, false
		if !b.Simple && hasNodes(b) { // it would use all the time that it has
			bot, quick = bot+":nodes=50", true
		}
		list = append(list, checkup{b.Name, bot, func(o *Options) { o.Quick = quick }})
	}
	for name, r := range checked(t, list) {
		if r.Verdict != OK {
			t.Errorf("%s:\n%s", name, summary(r))
		}
	}
}

// hasNodes reports whether the thought of a house bot can be bounded by its nodes.
func hasNodes(b house.Bot) bool {
	return slices.ContainsFunc(b.Options, func(o house.Option) bool { return o.Name == "nodes" })
}

func oneGame(t testing.TB, name string) []rules.Game {
	t.Helper()
	g, err := games.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return []rules.Game{g}
}
