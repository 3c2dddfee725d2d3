package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/client"
)

const rated = "rated matches"

// measures are the rates of the others, in the order of a rate.
var measures = [...]struct {
	what, unit string
	per        time.Duration
}{
	{rated, "s", time.Second},
	{"submissions", "min", time.Minute},
	{"requests", "s", time.Second},
}

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
	senders, readers    []*client.Client
	submitted, answered atomic.Int64
	uploads, asked      int
}

func (s *process) newOthers(ctx context.Context) (o *others, err error) {
	o = &others{process: s}
	if o.senders, err = s.joinAll(ctx, "sender", 2); err != nil {
		return nil, err
	}
	o.readers, err = s.joinAll(ctx, "reader", 6)
	return o, err
}

// count returns what comes through in a window. A request that fails counts as none.
func (o *others) count(ctx context.Context, window time.Duration) (rates [len(measures)]float64, err error) {
	before, err := o.metrics(ctx)
	if err != nil {
		return rates, err
	}
	submitted, answered := o.submitted.Load(), o.answered.Load()
	began := time.Now()
	for_, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { every(for_, submitEvery, o.submit) })
	group.Go(func() { every(for_, requestEvery, o.request) })
	group.Wait()
	after, err := o.metrics(ctx)
	took := time.Since(began)
	for i, n := range []float64{after.finished() - before.finished(), float64(o.submitted.Load() - submitted), float64(o.answered.Load() - answered)} {
		rates[i] = n * float64(measures[i].per) / float64(took)
	}
	return rates, err
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

// submit sends a bot whose build fails at once and waits for that. One that is not taken does not count.
func (o *others) submit(ctx context.Context) {
	o.uploads++
	who := o.senders[o.uploads%len(o.senders)]
	id, err := upload(ctx, who, fmt.Sprint("quick", o.uploads), "exit 1")
	if err != nil {
		return
	}
	for s, err := range who.Follow(ctx, id) {
		if err != nil {
			return
		}
		if s.Done {
			o.submitted.Add(1)
		}
	}
}

func (o *others) request(ctx context.Context) {
	o.asked++
	if _, err := o.readers[o.asked%len(o.readers)].Ladders(ctx); err == nil {
		o.answered.Add(1)
	}
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
	s, err := c.Submit(ctx, "", "application/gzip", client.Body(p.Data))
	return s.ID, err
}
