package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/client"
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
		Short: "Run a throw-away competition between bots in every language there is here",
		Long: "Makes a competition in a temporary folder, with the house bots on every ladder, submits\n" +
			"the starter of each language that this machine can run, and shows the standings as they\n" +
			"move. It is a real one, as timba serve has it: its API is open to this machine, and\n" +
			"whoever has the token can submit. Clocks and matches are shorter than usual.\n\n" +
			"Ctrl-C ends it, and nothing is left of it; with --data it stays, and timba serve goes on\n" +
			"with it.",
		Example: "  timba demo\n  timba demo --languages python,c --matches 50\n  timba demo --data ./arena",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.serve.data, "data", "", "keep the competition in this new `folder`")
	flags.StringVar(&f.serve.listen, "listen", "127.0.0.1:0", "`address` of the HTTP server; port 0 for a free one")
	flags.IntVar(&f.serve.workers, "workers", 0, "matches at the same time (default: one for each core)")
	flags.StringSliceVar(&f.languages, "languages", nil, "the `starters` that take part (default: all that this machine can run)")
	flags.IntVar(&f.matches, "matches", 0, "end after so many matches, once all starters are in (default: at Ctrl-C)")
	return cmd
}

// The demo's games are short, so that one sees the standings move.
const (
	demoMove   = 20 * time.Millisecond
	demoMargin = time.Second // this machine may have other work
	demoDeals  = 2           // of a match, at most
	demoGrace  = time.Second
)

func (f *demoFlags) run(cmd *cobra.Command) (err error) {
	if f.matches < 0 {
		return fmt.Errorf("matches cannot be %d: try 1 or more, or leave it out to play until Ctrl-C", f.matches)
	}
	remove, err := f.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	languages, err := f.starters(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	s, err := f.server(cmd)
	if err != nil {
		return err
	}
	if err := s.open(f.serve.listen); err != nil {
		return errors.Join(err, s.close())
	}
	token, err := s.prepare(cmd.Context())
	if err != nil {
		return errors.Join(err, s.close())
	}
	f.greet(cmd.OutOrStdout(), s, token)
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	screen := newDemoScreen(cmd.OutOrStdout(), s.store, s.config)
	s.beside = func(ctx context.Context, r *runner.Runner) error {
		events, unsubscribe := r.Subscribe(1024)
		defer unsubscribe()
		group, ctx := errgroup.WithContext(ctx)
		sent := make(chan struct{})
		group.Go(func() error {
			defer close(sent)
			return f.submit(ctx, s, token, languages, screen)
		})
		group.Go(func() error {
			defer stop()
			return screen.watch(ctx, events, sent, f.matches)
		})
		return group.Wait()
	}
	err = s.serve(ctx)
	return errors.Join(err, screen.end(), s.close())
}

// starters are those that take part.
func (f *demoFlags) starters(w io.Writer) (list []starters.Language, err error) {
	asked := f.languages
	if asked == nil {
		for _, l := range starters.Languages {
			asked = append(asked, l.Name)
		}
	}
	for _, name := range asked {
		l, err := starters.Find(name)
		if err != nil {
			return nil, err
		}
		if missing := l.Missing(); missing != nil {
			fmt.Fprintf(w, "the starter in %s does not play: %s is not installed\n", l.Title, strings.Join(missing, ", "))
			continue
		}
		list = append(list, l)
	}
	return list, nil
}

// folder makes the one of the competition, and tells how to get rid of it.
func (f *demoFlags) folder() (remove func() error, err error) {
	if f.serve.data != "" {
		if entries, err := os.ReadDir(f.serve.data); err == nil && len(entries) > 0 {
			return nil, fmt.Errorf("data: %s is not empty: name a new folder, or try timba serve --data %s to go on with a competition", f.serve.data, quoted(f.serve.data))
		}
		return func() error { return nil }, nil
	}
	if f.serve.data, err = os.MkdirTemp("", "timba-demo-"); err != nil {
		return nil, fmt.Errorf("data: %w: name a folder with --data", err)
	}
	dir := f.serve.data
	sandbox.Guard(dir)
	return func() error {
		defer sandbox.Unguard(dir)
		return os.RemoveAll(dir)
	}, nil
}

// server is that of `timba serve`, with a configuration of its own.
func (f *demoFlags) server(cmd *cobra.Command) (*server, error) {
	dir, err := filepath.Abs(f.serve.data)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	s := &server{dir: dir, grace: demoGrace, config: ladder.DefaultConfig(), level: sandbox.Probe().Level}
	s.log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelError}))
	for i := range s.config.Ladders {
		l := &s.config.Ladders[i]
		l.Clock.Move, l.Clock.Margin, l.Deals = demoMove, demoMargin, min(l.Deals, demoDeals)
	}
	s.config.Pause = 0
	// All starters belong to one person, who sends them at once.
	limits := &s.config.Limits
	limits.Bots, limits.Versions, limits.Requests = 1000, 1000, 100_000
	if s.level < sandbox.Reduced {
		fmt.Fprintf(cmd.ErrOrStderr(), "the sandbox of this machine holds %s: what takes part in the demo runs without it, with your rights; timba doctor tells what is missing\n", s.level)
		s.level, s.config.Sandbox = sandbox.None, sandbox.None
	}
	s.cores, err = f.serve.cores(s.config)
	return s, err
}

func (f *demoFlags) greet(w io.Writer, s *server, token string) {
	url := "http://" + s.listener.Addr().String()
	fmt.Fprintf(w, "a competition in %s\n", s.dir)
	fmt.Fprintf(w, "API:   %s/api/v1/ladders and more: %s/api/v1/openapi.json\n", url, url)
	fmt.Fprintf(w, "join:  TIMBA_URL=%s TIMBA_TOKEN=%s %s submit DIR\n", url, token, self())
	if f.matches == 0 {
		fmt.Fprintln(w, "Ctrl-C ends it")
	}
	fmt.Fprintln(w)
}

// submit sends the starters one after the other, as their authors would.
func (f *demoFlags) submit(ctx context.Context, s *server, token string, languages []starters.Language, screen *demoScreen) error {
	c, err := client.New("http://"+s.listener.Addr().String(), token)
	if err != nil {
		return err
	}
	for _, l := range languages {
		state, err := sendStarter(ctx, c, filepath.Join(s.dir, "starters", l.Name), l)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("submitting the starter in %s: %w", l.Title, err)
		}
		screen.say("%s (the starter in %s) %s", l.Name, l.Title, state)
	}
	return nil
}

// sendStarter writes a starter, submits it and waits for the end of its stages.
func sendStarter(ctx context.Context, c *client.Client, dir string, l starters.Language) (state string, err error) {
	name, err := l.Write(dir)
	if err != nil {
		return "", err
	}
	p, err := bundle.Pack(dir, bundle.Default)
	if err != nil {
		return "", err
	}
	sent, err := c.Submit(ctx, name, "application/gzip", func() (io.Reader, int64) {
		return bytes.NewReader(p.Data), int64(len(p.Data))
	})
	if err != nil {
		return "", err
	}
	for next, err := range c.Follow(ctx, sent.ID) {
		if err != nil {
			return "", err
		}
		sent = next
	}
	if reason := sent.Version.Reason; reason != "" {
		return fmt.Sprintf("is %s: %s", sent.Version.State, reason), nil
	}
	return "is " + sent.Version.State, nil
}
