package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/web/client"
)

// FairGoal is the part of their rate that the others keep under an attack, without the part that the
// attack may take by the limits.
const FairGoal = 0.8

// Fair measures what attackers cost the others of a competition: a real server in a process of its
// own, real accounts, and rates without and with each attack.
type Fair struct {
	Program string        // timba; "" for the one beside this program, or on the PATH
	Workers int           // of the server; 0: one for each core
	Window  time.Duration // in which events are counted, without the attack and with it
	Rounds  int           // such pairs for each attack; the medians count
	Attacks []string      // only those; nil: all
}

// fairSettings are those of the server. The limits that bound the attacks have their
// defaults, but for matches that last, which would be refused with a long clock. House bots play each
// other as often as before 100 matches, so that there are rated matches all the time.
const fairSettings = `registration = "open"
pause = 0
[limits]
versions = 1000000
bots = 1000000
time = "168h"
[[ladder]]
name = "brisca"
game = "brisca"
deals = 2
clock = {movetime = 10000, startup = 60000}
house = ["@random", "@first", "@greedy", "@greedy:noise=5", "@greedy:noise=10", "@greedy:noise=15", "@greedy:noise=20", "@greedy:noise=25"]
[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4", opening = "6"}
deals = 2
clock = {movetime = 10000, startup = 60000}
house = ["@random", "@first", "@greedy"]
`

// How long nothing is counted when an attack ends, and when it begins: matches that
// people ask for have saved up some seconds then, which they do not have later.
const (
	settle = time.Second
	spend  = 6 * time.Second
)

// AttackNames lists the attacks.
func AttackNames() (names []string) {
	for _, a := range attacks {
		names = append(names, a.name)
	}
	return names
}

// Run measures the attacks one after the other, and tells log of each.
func (b Fair) Run(ctx context.Context, log io.Writer) (*Report, error) {
	for _, name := range b.Attacks {
		if !slices.Contains(AttackNames(), name) {
			return nil, fmt.Errorf("bench: unknown attack %q: try %s", name, strings.Join(AttackNames(), ", "))
		}
	}
	program, err := findTimba(b.Program)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "timba-fair-")
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := b.serve(ctx, program, filepath.Join(dir, "data"), log)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	defer s.stop()
	others, err := newOthers(ctx, s)
	if err != nil {
		return nil, err
	}
	t := newTable("attack|of the others|per|without|with|kept|kept of the rest|goal|verdict")
	for _, a := range attacks {
		if len(b.Attacks) > 0 && !slices.Contains(b.Attacks, a.name) {
			continue
		}
		fmt.Fprintf(log, "%s: %s\n", a.name, a.help)
		windows, err := b.measure(ctx, others, a)
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", a.name, err)
		}
		for i, of := range ratesOf {
			without, with := quantile(windows[0][i], 0.5), quantile(windows[1][i], 0.5)
			kept, due := 0.0, 0.0
			if without > 0 {
				kept = with / without
			}
			if i == rated {
				due = a.due
			}
			rest := kept / (1 - due)
			t.add(a.name, of.what, of.unit, tenth(without), tenth(with), hundredth(kept), hundredth(rest), hundredth(FairGoal), verdict(rest >= FairGoal))
		}
	}
	return newReport(t), nil
}

// measure counts in windows without and with an attack, by turns. It returns the values of each rate
// in all windows, without and with it.
func (b Fair) measure(ctx context.Context, o *others, a attack) (windows [2][len(rates{})][]float64, err error) {
	accounts, err := join(ctx, o.url, a.name, a.accounts)
	if err != nil {
		return windows, err
	}
	attackers, err := a.prepare(ctx, accounts)
	if err != nil {
		return windows, err
	}
	for range b.Rounds {
		for with := range windows {
			end, wait := func() {}, settle
			if with == 1 {
				end, wait = attackers.begin(ctx), spend
			}
			pause(ctx, wait)
			counted, err := o.count(ctx, b.Window)
			end()
			if err != nil {
				return windows, err
			}
			for i, rate := range counted {
				windows[with][i] = append(windows[with][i], rate)
			}
		}
	}
	return windows, nil
}

// serve starts a server with a directory of its own.
func (b Fair) serve(ctx context.Context, program, dir string, log io.Writer) (*process, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(datadir.Dir(dir).Config(), []byte(fairSettings), 0o600); err != nil {
		return nil, err
	}
	args := []string{"serve", "--data", dir, "--listen", "127.0.0.1:0", "--grace", "0s", "--log-level", "error"}
	if b.Workers > 0 {
		args = append(args, "--workers", strconv.Itoa(b.Workers))
	}
	return startProcess(ctx, exec.CommandContext(ctx, program, args...), log, func(line string) string {
		_, address, found := strings.Cut(line, " on http://")
		if !found {
			return ""
		}
		return "http://" + address
	})
}

// join opens accounts of one kind.
func join(ctx context.Context, url, kind string, n int) (list []*client.Client, err error) {
	for i := range n {
		c, err := client.New(url, "")
		if err != nil {
			return nil, err
		}
		made, err := c.Register(ctx, fmt.Sprint(kind, i), "")
		if err != nil {
			return nil, err
		}
		c.Token, c.Retries = made.Key, 0
		list = append(list, c)
	}
	return list, nil
}
