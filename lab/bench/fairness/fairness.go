// Package fairness measures what attackers cost the others of a competition: a real
// server in a process of its own, real accounts, and rates without and with each attack.
package fairness

import (
	"bufio"
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

// Goal is the part of their rate that the others keep under an attack, of what the
// attack is not due.
const Goal = 0.8

// Bench is a measurement.
type Bench struct {
	Program string        // that serves, as "timba serve"
	Workers int           // of the server; 0: one for each core
	Window  time.Duration // in which events are counted, without the attack and with it
	Rounds  int           // such pairs for each attack; the medians count
	Attacks []string      // only those; nil: all
	Log     io.Writer     // tells what is measured
}

// Row is what an attack does to one rate of the others.
type Row struct {
	Attack  string  `json:"attack"`
	What    string  `json:"what"`
	Unit    string  `json:"unit"`
	Without float64 `json:"without"` // medians of the windows
	With    float64 `json:"with"`
	Ratio   float64 `json:"ratio"`
	Due     float64 `json:"due"` // the part that the attack may take by the rules
}

// Kept returns the part of the rate that is kept of what the attack is not due.
func (r Row) Kept() float64 { return r.Ratio / (1 - r.Due) }

// settings are those of the server. The limits that bound the attacks have their
// defaults, but for matches that last, which would be refused with a long clock.
const settings = `registration = "open"
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

// Names lists the attacks.
func Names() (names []string) {
	for _, a := range attacks {
		names = append(names, a.name)
	}
	return names
}

// Run measures the attacks one after the other and calls each with the rows of each.
func (b Bench) Run(ctx context.Context, each func([]Row)) error {
	chosen, err := b.chosen()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "timba-fair-")
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := b.serve(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer s.stop()
	others, err := s.newOthers(ctx)
	if err != nil {
		return err
	}
	for _, a := range chosen {
		fmt.Fprintf(b.Log, "%s: %s\n", a.name, a.help)
		rows, err := b.measure(ctx, s, others, a)
		if err != nil {
			return fmt.Errorf("bench: %s: %w", a.name, err)
		}
		each(rows)
	}
	return nil
}

// chosen returns the attacks to make.
func (b Bench) chosen() (list []attack, err error) {
	if b.Window <= 0 || b.Rounds < 1 {
		return nil, fmt.Errorf("bench: %d rounds of %s cannot be measured: try 5 of 10s", b.Rounds, b.Window)
	}
	for _, name := range b.Attacks {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("bench: unknown attack %q: try %s", name, strings.Join(Names(), ", "))
		}
	}
	for _, a := range attacks {
		if len(b.Attacks) == 0 || slices.Contains(b.Attacks, a.name) {
			list = append(list, a)
		}
	}
	return list, nil
}

// measure counts in windows without and with an attack, by turns.
func (b Bench) measure(ctx context.Context, s *server, o *others, a attack) ([]Row, error) {
	crew, err := a.enlist(ctx, s)
	if err != nil {
		return nil, err
	}
	var rates [2][]rate
	for range b.Rounds {
		for with := range 2 {
			var end func() error
			wait := settle
			if with == 1 {
				end, wait = crew.begin(ctx), spend
			}
			pause(ctx, wait)
			got, err := o.count(ctx, b.Window)
			if end != nil {
				if e := end(); err == nil {
					err = e
				}
			}
			if err != nil {
				return nil, err
			}
			rates[with] = append(rates[with], got)
		}
	}
	var rows []Row
	for i, w := range measures {
		r := Row{Attack: a.name, What: w.what, Unit: w.unit, Without: median(rates[0], i), With: median(rates[1], i)}
		if w.what == rated && a.due != nil {
			r.Due = a.due(s.workers)
		}
		if r.Without > 0 {
			r.Ratio = r.With / r.Without
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func median(all []rate, i int) float64 {
	var values []float64
	for _, r := range all {
		values = append(values, r[i])
	}
	slices.Sort(values)
	n := len(values)
	return (values[n/2] + values[(n-1)/2]) / 2
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// server is a running server.
type server struct {
	url     string
	workers int
	stop    func()
}

// serve starts a server with a directory of its own.
func (b Bench) serve(ctx context.Context, dir string) (*server, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(datadir.Dir(dir).Config(), []byte(settings), 0o600); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, b.Program, "serve", "--data", dir, "--listen", "127.0.0.1:0", "--grace", "0s", "--log-level", "error", "--workers", strconv.Itoa(b.Workers))
	c.Stderr = b.Log
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	s := &server{workers: b.Workers, stop: func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
	}}
	lines := bufio.NewScanner(out)
	for s.url == "" {
		if !lines.Scan() {
			c.Wait()
			return nil, fmt.Errorf("bench: the server does not start: %s", c.ProcessState)
		}
		if _, url, ok := strings.Cut(lines.Text(), " on http://"); ok {
			s.url = "http://" + url
		}
	}
	go io.Copy(io.Discard, out)
	figures, err := s.figures(ctx)
	if err != nil {
		s.stop()
		return nil, err
	}
	s.workers = int(figures["timba_workers"])
	return s, nil
}

// join opens an account.
func (s *server) join(ctx context.Context, name string) (*client.Client, error) {
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
func (s *server) joinAll(ctx context.Context, kind string, n int) (list []*client.Client, err error) {
	for i := range n {
		c, err := s.join(ctx, fmt.Sprint(kind, i))
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}
