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

// Fleet measures a server with many workers: a real server whose NATS is open on loopback, with TLS
// and credentials, and workers that connect, tell of themselves, take jobs and hand in results as real
// ones do. Only the bots are left out: workers make random moves.
//
// Server and workers are processes of their own, so that their use of the processor and the memory
// can be told apart. They share the machine, and the rates are those of the machine with all of them.
type Fleet struct {
	Workers        []int         // each number is measured with a server and a database of its own
	Versions       int           // on the ladder, besides the house bot
	Ladders        []string      // of the default configuration, whose matches are measured after that; NoLadder is left out
	Time           time.Duration // that is measured each time
	VerifyDatabase bool          // the database after each of Workers, as timba admin verify does
	Plot           string        // file for the curves; "" for none
	Profile        string        // file for the profile of the server's processor time with the last of Workers; "" for none
}

// MaxWorkers is the most workers that can be measured, of the connections of the server's NATS.
const MaxWorkers = 4000

// NoLadder is the name of no ladder.
const NoLadder = "none"

// ladderWorkers and ladderVersions are how many workers and versions the measurement of ladders has.
const ladderWorkers, ladderVersions = 10, 100

// fleetColumns are those of both tables, after the first.
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

// measureAll measures each number of workers of a competition: of a ladder, or of the smallest matches
// for "".
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
		if err == nil && b.VerifyDatabase && ladder == "" { // of other ladders the deals are those of other seeds
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

// fleetDirs are the directories of a measurement: of the server on the disk, and of the workers, each
// of which would have a disk of its own, in memory where there is such a directory.
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
