package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/web/admission"
	"github.com/timba-arena/timba/web/middleware"
)

var bg = context.Background()

// world is a competition for tests. ada owns adabot: its first version is live and has played a rated and an
// unrated match, its second version has failed, and a third one is queued. bob owns nothing, and root is an
// admin. One match runs, and one waits.
type world struct {
	*laddertest.World
	tb      testing.TB
	api     *API
	http    http.Handler
	log     *kit.Output
	wakeUps atomic.Int32
	uploads byte
	keys    map[string]string // the keys of tokens by owner and scope, such as "ada read"
	now     time.Time
	nowMu   sync.Mutex

	live, failed, queued ladder.Version
	rated                ladder.Match
	unrated              ladder.Match
	running              ladder.Match
	gameID               int64 // the game of the match rated; adabot wrote a log in seat adaSeat
	adaSeat              int
	adaFails             bool // adabot exits before it is ready
}

const testConfig = `
registration = "invite"
[limits]
requests = 200000
upload = "1m"
bots = 1000
versions = 1000
unrated = 1000
time = "168h"
[[ladder]]
name = "teeko"
title = "Teeko"
game = "teeko"
clock = {movetime = 60000}
deals = 1
house = ["@random", "@first"]
[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4"}
clock = {movetime = 60000}
deals = 2
house = ["@random", "@greedy"]
`

var scopes = []ladder.Scope{ladder.ScopeRead, ladder.ScopeSubmit, ladder.ScopeAll}

// newWorld returns a world. change may change the options of its API; it may be nil.
func newWorld(tb testing.TB, change func(*Options)) *world {
	tb.Helper()
	w := &world{tb: tb, log: new(kit.Output), keys: map[string]string{}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.World = laddertest.New(tb, testConfig, store.Options{Now: w.clock})
	w.people()
	w.bots()
	w.matches()
	o := Options{
		Middleware: middleware.New(middleware.Options{
			Service: service.New(service.Options{Store: w.Store, Config: w.Config, Now: w.clock, Wake: func() { w.wakeUps.Add(1) }}),
			Log:     slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		}),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { text(w, []byte("timba_up 1\n")) }),
	}
	o.Machines = w.machines
	if change != nil {
		change(&o)
		o.Middleware = middleware.New(o.Middleware.Options) // with other limits
	}
	w.api = New(o)
	w.limitRegistrations(100_000)
	w.http = w.api.apiHandler(w.api.routes())
	return w
}

// limitRegistrations sets the number of registrations a minute from one address.
func (w *world) limitRegistrations(n int) {
	w.api.Middleware.Joining = admission.NewRate[netip.Addr]("registrations", phrase.Plain("registrations a minute for one address"), n, w.clock)
}

// clock returns a time that advances by a millisecond at each call.
func (w *world) clock() time.Time {
	w.nowMu.Lock()
	defer w.nowMu.Unlock()
	w.now = w.now.Add(time.Millisecond)
	return w.now
}

func (w *world) advance(d time.Duration) {
	w.nowMu.Lock()
	defer w.nowMu.Unlock()
	w.now = w.now.Add(d)
}

func (w *world) people() {
	for _, name := range []string{"ada", "bob", "root"} {
		p := w.AddPerson(name, name == "root")
		for _, scope := range scopes {
			key, _, err := w.Store.Sessions.AddToken(bg, p.ID, "test", scope, time.Time{})
			kit.Must(w.tb, err)
			w.keys[name+" "+string(scope)] = key
		}
	}
}

func (w *world) person(name string) int64 {
	p := kit.Get[ladder.Person](w.tb)(w.Store.People.FindByName(bg, name))
	return p.ID
}

func hashOf(n byte) string { return referee.Commitment(rules.Seed{n}).String() }

func (w *world) bots() {
	w.SyncHouseBots(func(string) string { return hashOf(0) })
	w.live = w.version("adabot")
	w.addStages(w.live, true)
	w.MakeLive(w.live.ID, store.BuildInfo{Label: "1.0", Hash: hashOf(2), Language: "Go", Command: []string{"./bot"}})
	w.failed = w.version("adabot")
	w.addStages(w.failed, false)
	kit.Must(w.tb, w.Store.Versions.Fail(bg, w.failed.ID, phrase.Plain("build: exit status 1")))
	w.queued = w.version("adabot")
}

// version submits a new version of a bot of ada's.
func (w *world) version(bot string) ladder.Version {
	w.tb.Helper()
	w.uploads++
	return w.Submit(w.person("ada"), bot, hashOf(10+w.uploads))
}

// addStages runs v through its first two stages; ok is whether the second succeeds.
func (w *world) addStages(v ladder.Version, ok bool) {
	w.tb.Helper()
	kit.Must(w.tb, w.Store.Versions.StartStage(bg, v.ID, "unpack"))
	kit.Must(w.tb, w.Store.Versions.FinishStage(bg, v.ID, ladder.Stage{Name: "unpack", OK: true, Summary: phrase.Plain("3 files")}))
	kit.Must(w.tb, w.Store.Versions.StartStage(bg, v.ID, "build"))
	kit.Must(w.tb, w.Store.Versions.FinishStage(bg, v.ID, ladder.Stage{Name: "build", OK: ok, Summary: phrase.Plain("cc -O2"), Log: "bot.c:1: secret of ada\n"}))
}

func (w *world) matches() {
	random := w.houseVersion("@random")
	m, err := w.Store.Matches.Add(bg, store.NewMatch{Ladder: "teeko", Versions: []int64{w.live.ID, random}})
	kit.Must(w.tb, err)
	w.rated = w.finish(m)
	m, err = w.Store.Matches.Add(bg, store.NewMatch{
		Game: "teeko", Versions: []int64{random, w.live.ID}, Clock: w.Config.Ladders[0].Clock, Deals: 1, RequestedBy: w.person("ada"),
	})
	kit.Must(w.tb, err)
	w.unrated = w.finish(m)
	w.running, err = w.Store.Matches.Add(bg, store.NewMatch{Ladder: "teeko", Versions: []int64{random, w.live.ID}})
	kit.Must(w.tb, err)
	seed := rules.Seed{byte(w.running.ID)}
	err = w.Store.Matches.Start(bg, []store.MatchStart{{Match: w.running.ID, Seed: seed}})[0].Err
	kit.Must(w.tb, err)
	_, err = w.Store.Matches.Add(bg, store.NewMatch{Ladder: "teeko", Versions: []int64{w.live.ID, random}})
	kit.Must(w.tb, err)
	games, err := w.Store.Matches.Games(bg, w.rated.ID)
	kit.Must(w.tb, err)
	w.gameID, w.adaSeat = games[0].ID, slices.IndexFunc(games[0].Seats, func(s ladder.GameSeat) bool { return s.Slot == 0 })
}

func (w *world) houseVersion(name string) int64 {
	w.tb.Helper()
	b := kit.Get[ladder.Bot](w.tb)(w.Store.Bots.Find(bg, name))
	vs := kit.Get[[]ladder.Version](w.tb)(w.Store.Versions.List(bg, b.ID, 0, -1))
	return vs[0].ID
}

// finish plays a match with house bots at the places of its versions, and returns the finished match.
func (w *world) finish(m ladder.Match) ladder.Match {
	w.tb.Helper()
	seed := rules.Seed{byte(m.ID)} // so that every run plays the same games
	kit.Must(w.tb, w.Store.Matches.Start(bg, []store.MatchStart{{Match: m.ID, Machine: "lab-1", Seed: seed}})[0].Err)
	v, err := ladder.Ladder{Game: m.Game, Options: m.Options}.Variant()
	kit.Must(w.tb, err)
	rm := match.Match{Variant: v, Deals: m.Deals, Seed: seed, Clock: m.Clock}
	for slot := range m.Versions {
		ver := kit.Get[ladder.Version](w.tb)(w.Store.Versions.Find(bg, m.Versions[slot]))
		plays := "random"
		if m.Bots[slot] == "adabot" {
			plays = "greedy" // it wins against @random
		}
		rm.Bots = append(rm.Bots, match.Contestant{
			Name: m.Bots[slot], Version: "1", Hash: ver.Hash,
			Serve: func(lines io.Reader, answers io.Writer) error {
				if w.adaFails && plays == "greedy" {
					return errors.New("out of luck")
				}
				return house.Run(plays, lines, answers)
			},
		})
	}
	var games []*referee.GameResult
	kit.Must(w.tb, rm.Play(bg, func(g *referee.GameResult) error {
		g.Reveal(seed)
		g.Logs[slices.Index(g.Bots, 0)] = []byte("secret thoughts\n")
		games = append(games, g)
		return nil
	}))
	_, err = w.Store.Matches.Finish(bg, m.ID, 1, games)
	kit.Must(w.tb, err)
	m, err = w.Store.Matches.Find(bg, m.ID)
	kit.Must(w.tb, err)
	return m
}

// call is a request of a test.
type call struct {
	method, path string // the path with its query
	who          string // owner and scope of the token, such as "ada all"; "" sends none, "=KEY" sends that key
	body         string
	kind         string // the media type of body; "" means JSON
	header       map[string]string
	remote       string // the address of the client; "" means a default
}

// ask sends a request and checks that the answer conforms to the OpenAPI document.
func (w *world) ask(c call) *httptest.ResponseRecorder {
	w.tb.Helper()
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	r := httptest.NewRequest(c.method, c.path, body)
	if c.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.kind != "" {
		r.Header.Set("Content-Type", c.kind)
	}
	if key, ok := strings.CutPrefix(c.who, "="); ok {
		r.Header.Set("Authorization", "Bearer "+key)
	} else if c.who != "" {
		key, ok := w.keys[c.who]
		if !ok {
			w.tb.Fatalf("nobody is %q", c.who)
		}
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	if c.remote != "" {
		r.RemoteAddr = c.remote
	}
	rec := httptest.NewRecorder()
	w.http.ServeHTTP(rec, r)
	w.checkConformity(r, c, rec)
	return rec
}

// get sends a request that must succeed, and returns its document.
func get[T any](w *world, c call) (doc T) {
	w.tb.Helper()
	if c.method == "" {
		c.method = http.MethodGet
	}
	rec := w.ask(c)
	if rec.Code >= 300 {
		w.tb.Fatalf("%s %s: %d %s", c.method, c.path, rec.Code, rec.Body)
	}
	kit.Must(w.tb, json.Unmarshal(rec.Body.Bytes(), &doc))
	return doc
}

// decompress decompresses the body of an answer.
func decompress(tb testing.TB, encoding string, rec *httptest.ResponseRecorder) string {
	tb.Helper()
	var r io.Reader
	var err error
	if encoding == "zstd" {
		r, err = zstd.NewReader(rec.Body)
	} else {
		r, err = gzip.NewReader(rec.Body)
	}
	kit.Must(tb, err)
	data, err := io.ReadAll(r)
	kit.Must(tb, err)
	return string(data)
}
