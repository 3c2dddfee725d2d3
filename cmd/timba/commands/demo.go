package commands

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/terminal/demo"
	"github.com/timba-arena/timba/web/server"
)

type demoFlags struct {
	serve     serveFlags
	languages []string
	matches   int
}

func newDemo() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a temporary competition between bots in every installed language",
		Long: "Makes a competition in a temporary directory, with the house bots on every ladder. Submits\n" +
			"the starter of each language that this machine can run. Shows the standings as they change\n" +
			"and the latest matches; the site has the games. It is a real competition, like that of\n" +
			"timba serve: other programs on this machine can use its API, and anybody with the token\n" +
			"can submit. Clocks and matches are shorter than usual.\n\n" +
			"Ctrl-C ends the competition and removes it. With --data it is kept, and timba serve can\n" +
			"resume it.",
		Example: "  timba demo\n  timba demo --languages python,c --matches 50\n  timba demo --data ./arena",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.serve.data, "data", "", "keep the competition in this new `DIR`")
	flags.StringVar(&f.serve.listen, "listen", "127.0.0.1:0", "`address` of the HTTP server; port 0 for a free one")
	cli.CountFlag(cmd, &f.serve.workers, "workers", 0, "matches at the same time (default: one for each core)")
	flags.StringSliceVar(&f.languages, "languages", nil, "the `starters` that take part (default: all that this machine can run)")
	cli.CountFlag(cmd, &f.matches, "matches", 0, "end after this many matches, once all starters are live (default: at Ctrl-C)")
	return cmd
}

func (f *demoFlags) run(cmd *cobra.Command) (err error) {
	remove, err := f.makeDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	languages, err := demo.Starters(f.languages, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	s, err := server.Open(cmd.Context(), o)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "a competition in %s\n", s.Dir)
	fmt.Fprintf(w, "site:  %s/\n", s.URL())
	fmt.Fprintf(w, "play:  %s/play\n", s.URL())
	printNotices(w, s)
	fmt.Fprintf(w, "API:   %s/api/v1/ladders and more: %s/api/v1/openapi.json\n", s.URL(), s.URL())
	fmt.Fprintf(w, "join:  TIMBA_URL=%s TIMBA_TOKEN=%s %s submit DIR\n", s.URL(), s.Token, cli.Self())
	if f.matches == 0 {
		fmt.Fprintln(w, "Ctrl-C ends it")
	}
	fmt.Fprintln(w)
	d := demo.Demo{Server: s, Languages: languages, Matches: f.matches, Out: w}
	return d.Run(cmd.Context())
}

// makeDir prepares the directory of the competition: the one that --data names, which must be empty, or else a new
// temporary directory. remove deletes a temporary directory.
func (f *demoFlags) makeDir() (remove func() error, err error) {
	if f.serve.data != "" {
		if entries, err := os.ReadDir(f.serve.data); err == nil && len(entries) > 0 {
			return nil, fmt.Errorf("data: %q is not empty: name a new directory, or resume a competition with timba serve --data %s", f.serve.data, text.Quote(f.serve.data))
		}
		return func() error { return nil }, nil
	}
	if f.serve.data, err = os.MkdirTemp("", "timba-demo-"); err != nil {
		return nil, fmt.Errorf("data: %w: name a directory with --data", err)
	}
	dir := f.serve.data
	sandbox.RemoveAtEnd(dir)
	return func() error {
		defer sandbox.CancelRemoveAtEnd(dir)
		return os.RemoveAll(dir)
	}, nil
}

// options returns the options of the demo's server. If this machine cannot run bots in a sandbox, options prints a
// warning, and bots run without one.
func (f *demoFlags) options(cmd *cobra.Command) (server.Options, error) {
	dir, err := filepath.Abs(f.serve.data)
	if err != nil {
		return server.Options{}, fmt.Errorf("data: %w", err)
	}
	o := server.Options{Dir: datadir.Dir(dir), HTTP: server.HTTP{Listen: f.serve.listen}, Grace: demo.Grace, Version: cli.Version(), Config: demo.Config(), Database: database, Level: sandbox.Probe().Level}
	o.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
	if o.Level < sandbox.LevelReduced {
		fmt.Fprintf(cmd.ErrOrStderr(), "the sandbox of this machine has level %s: the bots of the demo run without it, with your rights; timba doctor shows what is missing\n", o.Level)
		o.Level, o.Config.Sandbox = sandbox.LevelNone, sandbox.LevelNone
	}
	o.Cores, err = server.Cores(f.serve.workers)
	return o, err
}
