package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"html"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

// TestMain makes the test binary run as a house bot.
func TestMain(m *testing.M) {
	refereetest.Main(m, refereetest.Modes{"bot": refereetest.RunHouseBot}, nil)
}

// quietConfig has a ladder with only house bots, too few for a match, so that only matches that a test
// requests are played.
const quietConfig = `
[storage]
days = 30
[limits]
memory = "128m"
unrated = 1000
time = "168h"
[[ladder]]
name = "tebes"
game = "tebes"
options = {size = "4"}
clock = {movetime = 60000, startup = 60000}
deals = 1
house = ["@random"]
`

// running is a running server whose clock the test sets.
type running struct {
	*Server
	t      *testing.T
	later  atomic.Int64 // than the system's clock, in nanoseconds
	newDay chan time.Time
	client *client.Client
	person ladder.Person
	ended  <-chan events.Event // matches that ended, or were interrupted
}

// newRunning opens a server. begin makes it serve.
func newRunning(t *testing.T, change ...func(*Options)) *running {
	t.Helper()
	kit.Slow(t)
	s := &running{t: t, newDay: make(chan time.Time)}
	level, err := RequireLevel(sandbox.LevelReduced)
	kit.Must(s.t, err)
	c, err := config.Parse("test", []byte(quietConfig))
	kit.Must(s.t, err)
	cores, err := Cores(1)
	kit.Must(s.t, err)
	o := Options{
		Dir: datadir.Dir(laddertest.Dir(t)), HTTP: HTTP{Listen: "127.0.0.1:0"}, Config: c, Level: level, Cores: cores, Grace: time.Minute,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Version: "test",
		Database: store.Options{NoSync: true, Now: func() time.Time { return time.Now().Add(time.Duration(s.later.Load())) }},
	}
	for _, f := range change {
		f(&o)
	}
	s.Server, err = Open(t.Context(), o)
	kit.Must(s.t, err)
	t.Cleanup(func() { kit.Must(s.t, s.Close()) })
	s.dayStarts = s.newDay
	s.person, err = s.Store.People.Add(t.Context(), "ana", false)
	kit.Must(s.t, err)
	token, _, err := s.Store.Sessions.AddToken(t.Context(), s.person.ID, "test", ladder.ScopeAll, time.Time{})
	kit.Must(s.t, err)
	s.client, err = client.New(s.URL(), token)
	kit.Must(s.t, err)
	return s
}

func (s *running) begin() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	over := make(chan error, 1)
	var stop func()
	s.ended, stop = s.Store.Events().Subscribe(100, func(e events.Event) bool { return e.Kind == events.MatchFinished || e.Kind == events.MatchBroken })
	go func() { over <- s.Serve(ctx) }()
	s.t.Cleanup(func() {
		stop()
		cancel()
		kit.Must(s.t, <-over)
	})
}

// day starts a new day, and returns when the server has done its daily work.
func (s *running) day() {
	s.newDay <- time.Now()
	s.newDay <- time.Now() // taken after the first
}

// version adds a live version of a bot in the state that an earlier server leaves: with its upload but
// without a build.
func (s *running) version(n int) ladder.Version {
	s.t.Helper()
	dir := kit.Files(s.t, s.t.TempDir(), map[string]string{
		"timba.toml": "build = [\"sh\", \"-c\", \"cp source bot.sh\"]\ngames = [\"teeko\"]\nrun = [\"sh\", \"bot.sh\"]\n",
		"source": "# version " + strconv.Itoa(n) + `
while read -r line; do
case $line in
"timba "*) echo ready ;;
"turn "*) set -- $line; echo "move $4" ;;
bye) exit 0 ;;
esac
done
`})
	packed, err := bundle.Pack(dir, bundle.Default)
	kit.Must(s.t, err)
	hash, err := trees.HashSource(dir)
	kit.Must(s.t, err)
	upload, err := bundle.Receive(bytes.NewReader(packed.Data), s.Dir, bundle.Default)
	kit.Must(s.t, err)
	defer upload.Discard()
	v, err := s.Store.Versions.Add(s.t.Context(), s.person.ID, store.NewVersion{Bot: "bot", Bundle: upload.SHA256, StoreUpload: upload.Store}, s.Config.Limits)
	kit.Must(s.t, err)
	kit.Must(s.t, s.Store.Versions.SetBuildInfo(s.t.Context(), v.ID, store.BuildInfo{Hash: hash, Games: []string{"teeko"}, Command: []string{"sh", "bot.sh"}}))
	kit.Must(s.t, s.Store.Versions.Promote(s.t.Context(), v.ID))
	v, err = s.Store.Versions.Find(s.t.Context(), v.ID)
	kit.Must(s.t, err)
	return v
}

// plays plays a match of a version, requires that it has no fault, and returns the games.
func (s *running) plays(version string) []wire.Game {
	s.t.Helper()
	m, err := s.client.AskMatch(s.t.Context(), wire.AskedMatch{Game: "teeko", Deals: 1, Bots: []string{version, "@random"}})
	kit.Must(s.t, err)
	select {
	case e := <-s.ended:
		if e.Kind != events.MatchFinished || e.Match != m.ID {
			s.t.Fatalf("match %d: %+v", m.ID, e)
		}
	case <-s.t.Context().Done():
		s.t.Fatal("the match goes on for ever")
	}
	games, err := client.Collect(s.client.Games(s.t.Context(), m.ID), 0)
	kit.Must(s.t, err)
	if len(games) != 2 {
		s.t.Fatalf("%d games", len(games))
	}
	for _, g := range games {
		for _, seat := range g.Seats {
			if seat.Fault != "" {
				s.t.Errorf("game %d: %+v", g.ID, seat)
			}
		}
	}
	return games
}

// get returns the answer of an address.
func (s *running) get(path string) (status int, body string) {
	s.t.Helper()
	r := kit.Get[*http.Request](s.t)(http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL()+path, nil))
	answer := kit.Get[*http.Response](s.t)(http.DefaultClient.Do(r))
	defer answer.Body.Close()
	data := kit.Get[[]byte](s.t)(io.ReadAll(answer.Body))
	return answer.StatusCode, string(data)
}

// stands reports whether a version has a build.
func (s *running) stands(v ladder.Version) bool {
	_, err := os.Stat(s.Dir.Bot(v.Hash))
	return err == nil
}

// archived returns the paths of the archive files.
func (s *running) archived() []string {
	s.t.Helper()
	files := kit.Get[[]string](s.t)(filepath.Glob(filepath.Join(s.Dir.Archive(), "*")))
	return files
}

// shown are the addresses that show a replay: as a document and in a page.
func shown(game int64) (documents, pages []string) {
	id := strconv.FormatInt(game, 10)
	return []string{"/api/v1/games/" + id + "/replay", "/games/" + id + "/replay.json"}, []string{"/games/" + id, "/games/" + id + "/replay.html"}
}

// The server moves old replays and removes old builds at the start of a day. The API and the site serve moved
// replays unchanged, byte for byte. An old version is built again before it plays. Nothing is served from an
// archive file that was changed.
func TestStorageDays(t *testing.T) {
	s := newRunning(t)
	old, live := s.version(1), s.version(2)
	s.begin()
	first := s.plays("bot@1")[0]
	s.plays("bot@2")
	documents, pages := shown(first.ID)
	was := map[string]string{}
	for _, path := range slices.Concat(documents, pages) {
		status, body := s.get(path)
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		was[path] = body
	}
	hash := sha256.Sum256([]byte(was[documents[0]]))

	s.later.Store(int64(29 * 24 * time.Hour))
	s.day()
	if len(s.archived()) > 0 || !s.stands(old) || !s.stands(live) {
		t.Errorf("too early: %v are moved; the old version stands: %t, the live one: %t", s.archived(), s.stands(old), s.stands(live))
	}
	s.later.Store(int64(31 * 24 * time.Hour))
	s.day()
	files := s.archived()
	if len(files) != 1 || s.stands(old) || !s.stands(live) {
		t.Fatalf("%v are moved; the old version stands: %t, the live one: %t", files, s.stands(old), s.stands(live))
	}
	for _, path := range documents {
		status, body := s.get(path)
		if status != http.StatusOK || sha256.Sum256([]byte(body)) != hash {
			t.Errorf("%s, moved: %d %s", path, status, body)
		}
	}
	for _, path := range pages {
		status, body := s.get(path)
		if status != http.StatusOK || replayIn(body) != replayIn(was[path]) || replayIn(body) == "" {
			t.Errorf("%s, moved: %d", path, status)
		}
	}
	if found, err := s.Store.Verify(t.Context(), nil); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}

	s.plays("bot@1")
	if !s.stands(old) {
		t.Error("the old version has played, and does not stand")
	}
	s.tampered(files[0], documents, pages, was)
}

// tampered changes a byte of an archive file and requires that nothing of it is served, then restores the
// byte and requires that everything is served.
func (s *running) tampered(file string, documents, pages []string, was map[string]string) {
	s.t.Helper()
	whole := kit.Get[[]byte](s.t)(os.ReadFile(file))
	for i := range whole { // each document of each match has a byte that differs
		if i%16 == 0 {
			whole[i] ^= 1
		}
	}
	kit.Must(s.t, os.WriteFile(file, whole, 0o600))
	for _, path := range slices.Concat(documents, pages) {
		status, body := s.get(path)
		if status != http.StatusServiceUnavailable || !strings.Contains(body, "are damaged on the server, and are not shown") || replayIn(body) != "" || strings.Contains(body, string(s.Dir)) {
			s.t.Errorf("%s, tampered with: %d %s", path, status, body)
		}
	}
	for i := range whole {
		if i%16 == 0 {
			whole[i] ^= 1
		}
	}
	kit.Must(s.t, os.WriteFile(file, whole, 0o600))
	for _, path := range documents {
		if status, body := s.get(path); status != http.StatusOK || body != was[path] {
			s.t.Errorf("%s, put right: %d", path, status)
		}
	}
}

// replayIn returns the replay in a page, "" if there is none.
func replayIn(page string) string {
	_, rest, found := strings.Cut(page, `<script type="application/json" id="replay">`)
	if !found {
		return ""
	}
	data, _, _ := strings.Cut(rest, "</script>")
	return html.UnescapeString(data)
}
