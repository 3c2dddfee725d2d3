package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/api"
)

// open takes the folder for this server alone, makes it what it needs to be, and
// listens.
func (s *server) open(listen string) error {
	var err error
	if s.store, err = store.Open(s.dir, store.Options{Server: true}); err != nil {
		return err
	}
	if err := s.emptyTmp(); err != nil {
		return dataError(err)
	}
	if err := writeNew(filepath.Join(s.dir, ladder.ConfigFile), ladder.DefaultTOML()); err != nil {
		return dataError(err)
	}
	if s.listener, err = net.Listen("tcp", listen); err != nil {
		return listenError(listen, err)
	}
	return nil
}

// emptyTmp removes what an earlier server was doing, and lets everything that
// needs a temporary file make it here: /tmp is not left full of them.
func (s *server) emptyTmp() error {
	tmp := filepath.Join(s.dir, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(tmp, e.Name())); err != nil {
			return err
		}
	}
	return os.Setenv("TMPDIR", tmp)
}

// writeNew writes a file where there is none, whole or not at all.
func writeNew(path string, data []byte) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, path)
}

// dataError says what is wrong with the folder.
func dataError(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("data: %w: the competition writes to its folder: give it one that it owns", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("data: %w: make room on its disk", err)
	}
	return fmt.Errorf("data: %w", err)
}

func listenError(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("listen: %s is in use: stop what listens there, or choose another with --listen", address)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("listen: %s is not for this user: choose a port above 1023 with --listen", address)
	}
	return fmt.Errorf("listen: %q: %w: try an address such as 127.0.0.1:8080", address, err)
}

// prepare brings the database to what the configuration says and what an earlier
// server left behind. The token is that of the admin, "" but for the very first
// start.
func (s *server) prepare(ctx context.Context) (token string, err error) {
	if err := s.store.SyncLadders(ctx, s.config.Ladders); err != nil {
		return "", err
	}
	bots, err := houseBots(s.config)
	if err != nil {
		return "", err
	}
	if err := s.store.SyncHouse(ctx, bots); err != nil {
		return "", err
	}
	released, err := s.store.ReleaseRunning(ctx)
	if err != nil {
		return "", err
	}
	if released > 0 {
		s.log.Info("matches of the last run wait to be played again", "matches", released)
	}
	return s.firstToken(ctx)
}

// houseBots are those of all ladders.
func houseBots(c *ladder.Config) (bots []store.HouseBot, err error) {
	var names []string
	for _, l := range c.Ladders {
		names = append(names, l.House...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		p, err := program.Resolve(name, io.Discard)
		if err != nil {
			return nil, err
		}
		bots = append(bots, store.HouseBot{Name: name, Label: house.Version, Hash: p.Hash})
	}
	return bots, nil
}

// adminName is who runs the competition until somebody else is made admin.
const adminName = "admin"

// firstToken makes an admin and a token where no admin has ever had one.
func (s *server) firstToken(ctx context.Context) (token string, err error) {
	people, err := s.store.People(ctx)
	if err != nil {
		return "", err
	}
	var admin ladder.Person
	for _, p := range people {
		if !p.Admin {
			continue
		}
		tokens, err := s.store.Tokens(ctx, p.ID)
		if err != nil || len(tokens) > 0 {
			return "", err
		}
		admin = p
	}
	if admin.ID == 0 {
		if admin, err = s.store.AddPerson(ctx, adminName, true); err != nil {
			return "", err
		}
	}
	token, _, err = s.store.AddToken(ctx, admin.ID, "first start", ladder.ScopeAll, time.Time{})
	return token, err
}

// greet says where the server is. The token is told here and nowhere else.
func (s *server) greet(w io.Writer, token string) {
	url := "http://" + s.listener.Addr().String()
	if token != "" {
		fmt.Fprintf(w, "admin token, shown only now: %s\nuse it with: %s login %s\n", token, self(), url)
	}
	fmt.Fprintf(w, "serving %s on %s\n", s.dir, url)
}

// serve runs until the context ends or the HTTP server fails.
func (s *server) serve(ctx context.Context) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r, err := s.runner(registry)
	if err != nil {
		return err
	}
	handler := api.New(api.Options{
		Store: s.store, Dir: s.dir, Config: s.config, Proxies: s.proxies, Log: s.log,
		Wake:       r.Wake,
		Health:     func(context.Context) error { return r.Health().Err() },
		Metrics:    promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
		Registerer: registry,
	})
	web := api.NewServer(handler, s.log)
	s.log.Info("serving", "data", s.dir, "listen", s.listener.Addr().String(), "workers", len(s.cores), "sandbox", s.level.String(), "version", version())
	outliveLimits()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.Run(ctx) })
	if s.beside != nil {
		group.Go(func() error { return s.beside(ctx, r) })
	}
	group.Go(func() error {
		if err := web.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		daemon.SdNotify(false, daemon.SdNotifyStopping)
		over, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(s.grace, time.Second))
		defer cancel()
		if web.Shutdown(over) != nil {
			web.Close() // who still downloads has had the grace
		}
		return nil
	})
	daemon.SdNotify(false, daemon.SdNotifyReady) // nobody listens outside of systemd
	return group.Wait()
}

func (s *server) runner(registry *prometheus.Registry) (*runner.Runner, error) {
	pipeline := submission.New(s.store, s.dir, s.config)
	pipeline.Log = s.log
	return runner.New(runner.Options{
		Store:      s.store,
		Ladders:    s.config.Ladders,
		Resolve:    pipeline.Resolve,
		Submit:     pipeline.Run,
		Hold:       s.hold(),
		Pause:      s.config.Pause,
		Cores:      s.cores,
		Grace:      s.grace,
		Check:      s.check,
		Registerer: registry,
		Log:        s.log,
	})
}

// hold is how bots are held; nil for a competition that no stranger can enter, on
// a machine without a sandbox.
func (s *server) hold() *referee.Hold {
	if s.config.Sandbox == sandbox.None {
		return nil
	}
	return &referee.Hold{Level: s.config.Sandbox, Limit: s.config.Limits.Hold(), Still: s.level == sandbox.Full}
}

// room is how much the disk must take before the server goes on after a failure.
const room = 1 << 20

// check tells whether this machine can play: the disk takes a file, and a program
// starts in a sandbox.
func (s *server) check(ctx context.Context) error {
	f, err := os.CreateTemp("", "check-")
	if err != nil {
		return dataError(err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, room))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return dataError(err)
	}
	if s.config.Sandbox == sandbox.None {
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := sandbox.Start(sandbox.Spec{Command: []string{exe, "--version"}, Limit: s.config.Limits.Hold(), Level: s.config.Sandbox})
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

// close gives everything back; what is not open is left out.
func (s *server) close() error {
	var errs []error
	if s.listener != nil {
		s.listener.Close() // the HTTP server has closed it already
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}
