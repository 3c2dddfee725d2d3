package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/server"
)

// serveFlags are the flags of a server. Its other settings are in the configuration.
type serveFlags struct {
	data, listen, domain string
	config               string
	check                bool
	workers              int
	memory               size.Bytes
	sandbox              string
	grace                time.Duration
	proxies              []string
	logLevel, logFormat  string
	nats                 natsFlags
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --data DIR",
		Short: "Serve a competition: accept bots, play matches day and night, rate the bots",
		Long: "Serves a competition from one directory: its HTTP API, the stages of submissions and the\n" +
			"matches. The first start makes the directory, the database and a configuration with\n" +
			"comments, and prints an admin token, once. See docs/operating.md.\n\n" +
			"On Ctrl-C or SIGTERM the server waits for running matches, at most for --grace; a second\n" +
			"signal ends it at once. Finished matches are never lost, even after kill -9.\n\n" +
			"With --check it only reads the configuration, compares it with the database, and says whether a\n" +
			"server would start with it. It changes nothing, and works while a server runs.\n\n" +
			"Exit status: 0 stopped, or the configuration is valid; 2 wrong usage, or it cannot serve.",
		Example: "  timba serve --data /var/lib/timba\n" +
			"  timba serve --data /var/lib/timba --domain arena.example.org\n" +
			"  timba serve --data ./arena --listen 127.0.0.1:8080 --workers 1\n" +
			"  timba serve --data /var/lib/timba --cluster 0.0.0.0:4222\n" +
			"  timba serve --data /var/lib/timba --check",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "the data `DIR` of the competition")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:8080", "`address` of the HTTP server; port 0 for a free one")
	flags.StringVar(&f.domain, "domain", "", "serve https under this `NAME`, on the ports 443 and 80, with a certificate of Let's Encrypt, whose terms you thereby accept")
	flags.StringVar(&f.config, "config", "", "configuration `file` (default: timba.toml in the directory)")
	flags.BoolVar(&f.check, "check", false, "check the configuration, and end without serving")
	cli.CountFlag(cmd, &f.workers, "workers", 0, "matches at the same time (default: from the configuration, else one for each core)")
	cli.SizeFlag(cmd, &f.memory, "memory", 0, "memory that all bots have together, as `SIZE`: 800m, 6g (default: as configured, what the machine has)")
	flags.StringVar(&f.sandbox, "sandbox", "", "the required sandbox `level`: reduced|full (default: from the configuration)")
	flags.DurationVar(&f.grace, "grace", 10*time.Second, "how long running matches may continue after Ctrl-C")
	flags.StringSliceVar(&f.proxies, "trust-proxy", nil, "`addresses` of proxies whose X-Forwarded-For is trusted, such as 127.0.0.1 or 10.0.0.0/8")
	f.nats.add(cmd)
	cmd.MarkFlagRequired("data")
	flags.StringVar(&f.logLevel, "log-level", "info", "lowest level that is logged: `debug|info|warn|error`; debug has a line for each match and request")
	flags.StringVar(&f.logFormat, "log-format", "text", "format of the log: `text|json`")
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if f.check {
		notice, err := server.Check(cmd.Context(), o)
		if err != nil {
			return err
		}
		printNotice(w, notice)
		file := cmp.Or(f.config, o.Dir.Config())
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			file += " does not exist, and the default configuration"
		}
		fmt.Fprintf(w, "%s is valid: %s, %s, a sandbox of level %s\n", file,
			text.Count(len(o.Config.Ladders), "ladder"), text.Count(len(o.Cores), "worker"), o.Level)
		return nil
	}
	s, err := server.Open(cmd.Context(), o)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "serving %s on %s\nsite: %s/\n", s.Dir, s.URL(), s.URL())
	printNotices(w, s)
	if s.Token != "" { // on the first start only
		s.Background = func(context.Context) error { // runs after the first line of the log
			showToken(w, s)
			return nil
		}
	}
	return errors.Join(s.Serve(cmd.Context()), s.Close())
}

// printNotices prints what the server has changed in its configuration to fit this machine, and a warning if
// connections are not encrypted.
func printNotices(w io.Writer, s *server.Server) {
	printNotice(w, s.Notice)
	if s.IsUnencrypted() {
		fmt.Fprintln(w, "warning: there is no TLS: whoever is on the way can read tokens and change pages. Start it with\n"+
			"  --domain NAME, which obtains a certificate, or behind a proxy with TLS, on 127.0.0.1 with --trust-proxy.")
	}
}

// printNotice prints notice to w unless it is empty. A notice says what a server changes in its configuration to fit
// this machine.
func printNotice(w io.Writer, notice string) {
	if notice != "" {
		fmt.Fprintln(w, "notice: "+notice)
	}
}

func showToken(w io.Writer, s *server.Server) {
	file := s.Dir.AdminToken()
	fmt.Fprintf(w, "\nadmin token: %s\n"+
		"log in with: %s login %s --token-file %s\n"+
		"The token is not shown again. It is also in %s, which only you can read:\n"+
		"delete that file once you have logged in.\n\n", s.Token, cli.Self(), s.LocalURL(), text.Quote(file), file)
}

// database has the options with which a server opens its database. In tests, it makes the database not wait for the
// disk.
var database store.Options

// options returns the options of the server from the flags and the configuration file. It returns an error
// if a flag is not valid or this machine cannot run bots safely.
func (f *serveFlags) options(cmd *cobra.Command) (o server.Options, err error) {
	o = server.Options{HTTP: server.HTTP{Listen: f.listen, Domain: f.domain}, Grace: f.grace, Version: cli.Version(), Database: database}
	if o.Log, err = newLog(cmd.ErrOrStderr(), f.logLevel, f.logFormat); err != nil {
		return o, err
	}
	if f.domain != "" {
		if err := server.CheckDomain(f.domain); err != nil {
			return o, err
		}
		if !cmd.Flags().Changed("listen") {
			o.HTTP.Listen = ":443"
		}
	}
	dir, err := filepath.Abs(f.data)
	if err != nil {
		return o, fmt.Errorf("data: %w", err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return o, fmt.Errorf("data: %q is not a directory: name one", dir)
	}
	o.Dir = datadir.Dir(dir)
	if o.Config, err = f.readConfig(o.Dir); err != nil {
		return o, err
	}
	if o.Cluster, err = f.nats.options(); err != nil {
		return o, err
	}
	if f.grace < 0 {
		return o, fmt.Errorf("grace cannot be %s: try 0s or more", f.grace)
	}
	for _, p := range f.proxies {
		prefix, err := parsePrefix(p)
		if err != nil {
			return o, err
		}
		o.HTTP.Proxies = append(o.HTTP.Proxies, prefix)
	}
	if o.Cores, err = server.Cores(cmp.Or(f.workers, o.Config.Workers)); err != nil {
		return o, err
	}
	o.Level, err = server.RequireLevel(o.Config.Sandbox)
	return o, err
}

// readConfig reads the configuration file: the one that --config names or, without that flag, the one in the data
// directory. The flags for memory and sandbox override the values in the file.
func (f *serveFlags) readConfig(dir datadir.Dir) (*config.Config, error) {
	path := f.config
	if path == "" {
		path = dir.Config()
	} else if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	c, err := config.Read(path)
	if err != nil {
		return nil, err
	}
	c.Memory = cmp.Or(f.memory, c.Memory)
	if f.sandbox == "" {
		return c, nil
	}
	level, err := sandbox.ParseLevel(f.sandbox)
	if err != nil || level < sandbox.LevelReduced {
		return nil, fmt.Errorf("sandbox cannot be %q: try reduced or full: a server does not run bots with less", f.sandbox)
	}
	c.Sandbox = level
	return c, nil
}

// parsePrefix parses an address or a network of proxies. IPv4 networks that are written as IPv6 become IPv4, as
// requests have IPv4 addresses.
func parsePrefix(text string) (netip.Prefix, error) {
	trimmed := strings.TrimSpace(text)
	if addr, err := netip.ParseAddr(trimmed); err == nil {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(trimmed)
	if err == nil && p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if err != nil || p.Addr().Is4In6() {
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
