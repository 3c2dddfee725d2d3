package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

var bg = context.Background()

// clock is a clock that goes on by a second each time that somebody looks.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(time.Second)
	return c.at
}

func (c *clock) skip(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// bundleOf is the hash of an upload that nobody has.
func bundleOf(n int) string { return referee.Commitment(rules.Seed{byte(n), byte(n >> 8), 1}).String() }

// testLadders are small ones of every shape: two sides, teams, four sides.
func testLadders(tb testing.TB) []ladder.LadderConfig {
	c, err := ladder.ParseConfig("test", []byte(`
[[ladder]]
name = "tebes-4"
game = "tebes"
options = {size = "4"}
clock = {movetime = 60000}
deals = 2
[[ladder]]
name = "brisca-4-teams"
game = "brisca"
options = {players = "4", teams = "yes"}
clock = {movetime = 60000}
deals = 1
[[ladder]]
name = "tute-4"
game = "tute"
options = {players = "4"}
clock = {movetime = 60000}
deals = 1
`))
	check(tb, err)
	return c.Ladders
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// wantError checks an error's code and text.
func wantError(tb testing.TB, err error, code ladder.Code, text string) {
	tb.Helper()
	if err == nil || err.Error() != text || ladder.CodeOf(err) != code {
		tb.Errorf("says %v (%q), want %s (%q)", err, ladder.CodeOf(err), text, code)
	}
}

// competition is an open store with the test ladders and the house bots.
type competition struct {
	*Store
	tb    testing.TB
	clock *clock
}

func openStore(tb testing.TB, dir string) *competition {
	tb.Helper()
	c := &competition{tb: tb, clock: newClock()}
	s, err := Open(dir, Options{Now: c.clock.now, Server: true, noSync: true})
	check(tb, err)
	c.Store = s
	tb.Cleanup(func() { s.Close() })
	return c
}

func newCompetition(tb testing.TB) *competition {
	tb.Helper()
	c := openStore(tb, tb.TempDir())
	c.begin()
	return c
}

// begin is what a server does at its start.
func (c *competition) begin() {
	c.tb.Helper()
	var bots []HouseBot
	for _, b := range house.List() {
		bots = append(bots, HouseBot{Name: "@" + b.Name, Label: "1", Hash: bundleOf(0)})
	}
	check(c.tb, c.SyncHouse(bg, bots))
	check(c.tb, c.SyncLadders(bg, testLadders(c.tb)))
	_, err := c.ReleaseRunning(bg)
	check(c.tb, err)
}

var lots = ladder.Limits{Bots: 1 << 20, Versions: 1 << 20}

// live submits a version of a person's bot, which comes through all stages.
func (c *competition) live(person int64, name string) ladder.Version {
	c.tb.Helper()
	v := c.submitted(person, name)
	check(c.tb, c.Promote(bg, v.ID))
	v, err := c.Version(bg, v.ID)
	check(c.tb, err)
	return v
}

// submitted is a version that is built and not live yet.
func (c *competition) submitted(person int64, name string) ladder.Version {
	c.tb.Helper()
	v, err := c.AddVersion(bg, person, NewVersion{Bot: name, Bundle: keepUpload(c.tb, c.Dir(), "upload of "+name)}, lots)
	check(c.tb, err)
	check(c.tb, c.SetBuilt(bg, v.ID, Built{Label: "1.0", Hash: bundleOf(2), Language: "Go", Command: []string{"./bot"}}))
	return v
}

// begun begins a match on a ladder.
func (c *competition) begun(name string, versions ...int64) (ladder.Match, rules.Seed) {
	c.tb.Helper()
	m, err := c.AddMatch(bg, NewMatch{Ladder: name, Versions: versions})
	check(c.tb, err)
	return m, c.attempt(m)
}

func (c *competition) attempt(m ladder.Match) rules.Seed {
	c.tb.Helper()
	seed := referee.NewSeed()
	_, err := c.BeginAttempt(bg, m.ID, referee.Commitment(seed), referee.Hex(seed))
	check(c.tb, err)
	return seed
}

// finished plays a match on a ladder and keeps it.
func (c *competition) finished(name string, versions ...int64) (ladder.Match, []ladder.Change) {
	c.tb.Helper()
	m, seed := c.begun(name, versions...)
	changes, err := c.Finish(bg, m.ID, playMatch(c.tb, m, seed))
	check(c.tb, err)
	m, err = c.Match(bg, m.ID)
	check(c.tb, err)
	return m, changes
}

// playMatch plays a match between house bots that take the versions' places: by
// version, one plays @random, @first or @greedy.
func playMatch(tb testing.TB, m ladder.Match, seed rules.Seed) (out []ladder.Game) {
	tb.Helper()
	c := ladder.LadderConfig{Game: m.Game, Options: m.Options}
	v, err := c.Variant()
	check(tb, err)
	rm := referee.Match{Variant: v, Deals: m.Deals, Seed: seed, Clock: m.Clock.Clock}
	for slot, id := range m.Versions {
		spec := []string{"random", "first", "greedy"}[id%3]
		rm.Bots = append(rm.Bots, referee.Bot{
			Name: fmt.Sprintf("%s/%d", m.Bots[slot], m.Numbers[slot]), Hash: bundleOf(2),
			Serve: func(lines io.Reader, answers io.Writer) error { return house.Run(spec, lines, answers) },
		})
	}
	rm.Done = func(g *referee.Game) error {
		out = append(out, gameOf(g, seed))
		return nil
	}
	check(tb, rm.Play(bg))
	return out
}

// gameOf is a referee's game as the store takes it.
func gameOf(g *referee.Game, seed rules.Seed) ladder.Game {
	g.Reveal(seed)
	slots := slices.Max(g.Bots) + 1
	out := ladder.Game{Deal: g.Match.Deal, Rotation: g.Match.Rotation, Plies: len(g.Moves), Took: g.Took, Seats: seatsOf(&g.Replay, slots), Replay: g.Encode()}
	for seat, log := range g.Logs {
		if len(log) > 0 {
			out.Logs = append(out.Logs, ladder.GameLog{Seat: seat, Text: log})
		}
	}
	return out
}

// ids of the live versions of some bots.
func (c *competition) ids(names ...string) (ids []int64) {
	c.tb.Helper()
	for _, n := range names {
		b, err := c.Bot(bg, n)
		check(c.tb, err)
		vs, err := c.Versions(bg, b.ID)
		check(c.tb, err)
		i := slices.IndexFunc(vs, func(v ladder.Version) bool { return v.State == ladder.Live })
		if i < 0 {
			c.tb.Fatalf("%s has no live version", n)
		}
		ids = append(ids, vs[i].ID)
	}
	return ids
}

// keepUpload writes an upload under its hash.
func keepUpload(tb testing.TB, dir, text string) string {
	tb.Helper()
	h := sha256.Sum256([]byte(text))
	sum := hex.EncodeToString(h[:])
	check(tb, os.MkdirAll(filepath.Join(dir, bundleFolder), 0o700))
	check(tb, os.WriteFile(filepath.Join(dir, bundleFolder, sum), []byte(text), 0o600))
	return sum
}

// template is an own copy of a busy competition, which is made once.
func template(tb testing.TB) *competition {
	tb.Helper()
	master := makeTemplate(tb)
	dir := filepath.Join(tb.TempDir(), "data")
	check(tb, os.CopyFS(dir, os.DirFS(master)))
	return openStore(tb, dir)
}

var templateDir struct {
	sync.Mutex
	path string
}

func makeTemplate(tb testing.TB) string {
	templateDir.Lock()
	defer templateDir.Unlock()
	if templateDir.path == "" {
		c := busy(tb)
		dir, err := os.MkdirTemp("", "timba-store-")
		check(tb, err)
		check(tb, c.Backup(bg, filepath.Join(dir, "data")))
		templateDir.path = dir
	}
	return filepath.Join(templateDir.path, "data")
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashName); dir != "" {
		finishUntilKilled(dir)
	}
	// A check here is a whole competition: fewer are enough, unless more are asked for.
	flag.Set("rapid.checks", "12")
	code := m.Run()
	if templateDir.path != "" {
		os.RemoveAll(templateDir.path)
	}
	os.Exit(code)
}
