// Package server serves a competition from one data directory: its HTTP API, its site, the build and checks of
// uploaded bots, and the matches. Begin with Open and Serve.
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	renameio "github.com/google/renameio/v2/maybe"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/crypto/acme/autocert"
	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/sandbox/interpreter"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/play"
	"github.com/timba-arena/timba/web/remote"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/tryout"
)

// Options are the settings that an operator chooses for a server.
type Options struct {
	Dir     datadir.Dir // data directory, an absolute path
	HTTP    HTTP
	Config  *config.Config
	Level   sandbox.Level // the level of this machine's sandbox
	Cores   []int         // one core for each worker
	Grace   time.Duration // how long running matches and downloads may continue when the server stops
	Cluster Cluster       // how other machines connect
	Log     *slog.Logger
	Version string // the version of this program
	// Database are the options of the database: its clock and, for tests, NoSync.
	Database store.Options
	// Background, unless nil, is called in a goroutine while the server runs. If it returns an error, the server stops.
	Background func(context.Context) error
}

// HTTP says where the server answers requests.
type HTTP struct {
	Listen string // address; port 0 means a free port
	// Domain is the domain for which the server obtains a certificate. If it is empty, the server speaks
	// plain HTTP.
	Domain string
	// Proxies are the addresses of proxies whose header X-Forwarded-For is trusted.
	Proxies []netip.Prefix
	// Pace is the slowest permitted speed of uploads and downloads. If it is zero, it is middleware.DefaultPace.
	Pace middleware.Pace
}

// Server is the server of a competition.
type Server struct {
	Options
	Store *store.Store
	Live  *live.Hub
	// Token is the admin's token on the first start, "" later. The file Dir.AdminToken has it too.
	Token string
	// Notice says what the server has changed to fit this machine, "" if it has changed nothing.
	Notice       string
	room         ladder.MemoryBudget
	tables       *play.Tables
	tryouts      *tryout.Tryouts
	dayStarts    <-chan time.Time // gets a value every day, when maintainStorage runs; tests replace it
	listener     net.Listener
	httpListener net.Listener      // redirects from http to https; nil without a domain
	manager      *autocert.Manager // obtains the certificate; nil without a domain
	remotes      *remote.Registry
}

// Open locks and prepares the data directory, starts to listen on the addresses in o, and updates the database from
// the configuration. Serve then answers requests. The caller must close the server.
func Open(ctx context.Context, o Options) (*Server, error) {
	s := &Server{Options: o, dayStarts: time.Tick(storageInterval)}
	err := s.open()
	if err == nil {
		err = s.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Check returns the error with which a server with the options o would fail to start. It changes nothing. It may be
// called while another server uses the data directory and the addresses; errors that this hides are not found. notice
// is as in Server.Notice.
func Check(ctx context.Context, o Options) (notice string, err error) {
	if _, notice, err = memoryOf(o.Config, o.Level); err != nil {
		return "", err
	}
	if o.HTTP.Domain != "" {
		if _, err := certificateManager(o.Config.Certificate, o.HTTP.Domain, o.Dir.Certificates()); err != nil {
			return "", err
		}
	}
	if _, _, err := net.SplitHostPort(o.HTTP.Listen); err != nil {
		return "", listenError(o.HTTP.Listen, "--listen", err)
	}
	if _, err := houseBots(ctx, o.Config, nil); err != nil {
		return "", err
	}
	if _, err := os.Stat(o.Dir.Database()); errors.Is(err, fs.ErrNotExist) { // the first start makes it
		return notice, nil
	}
	stored, err := store.Open(string(o.Dir), store.Options{ReadOnly: true})
	if err != nil {
		return "", err
	}
	return notice, errors.Join(stored.Ladders.CheckSync(ctx, o.Config.Ladders), stored.Close())
}

// URL returns the address at which other machines reach the server, without a slash at the end.
func (s *Server) URL() string {
	address := s.listener.Addr().(*net.TCPAddr)
	switch {
	case s.HTTP.Domain == "":
		return "http://" + net.JoinHostPort(reachableIP(address.IP).String(), strconv.Itoa(address.Port))
	case s.Config.Site.URL != "":
		return s.Config.Site.URL
	case address.Port == 443:
		return "https://" + s.HTTP.Domain
	}
	return "https://" + net.JoinHostPort(s.HTTP.Domain, strconv.Itoa(address.Port))
}

// LocalURL returns the address at which programs on the same machine reach the server.
func (s *Server) LocalURL() string {
	if address := s.listener.Addr().(*net.TCPAddr); s.HTTP.Domain == "" && address.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", address.Port)
	}
	return s.URL()
}

// IsUnencrypted reports whether other machines reach the server by plain HTTP.
func (s *Server) IsUnencrypted() bool {
	address, ok := s.listener.Addr().(*net.TCPAddr)
	return s.HTTP.Domain == "" && len(s.HTTP.Proxies) == 0 && !(ok && address.IP.IsLoopback())
}

// reachableIP returns the IP address at which other machines reach a server that listens on ip. If ip means all
// addresses of this machine, it returns the address that outgoing connections use.
func reachableIP(ip net.IP) net.IP {
	if !ip.IsUnspecified() {
		return ip
	}
	if out, err := net.Dial("udp", "192.0.2.1:9"); err == nil { // sends nothing
		defer out.Close()
		return out.LocalAddr().(*net.UDPAddr).IP
	}
	all, _ := net.InterfaceAddrs() // if there are none, only this machine reaches the server
	for _, a := range all {
		if a, ok := a.(*net.IPNet); ok && a.IP.IsGlobalUnicast() {
			return a.IP
		}
	}
	return net.IPv4(127, 0, 0, 1)
}

func (s *Server) open() error {
	var err error
	if s.room, s.Notice, err = memoryOf(s.Config, s.Level); err != nil {
		return err
	}
	s.Database.Server = true
	if s.Store, err = store.Open(string(s.Dir), s.Database); err != nil {
		return err
	}
	if err := datadir.EmptyDir(s.Dir.Temp()); err != nil { // an earlier server may have been killed
		return dataError(err)
	}
	if err := writeNew(s.Dir.Config(), config.DefaultTOML()); err != nil {
		return dataError(err)
	}
	if s.listener, err = net.Listen("tcp", s.HTTP.Listen); err != nil {
		return listenError(s.HTTP.Listen, "--listen", err)
	}
	if s.HTTP.Domain != "" {
		if err := s.openDomain(); err != nil {
			return err
		}
	}
	return nil
}

// writeNew creates the file at path with the content data, which only its owner can read. The file is written as a
// whole or not at all. If it exists already, writeNew does nothing.
func writeNew(path string, data []byte) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return renameio.WriteFile(path, data, 0o600)
}

func dataError(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("data: %w: the server must be able to write to its directory: try one that it owns", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("data: %w: free some space on its disk", err)
	}
	return fmt.Errorf("data: %w", err)
}

// listenError wraps err, the error of listening on address, in an error with advice. setting is the flag or the
// configuration key that sets the address.
func listenError(address, setting string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen: %s is in use: stop the other program, or choose another address with %s", address, setting)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen: %s is not allowed for this user: choose a port above 1023 with %s, or give the program CAP_NET_BIND_SERVICE, as AmbientCapabilities= of systemd does", address, setting)
	}
	return fmt.Errorf("listen: %q is not an address of this machine with a port: try one such as 127.0.0.1:8080", address)
}

// Serve runs the server: it answers requests and plays matches, until ctx ends or a part of the server fails. Running
// matches may then continue for the time Grace before Serve returns.
func (s *Server) Serve(ctx context.Context) error {
	playMemory := reservePlayMemory(s.Config, &s.room)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s.Live = live.NewHub(live.Options{Store: s.Store, Limits: live.DefaultLimits(s.Config.Live.Total), Log: s.Log})
	s.remotes = remote.New(remote.Options{
		Store: s.Store, Limits: s.Config.Remote, Bounds: s.Config.Limits, Log: s.Log,
	})
	pipeline := s.pipeline()
	dispatcher, err := s.openDispatcher(ctx, registry, pipeline)
	if err != nil {
		if ctx.Err() != nil { // the server was stopped while it started
			return nil
		}
		return err
	}
	if dispatcher != nil {
		defer dispatcher.Close()
	}
	r, err := s.runner(registry, dispatcher, pipeline)
	if err != nil {
		return err
	}
	s.tryouts = tryout.New(tryout.Options{Play: pipeline.RunTryout, Memory: pipeline.TryoutMemory, Wake: r.Wake, Log: s.Log, Store: s.Store})
	r.Register(s.tryouts, r.Submissions(pipeline.Run))
	s.tables = play.New(play.Options{
		Store: s.Store, Limits: play.LimitsOf(s.Config.Play, playMemory), Room: s.room, Resolve: pipeline.Resolve, Log: s.Log,
	})
	seen := s.machines(r)
	handler, err := s.handler(r, registry, seen)
	if err != nil {
		return err
	}
	web := middleware.NewServer(handler, s.Log)
	if err := fairclock.Check(); err != nil {
		s.Log.Warn("late bots get no credit", "err", err)
	}
	s.Log.Info("serving", "data", string(s.Dir), "listen", s.listener.Addr().String(), "workers", len(s.Cores), "sandbox", s.Level.String(), "version", s.Version)
	outliveLimits()
	group, ctx := errgroup.WithContext(ctx)
	playing, played := context.WithCancel(context.WithoutCancel(ctx)) // matches have time to finish
	group.Go(func() error {
		defer played()
		defer s.remotes.Close()
		defer s.Store.Events().Close() // wakes all that wait for an event
		return r.Run(ctx)
	})
	group.Go(func() error { return s.remotes.Run(ctx) })
	group.Go(func() error { return s.Live.Run(ctx) })
	group.Go(func() error { return s.tables.Run(ctx) })
	group.Go(func() error { return s.tryouts.Run(ctx) })
	group.Go(func() error { return s.maintainStorage(ctx, pipeline) })
	group.Go(func() error { return s.maintainMachineList(playing, seen) })
	group.Go(func() error { return s.monitorAdmin(ctx, r.Wake) })
	sum := summary{metrics: registry, log: s.Log}
	defer sum.report() // after everything else has ended
	group.Go(func() error { return runEvery(ctx, time.Tick(summaryInterval), sum.report) })
	if s.Background != nil {
		group.Go(func() error { return s.Background(ctx) })
	}
	s.serveWeb(ctx, group, web)
	daemon.SdNotify(false, daemon.SdNotifyReady) // no effect without systemd
	return group.Wait()
}

// runEvery calls do at once, and then each time that ticks sends a value, until ctx ends.
func runEvery(ctx context.Context, ticks <-chan time.Time, do func()) error {
	for {
		do()
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
		}
	}
}

// serveWeb starts the HTTP server web in group, together with the server for plain HTTP if there is one, and returns
// at once. When ctx ends, the servers accept no more requests; requests in progress may continue for s.Grace.
func (s *Server) serveWeb(ctx context.Context, group *errgroup.Group, web *http.Server) {
	if s.HTTP.Domain != "" {
		plain := s.enableTLS(web)
		s.serveOn(ctx, group, plain, func() error { return plain.Serve(s.httpListener) })
		s.serveOn(ctx, group, web, func() error { return web.ServeTLS(s.listener, "", "") })
		go s.monitorCertificate(ctx)
		return
	}
	s.serveOn(ctx, group, web, func() error { return web.Serve(s.listener) })
}

func (s *Server) serveOn(ctx context.Context, group *errgroup.Group, web *http.Server, serve func() error) {
	group.Go(func() error {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		daemon.SdNotify(false, daemon.SdNotifyStopping)
		over, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(s.Grace, time.Second))
		defer cancel()
		if web.Shutdown(over) != nil {
			web.Close()
		}
		return nil
	})
}

// handler returns the handler of all addresses of the server: the API, the site and the WebSockets. The function
// machines lists the machines that play.
func (s *Server) handler(r *runner.Runner, registry *prometheus.Registry, machines func() ([]ladder.Machine, error)) (http.Handler, error) {
	m := middleware.New(middleware.Options{
		Service:    service.New(service.Options{Store: s.Store, Config: s.Config, Wake: r.Wake, Memory: s.room, IsAway: s.remotes.IsGone}),
		Registerer: registry,
		Proxies:    s.HTTP.Proxies,
		Pace:       s.HTTP.Pace,
		Log:        s.Log,
	})
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	if s.HTTP.Domain != "" { // there is no proxy that keeps others out
		metrics = loopbackOnly(metrics)
	}
	a := api.New(api.Options{
		Middleware: m,
		Online:     s.remotes.Online,
		Machines:   machines,
		Health:     func(context.Context) error { return r.Health() },
		Metrics:    metrics,
	})
	pages, err := site.New(site.Options{
		Middleware: m, Document: api.Document(), Live: s.Live, Play: s.tables, Tryouts: s.tryouts, Version: s.Version, Machines: machines,
		Status: func() site.ServerStatus {
			free, size, err := datadir.FreeSpace(string(s.Dir))
			if err != nil { // the page shows no disk
				size = 0
			}
			return site.ServerStatus{Failure: r.PauseReason(), Sandbox: s.Level, FreeBytes: free, DiskBytes: size}
		},
	})
	if err != nil {
		return nil, err
	}
	connections := s.remotes.Handler(m)
	return a.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == remote.Path {
			connections.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})), nil
}

func (s *Server) runner(registry *prometheus.Registry, dispatcher *cluster.Dispatcher, pipeline *submission.Pipeline) (*runner.Runner, error) {
	memory, err := pipeline.MaxMemory()
	if err != nil {
		return nil, err
	}
	o := runner.Options{
		Store:   runner.NewStore(s.Store),
		Ladders: s.Config.Ladders,
		Limits: runner.Limits{
			Room: s.room, BuildMemory: memory, Time: s.Config.Limits.Time, Allowance: s.Config.Remote.Allowance,
			Pause: s.Config.Pause, Idle: 60 * s.Config.Pause, Grace: s.Grace,
		},
		Programs:   pipeline,
		Local:      s.localMachine(),
		Host:       &host{dir: s.Dir.Temp(), sandbox: pipeline.Sandbox(), dispatcher: dispatcher, interpreters: map[string]bool{}},
		Remotes:    s.remotes,
		Watch:      s.Live.ShowMatch,
		Registerer: registry,
		Log:        s.Log,
	}
	if dispatcher != nil {
		o.Fleet = dispatcher
	}
	return runner.New(o)
}

// minDiskSpace is the free disk space, in bytes, that CheckMachine requires.
const minDiskSpace = 1 << 20

// CheckMachine returns an error unless this machine can play. The disk of the directory dir must have free space. If
// bots is not nil, a program must be able to start in that sandbox.
func CheckMachine(ctx context.Context, dir string, bots *match.Sandbox) error {
	f, err := os.CreateTemp(dir, "check-")
	if err != nil {
		return dataError(err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, minDiskSpace))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return dataError(err)
	}
	if bots == nil {
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	found, err := interpreter.Find(exe, "")
	if err != nil {
		return err
	}
	p, err := sandbox.Start(sandbox.Spec{Path: found.Path, Args: []string{exe, "--version"}, VisiblePaths: found.VisiblePaths, Limit: bots.Limit, Level: bots.Level})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	if status := p.Wait(); status.Reason != sandbox.Exited || status.Code != 0 {
		return fmt.Errorf("sandbox: a program that does nothing %s", status)
	}
	return nil
}

// Close closes the server. It may be called after a failed Open.
func (s *Server) Close() error {
	var errs []error
	for _, l := range []net.Listener{s.listener, s.httpListener} {
		if l != nil {
			l.Close() // the HTTP server may have closed it already
		}
	}
	if s.Store != nil {
		errs = append(errs, s.Store.Close())
	}
	return errors.Join(errs...)
}
