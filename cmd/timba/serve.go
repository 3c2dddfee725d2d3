package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sandbox"
)

// serveFlags are what an operator says on the command line; the rest is in the
// configuration.
type serveFlags struct {
	data, listen, config string
	workers              int
	sandbox              string
	grace                time.Duration
	proxies              []string
	logLevel, logFormat  string
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --data DIR",
		Short: "Be a competition: take bots, play them day and night, rate them",
		Long: "Serves a competition from one folder: its HTTP API, the stages of submissions and the\n" +
			"matches. The first start makes the folder, the database and a configuration with\n" +
			"comments, and prints an admin token, once. docs/operating.md tells the rest.\n\n" +
			"Ctrl-C or SIGTERM lets running matches finish, for the grace at most; a second one ends\n" +
			"at once. Nothing is lost either way, nor by kill -9.\n\n" +
			"Exit status: 0 stopped, 2 wrong usage, or it cannot serve.",
		Example: "  timba serve --data /var/lib/timba\n" +
			"  timba serve --data ./arena --listen 127.0.0.1:8080 --workers 1",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "the competition's `folder`")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "`address` of the HTTP server; port 0 for a free one")
	flags.StringVar(&f.config, "config", "", "configuration `file` (default: timba.toml in the folder)")
	flags.IntVar(&f.workers, "workers", 0, "matches at the same time (default: as configured, one for each core)")
	flags.StringVar(&f.sandbox, "sandbox", "", "the `level` that the sandbox must have: reduced|full (default: as configured)")
	flags.DurationVar(&f.grace, "grace", 10*time.Second, "how long running matches may go on after Ctrl-C")
	flags.StringSliceVar(&f.proxies, "trust-proxy", nil, "`addresses` whose X-Forwarded-For is believed, such as 127.0.0.1 or 10.0.0.0/8")
	flags.StringVar(&f.logLevel, "log-level", "info", "`debug|info|warn|error`")
	flags.StringVar(&f.logFormat, "log-format", "text", "`text|json`")
	return cmd
}

// server is a competition that is served.
type server struct {
	dir      string
	config   *ladder.Config
	level    sandbox.Level
	cores    []int
	grace    time.Duration
	proxies  []netip.Prefix
	log      *slog.Logger
	store    *store.Store
	listener net.Listener
	// beside goes on while the server runs, and ends it by an error; nil for nothing.
	beside func(context.Context, *runner.Runner) error
}

func (f *serveFlags) run(cmd *cobra.Command) (err error) {
	s := &server{grace: f.grace}
	if s.log, err = newLog(cmd.ErrOrStderr(), f.logLevel, f.logFormat); err != nil {
		return err
	}
	if err := f.settle(s); err != nil {
		return err
	}
	if s.level, err = demandLevel(s.config.Sandbox); err != nil {
		return err
	}
	if err := s.open(f.listen); err != nil {
		return errors.Join(err, s.close())
	}
	token, err := s.prepare(cmd.Context())
	if err != nil {
		return errors.Join(err, s.close())
	}
	s.greet(cmd.OutOrStdout(), token)
	return errors.Join(s.serve(cmd.Context()), s.close())
}

// settle makes of flags and configuration what holds.
func (f *serveFlags) settle(s *server) error {
	if f.data == "" {
		return errors.New("data: no folder is named: try --data DIR, a folder that the competition has for itself")
	}
	var err error
	if s.dir, err = filepath.Abs(f.data); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if info, err := os.Stat(s.dir); err == nil && !info.IsDir() {
		return fmt.Errorf("data: %s is no folder: name one", s.dir)
	}
	path := f.config
	if path == "" {
		path = filepath.Join(s.dir, ladder.ConfigFile)
	} else if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	if s.config, err = ladder.ReadConfig(path); err != nil {
		return err
	}
	if f.sandbox != "" {
		level, err := sandbox.ParseLevel(f.sandbox)
		if err != nil || level < sandbox.Reduced {
			return fmt.Errorf("sandbox cannot be %q: try reduced or full; strangers' bots are not run with less", f.sandbox)
		}
		s.config.Sandbox = level
	}
	if f.grace < 0 {
		return fmt.Errorf("grace cannot be %s: try 0s or more", f.grace)
	}
	for _, p := range f.proxies {
		prefix, err := parsePrefix(p)
		if err != nil {
			return err
		}
		s.proxies = append(s.proxies, prefix)
	}
	s.cores, err = f.cores(s.config)
	return err
}

// cores are one for each worker.
func (f *serveFlags) cores(c *ladder.Config) ([]int, error) {
	cores := referee.Cores()
	for len(cores) < runtime.NumCPU() && !bindsCores() {
		cores = append(cores, referee.AnyCore)
	}
	// A container may have a share of the cores that is less than their number.
	most := max(1, min(len(cores), runtime.GOMAXPROCS(0)))
	n := f.workers
	if n == 0 && c.Workers != runtime.NumCPU() {
		n = c.Workers
	}
	switch {
	case n < 0 || n > most:
		return nil, fmt.Errorf("workers cannot be %d: this machine gives %s, and a bot that thinks has one for itself: try 1 to %d", n, count(most, "core"), most)
	case n == 0:
		n = most
	}
	return cores[:n], nil
}

func bindsCores() bool { return runtime.GOOS == "linux" }

// parsePrefix reads an address or a network.
func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("trust-proxy cannot be %q: try an address such as 127.0.0.1 or a network such as 10.0.0.0/8", text)
	}
	return p, nil
}

func newLog(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log-level cannot be %q: try debug, info, warn or error", level)
	}
	o := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fmt.Errorf("log-format cannot be %q: try text or json", format)
}

// demandLevel gives the level that bots are held at; where the machine cannot
// hold them as demanded, what timba doctor says of it.
func demandLevel(least sandbox.Level) (sandbox.Level, error) {
	report := sandbox.Probe()
	if report.Level >= least {
		return report.Level, nil
	}
	var lacks []string
	for _, l := range report.Layers {
		if !l.OK {
			lacks = append(lacks, fmt.Sprintf("%s: %s: %s", l.Name, l.Err, l.Fix))
		}
	}
	return report.Level, fmt.Errorf("sandbox: this machine holds %s, and strangers' bots need %s: %s; timba doctor tells more",
		report.Level, least, strings.Join(lacks, "; "))
}
