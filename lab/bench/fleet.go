package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/timba-arena/timba/rules/text"
)

// Fleet measures a server with many workers. The server is a real one whose NATS port is open on loopback,
// with TLS and credentials. The workers connect, send reports, take jobs and return results as real workers
// do, but instead of running bots they play random moves.
//
// Server and workers are separate processes, so that their CPU time and memory can be distinguished. They
// share the machine, so the rates include the work of both.
type Fleet struct {
	Workers        []int         // numbers of workers to measure, each with a new server and database
	Versions       int           // number of versions on the ladder, besides the house bot
	Ladders        []string      // ladders of the default configuration to measure after that; NoLadder is ignored
	Time           time.Duration // duration of each measurement
	VerifyDatabase bool          // verify the database after each of Workers, as timba admin verify does
	Plot           string        // file for the curves; "" means none
	Profile        string        // file for the server's CPU profile with the last of Workers; "" means none
}

// MaxWorkers is the maximal number of workers that can be measured. The server's NATS accepts no more connections.
const MaxWorkers = 4000

// NoLadder is a value of Fleet.Ladders that switches off the measurement of ladders.
const NoLadder = "none"

// ladderWorkers and ladderVersions are the numbers of workers and of versions of bots in the measurements of
// Fleet.Ladders.
const ladderWorkers, ladderVersions = 10, 100

// fleetColumns has the names of the columns of both tables, separated by "|". It leaves out the first column.
const fleetColumns = "|matches/s|standings ms|server CPU µs|workers CPU µs|memory MB|sent B|received B|disk B|joined s|matches"

func (b Fleet) Run(ctx context.Context, log io.Writer) (*Report, error) {
	if err := checkPlot(b.Plot); err != nil {
		return nil, err
	}
	if len(b.Workers) == 0 {
		return nil, errors.New("bench fleet: --workers is empty: try 1,10,100,1000")
	}
	for _, n := range b.Workers {
		if n < 1 || n > MaxWorkers {
			return nil, fmt.Errorf("bench fleet: %d workers cannot be measured: try 1 to %d", n, MaxWorkers)
		}
	}
	ladders := slices.DeleteFunc(slices.Clone(b.Ladders), func(name string) bool { return name == NoLadder })
	for _, name := range ladders {
		if _, err := fleetConfig(name); err != nil {
			return nil, err
		}
	}
	r := newReport(newTable("workers" + fleetColumns))
	r.Machine += "; " + text.Count(b.Versions, "version")
	rows, err := b.measureAll(ctx, log, "", b.Versions, b.Workers)
	if err != nil {
		return nil, fmt.Errorf("bench fleet: %w", err)
	}
	for _, row := range rows {
		r.Tables[0].add(row.cells(row.workers)...)
	}
	if len(ladders) > 0 {
		r.Tables = append(r.Tables, newTable("ladder"+fleetColumns))
	}
	for _, name := range ladders {
		row, err := b.measureAll(ctx, log, name, ladderVersions, []int{ladderWorkers})
		if err != nil {
			return nil, fmt.Errorf("bench fleet: %w", err)
		}
		r.Tables[1].add(row[0].cells(name)...)
	}
	if b.Plot != "" {
		return r, b.draw(rows)
	}
	return r, nil
}

// measureAll creates a competition with one ladder and the given number of versions of bots. It measures the
// competition with each number in workers and returns a row for each. If ladder is "", the ladder is
// smallestLadder.
func (b Fleet) measureAll(ctx context.Context, log io.Writer, ladder string, versions int, workers []int) (rows []fleetRow, err error) {
	work, err := newFleetDirs()
	if err != nil {
		return nil, err
	}
	defer work.remove()
	fmt.Fprintf(log, "making a competition of %s, %s\n", text.Count(versions, "version"), cmp.Or(ladder, smallestLadder))
	if err := work.prepare(ctx, ladder, versions, slices.Max(workers)); err != nil {
		return nil, err
	}
	for i, n := range workers {
		fmt.Fprintf(log, "measuring %s for %s\n", text.Count(n, "worker"), b.Time)
		m := fleetBench{Fleet: b, log: log, dirs: work, ladder: ladder, workers: n}
		if ladder != "" || i < len(workers)-1 {
			m.Profile = ""
		}
		row, err := m.measure(ctx)
		if err == nil && b.VerifyDatabase && ladder == "" { // only on the smallest ladder
			err = work.verify(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text.Count(n, "worker"), err)
		}
		fmt.Fprintf(log, "%.0f matches a second, standings in %.1f ms, %.0f µs of the server's processor a match\n", row.rate, row.standingsMillis, row.serverCPU)
		rows = append(rows, row)
	}
	return rows, nil
}

// fleetDirs are the directories of a measurement. Disk is for the server. Memory is for the workers, because real
// workers would not share a disk with the server; it is in a file system in memory if there is one.
type fleetDirs struct{ Disk, Memory string }

func newFleetDirs() (d fleetDirs, err error) {
	if d.Disk, err = os.MkdirTemp("", "timba-bench-"); err != nil {
		return d, err
	}
	if d.Memory, err = os.MkdirTemp("/dev/shm", "timba-bench-"); err != nil {
		d.Memory = filepath.Join(d.Disk, "memory")
		err = os.Mkdir(d.Memory, 0o700)
	}
	return d, err
}

func (d fleetDirs) remove() {
	os.RemoveAll(d.Disk)
	os.RemoveAll(d.Memory)
}

func (d fleetDirs) template() string    { return filepath.Join(d.Memory, "template") }
func (d fleetDirs) data() string        { return filepath.Join(d.Disk, "data") }
func (d fleetDirs) creds(i int) string  { return filepath.Join(d.Memory, "creds", workerName(i)) }
func (d fleetDirs) workers() string     { return filepath.Join(d.Memory, "workers") }
func (d fleetDirs) worker(i int) string { return filepath.Join(d.workers(), workerName(i)) }

func workerName(i int) string { return fmt.Sprintf("w-%d", i) }
