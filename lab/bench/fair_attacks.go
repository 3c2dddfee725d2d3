package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

// attack is something that one or two accounts do to the others.
type attack struct {
	name, help string
	// due is the part of the workers' time that it may take from rated matches by the rules of
	// docs/operating.md.
	due      float64
	accounts int
	prepare  func(ctx context.Context, accounts []*client.Client) (*attackers, error)
}

// What matches that people ask for may have of the workers by ladder.UnratedShare, and what
// submissions may have.
const (
	dueAsked       = 0.15
	dueSubmissions = 0.5
)

var attacks = []attack{
	{"endless", "one account asks for matches that last for hours, as many as it may", dueAsked, 1, prepareEndless},
	{"twelve", "one account asks for matches of twelve seats, with bots of 300 MiB in four of them", dueAsked, 1, prepareTwelve},
	{"builds", "one account always has six submissions in the queue, with builds of two seconds", dueSubmissions, 1, prepareBuilds},
	{"uploads", "two accounts from two addresses hold all the uploads that they may, just above the lowest rate", 0, 2, prepareUploads},
	{"readers", "two accounts from two addresses read eight streams of replays each, just above the lowest rate", 0, 2, prepareReaders},
	{"tokens", "one account asks for 150 tokens at once, every second", 0, 1, prepareTokens},
}

// attackers make an attack again and again.
type attackers struct {
	interval time.Duration           // between the begins of a task
	tasks    []func(context.Context) // at the same time
	after    func()                  // takes back what goes on by itself; nil: nothing
}

// begin begins the attack, and returns what ends it.
func (a *attackers) begin(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, task := range a.tasks {
		group.Go(func() { every(ctx, a.interval, task) })
	}
	return func() {
		cancel()
		group.Wait()
		if a.after != nil {
			a.after()
		}
	}
}

func prepareEndless(ctx context.Context, accounts []*client.Client) (*attackers, error) {
	return askers(ctx, accounts[0], wire.AskedMatch{
		Game: "podrida", Options: map[string]string{"players": "3", "rounds": "updown"}, Deals: 100, Bots: []string{"@random", "@first", "@greedy"},
	}), nil
}

// askers keep as many matches open as a person may have, and cancel them at the end.
func askers(ctx context.Context, c *client.Client, m wire.AskedMatch) *attackers {
	var ids []int64
	ask := func(ctx context.Context) {
		for { // until the limit refuses one
			asked, err := c.AskMatch(ctx, m)
			if err != nil {
				return
			}
			ids = append(ids, asked.ID)
		}
	}
	return &attackers{interval: time.Second, tasks: []func(context.Context){ask}, after: func() {
		for _, id := range ids {
			c.CancelMatch(ctx, id) // an error: it is over
		}
		ids = nil
	}}
}

// ballast makes a bot large.
const ballast = "ballast = bytearray(b'x') * (300 << 20)\n"

func prepareTwelve(ctx context.Context, accounts []*client.Client) (*attackers, error) {
	python, err := starters.Find("python")
	if err != nil {
		return nil, err
	}
	if missing := python.Missing(); missing != nil {
		return nil, fmt.Errorf("%v is not installed: leave this attack out", missing)
	}
	bots := []string{"@random", "@first", "@greedy"}
	for noise := 5; len(bots) < 8; noise += 5 {
		bots = append(bots, fmt.Sprintf("@greedy:noise=%d", noise))
	}
	for i := range 4 {
		name := fmt.Sprint("large", i)
		if err := submitLarge(ctx, accounts[0], python, name); err != nil {
			return nil, err
		}
		bots = append(bots, name)
	}
	return askers(ctx, accounts[0], wire.AskedMatch{Game: "podrida", Options: map[string]string{"players": "12"}, Deals: 10, Bots: bots}), nil
}

// submitLarge submits a starter with ballast and waits until it is live.
func submitLarge(ctx context.Context, c *client.Client, l starters.Language, name string) error {
	parent, err := os.MkdirTemp("", "timba-fair-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent)
	dir := filepath.Join(parent, name)
	if _, err := l.Write(dir); err != nil {
		return err
	}
	program := filepath.Join(dir, "bot.py")
	code, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	manifest := fmt.Sprintf("name = %q\ngames = [\"podrida\"]\nrun = [\"python3\", \"bot.py\"]\n", name)
	code = bytes.Replace(code, []byte("import sys\n"), []byte("import sys\n"+ballast), 1)
	if err := errors.Join(os.WriteFile(program, code, 0o644), os.WriteFile(filepath.Join(dir, "timba.toml"), []byte(manifest), 0o644)); err != nil {
		return err
	}
	id, err := send(ctx, c, dir)
	if err != nil {
		return err
	}
	var last wire.Submission
	for now, err := range c.Follow(ctx, id) {
		if err != nil {
			return err
		}
		last = now
	}
	if last.Version.State != "live" {
		return fmt.Errorf("%s is %s: %s", name, last.Version.State, last.Version.Reason)
	}
	return nil
}

func prepareBuilds(ctx context.Context, accounts []*client.Client) (*attackers, error) {
	if _, err := exec.LookPath("timeout"); err != nil {
		return nil, err
	}
	c, sent := accounts[0], 0
	var open []int64
	submit := func(ctx context.Context) {
		open = slices.DeleteFunc(open, func(id int64) bool {
			now, err := c.Submission(ctx, id)
			return err == nil && now.Done
		})
		for len(open) < 6 && ctx.Err() == nil {
			sent++
			id, err := upload(ctx, c, fmt.Sprint("slow", sent), "timeout 2 sh -c 'while :; do :; done'; exit 1")
			if err != nil {
				return
			}
			open = append(open, id)
		}
	}
	return &attackers{interval: time.Second / 2, tasks: []func(context.Context){submit}, after: func() {
		for _, id := range open {
			c.CancelSubmission(ctx, id) // an error: it has begun, or is over
		}
		for _, id := range open {
			for _, err := range c.Follow(ctx, id) {
				if err != nil {
					break
				}
			}
		}
		open = nil
	}}, nil
}

// slow is just above middleware.DefaultPace.
const slow = 34 << 10 // bytes per second

// from returns a client of HTTP that comes from another address of this machine.
func from(address byte) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, address)}}
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, to)
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetReadBuffer(8 << 10)
		}
		return c, err
	}, DisableKeepAlives: true}}
}

// drip is a body without an end that comes slowly.
type drip struct{ ctx context.Context }

func (d drip) Read(p []byte) (int, error) {
	pause(d.ctx, time.Second/10)
	return min(len(p), slow/10), d.ctx.Err()
}

func prepareUploads(_ context.Context, accounts []*client.Client) (*attackers, error) {
	return fromEach(accounts, 2, func(ctx context.Context, h *http.Client, c *client.Client) {
		body := io.LimitReader(drip{ctx}, 15<<20)
		exchange(ctx, h, c, http.MethodPost, "submissions?bot=drip", "application/gzip", body, func(io.Reader) {})
	})
}

func prepareReaders(_ context.Context, accounts []*client.Client) (*attackers, error) {
	return fromEach(accounts, 8, func(ctx context.Context, h *http.Client, c *client.Client) {
		exchange(ctx, h, c, http.MethodGet, "replays", "", nil, func(body io.Reader) {
			for pause(ctx, time.Second/10) == nil {
				if _, err := io.CopyN(io.Discard, body, slow/10); err != nil {
					return
				}
			}
		})
	})
}

// fromEach makes attackers of accounts, each from its own address, that do so many things at the same
// time, and again when they are ended.
func fromEach(accounts []*client.Client, n int, do func(context.Context, *http.Client, *client.Client)) (*attackers, error) {
	all := &attackers{interval: time.Second}
	for i, c := range accounts {
		h := from(byte(2 + i))
		for range n {
			all.tasks = append(all.tasks, func(ctx context.Context) { do(ctx, h, c) })
		}
	}
	return all, nil
}

// exchange sends a request of an account to the API and reads its answer, unless it is refused.
func exchange(ctx context.Context, h *http.Client, c *client.Client, method, path, kind string, body io.Reader, read func(io.Reader)) {
	r, err := http.NewRequestWithContext(ctx, method, c.URL+"/api/v1/"+path, body)
	if err != nil {
		return
	}
	r.Header.Set("Authorization", "Bearer "+c.Token)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	resp, err := h.Do(r)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		read(resp.Body)
	}
}

func prepareTokens(_ context.Context, accounts []*client.Client) (*attackers, error) {
	return fromEach(accounts, 1, func(ctx context.Context, h *http.Client, c *client.Client) {
		var burst sync.WaitGroup
		for range 150 {
			burst.Go(func() {
				body := strings.NewReader(`{"scope":"read"}`)
				exchange(ctx, h, c, http.MethodPost, "tokens", "application/json", body, func(io.Reader) {})
			})
		}
		burst.Wait()
	})
}
