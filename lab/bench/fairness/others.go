package fairness

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/client"
)

const rated = "rated matches"

// measures are the rates of the others, in the order of a rate.
var measures = []struct {
	what, unit string
	per        time.Duration
}{
	{rated, "s", time.Second},
	{"submissions", "min", time.Minute},
	{"requests", "s", time.Second},
}

type rate [3]float64

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
	*server
	senders, readers    []*client.Client
	submitted, answered atomic.Int64
	uploads, asked      int
}

func (s *server) newOthers(ctx context.Context) (o *others, err error) {
	o = &others{server: s}
	if o.senders, err = s.joinAll(ctx, "sender", 2); err != nil {
		return nil, err
	}
	o.readers, err = s.joinAll(ctx, "reader", 6)
	return o, err
}

// count returns what comes through in a window. A request that fails counts as none.
func (o *others) count(ctx context.Context, window time.Duration) (r rate, err error) {
	before, err := o.finished(ctx)
	if err != nil {
		return r, err
	}
	submitted, answered := o.submitted.Load(), o.answered.Load()
	began := time.Now()
	for_, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	var group errgroup.Group
	group.Go(func() error { return every(for_, submitEvery, o.submit) })
	group.Go(func() error { return every(for_, requestEvery, o.request) })
	err = group.Wait()
	after, e := o.finished(ctx)
	if err == nil {
		err = e
	}
	took := time.Since(began)
	for i, n := range []float64{after - before, float64(o.submitted.Load() - submitted), float64(o.answered.Load() - answered)} {
		r[i] = n * float64(measures[i].per) / float64(took)
	}
	return r, err
}

// every does something at intervals, as long as the context lasts.
func every(ctx context.Context, interval time.Duration, do func(context.Context) error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return nil
}

// submit sends a bot whose build fails at once and waits for that.
func (o *others) submit(ctx context.Context) error {
	o.uploads++
	who := o.senders[o.uploads%len(o.senders)]
	id, err := upload(ctx, who, fmt.Sprint("quick", o.uploads), "exit 1")
	if err != nil {
		return nil // not taken: it does not count
	}
	for s, err := range who.Follow(ctx, id) {
		if err != nil {
			return nil
		}
		if s.Done {
			o.submitted.Add(1)
		}
	}
	return nil
}

func (o *others) request(ctx context.Context) error {
	o.asked++
	if _, err := o.readers[o.asked%len(o.readers)].Ladders(ctx); err == nil {
		o.answered.Add(1)
	}
	return nil
}

// upload sends a bot whose build is a command of the shell, and returns its submission.
func upload(ctx context.Context, c *client.Client, name, build string) (id int64, err error) {
	p, err := packBot(name, build)
	if err != nil {
		return 0, err
	}
	s, err := c.Submit(ctx, "", "application/gzip", client.Body(p.Data))
	return s.ID, err
}

func packBot(name, build string) (*bundle.Packed, error) {
	return pack(map[string]string{"timba.toml": fmt.Sprintf("name = %q\nbuild = [\"sh\", \"-c\", %q]\nrun = [\"./bot\"]\n", name, build)})
}

// finished returns how many rated matches the server has finished.
func (o *others) finished(ctx context.Context) (n float64, err error) {
	figures, err := o.figures(ctx)
	for name, value := range figures {
		if strings.HasPrefix(name, "timba_matches_finished_total{") && !strings.Contains(name, `"unrated"`) {
			n += value
		}
	}
	return n, err
}

// figures reads the server's metrics, by name with labels.
func (s *server) figures(ctx context.Context) (map[string]float64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server's metrics: %s", resp.Status)
	}
	figures := map[string]float64{}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		i := strings.LastIndexByte(lines.Text(), ' ')
		if i < 0 || lines.Text()[0] == '#' {
			continue
		}
		if value, err := strconv.ParseFloat(lines.Text()[i+1:], 64); err == nil {
			figures[lines.Text()[:i]] = value
		}
	}
	return figures, lines.Err()
}
