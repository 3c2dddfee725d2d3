package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules/text"
)

const (
	// joinTime is how long the workers may take to join the server.
	joinTime = 10 * time.Minute
	// askEvery is how often somebody asks for the standings.
	askEvery = 100 * time.Millisecond
	// lookEvery is how often it is looked whether all workers are there.
	lookEvery = 200 * time.Millisecond
	// warm is how long the workers have played before anything is measured.
	warm = 3 * time.Second
)

// fleetRow is what was measured with a number of workers.
type fleetRow struct {
	workers   int
	joined    float64 // seconds until all workers were there
	matches   float64 // that finished in the time
	rate      float64 // of them, a second
	standings float64 // milliseconds that 95 % of the requests for them took less than
	server    float64 // processor time of the server a match, in microseconds
	worker    float64 // of all workers
	memory    float64 // resident memory of the server at the end, in bytes
	sent      float64 // bytes from the server to workers, a match
	received  float64 // from workers to the server, a match
	disk      float64 // by which the data directory grew, a match
}

// cells returns the row in the order of fleetColumns.
func (r fleetRow) cells(name any) []any {
	return []any{
		name, whole(r.rate), tenth(r.standings), whole(r.server), whole(r.worker), whole(r.memory / 1e6),
		whole(r.sent), whole(r.received), whole(r.disk), tenth(r.joined), whole(r.matches),
	}
}

// fleetBench measures a number of workers with a server.
type fleetBench struct {
	Fleet
	log     io.Writer
	dirs    fleetDirs
	ladder  string
	workers int
}

// measure measures with a new server.
func (b fleetBench) measure(ctx context.Context) (row fleetRow, err error) {
	data := b.dirs.data()
	if err := errors.Join(os.RemoveAll(data), os.RemoveAll(b.dirs.workers())); err != nil {
		return row, err
	}
	if err := os.CopyFS(data, os.DirFS(b.dirs.template())); err != nil {
		return row, err
	}
	if err := os.Chmod(data, 0o700); err != nil {
		return row, err
	}
	empty, _, err := trees.Size(data)
	if err != nil {
		return row, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := fleetChild{Dirs: b.dirs, Ladder: b.ladder, Profile: b.Profile}.start(ctx, b.log)
	if err != nil {
		return row, err
	}
	defer server.stop()
	workers, err := fleetChild{Dirs: b.dirs, Count: b.workers, Address: server.nats}.start(ctx, b.log)
	if err != nil {
		return row, err
	}
	defer workers.stop()
	if row, err = b.window(ctx, server, workers); err != nil {
		return row, err
	}
	all, err := server.metrics(ctx)
	if err != nil {
		return row, err
	}
	if err := errors.Join(workers.stop(), server.stop()); err != nil {
		return row, err
	}
	full, _, err := trees.Size(data)
	row.disk = float64(full-empty) / max(1, all.finished())
	return row, err
}

// verify verifies the database that a server has left.
func (d fleetDirs) verify(ctx context.Context) (err error) {
	s, err := store.Open(d.data(), store.Options{ReadOnly: true})
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

// window waits for the workers and measures for Fleet.Time.
func (b fleetBench) window(ctx context.Context, server, workers *process) (row fleetRow, err error) {
	row.workers = b.workers
	began := time.Now()
	if err := b.await(ctx, server); err != nil {
		return row, err
	}
	row.joined = time.Since(began).Seconds()
	fmt.Fprintf(b.log, "all are there after %.1f s\n", row.joined)
	if err := pause(ctx, warm); err != nil {
		return row, err
	}
	before, errServer := server.metrics(ctx)
	worked, errWorkers := workers.metrics(ctx)
	if err := errors.Join(errServer, errWorkers); err != nil {
		return row, err
	}
	began = time.Now()
	if row.standings, err = b.askFor(ctx, server); err != nil {
		return row, err
	}
	after, errServer := server.metrics(ctx)
	seconds := time.Since(began).Seconds()
	work, errWorkers := workers.metrics(ctx)
	if err := errors.Join(errServer, errWorkers); err != nil {
		return row, err
	}
	n := after.finished() - before.finished()
	if n == 0 {
		return row, errors.New("no match was finished: try a longer --time")
	}
	row.matches, row.rate = n, n/seconds
	row.server = 1e6 * (after[metricCPU] - before[metricCPU]) / n
	row.worker = 1e6 * (work[metricCPU] - worked[metricCPU]) / n
	row.memory = after[metricMemory]
	row.sent = (after[metricOut] - before[metricOut]) / n
	row.received = (after[metricIn] - before[metricIn]) / n
	return row, nil
}

// await waits until all workers are there, and a match was finished.
func (b fleetBench) await(ctx context.Context, server *process) error {
	for late := time.Now().Add(joinTime); ; {
		m, err := server.metrics(ctx)
		if err != nil {
			return err
		}
		there := int(m[metricMachines])
		if there >= b.workers && m.finished() > 0 {
			return nil
		}
		if time.Now().After(late) {
			return fmt.Errorf("%d of them are there after %s, and %.0f matches are finished", there, joinTime, m.finished())
		}
		if err := pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// askFor asks for the standings again and again for Fleet.Time, and returns how many milliseconds 95 %
// of the answers took at most.
func (b fleetBench) askFor(ctx context.Context, server *process) (float64, error) {
	var took []float64
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for over := time.After(b.Time); ; {
		began := time.Now()
		if _, err := server.get(ctx, "/api/v1/ladders/"+cmp.Or(b.ladder, smallest)+"/standings"); err != nil {
			return 0, err
		}
		took = append(took, 1000*time.Since(began).Seconds())
		select {
		case <-tick.C:
		case <-over:
			return quantile(took, 0.95), nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
