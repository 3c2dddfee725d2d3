package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/web/server"
)

// FleetEnv is the name of an environment variable. If the variable is set, "timba-lab bench fleet" calls
// RunFleetChild with its value, which describes a process of a measurement.
const FleetEnv = "TIMBA_BENCH_FLEET"

// fleetChild configures a process of the measurement: the server, or the process that runs all workers. The process
// reads it as JSON from the environment variable FleetEnv.
type fleetChild struct {
	Dirs    fleetDirs
	Ladder  string
	Count   int    // number of workers; 0 means that the process is the server
	Address string // for workers: host and port at which the server accepts workers
	Profile string // for the server: file for its CPU profile; "" means none
}

// RunFleetChild runs a process of a measurement until ctx or the input in ends. text is the value of FleetEnv,
// which describes the process. When the process is ready, it says so by log lines on out, which its parent process
// reads.
func RunFleetChild(ctx context.Context, text string, in io.Reader, out, log io.Writer) error {
	var p fleetChild
	if err := json.Unmarshal([]byte(text), &p); err != nil || p.Dirs.Disk == "" {
		return fmt.Errorf("bench fleet: %s is not for people: leave it unset", FleetEnv)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		io.Copy(io.Discard, in)
	}()
	if p.Count == 0 {
		return p.serve(ctx, out)
	}
	return p.work(ctx, out, log)
}

// serve runs the server like timba serve --cluster, except that the server plays no matches itself.
func (p fleetChild) serve(ctx context.Context, log io.Writer) error {
	c, err := fleetConfig(p.Ladder)
	if err != nil {
		return err
	}
	s, err := server.Open(ctx, server.Options{
		Dir: datadir.Dir(p.Dirs.data()), HTTP: server.HTTP{Listen: "127.0.0.1:0"}, Config: c, Level: c.Sandbox,
		Cluster: server.Cluster{Listen: "127.0.0.1:0"},
		Log:     slog.New(slog.NewJSONHandler(log, nil)), Version: "bench",
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

// joinAtOnce is the maximal number of workers that connect at the same time.
const joinAtOnce = 16

// work runs p.Count workers until ctx ends. Each has its own connection, credentials and directory. It
// writes the address of the process's metrics to out.
func (p fleetChild) work(ctx context.Context, out, log io.Writer) error {
	if err := serveMetrics(out); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))
	joining := make(chan struct{}, joinAtOnce)
	group, ctx := errgroup.WithContext(ctx)
	for i := range p.Count {
		group.Go(func() error {
			joining <- struct{}{}
			link, err := cluster.Dial(ctx, "nats://"+p.Address, p.Dirs.creds(i), logger)
			<-joining
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			defer link.Close()
			w, err := cluster.NewWorker(link, cluster.WorkerOptions{
				Version: "bench", Cores: []int{cores.Any}, Memory: 1 << 30, Dir: p.Dirs.worker(i), Log: logger,
				Play: func(_ context.Context, j attempt.Job, _ attempt.Options) attempt.Result {
					return attempt.PlayAtRandom(j)
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

// serveMetrics serves the metrics of this process and logs the address to out in the same way as a server.
func serveMetrics(out io.Writer) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	slog.New(slog.NewJSONHandler(out, nil)).Info("serving", "listen", listener.Addr().String())
	return nil
}
