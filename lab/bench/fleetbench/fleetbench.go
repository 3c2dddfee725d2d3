// Package fleetbench measures a server with many workers: a real server whose NATS is open on
// loopback, with TLS and credentials, and workers that connect, tell of themselves, take jobs and
// hand in results as real ones do. Only the playing is left out: results are made from matches that
// were played before.
//
// Server and workers are processes of their own, so that their use of the processor and the memory
// can be told apart. They share the machine, and the rates are those of the machine with all of them.
package fleetbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/timba-arena/timba/referee/text"
)

// Bench is a measurement.
type Bench struct {
	Program  string        // this one, whose processes RunChild runs
	Args     []string      // of a process, that lead to RunChild
	Workers  []int         // each number is measured with a server and a database of its own
	Versions int           // on the ladder, besides the house bot
	Ladders  []string      // of the default configuration, whose matches are measured after that; None is left out
	Time     time.Duration // that is measured each time
	Verify   bool          // the database after each of Workers, as timba admin verify does
	Profile  string        // file for the profile of the server's processor time with the last of Workers; "" for none
	Log      io.Writer     // tells what is measured
}

// The most workers that can be measured, and the most versions.
const (
	MaxWorkers  = 4000 // of the connections of the server's NATS
	MaxVersions = 100_000
)

// Row is what was measured with a number of workers.
type Row struct {
	Ladder    string  `json:"ladder"`
	Workers   int     `json:"workers"`
	Joined    float64 `json:"joined_s"`         // seconds until all workers were there
	Matches   int     `json:"matches"`          // that finished in the time
	Rate      float64 `json:"matches_per_s"`    // of them, a second
	Standings float64 `json:"standings_p95_ms"` // of requests for the standings meanwhile, ten a second
	Server    float64 `json:"server_cpu_us"`    // processor time of the server a match, in microseconds
	Worker    float64 `json:"worker_cpu_us"`    // of all workers
	Memory    float64 `json:"server_bytes"`     // resident memory of the server at the end
	Sent      float64 `json:"sent_bytes"`       // from the server to workers, a match
	Received  float64 `json:"received_bytes"`   // from workers to the server, a match
	Disk      float64 `json:"disk_bytes"`       // by which the data directory grew, a match
}

// Report is what was measured.
type Report struct {
	Machine  string `json:"machine"`
	Versions int    `json:"versions"`
	Rows     []Row  `json:"rows"`    // by number of workers, with the smallest matches
	Ladders  []Row  `json:"ladders"` // with those of the default configuration
}

// None is the name of no ladder.
const None = "none"

// ladders returns the names of the ladders.
func (b Bench) ladders() []string {
	return slices.DeleteFunc(slices.Clone(b.Ladders), func(name string) bool { return name == None })
}

// Check returns an error if nothing can be measured.
func (b Bench) Check() error {
	if len(b.Workers) == 0 {
		return errors.New("bench fleet: --workers is empty: try 1,10,100,1000")
	}
	for _, n := range b.Workers {
		if n < 1 || n > MaxWorkers {
			return fmt.Errorf("bench fleet: %d workers cannot be measured: try 1 to %d", n, MaxWorkers)
		}
	}
	switch {
	case b.Versions < 2 || b.Versions > MaxVersions:
		return fmt.Errorf("bench fleet: --versions cannot be %d: try 2 to %d", b.Versions, MaxVersions)
	case b.Time < time.Second:
		return fmt.Errorf("bench fleet: --time cannot be %s: try 20s", b.Time)
	}
	for _, name := range b.ladders() {
		if _, err := configOf(name); err != nil {
			return err
		}
	}
	return nil
}

// The matches of ladders are measured with as many workers and versions.
const ladderWorkers, ladderVersions = 10, 100

// shape is a competition that is measured.
type shape struct {
	Ladder   string // "" for the smallest matches
	Versions int
	Workers  []int
	Profile  string
}

// Run measures.
func (b Bench) Run(ctx context.Context) (*Report, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	r := &Report{
		Machine:  fmt.Sprintf("%s %s/%s, %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, text.Count(runtime.NumCPU(), "core")),
		Versions: b.Versions,
	}
	var err error
	r.Rows, err = b.measureAll(ctx, shape{Versions: b.Versions, Workers: b.Workers, Profile: b.Profile})
	for _, name := range b.ladders() {
		if err != nil {
			break
		}
		var rows []Row
		rows, err = b.measureAll(ctx, shape{Ladder: name, Versions: ladderVersions, Workers: []int{ladderWorkers}})
		r.Ladders = append(r.Ladders, rows...)
	}
	if err != nil {
		return nil, fmt.Errorf("bench fleet: %w", err)
	}
	return r, nil
}

// measureAll measures each number of workers of a competition.
func (b Bench) measureAll(ctx context.Context, w shape) (rows []Row, err error) {
	work, err := newPlace()
	if err != nil {
		return nil, err
	}
	defer work.remove()
	fmt.Fprintf(b.Log, "making a competition of %s, %s\n", text.Count(w.Versions, "version"), cmp.Or(w.Ladder, smallest))
	if err := w.prepare(ctx, work); err != nil {
		return nil, err
	}
	for i, n := range w.Workers {
		fmt.Fprintf(b.Log, "measuring %s for %s\n", text.Count(n, "worker"), b.Time)
		profile := ""
		if i == len(w.Workers)-1 {
			profile = w.Profile
		}
		row, err := b.measure(ctx, work, w.Ladder, n, profile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text.Count(n, "worker"), err)
		}
		if b.Verify && w.Ladder == "" { // of other ladders the deals are those of other seeds
			if err := verify(ctx, work); err != nil {
				return nil, err
			}
		}
		row.Ladder = cmp.Or(w.Ladder, smallest)
		fmt.Fprintf(b.Log, "%.0f matches a second, standings in %.1f ms, %.0f µs of the server's processor a match\n", row.Rate, row.Standings, row.Server)
		rows = append(rows, row)
	}
	return rows, nil
}

// place has the directories of a measurement: of the server on the disk, and of the workers, each of
// which would have a disk of its own, in memory where there is such a place.
type place struct{ disk, memory string }

func newPlace() (p place, err error) {
	if p.disk, err = os.MkdirTemp("", "timba-bench-"); err != nil {
		return p, fmt.Errorf("bench fleet: %w", err)
	}
	if p.memory, err = os.MkdirTemp("/dev/shm", "timba-bench-"); err != nil {
		p.memory = filepath.Join(p.disk, "memory")
		err = os.Mkdir(p.memory, 0o700)
	}
	return p, err
}

func (p place) remove() {
	os.RemoveAll(p.disk)
	os.RemoveAll(p.memory)
}

func (p place) template() string    { return filepath.Join(p.memory, "template") }
func (p place) data() string        { return filepath.Join(p.disk, "data") }
func (p place) pool() string        { return filepath.Join(p.memory, "pool.json") }
func (p place) creds(i int) string  { return filepath.Join(p.memory, "creds", workerName(i)) }
func (p place) workers() string     { return filepath.Join(p.memory, "workers") }
func workerName(i int) string       { return fmt.Sprintf("w-%d", i) }
func (p place) worker(i int) string { return filepath.Join(p.workers(), workerName(i)) }

func writeJSON(path string, document any) error {
	data, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

func readJSON(path string, document any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, document)
}
