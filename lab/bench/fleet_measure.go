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
	// joinTimeout is the time in which all workers must have connected to the server.
	joinTimeout = 10 * time.Minute
	// requestInterval is the time between two requests for the standings.
	requestInterval = 100 * time.Millisecond
	// pollInterval is the time between two checks whether all workers have connected.
	pollInterval = 200 * time.Millisecond
	// warmUpTime is how long the workers play before the measurement.
	warmUpTime = 3 * time.Second
)

// fleetRow is the result of the measurement with one number of workers.
type fleetRow struct {
	workers         int
	joinSeconds     float64 // until all workers were connected
	matches         float64 // finished during the measurement
	rate            float64 // matches per second
	standingsMillis float64 // 95th percentile of the time of requests for the standings
	serverCPU       float64 // CPU time of the server for each match, in microseconds
	workerCPU       float64 // CPU time of all workers for each match, in microseconds
	memory          float64 // resident memory of the server at the end, in bytes
	bytesSent       float64 // from the server to workers, for each match
	bytesReceived   float64 // from workers to the server, for each match
	diskBytes       float64 // growth of the data directory for each match
}

// cells returns a row of the table. The first cell is name, and the others have the order of fleetColumns.
func (r fleetRow) cells(name any) []any {
	return []any{
		name, noDecimals(r.rate), oneDecimal(r.standingsMillis), noDecimals(r.serverCPU), noDecimals(r.workerCPU), noDecimals(r.memory / 1e6),
		noDecimals(r.bytesSent), noDecimals(r.bytesReceived), noDecimals(r.diskBytes), oneDecimal(r.joinSeconds), noDecimals(r.matches),
	}
}

type fleetBench struct {
	Fleet
	log     io.Writer
	dirs    fleetDirs
	ladder  string
	workers int
}

// measure starts a server with a new copy of the database, and the process of all workers. It measures, stops both,
// and returns the result.
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
	defer server.shutDown()
	workers, err := fleetChild{Dirs: b.dirs, Count: b.workers, Address: server.nats}.start(ctx, b.log)
	if err != nil {
		return row, err
	}
	defer workers.shutDown()
	if row, err = b.measureWindow(ctx, server, workers); err != nil {
		return row, err
	}
	all, err := server.metrics(ctx)
	if err != nil {
		return row, err
	}
	if err := errors.Join(workers.shutDown(), server.shutDown()); err != nil {
		return row, err
	}
	full, _, err := trees.Size(data)
	row.diskBytes = float64(full-empty) / max(1, all.finishedMatches())
	return row, err
}

// verify returns an error if the database is not consistent. The server must have stopped.
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

// measureWindow waits until all workers are connected and have played for a few seconds. It then measures for
// Fleet.Time, and returns an error if no match is finished in that time.
func (b fleetBench) measureWindow(ctx context.Context, server, workers *process) (row fleetRow, err error) {
	row.workers = b.workers
	began := time.Now()
	if err := b.awaitWorkers(ctx, server); err != nil {
		return row, err
	}
	row.joinSeconds = time.Since(began).Seconds()
	fmt.Fprintf(b.log, "all are there after %.1f s\n", row.joinSeconds)
	if err := pause(ctx, warmUpTime); err != nil {
		return row, err
	}
	before, errServer := server.metrics(ctx)
	worked, errWorkers := workers.metrics(ctx)
	if err := errors.Join(errServer, errWorkers); err != nil {
		return row, err
	}
	began = time.Now()
	if row.standingsMillis, err = b.requestStandings(ctx, server); err != nil {
		return row, err
	}
	after, errServer := server.metrics(ctx)
	seconds := time.Since(began).Seconds()
	work, errWorkers := workers.metrics(ctx)
	if err := errors.Join(errServer, errWorkers); err != nil {
		return row, err
	}
	n := after.finishedMatches() - before.finishedMatches()
	if n == 0 {
		return row, errors.New("no match was finished: try a longer --time")
	}
	row.matches, row.rate = n, n/seconds
	row.serverCPU = 1e6 * (after[metricCPU] - before[metricCPU]) / n
	row.workerCPU = 1e6 * (work[metricCPU] - worked[metricCPU]) / n
	row.memory = after[metricMemory]
	row.bytesSent = (after[metricOut] - before[metricOut]) / n
	row.bytesReceived = (after[metricIn] - before[metricIn]) / n
	return row, nil
}

func (b fleetBench) awaitWorkers(ctx context.Context, server *process) error {
	for late := time.Now().Add(joinTimeout); ; {
		m, err := server.metrics(ctx)
		if err != nil {
			return err
		}
		there := int(m[metricMachines])
		if there >= b.workers && m.finishedMatches() > 0 {
			return nil
		}
		if time.Now().After(late) {
			return fmt.Errorf("%d of them are there after %s, and %.0f matches are finished", there, joinTimeout, m.finishedMatches())
		}
		if err := pause(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// requestStandings requests the standings repeatedly for Fleet.Time and returns the 95th percentile of the
// response times in milliseconds.
func (b fleetBench) requestStandings(ctx context.Context, server *process) (float64, error) {
	var took []float64
	tick := time.NewTicker(requestInterval)
	defer tick.Stop()
	for over := time.After(b.Time); ; {
		began := time.Now()
		if _, err := server.get(ctx, "/api/v1/ladders/"+cmp.Or(b.ladder, smallestLadder)+"/standings"); err != nil {
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
