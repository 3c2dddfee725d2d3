package fairness

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
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

// attack is something that one or two accounts do to the others.
type attack struct {
	name, help string
	// due returns the part of the workers' time that it may take from rated matches by
	// the rules of docs/operating.md; nil: none.
	due    func(workers int) float64
	enlist func(context.Context, *server) (*crew, error)
}

// share is the default of limits.share.
func share(int) float64 { return 0.15 }

// half is what submissions may have of the workers.
func half(int) float64 { return 0.5 }

var attacks = []attack{
	{"endless", "one account asks for matches that last for hours, as many as it may", share, enlistEndless},
	{"twelve", "one account asks for matches of twelve seats, with bots of 300 MiB in four of them", share, enlistTwelve},
	{"builds", "one account always has six submissions in the queue, with builds of two seconds", half, enlistBuilds},
	{"uploads", "two accounts from two addresses hold all the uploads that they may, just above the lowest rate", nil, enlistUploads},
	{"readers", "two accounts from two addresses read eight streams of replays each, just above the lowest rate", nil, enlistReaders},
	{"tokens", "one account asks for 150 tokens at once, every second", nil, enlistTokens},
}

// crew makes an attack again and again.
type crew struct {
	tasks []func(context.Context) // each until the context ends
	after func() error            // takes back what goes on by itself
}

// begin begins the attack, and returns what ends it.
func (c *crew) begin(ctx context.Context) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for _, task := range c.tasks {
		group.Go(func() { task(ctx) })
	}
	return func() error {
		cancel()
		group.Wait()
		if c.after == nil {
			return nil
		}
		return c.after()
	}
}

func enlistEndless(ctx context.Context, s *server) (*crew, error) {
	c, err := s.join(ctx, "endless")
	if err != nil {
		return nil, err
	}
	return askers(ctx, c, wire.AskedMatch{
		Game: "podrida", Options: map[string]string{"players": "3", "rounds": "updown"}, Deals: 100, Bots: []string{"@random", "@first", "@greedy"},
	}), nil
}

// askers keep as many matches open as a person may have, and cancel them at the end.
func askers(ctx context.Context, c *client.Client, m wire.AskedMatch) *crew {
	var ids []int64
	return &crew{
		tasks: []func(context.Context){func(ctx context.Context) {
			every(ctx, time.Second, func(ctx context.Context) error {
				for { // until the limit refuses one
					asked, err := c.AskMatch(ctx, m)
					if err != nil {
						return nil
					}
					ids = append(ids, asked.ID)
				}
			})
		}},
		after: func() error {
			for _, id := range ids {
				c.CancelMatch(ctx, id) // an error: it is over
			}
			ids = nil
			return nil
		},
	}
}

// ballast makes a bot large.
const ballast = "ballast = bytearray(b'x') * (300 << 20)\n"

func enlistTwelve(ctx context.Context, s *server) (*crew, error) {
	python, err := starters.Find("python")
	if err != nil {
		return nil, err
	}
	if missing := python.Missing(); missing != nil {
		return nil, fmt.Errorf("%v is not installed: leave this attack out", missing)
	}
	c, err := s.join(ctx, "twelve")
	if err != nil {
		return nil, err
	}
	bots := []string{"@random", "@first", "@greedy"}
	for noise := 5; len(bots) < 8; noise += 5 {
		bots = append(bots, fmt.Sprintf("@greedy:noise=%d", noise))
	}
	for i := range 4 {
		name := fmt.Sprint("large", i)
		if err := submitLarge(ctx, c, python, name); err != nil {
			return nil, err
		}
		bots = append(bots, name)
	}
	return askers(ctx, c, wire.AskedMatch{Game: "podrida", Options: map[string]string{"players": "12"}, Deals: 10, Bots: bots}), nil
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
	p, err := bundle.Pack(dir, bundle.Default)
	if err != nil {
		return err
	}
	sent, err := c.Submit(ctx, "", "application/gzip", client.Body(p.Data))
	if err != nil {
		return err
	}
	for now, err := range c.Follow(ctx, sent.ID) {
		if err != nil {
			return err
		}
		sent = now
	}
	if sent.Version.State != "live" {
		return fmt.Errorf("%s is %s: %s", name, sent.Version.State, sent.Version.Reason)
	}
	return nil
}

// pack packs a bot of some files.
func pack(files map[string]string) (*bundle.Packed, error) {
	dir, err := os.MkdirTemp("", "timba-fair-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return bundle.Pack(dir, bundle.Default)
}

func enlistBuilds(ctx context.Context, s *server) (*crew, error) {
	if _, err := exec.LookPath("timeout"); err != nil {
		return nil, err
	}
	c, err := s.join(ctx, "builds")
	if err != nil {
		return nil, err
	}
	var open []int64
	sent := 0
	return &crew{
		tasks: []func(context.Context){func(ctx context.Context) {
			every(ctx, time.Second/2, func(ctx context.Context) error {
				var still []int64
				for _, id := range open {
					if now, err := c.Submission(ctx, id); err != nil || !now.Done {
						still = append(still, id)
					}
				}
				open = still
				for len(open) < 6 && ctx.Err() == nil {
					sent++
					id, err := upload(ctx, c, fmt.Sprint("slow", sent), "timeout 2 sh -c 'while :; do :; done'; exit 1")
					if err != nil {
						return nil
					}
					open = append(open, id)
				}
				return nil
			})
		}},
		after: func() error {
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
			return nil
		},
	}, nil
}

// slow is just above the default of limits.rate.
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

func enlistUploads(ctx context.Context, s *server) (*crew, error) {
	return s.fromTwo(ctx, "uploads", 2, func(ctx context.Context, h *http.Client, token string) error {
		return exchange(ctx, h, token, http.MethodPost, s.url+"/api/v1/submissions?bot=drip", "application/gzip", io.LimitReader(drip{ctx}, 15<<20), nil)
	})
}

func enlistReaders(ctx context.Context, s *server) (*crew, error) {
	return s.fromTwo(ctx, "readers", 8, func(ctx context.Context, h *http.Client, token string) error {
		return exchange(ctx, h, token, http.MethodGet, s.url+"/api/v1/replays", "", nil, func(body io.Reader) {
			every(ctx, time.Second/10, func(context.Context) error {
				_, err := io.CopyN(io.Discard, body, slow/10)
				return err
			})
		})
	})
}

// fromTwo makes a crew of two accounts, each from its own address, that do so many
// things at the same time, and again when they are ended.
func (s *server) fromTwo(ctx context.Context, name string, n int, do func(context.Context, *http.Client, string) error) (*crew, error) {
	var all crew
	for i := range 2 {
		c, err := s.join(ctx, fmt.Sprint(name, i))
		if err != nil {
			return nil, err
		}
		h := from(byte(2 + i))
		for range n {
			all.tasks = append(all.tasks, func(ctx context.Context) {
				every(ctx, time.Second, func(ctx context.Context) error {
					do(ctx, h, c.Token)
					return nil
				})
			})
		}
	}
	return &all, nil
}

// exchange sends a request and reads its answer.
func exchange(ctx context.Context, h *http.Client, token, method, url, kind string, body io.Reader, read func(io.Reader)) error {
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	resp, err := h.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if read != nil && resp.StatusCode == http.StatusOK {
		read(resp.Body)
	}
	return nil
}

func enlistTokens(ctx context.Context, s *server) (*crew, error) {
	c, err := s.join(ctx, "tokens")
	if err != nil {
		return nil, err
	}
	h := from(2)
	return &crew{tasks: []func(context.Context){func(ctx context.Context) {
		every(ctx, time.Second, func(ctx context.Context) error {
			var burst sync.WaitGroup
			for range 150 {
				burst.Go(func() {
					exchange(ctx, h, c.Token, http.MethodPost, s.url+"/api/v1/tokens", "application/json", bytes.NewReader([]byte(`{"scope":"read"}`)), nil)
				})
			}
			burst.Wait()
			return nil
		})
	}}}, nil
}
