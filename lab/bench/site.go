package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/site"
)

// Site measures the response times of the site's pages in a competition with many matches.
type Site struct {
	Matches  int // number of finished matches
	Bots     int // number of bots of people; every second one has two versions
	Requests int // number of requests for each page
	Rate     int // maximal number of matches that finish per second during the busy part
}

// page is one kind of page of the site. It has the response times that were measured for it.
type page struct {
	name       string
	path       func() string // returns the path of a random page of this kind
	idleMillis []float64     // response times in milliseconds while no matches finish
	busyMillis []float64     // response times in milliseconds while matches finish
}

// Run creates a competition and requests each page over loopback, first while the server has no other work,
// then while matches finish.
func (b Site) Run(ctx context.Context, _ io.Writer) (report *Report, err error) {
	dir, err := os.MkdirTemp("", "timba-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	c, err := newSiteCompetition(ctx, dir, b)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	filled := time.Since(began)
	server, err := c.serve()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	pages := c.pages(b)
	for _, p := range pages {
		if p.idleMillis, err = p.measureVisits(ctx, server.URL, b.Requests); err != nil {
			return nil, err
		}
	}
	var finished float64
	var group errgroup.Group
	meanwhile, stop := context.WithCancel(ctx)
	group.Go(func() (err error) {
		finished, err = c.finishMatches(meanwhile, b.Rate)
		return err
	})
	for _, p := range pages {
		if p.busyMillis, err = p.measureVisits(ctx, server.URL, b.Requests); err != nil {
			break
		}
	}
	stop()
	if err := errors.Join(err, group.Wait()); err != nil {
		return nil, err
	}
	t := newTable("page|alone, median ms|busy, median ms|busy, p95 ms")
	for _, p := range pages {
		t.add(p.name, oneDecimal(quantile(p.idleMillis, 0.5)), oneDecimal(quantile(p.busyMillis, 0.5)), oneDecimal(quantile(p.busyMillis, 0.95)))
	}
	matches := newTable("matches|made in s|finished/s beside the requests")
	matches.add(b.Matches, noDecimals(filled.Seconds()), oneDecimal(finished))
	return newReport(t, matches), nil
}

// fakeMachines returns 1000 invented machines that play matches, for the page with all workers.
func fakeMachines() (list []ladder.Machine, err error) {
	for n := range 1000 {
		m := ladder.Machine{Name: fmt.Sprintf("lab-%d", n), State: ladder.MachineReady, Cores: 4, Version: "1.0", Arch: "amd64", Sandbox: "full", LastReportAt: time.Now()}
		for i := range m.Cores {
			m.Playing = append(m.Playing, ladder.MachineMatch{Match: int64(4*n + i + 1), Attempt: 1, Bots: []string{"@first", "@greedy"}, Numbers: []int{1, 1}, StartedAt: time.Now()})
		}
		list = append(list, m)
	}
	return list, nil
}

func (c *siteCompetition) serve() (*httptest.Server, error) {
	log := slog.New(slog.DiscardHandler)
	m := middleware.New(middleware.Options{Service: service.New(service.Options{Store: c.Store, Config: c.config}), Log: log})
	a := api.New(api.Options{Middleware: m})
	pages, err := site.New(site.Options{
		Middleware: m, Document: api.Document(), Machines: fakeMachines,
		Live: live.NewHub(live.Options{Store: c.Store, Limits: live.DefaultLimits(c.config.Live.Total)}),
	})
	if err != nil {
		return nil, err
	}
	return httptest.NewServer(a.Handler(pages)), nil
}

// finishMatches stores finished matches until ctx ends, at most rate per second. It returns the number that it has
// stored per second on average.
func (c *siteCompetition) finishMatches(ctx context.Context, rate int) (float64, error) {
	began, n, r := time.Now(), 0, rand.New(rand.NewPCG(7, 8))
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for ; ; n++ {
		select {
		case <-ctx.Done():
			return float64(n) / time.Since(began).Seconds(), nil
		case <-tick.C:
			if err := c.storeMatches(context.WithoutCancel(ctx), c.nextMatch(r)); err != nil {
				return 0, err
			}
		}
	}
}

// pages returns all kinds of pages of the site. Each request for a page is for another random bot, person, ladder,
// match or game.
func (c *siteCompetition) pages(b Site) []*page {
	r, bots := rand.New(rand.NewPCG(3, 4)), b.Bots
	match := func() string { return fmt.Sprintf("/matches/%d", 1+r.IntN(max(b.Matches, 1))) }
	on := func() string { return c.ladders[r.IntN(len(c.ladders))].Name }
	bot := func() string { return fmt.Sprintf("/bots/bot-%d", r.IntN(bots)) }
	return []*page{
		{name: "home", path: func() string { return "/" }},
		{name: "standings", path: func() string { return "/ladders/" + on() }},
		{name: "pairs", path: func() string { return "/ladders/" + on() + "/pairs" }},
		{name: "pair", path: func() string { return "/ladders/" + on() + "/pairs/bot-0@1/bot-1@1" }},
		{name: "bots", path: func() string { return "/bots" }},
		{name: "bots, filtered", path: func() string { return "/bots?language=Rust&q=" + fmt.Sprint(r.IntN(100)) + "&ladder=" + on() }},
		{name: "bot", path: bot},
		{name: "bot @random", path: func() string { return "/bots/@random" }},
		{name: "bot on a ladder", path: func() string { return bot() + "?ladder=" + on() }},
		{name: "lost games", path: func() string { return bot() + "/lost" }},
		{name: "version", path: func() string { return bot() + "/versions/1" }},
		{name: "person", path: func() string { return fmt.Sprintf("/people/person-%d", r.IntN(bots)) }},
		{name: "people", path: func() string { return "/people" }},
		{name: "search", path: func() string { return fmt.Sprintf("/search?q=t-%d", r.IntN(bots)) }},
		{name: "search, nothing", path: func() string { return "/search?q=nothing" }},
		{name: "badge", path: func() string { return bot() + "/badge.svg" }},
		{name: "feed", path: func() string { return bot() + "/feed.atom" }},
		{name: "machines", path: func() string { return "/machines" }},
		{name: "matches", path: func() string { return "/matches" }},
		{name: "match", path: match},
		{name: "game", path: func() string { return fmt.Sprintf("/games/%d", c.games[r.IntN(len(c.games))]) }},
		{name: "game of 12", path: func() string { return fmt.Sprintf("/games/%d", c.largeGames[r.IntN(len(c.largeGames))]) }},
	}
}

// measureVisits sends the given number of requests for pages of this kind to the server at url. It returns
// the response times in milliseconds.
func (p *page) measureVisits(ctx context.Context, url string, requests int) (took []float64, err error) {
	for range requests {
		began := time.Now()
		if err := fetch(ctx, url+p.path()); err != nil {
			return nil, err
		}
		took = append(took, 1000*time.Since(began).Seconds())
	}
	return took, nil
}

func fetch(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept-Encoding", "gzip") // explicit, so that the client does not decompress the response
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("bench: %s: status %d", url, resp.StatusCode)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
