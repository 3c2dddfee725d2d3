package fleetbench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/server"
)

// ChildEnv is the name of the variable that makes this program one of the processes.
const ChildEnv = "TIMBA_BENCH_FLEET"

// plan is the value of ChildEnv, in JSON: what a process does.
type plan struct {
	Work    []string `json:"work"` // the directories of a place
	Ladder  string   `json:"ladder"`
	Count   int      `json:"count"`   // of workers; 0: it is the server
	Address string   `json:"address"` // of the server's NATS
	Profile string   `json:"profile"`
}

func (p plan) place() place { return place{p.Work[0], p.Work[1]} }

// RunChild runs one of the processes until its input ends. It answers each line of input with a line
// of figures, a JSON object.
func RunChild(ctx context.Context, text, version string, in io.Reader, out, log io.Writer) error {
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil || len(p.Work) != 2 {
		return fmt.Errorf("bench fleet: %s is not for people: leave it unset", ChildEnv)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		answer(in, out)
	}()
	if p.Count == 0 {
		return p.serve(ctx, version, log)
	}
	return p.play(ctx, version, log)
}

// serve is the process of the server: as timba serve --cluster, but that it plays nothing itself.
func (p plan) serve(ctx context.Context, version string, log io.Writer) error {
	c, err := configOf(p.Ladder)
	if err != nil {
		return err
	}
	s, err := server.Open(ctx, server.Options{
		Dir: datadir.Dir(p.place().data()), Listen: "127.0.0.1:0", Config: c, Level: c.Sandbox,
		Cluster: server.Cluster{Listen: "127.0.0.1:0"},
		Log:     slog.New(slog.NewJSONHandler(log, nil)), Version: version,
	})
	if err != nil {
		return err
	}
	if p.Profile != "" {
		f, err := os.Create(p.Profile)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return errors.Join(err, s.Close())
		}
		defer pprof.StopCPUProfile()
	}
	return errors.Join(s.Serve(ctx), s.Close())
}

// joinAtOnce is how many workers of a process connect at the same time.
const joinAtOnce = 16

// play is the process of the workers: each has a connection, credentials and a directory of its own.
func (p plan) play(ctx context.Context, version string, log io.Writer) error {
	var games pool
	if err := readJSON(p.place().pool(), &games); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))
	joining := make(chan struct{}, joinAtOnce)
	group, ctx := errgroup.WithContext(ctx)
	for i := range p.Count {
		group.Go(func() error {
			joining <- struct{}{}
			link, err := fleet.Dial(ctx, "nats://"+p.Address, p.place().creds(i), logger)
			<-joining
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			defer link.Close()
			w, err := fleet.NewWorker(link, fleet.WorkerOptions{
				Version: version, Cores: []int{referee.AnyCore}, Memory: 1 << 30, House: house.Registry{}, Dir: p.place().worker(i), Log: logger,
				Play: func(_ context.Context, m *fleet.Match) error {
					games.hand(m)
					return nil
				},
			})
			if err != nil {
				return err
			}
			return w.Run(ctx)
		})
	}
	return group.Wait()
}

// The names of figures of every process; see collectors.NewProcessCollector.
const (
	figureCPU    = "process_cpu_seconds_total"
	figureMemory = "process_resident_memory_bytes"
)

// answer answers each line with the figures of this process.
func answer(in io.Reader, out io.Writer) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	encoder := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		figures := map[string]float64{}
		all, _ := registry.Gather()
		for _, f := range all {
			figures[f.GetName()] = f.Metric[0].GetCounter().GetValue() + f.Metric[0].GetGauge().GetValue()
		}
		if encoder.Encode(figures) != nil {
			return
		}
	}
}

// child is a process that runs.
type child struct {
	*exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	logs    *bufio.Scanner
	reading sync.WaitGroup
	stop    func() error
}

// start starts a process. each gets every line of its log.
func (b Bench) start(ctx context.Context, p plan, each func(line []byte)) (c *child, err error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	c = &child{Cmd: exec.CommandContext(ctx, b.Program, b.Args...)}
	c.Env = append(os.Environ(), ChildEnv+"="+string(text))
	c.WaitDelay = 10 * time.Second
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	log, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	c.in, c.out, c.logs = in, bufio.NewScanner(out), bufio.NewScanner(log)
	c.logs.Buffer(nil, 1<<20)
	c.reading.Go(func() {
		for c.logs.Scan() {
			each(c.logs.Bytes())
		}
	})
	c.stop = sync.OnceValue(func() error {
		c.in.Close()
		c.reading.Wait()
		return c.Wait()
	})
	return c, nil
}

// figures asks a process for its figures.
func (c *child) figures() (f map[string]float64, err error) {
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		return nil, fmt.Errorf("the process has ended: %w", err)
	}
	if !c.out.Scan() {
		return nil, errors.New("the process has ended")
	}
	return f, json.Unmarshal(c.out.Bytes(), &f)
}
