// Package webtest helps to test pages. Start and Open open pages in a real Chromium; a Tab records what a page
// writes to the console and what it requests, and examines it with axe-core. New starts a real server, on which
// bots that are part of timba play. A package that uses it needs a TestMain that calls Main.
package webtest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/remote"
	"github.com/timba-arena/timba/web/server"
	"github.com/timba-arena/timba/web/wire"
)

// Main runs the tests of a package that uses a World, and must be called by its TestMain. The tests share one
// browser.
func Main(m *testing.M) {
	refereetest.Main(M{Tests: m}, refereetest.Modes{"bot": refereetest.RunHouseBot}, nil)
}

// Ladders is the configuration of a World in TOML: ladders with short matches between bots of timba.
const Ladders = limits + `
[[ladder]]
name = "brisca"
title = "Brisca"
game = "brisca"
deals = 1
clock = {movetime = 60000, startup = 60000}
house = ["@random", "@first", "@greedy"]
[[ladder]]
name = "tebes-4"
title = "Tebes on a small board"
game = "tebes"
options = {size = "4"}
deals = 1
clock = {movetime = 60000, startup = 60000}
house = ["@random", "@first", "@greedy"]
[[ladder]]
name = "teams"
title = "Brisca, two against two"
game = "brisca"
options = {players = "4", teams = "yes"}
deals = 1
clock = {movetime = 60000, startup = 60000}
house = ["@random", "@first", "@greedy", "@greedy:noise=20"]
`

// Calm is a configuration in TOML with one ladder and one bot of timba. No match is played before a test adds
// another bot.
const Calm = limits + `
[[ladder]]
name = "brisca"
title = "Brisca"
game = "brisca"
deals = 1
clock = {movetime = 60000, startup = 60000}
house = ["@random"]
`

// Quiet is a configuration like Calm, for tests with ConnectHeldBot. Its ladder has another game than the matches of
// ConnectHeldBot, and its clock is long enough for a bot that waits.
var Quiet = strings.NewReplacer(`game = "brisca"`, `game = "teeko"`, `"brisca"`, `"teeko"`, "movetime = 60000", "movetime = 3600000").Replace(Calm)

const limits = `
[limits]
time = "168h"
requests = 100000
`

// World is a competition for tests, with a real server on which bots of timba play.
type World struct {
	T         testing.TB
	Server    *server.Server
	URL       string // the address of the server, without a slash at the end
	Token     string // the token of the admin
	limits    bundle.Limits
	log       *kit.Output // warnings and errors
	fullLog   *kit.Output // all messages
	options   server.Options
	stop      func()               // stops the server
	setTarget func(address string) // sets the server to which the URL of FixAddress leads
}

// New starts a server and waits until each ladder has the given number of finished matches. toml has the
// configuration of the ladders; "" means Ladders. The server plays until the end of the test. If it logs
// errors, the test fails. "make check" skips the test.
func New(t testing.TB, toml string, matches int) *World {
	t.Helper()
	kit.Slow(t)
	if toml == "" {
		toml = Ladders
	}
	w := &World{T: t, log: new(kit.Output), fullLog: new(kit.Output), setTarget: func(string) {}}
	c := kit.Get[*config.Config](t)(config.Parse("test", []byte(toml)))
	c.Sandbox, w.limits = sandbox.LevelNone, bundle.LimitsOf(c.Limits)
	cores := kit.Get[[]int](t)(server.Cores(1))
	w.options = server.Options{
		Dir: datadir.Dir(laddertest.Dir(t)), HTTP: server.HTTP{Listen: "127.0.0.1:0"}, Config: c, Level: sandbox.LevelNone, Cores: cores, Grace: time.Second,
		Version: "test", Database: store.Options{NoSync: true},
		Log: slog.New(slog.NewMultiHandler(
			slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelWarn}), slog.NewTextHandler(w.fullLog, &slog.HandlerOptions{Level: slog.LevelDebug}))),
	}
	w.Server = kit.Get[*server.Server](t)(server.Open(t.Context(), w.options))
	t.Cleanup(func() {
		w.stop()
		if log := w.log.String(); strings.Contains(log, "level=ERROR") {
			t.Errorf("the server's log has errors:\n%s", log)
		}
	})
	w.URL, w.Token = w.Server.URL(), w.Server.Token
	w.stop = func() { w.Must(w.Server.Close()) }
	finished, stop := w.Server.Store.Events().Subscribe(1024, func(e events.Event) bool { return e.Kind == events.MatchFinished })
	defer stop()
	w.serve()
	w.await(finished, matches)
	return w
}

func (w *World) serve() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	running := w.Server
	go func() { ended <- running.Serve(ctx) }()
	w.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			w.T.Errorf("server: %v", err)
		}
		if err := running.Close(); err != nil {
			w.T.Error(err)
		}
	}
}

// Stop stops the server. Restart starts it again with the same data. It then has another address, unless
// FixAddress was called.
func (w *World) Stop() {
	w.setTarget("")
	w.stop()
	w.stop = func() {}
}

// Restart starts the server that Stop has stopped.
func (w *World) Restart() {
	w.T.Helper()
	var err error
	w.Server, err = server.Open(w.T.Context(), w.options)
	w.Must(err)
	w.setTarget(strings.TrimPrefix(w.Server.URL(), "http://"))
	w.serve()
}

// SetPace restarts the server with p as the slowest permitted speed of uploads and downloads.
func (w *World) SetPace(p middleware.Pace) {
	w.T.Helper()
	w.Stop()
	w.options.HTTP.Pace = p
	w.Restart()
}

// FixAddress sets URL to an address that stays the same when the server restarts.
func (w *World) FixAddress() {
	w.T.Helper()
	var address string
	address, w.setTarget = kit.Forward(w.T)
	w.URL = "http://" + address
	w.setTarget(strings.TrimPrefix(w.Server.URL(), "http://"))
}

// ConnectHeldBot connects a remote bot (one that plays over the network) that plays game, and requests an unrated
// match of this bot with the given number of deals. The bot waits before its fourth move until free is called.
// ConnectHeldBot returns the ID of the match once the bot waits.
func (w *World) ConnectHeldBot(game string, deals int) (match int64, free func()) {
	w.T.Helper()
	gate, online, holds := make(chan struct{}), make(chan struct{}), make(chan struct{})
	once, first := new(sync.Once), new(sync.Once)
	bot := &remote.Connector{ClientOptions: remote.ClientOptions{
		ServerAddress: remote.ServerAddress{URL: w.URL, Token: w.Token}, Bot: "held", Games: []string{game}, Stderr: io.Discard,
		Serve: func(lines io.Reader, answers io.Writer) error {
			turns, ended := 0, make(chan struct{})
			read, write := io.Pipe()
			go func() {
				io.Copy(write, lines)
				write.Close()
				close(ended)
			}()
			return protocol.Serve(read, answers, "", "", func(t *protocol.Turn) protocol.Answer {
				if turns++; turns == 4 {
					first.Do(func() { close(holds) })
					select {
					case <-gate:
					case <-ended:
					}
				}
				return protocol.Answer{Move: []byte(t.Moves.Strings()[0])}
			})
		},
		OnEvent: func(s remote.ClientEvent) {
			if s.Online != nil {
				once.Do(func() { close(online) })
			}
		},
	}}
	ctx, leave := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		bot.Run(ctx)
	}()
	free = sync.OnceFunc(func() { close(gate) })
	w.T.Cleanup(func() {
		free()
		leave()
		<-ended
	})
	kit.Wait(w.T, "the held bot is online", online)
	c, err := client.New(w.URL, w.Token)
	w.Must(err)
	m, err := c.AskMatch(w.T.Context(), wire.AskedMatch{Game: game, Deals: deals, Bots: []string{"held", "@random"}})
	w.Must(err)
	kit.Wait(w.T, "the held bot holds its match", holds)
	return m.ID, free
}

// await waits until each ladder has the given number of finished matches. The channel finished gets an event when a
// match finishes.
func (w *World) await(finished <-chan events.Event, matches int) {
	w.T.Helper()
	for {
		list := kit.Get[[]store.LadderInfo](w.T)(w.Server.Store.Ladders.List(w.T.Context()))
		missing := 0
		for _, l := range list {
			missing += max(0, matches-int(l.FinishedMatches))
		}
		if missing == 0 {
			return
		}
		<-finished
	}
}

// Must ends the test if err is not nil.
func (w *World) Must(err error) {
	w.T.Helper()
	kit.Must(w.T, err)
}

// Log returns everything that the server has logged, including requests.
func (w *World) Log() string { return w.fullLog.String() }

// Archive returns the files of a bot's directory as an archive for an upload.
func (w *World) Archive(dir string) []byte {
	w.T.Helper()
	p := kit.Get[*bundle.Archive](w.T)(bundle.Pack(dir, w.limits))
	return p.Data
}

type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// codeWord matches an error message, on a page or by the API, that begins as errors of Go packages do: with a
// lower-case word and a colon.
var codeWord = regexp.MustCompile(`(?:role="alert"><p>|</h1>\s*<p>|"detail": ?")(?:<span lang="en">)?\p{Ll}+: [^<]*`)

// Client returns an HTTP client that stores cookies and does not follow redirects.
func (w *World) Client() *http.Client {
	jar := kit.Get[*cookiejar.Jar](w.T)(cookiejar.New(nil))
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Get fetches the page with this path. headers are names and values in turn.
func (w *World) Get(c *http.Client, path string, headers ...string) Answer {
	w.T.Helper()
	return w.do(c, http.MethodGet, path, "", headers)
}

// Post sends a form, encoded as in a URL, to the page with this path, with the headers of a browser that
// shows a page of the server. headers are more names and values in turn.
func (w *World) Post(c *http.Client, path, form string, headers ...string) Answer {
	w.T.Helper()
	return w.do(c, http.MethodPost, path, form, append([]string{"Content-Type", "application/x-www-form-urlencoded", "Origin", w.URL}, headers...))
}

func (w *World) do(c *http.Client, method, path, body string, headers []string) Answer {
	w.T.Helper()
	r := kit.Get[*http.Request](w.T)(http.NewRequest(method, w.URL+path, strings.NewReader(body)))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp := kit.Get[*http.Response](w.T)(c.Do(r))
	defer resp.Body.Close()
	data := kit.Get[[]byte](w.T)(io.ReadAll(resp.Body))
	if resp.StatusCode >= 400 {
		if text := codeWord.Find(data); text != nil {
			w.T.Errorf("%s %s: the refusal begins with a word of the code: %s", method, path, text)
		}
	}
	return Answer{resp.StatusCode, resp.Header, string(data)}
}

// SignIn signs the client c in with a token, as the sign-in form does.
func (w *World) SignIn(c *http.Client, token string) {
	w.T.Helper()
	if a := w.Post(c, "/sign-in", "next=/&token="+token); a.Status != http.StatusSeeOther {
		w.T.Fatalf("sign-in answers %d: %s", a.Status, a.Body)
	}
}
