package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/gofrs/flock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/server"
)

type workerFlags struct {
	nats, creds, data   string
	cores               int
	memory, cache       size.Bytes
	metrics             string
	logLevel, logFormat string
}

func newWorker() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "worker --nats URL --creds FILE",
		Short: "Play matches of a competition that another machine serves",
		Long: "Plays matches for a server that was started with --cluster or --nats: fetches the bots, plays in\n" +
			"the same sandbox as the server, and returns games and logs. timba admin worker add makes the\n" +
			"credentials. The worker tells the server what it can play, and reconnects by itself.\n\n" +
			"On Ctrl-C or SIGTERM it finishes its current matches and leaves. A second signal ends it at once,\n" +
			"and the server gives its matches to other machines.\n\n" +
			"Exit status: 0 it has left, 2 wrong usage, or the server refuses the worker.",
		Example: "  timba worker --nats nats://arena.example.org:4222 --creds lab-1.creds",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.nats, "nats", "", "the `URL` of the server's NATS, such as nats://arena.example.org:4222")
	flags.StringVar(&f.creds, "creds", "", "the `FILE` with the credentials")
	cli.CountFlag(cmd, &f.cores, "cores", 0, "matches at the same time (default: one for each core)")
	cli.SizeFlag(cmd, &f.memory, "memory", 0, "memory that all bots have together, as `SIZE`: 800m, 6g (default: what the machine has)")
	flags.StringVar(&f.data, "data", "", "the `DIR` for bots and results (default: in the user's cache)")
	cli.SizeFlag(cmd, &f.cache, "cache", cluster.DefaultCache, "disk space for bots, as `SIZE`")
	flags.StringVar(&f.metrics, "metrics", "", "`address` where Prometheus finds /metrics (default: none)")
	flags.StringVar(&f.logLevel, "log-level", "info", "lowest level that is logged: `debug|info|warn|error`")
	flags.StringVar(&f.logFormat, "log-format", "text", "format of the log: `text|json`")
	cmd.MarkFlagRequired("nats")
	cmd.MarkFlagRequired("creds")
	return cmd
}

func (f *workerFlags) run(cmd *cobra.Command) (err error) {
	if f.data == "" {
		if f.data, err = program.CacheDir("worker"); err != nil {
			return err
		}
	}
	if f.data, err = filepath.Abs(f.data); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	unlock, err := lockWorker(f.data)
	if err != nil {
		return err
	}
	defer unlock()
	link, err := cluster.Dial(cmd.Context(), f.nats, f.creds, o.Log)
	if err != nil {
		return err
	}
	defer link.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.Registerer = registry
	stop, err := serveMetrics(f.metrics, registry, o.Log)
	if err != nil {
		return err
	}
	defer stop()
	w, err := cluster.NewWorker(link, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "worker %s: connected to %s, plays on %s\n", link.Name, link.ConnectedUrlRedacted(), text.Count(len(o.Cores), "core"))
	daemon.SdNotify(false, daemon.SdNotifyReady) // no effect without systemd
	drain := context.AfterFunc(cmd.Context(), func() {
		daemon.SdNotify(false, daemon.SdNotifyStopping)
		o.Log.Info("finishing what is played, then leaving")
		w.Drain()
	})
	defer drain()
	return w.Run(context.WithoutCancel(cmd.Context()))
}

// options returns the options of the worker, from the flags and the properties of this machine.
func (f *workerFlags) options(cmd *cobra.Command) (o cluster.WorkerOptions, err error) {
	if o.Log, err = newLog(cmd.ErrOrStderr(), f.logLevel, f.logFormat); err != nil {
		return o, err
	}
	o.Version, o.Dir = cli.Version(), f.data
	if err := fairclock.Check(); err != nil {
		o.Log.Warn("late bots get no credit", "err", err)
	}
	if o.Cores, err = server.Cores(f.cores); err != nil {
		return o, err
	}
	o.Memory, o.Cache = cmp.Or(int64(f.memory), server.BotMemory(sandbox.MachineMemory())), int64(f.cache)
	o.Check = func(ctx context.Context) error {
		level, err := server.RequireLevel(sandbox.LevelWeak)
		if err != nil {
			return err
		}
		return server.CheckMachine(ctx, o.Temp(), &match.Sandbox{Level: level, Limit: sandbox.DefaultLimit})
	}
	return o, nil
}

func lockWorker(data string) (unlock func(), err error) {
	if err := os.MkdirAll(data, 0o755); err != nil {
		return nil, fmt.Errorf("data: %q cannot be made: name a directory that you own", data)
	}
	l := flock.New(filepath.Join(data, "lock"))
	free, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("data: %q cannot be locked: name a directory that you own", data)
	}
	if !free {
		return nil, fmt.Errorf("data: another worker uses %s: name another directory", data)
	}
	return func() { l.Close() }, nil
}

// serveMetrics serves the metrics in registry over HTTP at an address, until stop is called. If address is "", it
// does nothing.
func serveMetrics(address string, registry *prometheus.Registry, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %q is not a free address of this machine with a port: try one such as 127.0.0.1:9100", address)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	go func() {
		if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the metrics are not served any more", "err", err)
		}
	}()
	log.Info("metrics are served", "listen", l.Addr().String())
	return func() { web.Close() }, nil
}

// natsFlags are the flags that choose how workers connect to a server: to a NATS server that the server runs itself,
// or to an existing NATS cluster.
type natsFlags struct {
	cluster, certificate, key string
	nats, creds               string
}

func (f *natsFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.cluster, "cluster", "", "`address` where other machines connect as workers, such as 0.0.0.0:4222 (default: none)")
	flags.StringVar(&f.certificate, "cluster-cert", "", "`FILE` with the certificate of that address in PEM (default: a certificate that the credentials of workers contain)")
	flags.StringVar(&f.key, "cluster-key", "", "`FILE` with the key of the certificate in PEM")
	flags.StringVar(&f.nats, "nats", "", "the `URL` of a NATS cluster to use instead of the server's own")
	flags.StringVar(&f.creds, "creds", "", "the `FILE` with the credentials for the NATS cluster")
	cmd.MarkFlagsMutuallyExclusive("cluster", "nats")
	cmd.MarkFlagsRequiredTogether("nats", "creds")
	cmd.MarkFlagsRequiredTogether("cluster-cert", "cluster-key")
}

func (f *natsFlags) options() (o server.Cluster, err error) {
	if f.certificate != "" && f.cluster == "" {
		return o, errors.New("cluster-cert: it is for the address of --cluster: name that, too")
	}
	return server.Cluster{Listen: f.cluster, Certificate: f.certificate, Key: f.key, URL: f.nats, Creds: f.creds}, nil
}
