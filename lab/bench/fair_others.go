package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/client"
)

// rates tell how many rated matches, submissions and requests of the others come through in a window.
type rates [3]float64

// rated is the index of rated matches.
const rated = 0

// ratesOf are what the rates are of, and their units.
var ratesOf = [len(rates{})]struct {
	what, unit string
	per        time.Duration
}{{"rated matches", "s", time.Second}, {"submissions", "min", time.Minute}, {"requests", "s", time.Second}}

// How often the others come: people wait between what they do. A submission or a
// request that is not answered holds up the next one.
const (
	submitEvery  = 3 * time.Second
	requestEvery = 100 * time.Millisecond
)

// others take part while attacks go on: some send bots, some ask for the ladders, in
// turn, so that each of them keeps to the limit of a person, and few enough that the
// limit of registrations lets them in at once.
type others struct {
	*process
	senders, readers []*client.Client
	uploads, asked   int
}

func newOthers(ctx context.Context, s *process) (*others, error) {
	all, err := join(ctx, s.url, "other", 8)
	if err != nil {
		return nil, err
	}
	return &others{process: s, senders: all[:2], readers: all[2:]}, nil
}

// count returns what comes through in a window. A request that fails counts as none.
func (o *others) count(ctx context.Context, window time.Duration) (r rates, err error) {
	before, err := o.metrics(ctx)
	if err != nil {
		return r, err
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { every(limited, submitEvery, func(ctx context.Context) { r[1] += o.submit(ctx) }) })
	group.Go(func() { every(limited, requestEvery, func(ctx context.Context) { r[2] += o.request(ctx) }) })
	group.Wait()
	after, err := o.metrics(ctx)
	r[rated] = after.finished() - before.finished()
	took := time.Since(began)
	for i := range r {
		r[i] *= float64(ratesOf[i].per) / float64(took)
	}
	return r, err
}

// every does something at intervals, as long as the context lasts.
func every(ctx context.Context, interval time.Duration, do func(context.Context)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		do(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// submit sends a bot whose build fails at once and waits for that. It returns 1 if it came through.
func (o *others) submit(ctx context.Context) float64 {
	o.uploads++
	who := o.senders[o.uploads%len(o.senders)]
	id, err := upload(ctx, who, fmt.Sprint("quick", o.uploads), "exit 1")
	if err != nil {
		return 0
	}
	for s, err := range who.Follow(ctx, id) {
		if err == nil && s.Done {
			return 1
		}
	}
	return 0
}

// request asks for the ladders. It returns 1 if it came through.
func (o *others) request(ctx context.Context) float64 {
	o.asked++
	if _, err := o.readers[o.asked%len(o.readers)].Ladders(ctx); err != nil {
		return 0
	}
	return 1
}

// upload sends a bot whose build is a command of the shell, and returns its submission.
func upload(ctx context.Context, c *client.Client, name, build string) (id int64, err error) {
	dir, err := os.MkdirTemp("", "timba-fair-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	manifest := fmt.Sprintf("name = %q\nbuild = [\"sh\", \"-c\", %q]\nrun = [\"./bot\"]\n", name, build)
	if err := os.WriteFile(filepath.Join(dir, "timba.toml"), []byte(manifest), 0o644); err != nil {
		return 0, err
	}
	return send(ctx, c, dir)
}

// send submits the bot in a directory and returns its submission.
func send(ctx context.Context, c *client.Client, dir string) (id int64, err error) {
	p, err := bundle.Pack(dir, bundle.Default)
	if err != nil {
		return 0, err
	}
	s, err := c.Submit(ctx, "", "", "application/gzip", client.Body(p.Data))
	return s.ID, err
}
