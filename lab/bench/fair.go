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

// FairGoal is the part of their rate that the others keep under an attack, of what the attack is not
// due.
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
// defaults, but for matches that last, which would be refused with a long clock.
const fairSettings = `registration = "open"
pause = 0
[limits]
versions = 1000000
bots = 1000000
time = 10080
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
	others, err := s.newOthers(ctx)
	if err != nil {
		return nil, err
	}
	t := newTable("attack|of the others|per|without|with|kept|of what is not due|goal|verdict")
	for _, a := range attacks {
		if len(b.Attacks) > 0 && !slices.Contains(b.Attacks, a.name) {
			continue
		}
		fmt.Fprintf(log, "%s: %s\n", a.name, a.help)
		rates, err := b.measure(ctx, s, others, a)
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", a.name, err)
		}
		for i, m := range measures {
			t.add(a.row(m.what, m.unit, quantile(rates[0][i], 0.5), quantile(rates[1][i], 0.5))...)
		}
	}
	return newReport(t), nil
}

// row returns a row of the table: what an attack does to one rate of the others.
func (a attack) row(what, unit string, without, with float64) []any {
	ratio, due := 0.0, 0.0
	if without > 0 {
		ratio = with / without
	}
	if what == rated {
		due = a.due
	}
	kept := ratio / (1 - due)
	return []any{a.name, what, unit, tenth(without), tenth(with), cents(ratio), cents(kept), cents(FairGoal), verdict(kept >= FairGoal)}
}

// measure counts in windows without and with an attack, by turns. It returns the rates of all windows,
// without and with it, of each of measures.
func (b Fair) measure(ctx context.Context, s *process, o *others, a attack) (rates [2][len(measures)][]float64, err error) {
	prepared, err := a.prepare(ctx, s)
	if err != nil {
		return rates, err
	}
	for range b.Rounds {
		for with := range rates {
			end, wait := func() {}, settle
			if with == 1 {
				end, wait = prepared.begin(ctx), spend
			}
			pause(ctx, wait)
			got, err := o.count(ctx, b.Window)
			end()
			if err != nil {
				return rates, err
			}
			for i, rate := range got {
				rates[with][i] = append(rates[with][i], rate)
			}
		}
	}
	return rates, nil
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

// join opens an account.
func (s *process) join(ctx context.Context, name string) (*client.Client, error) {
	c, err := client.New(s.url, "")
	if err != nil {
		return nil, err
	}
	made, err := c.Register(ctx, name, "")
	if err != nil {
		return nil, err
	}
	c.Token, c.Retries = made.Key, 0
	return c, nil
}

// joinAll opens accounts of one kind.
func (s *process) joinAll(ctx context.Context, kind string, n int) (list []*client.Client, err error) {
	for i := range n {
		c, err := s.join(ctx, fmt.Sprint(kind, i))
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}
