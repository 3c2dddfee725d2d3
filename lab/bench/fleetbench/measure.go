package fleetbench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/text"
)

const (
	// startTime is how long a server may take to start, and joinTime how long the workers may take to
	// join it.
	startTime, joinTime = 5 * time.Minute, 10 * time.Minute
	// askEvery is how often somebody asks for the standings.
	askEvery = 100 * time.Millisecond
	// lookEvery is how often it is looked whether all workers are there.
	lookEvery = 200 * time.Millisecond
	// warm is how long the workers have played before anything is measured.
	warm = 3 * time.Second
)

// measure measures a number of workers, with a new server.
func (b Bench) measure(ctx context.Context, work place, ladder string, workers int, profile string) (row Row, err error) {
	if err := errors.Join(os.RemoveAll(work.data()), os.RemoveAll(work.workers())); err != nil {
		return row, err
	}
	if err := os.CopyFS(work.data(), os.DirFS(work.template())); err != nil {
		return row, err
	}
	if err := os.Chmod(work.data(), 0o700); err != nil {
		return row, err
	}
	empty, err := sizeOf(work.data())
	if err != nil {
		return row, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := b.startServer(ctx, work, ladder, profile)
	if err != nil {
		return row, err
	}
	defer s.stop()
	players, err := b.start(ctx, plan{Work: []string{work.disk, work.memory}, Count: workers, Address: s.nats}, b.tell)
	if err != nil {
		return row, err
	}
	defer players.stop()
	if row, err = b.window(ctx, s, players, workers); err != nil {
		return row, err
	}
	all, err := s.metrics(ctx)
	if err != nil {
		return row, err
	}
	if err := errors.Join(players.stop(), s.stop()); err != nil {
		return row, err
	}
	full, err := sizeOf(work.data())
	row.Disk = float64(full-empty) / max(1, all.finished())
	return row, err
}

// verify verifies the database that a server has left.
func verify(ctx context.Context, work place) (err error) {
	s, err := store.Open(work.data(), store.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	found, err := s.Verify(ctx, nil)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("the database has %s, the first is %s", text.Count(len(found), "difference"), found[0])
	}
	return err
}

func (b Bench) tell(line []byte) { fmt.Fprintf(b.Log, "%s\n", line) }

// window waits for the workers and measures for Bench.Time.
func (b Bench) window(ctx context.Context, s *running, players *child, workers int) (row Row, err error) {
	row.Workers = workers
	began := time.Now()
	if err := s.await(ctx, workers); err != nil {
		return row, err
	}
	row.Joined = time.Since(began).Seconds()
	fmt.Fprintf(b.Log, "all are there after %.1f s\n", row.Joined)
	if err := pause(ctx, warm); err != nil {
		return row, err
	}
	before, err := s.metrics(ctx)
	if err != nil {
		return row, err
	}
	worked, err := players.figures()
	if err != nil {
		return row, err
	}
	began = time.Now()
	took, err := s.askFor(ctx, b.Time)
	if err != nil {
		return row, err
	}
	after, err := s.metrics(ctx)
	if err != nil {
		return row, err
	}
	seconds := time.Since(began).Seconds()
	work, err := players.figures()
	if err != nil {
		return row, err
	}
	n := after.finished() - before.finished()
	if n == 0 {
		return row, errors.New("no match was finished: try a longer --time")
	}
	row.Matches, row.Rate = int(n), n/seconds
	row.Standings = took[min(len(took)*95/100, len(took)-1)].Seconds() * 1000
	row.Server = 1e6 * (after[figureCPU] - before[figureCPU]) / n
	row.Worker = 1e6 * (work[figureCPU] - worked[figureCPU]) / n
	row.Memory = after[figureMemory]
	row.Sent = (after[wireOut] - before[wireOut]) / n
	row.Received = (after[wireIn] - before[wireIn]) / n
	return row, nil
}

// The names of the server's figures; docs/operating.md has them.
const (
	wireIn      = `timba_fleet_wire_bytes_total{direction="in"}`
	wireOut     = `timba_fleet_wire_bytes_total{direction="out"}`
	machines    = `timba_machines{state="ready"}`
	finishedKey = "timba_matches_finished_total{"
)

// figures are the metrics of a server.
type figures map[string]float64

// finished returns how many matches are finished.
func (f figures) finished() (n float64) {
	for name, value := range f {
		if strings.HasPrefix(name, finishedKey) {
			n += value
		}
	}
	return n
}

// running is a server that runs.
type running struct {
	*child
	url, nats string
	ladder    string // its name
}

// refusedLocal is what the server's own worker logs, which has no cores.
const refusedLocal = "the server refuses this worker"

// startServer starts a server, and waits until workers can connect.
func (b Bench) startServer(ctx context.Context, work place, ladder, profile string) (*running, error) {
	ready := make(chan string, 2)
	c, err := b.start(ctx, plan{Work: []string{work.disk, work.memory}, Ladder: ladder, Profile: profile}, func(line []byte) {
		var l struct{ Level, Msg, Listen, Address string }
		if json.Unmarshal(line, &l) != nil || l.Level != "INFO" && l.Msg != refusedLocal {
			b.tell(line)
		}
		switch l.Msg {
		case "workers can connect":
			ready <- l.Address
		case "serving":
			ready <- l.Listen
		}
	})
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		c.reading.Wait()
		close(ended)
	}()
	late := time.After(startTime)
	s := &running{child: c, ladder: cmp.Or(ladder, smallest)}
	for _, to := range []*string{&s.nats, &s.url} { // in this order
		select {
		case *to = <-ready:
		case <-ended:
			return nil, errors.Join(errors.New("the server does not start"), c.stop())
		case <-late:
			return nil, errors.Join(fmt.Errorf("the server has not started in %s", startTime), c.Process.Kill(), c.stop())
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), c.stop())
		}
	}
	s.url = "http://" + s.url
	return s, nil
}

// await waits until all workers are there, and a match was finished.
func (s *running) await(ctx context.Context, workers int) error {
	for late := time.Now().Add(joinTime); ; {
		f, err := s.metrics(ctx)
		if err != nil {
			return err
		}
		there := int(f[machines])
		if there >= workers && f.finished() > 0 {
			return nil
		}
		if time.Now().After(late) {
			return fmt.Errorf("%d of them are there after %s, and %.0f matches are finished", there, joinTime, f.finished())
		}
		if err := pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// askFor asks for the standings again and again for a time, and returns how long the answers took, the
// shortest first.
func (s *running) askFor(ctx context.Context, time_ time.Duration) (took []time.Duration, err error) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for over := time.After(time_); ; {
		began := time.Now()
		body, err := s.get(ctx, "/api/v1/ladders/"+s.ladder+"/standings")
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, body)
		body.Close()
		if err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
		select {
		case <-tick.C:
		case <-over:
			slices.Sort(took)
			return took, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s *running) get(ctx context.Context, path string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("the server answers %s with %s", path, resp.Status)
	}
	return resp.Body, nil
}

// metrics returns the server's metrics.
func (s *running) metrics(ctx context.Context) (figures, error) {
	body, err := s.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	f := figures{}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		i := strings.LastIndexByte(lines.Text(), ' ')
		if i < 0 || lines.Text()[0] == '#' {
			continue
		}
		if value, err := strconv.ParseFloat(lines.Text()[i+1:], 64); err == nil {
			f[lines.Text()[:i]] = value
		}
	}
	return f, lines.Err()
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sizeOf returns the bytes of the files in a directory.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
