package sitebench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/site"
)

// Page is how fast a page is while matches are finished.
type Page struct {
	Name        string
	Median, P95 time.Duration // from the request to the last byte, while matches are finished
	CPU         time.Duration // of a request, its client included, while none are
	Load        int           // bytes of a first visit: the page and its files, compressed
}

// Result is what Pages has measured.
type Result struct {
	Filled   time.Duration // time to make the competition
	Finished float64       // matches finished in a second, beside the requests
	Pages    []Page
}

// Pages makes a competition and measures each page by so many requests over loopback, with one
// match finished after the other meanwhile, at most rate in a second.
func Pages(ctx context.Context, size Size, requests, rate int) (out Result, err error) {
	dir, err := os.MkdirTemp("", "timba-bench-")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	c, err := newCrowd(ctx, dir, size)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	out.Filled = time.Since(began)
	url, stop, err := c.serve()
	if err != nil {
		return out, err
	}
	defer stop()
	pages := c.pages(size)
	if out.Pages, err = alone(ctx, url, pages, requests); err != nil {
		return out, err
	}
	end := c.writing(ctx, rate)
	err = measure(ctx, url, pages, requests, out.Pages)
	var failed error
	out.Finished, failed = end()
	return out, errors.Join(err, failed)
}

// machines are as many as a large competition has.
func machines() (list []ladder.Machine, err error) {
	for n := range 1000 {
		m := ladder.Machine{Name: fmt.Sprintf("lab-%d", n), State: ladder.MachineReady, Cores: 4, Version: "1.0", Arch: "amd64", Sandbox: "full", Seen: time.Now()}
		for i := range m.Cores {
			m.Playing = append(m.Playing, ladder.MachineMatch{Match: int64(4*n + i + 1), Attempt: 1, Bots: []string{"@first", "@greedy"}, Numbers: []int{1, 1}, Began: time.Now()})
		}
		list = append(list, m)
	}
	return list, nil
}

// serve serves the site on loopback.
func (c *crowd) serve() (url string, stop func(), err error) {
	log, hub := slog.New(slog.DiscardHandler), new(events.Hub)
	a := api.New(api.Options{
		Store: c.Store, Config: c.config, Events: hub, Log: log, Wake: func() {},
		Health: func(context.Context) error { return nil }, Registerer: prometheus.NewRegistry(),
	})
	pages, err := site.New(site.Options{Store: c.Store, Config: c.config, Events: hub, API: a, Live: live.NewHub(live.Options{Store: c.Store, Events: hub, Limits: c.config.Live}), Key: []byte(hash(0)), Machines: machines})
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := api.NewServer(a.Pages(pages), log)
	go server.Serve(listener)
	return "http://" + listener.Addr().String(), func() { server.Close() }, nil
}

// writing finishes matches until end, which tells how many a second.
func (c *crowd) writing(ctx context.Context, rate int) (end func() (float64, error)) {
	ctx, cancel := context.WithCancel(ctx)
	done, began, n := make(chan error, 1), time.Now(), 0
	go func() {
		r := rand.New(rand.NewPCG(7, 8))
		tick := time.NewTicker(time.Second / time.Duration(max(rate, 1)))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				done <- nil
				return
			case <-tick.C:
				if err := c.finishOne(context.WithoutCancel(ctx), r); err != nil {
					done <- err
					return
				}
				n++
			}
		}
	}()
	return func() (float64, error) {
		cancel()
		err := <-done
		return float64(n) / time.Since(began).Seconds(), err
	}
}

// address is a page, with its address, another one each time.
type address struct {
	name string
	path func() string
}

// pages returns pages of bots, people, ladders, matches and games at random.
func (c *crowd) pages(size Size) []address {
	r, bots := rand.New(rand.NewPCG(3, 4)), size.Bots
	match := func() string { return fmt.Sprintf("/matches/%d", 1+r.IntN(max(size.Matches, 1))) }
	game := func() int { return 1 + r.IntN(max(size.Matches, 1)) } // a match has more games than one
	on := func() string { return c.ladders[r.IntN(len(c.ladders))].Name }
	bot := func() string { return fmt.Sprintf("/bots/bot-%d", r.IntN(bots)) }
	return []address{
		{"home", func() string { return "/" }},
		{"standings", func() string { return "/ladders/" + on() }},
		{"pairs", func() string { return "/ladders/" + on() + "/pairs" }},
		{"bots", func() string { return "/bots" }},
		{"bots, filtered", func() string { return "/bots?language=Rust&q=" + fmt.Sprint(r.IntN(100)) + "&ladder=" + on() }},
		{"bot", bot},
		{"bot @random", func() string { return "/bots/@random" }},
		{"bot on a ladder", func() string { return bot() + "?ladder=" + on() }},
		{"version", func() string { return bot() + "/versions/1" }},
		{"person", func() string { return fmt.Sprintf("/people/person-%d", r.IntN(bots)) }},
		{"search", func() string { return fmt.Sprintf("/search?q=t-%d", r.IntN(bots)) }},
		{"search, nothing", func() string { return "/search?q=nothing" }},
		{"badge", func() string { return bot() + "/badge.svg" }},
		{"feed", func() string { return bot() + "/feed.atom" }},
		{"machines", func() string { return "/machines" }},
		{"matches", func() string { return "/matches" }},
		{"match", match},
		{"game", func() string { return fmt.Sprintf("/games/%d", game()) }},
		{"game of 12", func() string { return fmt.Sprintf("/games/%d", c.large[r.IntN(len(c.large))]) }},
	}
}

// alone returns the first load of each page and the processor time of a request, while no match is
// finished.
func alone(ctx context.Context, url string, pages []address, requests int) (out []Page, err error) {
	for _, x := range pages {
		p := Page{Name: x.name}
		if p.Load, err = load(ctx, url, x.path()); err != nil {
			return nil, err
		}
		before := cpu()
		for range requests {
			if _, _, err := fetch(ctx, url+x.path()); err != nil {
				return nil, err
			}
		}
		p.CPU = (cpu() - before) / time.Duration(requests)
		out = append(out, p)
	}
	return out, nil
}

// measure fetches each page again and again, and adds how long that takes.
func measure(ctx context.Context, url string, pages []address, requests int, out []Page) error {
	for i, x := range pages {
		var took []time.Duration
		for range requests {
			began := time.Now()
			if _, _, err := fetch(ctx, url+x.path()); err != nil {
				return err
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		out[i].Median, out[i].P95 = took[len(took)/2], took[len(took)*95/100]
	}
	return nil
}

// fetch returns the bytes of an address as sent, compressed, and the text.
func fetch(ctx context.Context, url string) (sent int, text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Accept-Encoding", "gzip") // so that the client leaves it as it is
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("bench: %s: status %d", url, resp.StatusCode)
	}
	return len(data), data, err
}

var linked = regexp.MustCompile(`(?:href|src)="(/assets/[^"]*)"`)

// load returns the bytes of a page and of the files that it links.
func load(ctx context.Context, url, path string) (sum int, err error) {
	sum, text, err := fetch(ctx, url+path)
	if err != nil {
		return 0, err
	}
	if text, err = plain(text); err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, m := range linked.FindAllStringSubmatch(string(text), -1) {
		if name := m[1]; !seen[name] {
			seen[name] = true
			n, _, err := fetch(ctx, url+name)
			if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}

// plain returns a text without its compression.
func plain(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
