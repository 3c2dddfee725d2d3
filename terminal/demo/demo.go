// Package demo runs a temporary competition between house bots, which are part of timba, and starters, the small
// bots in many languages from which authors begin. A screen shows its standings.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/server"
)

// The demo's games are short, so that the standings change quickly.
const (
	move   = 20 * time.Millisecond
	margin = time.Second // large, because other programs may use this machine
	deals  = 2           // the largest number of deals of a match
	Grace  = time.Second // time that the server has to stop
)

// Config returns the configuration of the demo: the default one with short games, and with limits that let one
// person submit all starters.
func Config() *config.Config {
	c := config.Default()
	for i := range c.Ladders {
		l := &c.Ladders[i]
		l.Clock.Move, l.Clock.Margin, l.Deals = move, margin, min(l.Deals, deals)
	}
	c.Pause = 0
	c.Limits.Bots, c.Limits.Versions, c.Limits.Requests = 1000, 1000, 100_000
	return c
}

// Starters returns the starter bots (examples for authors) in the named languages whose programs are installed on
// this machine. nil means all languages. It writes to w which ones are missing, and returns an error for an
// unknown language.
func Starters(languages []string, w io.Writer) (list []starters.Language, err error) {
	if languages == nil {
		for _, l := range starters.Languages {
			languages = append(languages, l.Name)
		}
	}
	for _, name := range languages {
		l, err := starters.Find(name)
		if err != nil {
			return nil, err
		}
		if missing := l.MissingPrograms(); missing != nil {
			fmt.Fprintf(w, "the starter in %s does not play: %s is not installed\n", l.Title, strings.Join(missing, ", "))
			continue
		}
		list = append(list, l)
	}
	return list, nil
}

// Demo is a temporary competition. Its server has been opened before.
type Demo struct {
	Server    *server.Server
	Languages []starters.Language
	Matches   int // number of matches after which the demo ends, once all starters are submitted; 0 means never
	Out       io.Writer
}

// Run serves the competition until ctx ends or enough matches are finished, shows the final standings, and closes
// the server.
func (d *Demo) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := d.Server
	display := newDisplay(d.Out, s.Store, s.Config)
	s.Background = func(ctx context.Context) error {
		finished, unsubscribe := s.Store.Events().Subscribe(1024, func(e events.Event) bool { return e.Kind == events.MatchFinished })
		defer unsubscribe()
		group, ctx := errgroup.WithContext(ctx)
		sent := make(chan struct{})
		group.Go(func() error {
			defer close(sent)
			return d.submit(ctx, display)
		})
		group.Go(func() error {
			defer stop()
			return display.showMatches(ctx, finished, sent, d.Matches)
		})
		return group.Wait()
	}
	err := s.Serve(ctx)
	return errors.Join(err, display.showEnd(), s.Close())
}

func (d *Demo) submit(ctx context.Context, display *display) error {
	c, err := client.New(d.Server.URL(), d.Server.Token)
	if err != nil {
		return err
	}
	for _, l := range d.Languages {
		state, err := sendStarter(ctx, c, filepath.Join(d.Server.Dir.Starters(), l.Name), l)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("submitting the starter in %s: %w", l.Title, err)
		}
		display.addNews("%s (the starter in %s) %s", l.Name, l.Title, state)
	}
	return nil
}

// sendStarter writes the example bot in the language l to dir, submits it, and waits until the server has
// accepted or refused it. state is the outcome as text, such as "is failed: ...".
func sendStarter(ctx context.Context, c *client.Client, dir string, l starters.Language) (state string, err error) {
	name, err := l.Write(dir)
	if err != nil {
		return "", err
	}
	p, err := bundle.Pack(dir, bundle.Default)
	if err != nil {
		return "", err
	}
	sent, err := c.Submit(ctx, name, "", client.Body(p.Data))
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
