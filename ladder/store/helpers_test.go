package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

var bg = context.Background()

// clock is a clock that advances by one second at each reading.
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

// bundleOf returns the n-th of many hashes to which no upload belongs.
func bundleOf(n int) string { return referee.Commitment(rules.Seed{byte(n), byte(n >> 8), 1}).String() }

// testLadders returns three small ladders: with two sides, with teams, and with four sides.
func testLadders(tb testing.TB) []ladder.Ladder {
	c := kit.Get[*config.Config](tb)(config.Parse("test", []byte(`
[[ladder]]
name = "tebes-4"
game = "tebes"
options = {size = "4"}
clock = {movetime = 60000}
deals = 2
house = ["@random", "@first", "@greedy"]
[[ladder]]
name = "brisca-4-teams"
game = "brisca"
options = {players = "4", teams = "yes"}
clock = {movetime = 60000}
deals = 1
house = ["@random", "@first", "@greedy"]
[[ladder]]
name = "tute-4"
game = "tute"
options = {players = "4"}
clock = {movetime = 60000}
deals = 1
house = ["@random", "@first", "@greedy"]
`)))
	return c.Ladders
}

func wantError(tb testing.TB, err error, code ladder.ErrorCode, text string) {
	tb.Helper()
	if err == nil || err.Error() != text || ladder.CodeOf(err) != code {
		tb.Errorf("says %v (%q), want %s (%q)", err, ladder.CodeOf(err), text, code)
	}
}

// competition is an open store for tests.
type competition struct {
	*Store
	tb    testing.TB
	clock *clock
}

// emptyDatabase returns the content of a database without rows. It is created once per process.
var emptyDatabase = sync.OnceValues(func() (data []byte, err error) {
	dir, err := os.MkdirTemp("", "timba-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := Open(dir, Options{Server: true, NoSync: true})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(datadir.Dir(dir).Database())
})

// openStore opens the store in dir, which it creates if necessary.
func openStore(tb testing.TB, dir string) *competition {
	tb.Helper()
	path := datadir.Dir(dir).Database()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		data := kit.Get[[]byte](tb)(emptyDatabase())
		kit.Must(tb, os.MkdirAll(dir, 0o700))
		kit.Must(tb, os.WriteFile(path, data, 0o600))
	}
	c := &competition{tb: tb, clock: newClock()}
	s := kit.Get[*Store](tb)(Open(dir, Options{Now: c.clock.now, Server: true, NoSync: true}))
	c.Store = s
	tb.Cleanup(func() { s.Close() })
	return c
}

func newCompetition(tb testing.TB) *competition {
	tb.Helper()
	c := openStore(tb, tb.TempDir())
	c.syncConfig()
	return c
}

// syncConfig stores the house bots and the test ladders, as a server does when it starts.
func (c *competition) syncConfig() {
	c.tb.Helper()
	var bots []HouseBot
	for _, b := range house.Bots() {
		bots = append(bots, HouseBot{Name: "@" + b.Name, Label: "1", Hash: bundleOf(0)})
	}
	kit.Must(c.tb, c.Bots.SyncHouse(bg, bots))
	kit.Must(c.tb, c.Ladders.Sync(bg, testLadders(c.tb)))
}

var noLimits = ladder.Limits{Bots: 1 << 20, Versions: 1 << 20}

// addLive adds a live version of a person's bot.
func (c *competition) addLive(person int64, name string) ladder.Version {
	c.tb.Helper()
	v := c.addBuilt(person, name)
	kit.Must(c.tb, c.Versions.Promote(bg, v.ID))
	v = kit.Get[ladder.Version](c.tb)(c.Versions.Find(bg, v.ID))
	return v
}

func (c *competition) addBuilt(person int64, name string) ladder.Version {
	c.tb.Helper()
	upload := "upload of " + name
	if b, err := c.Bots.Find(bg, name); err == nil {
		before := kit.Get[[]ladder.Version](c.tb)(c.Versions.List(bg, b.ID, 0, -1))
		upload += fmt.Sprint(", ", len(before))
	}
	v, err := c.Versions.Add(bg, person, NewVersion{Bot: name, Bundle: writeUpload(c.tb, c.Dir(), upload)}, noLimits)
	kit.Must(c.tb, err)
	kit.Must(c.tb, c.Versions.SetBuildInfo(bg, v.ID, BuildInfo{Label: "1.0", Hash: bundleOf(2), Language: "Go", Command: []string{"./bot"}}))
	return v
}

// startRatedMatch adds a match on a ladder and starts an attempt.
func (c *competition) startRatedMatch(name string, versions ...int64) (ladder.Match, rules.Seed) {
	c.tb.Helper()
	m := kit.Get[ladder.Match](c.tb)(c.Matches.Add(bg, NewMatch{Ladder: name, Versions: versions}))
	return m, c.startAttempt(m)
}

func (c *competition) startAttempt(m ladder.Match) rules.Seed {
	c.tb.Helper()
	seed := referee.NewSeed()
	kit.Must(c.tb, c.Matches.Start(bg, []MatchStart{{Match: m.ID, Seed: seed}})[0].Err)
	return seed
}

// lastAttempt returns the number of the last attempt at a match, or 0 if there is none.
func (c *competition) lastAttempt(match int64) int {
	c.tb.Helper()
	a, err := c.read.LastAttempt(bg, match)
	kit.Must(c.tb, ifNoRows(err, nil))
	return int(a.Number)
}

// playRatedMatch adds, plays and finishes a match on a ladder.
func (c *competition) playRatedMatch(name string, versions ...int64) (ladder.Match, []ladder.Change) {
	c.tb.Helper()
	m, seed := c.startRatedMatch(name, versions...)
	changes := kit.Get[[]ladder.Change](c.tb)(c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), playMatch(c.tb, m, seed)))
	m = kit.Get[ladder.Match](c.tb)(c.Matches.Find(bg, m.ID))
	return m, changes
}

// playMatch plays a match with house bots in place of the versions: @random, @first or @greedy, depending on
// the ID of the version. The bots "plays-first" and "plays-last" play the first or the last legal move, so that
// they can only repeat games.
func playMatch(tb testing.TB, m ladder.Match, seed rules.Seed) (out []*referee.GameResult) {
	tb.Helper()
	c := ladder.Ladder{Game: m.Game, Options: m.Options}
	v := kit.Get[*rules.Variant](tb)(c.Variant())
	rm := match.Match{Variant: v, Deals: m.Deals, Seed: seed, Clock: m.Clock}
	for slot, id := range m.Versions {
		spec := []string{"random", "first", "greedy"}[id%3]
		rm.Bots = append(rm.Bots, match.Contestant{
			Name: fmt.Sprintf("%s/%d", m.Bots[slot], m.Numbers[slot]), Version: labelOf(m.Bots[slot]), Hash: bundleOf(2),
			Serve: func(lines io.Reader, answers io.Writer) error {
				switch m.Bots[slot] {
				case "plays-first":
					return house.Run("first", lines, answers)
				case "plays-last":
					return protocol.Serve(lines, answers, "last", "1", func(t *protocol.Turn) protocol.Answer {
						return protocol.Answer{Move: t.Moves.Token(t.Moves.Len() - 1)}
					})
				}
				return house.Run(spec, lines, answers)
			},
		})
	}
	kit.Must(tb, rm.Play(bg, func(g *referee.GameResult) error {
		g.Reveal(seed)
		if g.Match.Rotation == 1 { // these bots have no stderr, so add a log
			g.Logs[0] = fmt.Appendf(nil, "deal %d of %x", g.Match.Deal, seed)
		}
		out = append(out, g)
		return nil
	}))
	return out
}

func labelOf(bot string) string {
	if strings.HasPrefix(bot, "@") {
		return "1"
	}
	return "1.0"
}

// withNamesOf returns copies of games with the names of the bots of match m.
func withNamesOf(m ladder.Match, games []*referee.GameResult) (out []*referee.GameResult) {
	for _, g := range games {
		again := *g
		again.Seats = slices.Clone(g.Seats)
		for seat, slot := range g.Bots {
			again.Seats[seat].Name = fmt.Sprintf("%s/%d", m.Bots[slot], m.Numbers[slot])
			again.Seats[seat].Version = labelOf(m.Bots[slot])
		}
		out = append(out, &again)
	}
	return out
}

// playGame plays and stores a game of a person, or of a guest if person is zero, against the live versions of bots.
func (c *competition) playGame(id string, person ladder.Person, l ladder.Ladder, seat int, bots ...string) {
	c.tb.Helper()
	v := kit.Get[*rules.Variant](c.tb)(l.Variant())
	seed := referee.NewSeed()
	p := ladder.Play{ID: id, Game: l.Game, Options: l.Options, Opener: seat, Commitment: referee.Commitment(seed).String()}
	rm := match.Match{Variant: v, Seed: seed, Clock: l.Clock}
	taken := map[string]bool{}
	for s := range v.Players {
		b := match.Contestant{Name: cmp.Or(person.Name, ladder.GuestName), Hash: bundleOf(9), Untimed: true}
		if s != seat {
			live := kit.Get[ladder.Version](c.tb)(c.Versions.FindLive(bg, bots[len(p.Bots())%len(bots)]))
			b = match.Contestant{Name: live.Bot, Version: live.Label, Hash: live.Hash}
			if taken[live.Bot] {
				b.Name += fmt.Sprintf("#%d", s)
			}
			taken[live.Bot] = true
			p.Seats = append(p.Seats, ladder.PlaySeat{Seat: s, Version: live.ID, BotID: live.BotID})
		} else {
			p.Seats = append(p.Seats, ladder.PlaySeat{Seat: s, PersonID: person.ID})
		}
		b.Serve = func(lines io.Reader, answers io.Writer) error { return house.Run("random", lines, answers) }
		rm.Bots = append(rm.Bots, b)
	}
	_, _, err := c.Plays.Add(bg, p, netip.MustParseAddr("192.0.2.1"), 0, false)
	kit.Must(c.tb, err)
	g := kit.Get[*referee.GameResult](c.tb)(rm.PlayGame(bg))
	g.Reveal(seed)
	kit.Must(c.tb, c.Plays.Finish(bg, id, v, g.Ranks, g.Encode()))
}

// playPeopleGame plays and stores a game with only people. A zero person is a guest.
func (c *competition) playPeopleGame(id string, l ladder.Ladder, people ...ladder.Person) {
	c.tb.Helper()
	v := kit.Get[*rules.Variant](c.tb)(l.Variant())
	seed, from := referee.NewSeed(), netip.MustParseAddr("192.0.2.1")
	p := ladder.Play{ID: id, Game: l.Game, Options: l.Options, Commitment: referee.Commitment(seed).String()}
	rm := match.Match{Variant: v, Seed: seed, Clock: l.Clock}
	for seat, who := range people {
		s := ladder.PlaySeat{Seat: seat, PersonID: who.ID}
		var err error
		if p.Seats = append(p.Seats, s); seat == 0 {
			_, _, err = c.Plays.Add(bg, p, from, 0, false)
		} else {
			_, _, err = c.Plays.SitDown(bg, id, s, from, 0, false)
		}
		kit.Must(c.tb, err)
		rm.Bots = append(rm.Bots, match.Contestant{
			Name: cmp.Or(who.Name, ladder.GuestName), Hash: bundleOf(9), Untimed: true,
			Serve: func(lines io.Reader, answers io.Writer) error { return house.Run("random", lines, answers) },
		})
	}
	g := kit.Get[*referee.GameResult](c.tb)(rm.PlayGame(bg))
	g.Reveal(seed)
	kit.Must(c.tb, c.Plays.Finish(bg, id, v, g.Ranks, g.Encode()))
}

// wantGame returns a result as the store must return it.
func wantGame(g *referee.GameResult) ladder.FinishedGame {
	out := ladder.FinishedGame{Deal: g.Match.Deal, Rotation: g.Match.Rotation, Plies: len(g.Moves)}
	for seat, slot := range g.Bots {
		s := ladder.GameSeat{Seat: seat, Slot: slot, Rank: g.Ranks[seat], Points: g.Points[seat]}
		for _, f := range slices.Backward(g.Faults) {
			if f.Seat == seat {
				s.Fault = string(f.Code)
				s.Faults++
			}
		}
		out.Seats = append(out.Seats, s)
	}
	return out
}

func (c *competition) liveIDs(names ...string) (liveIDs []int64) {
	c.tb.Helper()
	for _, n := range names {
		b := kit.Get[ladder.Bot](c.tb)(c.Bots.Find(bg, n))
		vs := kit.Get[[]ladder.Version](c.tb)(c.Versions.List(bg, b.ID, 0, -1))
		i := slices.IndexFunc(vs, func(v ladder.Version) bool { return v.State == ladder.Live })
		if i < 0 {
			c.tb.Fatalf("%s has no live version", n)
		}
		liveIDs = append(liveIDs, vs[i].ID)
	}
	return liveIDs
}

// writeUpload writes an upload to the data directory and returns its hash.
func writeUpload(tb testing.TB, dir datadir.Dir, text string) string {
	tb.Helper()
	h := sha256.Sum256([]byte(text))
	sum := hex.EncodeToString(h[:])
	kit.Must(tb, os.MkdirAll(dir.Bundles(), 0o700))
	kit.Must(tb, os.WriteFile(filepath.Join(dir.Bundles(), sum), []byte(text), 0o600))
	return sum
}

// copyBusyCompetition returns a copy of a busy competition, which is created once.
func copyBusyCompetition(tb testing.TB) *competition {
	tb.Helper()
	master := makeTemplate(tb)
	dir := filepath.Join(tb.TempDir(), "data")
	kit.Must(tb, os.CopyFS(dir, os.DirFS(master)))
	return openStore(tb, dir)
}

// templateDir is the directory with the busy competition that is copied.
var templateDir string

var templateLock sync.Mutex

func makeTemplate(tb testing.TB) string {
	templateLock.Lock()
	defer templateLock.Unlock()
	dir := filepath.Join(templateDir, "data")
	if _, err := os.Stat(dir); err != nil {
		kit.Must(tb, newBusyCompetition(tb).Backup(bg, dir, ""))
	}
	return dir
}

// rapidChecks is the number of times that rapid checks a property. Each check uses a whole competition, so the
// number is lower than usual.
var rapidChecks = map[bool]string{false: "12", true: "4"}[kit.HasRaceDetector()] // the race detector makes SQLite ten times slower

// modes are the programs that the test binary can be when a test starts it.
var modes = refereetest.Modes{}

func TestMain(m *testing.M) {
	refereetest.Main(m, modes, func(dir string) error {
		templateDir = dir
		if kit.Soak {
			rapidChecks = "100"
		}
		return flag.Set("rapid.checks", rapidChecks)
	})
}

func wantSound(tb testing.TB, s *Store) {
	tb.Helper()
	found := kit.Get[[]Difference](tb)(s.Verify(bg, nil))
	for _, d := range found {
		tb.Errorf("verify: %s", d)
	}
}

// newBusyCompetition returns a competition with matches of every kind (rated on every ladder, interrupted, dropped,
// unrated, running), with games of people, and with a bot that gets a new version and one that is suspended.
func newBusyCompetition(tb testing.TB) *competition {
	c := newCompetition(tb)
	anna, err := c.People.Add(bg, "anna", false)
	kit.Must(tb, err)
	berta, err := c.People.Add(bg, "berta", false)
	kit.Must(tb, err)
	house := c.liveIDs("@random", "@first", "@greedy")
	a := c.addLive(anna.ID, "anna-bot")
	b := c.addLive(berta.ID, "berta-bot")
	c.playRatedMatch("tebes-4", house[0], a.ID)
	c.playRatedMatch("tute-4", a.ID, house[1], b.ID, house[2])
	c.playRatedMatch("brisca-4-teams", b.ID, house[1], house[0], a.ID)
	m, _ := c.startRatedMatch("tebes-4", a.ID, b.ID)
	_, err = c.Matches.InterruptAttempt(bg, m.ID, c.lastAttempt(m.ID), phrase.Plain("the referee failed"), true)
	kit.Must(tb, err)
	seed := c.startAttempt(m)
	_, err = c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), playMatch(tb, m, seed))
	kit.Must(tb, err)
	a2 := c.addLive(anna.ID, "anna-bot")
	c.playRatedMatch("tebes-4", a2.ID, b.ID)
	c.startRatedMatch("tebes-4", house[1], b.ID) // and runs on
	_, err = c.Versions.Suspend(bg, b.ID, 0, phrase.Plain("too many faults"))
	kit.Must(tb, err)
	c.playRatedMatch("tebes-4", a2.ID, house[2])
	u := c.addUnrated(anna.ID, a2.ID, a.ID)
	_, err = c.Matches.Finish(bg, u.ID, 1, playMatch(tb, u, c.startAttempt(u)))
	kit.Must(tb, err)
	ladders := testLadders(tb)
	c.playGame("game-a", anna, ladders[0], 0, "@greedy")
	c.playGame("game-b", berta, ladders[1], 1, "anna-bot", "@first")
	c.playGame("game-c", ladder.Person{}, ladders[2], 2, "@random")
	_, _, err = c.Plays.Add(bg, ladder.Play{ID: "game-d", Game: "tebes", Options: ladders[0].Options, Seats: []ladder.PlaySeat{{PersonID: anna.ID}}}, netip.Addr{}, 0, false)
	kit.Must(tb, err)
	_, _, err = c.Plays.Add(bg, ladder.Play{ID: "game-e", Game: "tebes", Options: ladders[0].Options, Seats: []ladder.PlaySeat{{PersonID: anna.ID}}}, netip.Addr{}, 0, false)
	kit.Must(tb, err)
	kit.Must(tb, c.Plays.Break(bg, "game-e", ladder.BrokenByFailure))
	c.playPeopleGame("game-f", ladders[0], berta, anna)
	c.playPeopleGame("game-g", ladders[0], anna, berta)
	return c
}

type pooledMatch struct {
	seed  rules.Seed
	games []*referee.GameResult
}

// ladderMatch returns a match on a ladder between made-up versions, for playing.
func ladderMatch(l ladder.Ladder) ladder.Match {
	m := ladder.Match{Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: l.Deals}
	for slot := range l.Bots {
		m.Versions, m.Bots, m.Numbers = append(m.Versions, int64(slot)), append(m.Bots, fmt.Sprintf("bot-%d", slot)), append(m.Numbers, 1)
	}
	return m
}

// playedMatch is the result of an attempt, ready for Finish.
type playedMatch struct {
	match   int64
	attempt int
	games   []*referee.GameResult
}

// holdWriter blocks the writer until release is called. Changes that arrive until then form one group.
func (c *competition) holdWriter() (release func()) {
	c.tb.Helper()
	c.awaitGroup(func(g *group) bool { return !g.running }) // an earlier writer would take what comes now
	held, end := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		kit.Must(c.tb, c.update(bg, func(*Tx) error {
			close(held)
			<-end
			return nil
		}))
	})
	<-held
	return func() {
		close(end)
		group.Wait()
	}
}

// awaitGroupWrite waits until a group is being written and no changes wait.
func (c *competition) awaitGroupWrite() {
	c.awaitGroup(func(g *group) bool { return g.running && len(g.waiting) == 0 })
}

// awaitQueued waits until at least n changes are queued.
func (c *competition) awaitQueued(n int) {
	c.awaitGroup(func(g *group) bool { return len(g.waiting) >= n })
}

// countRows returns the number of rows. from is a table, perhaps with a WHERE clause.
func (c *competition) countRows(from string) (n int) {
	c.tb.Helper()
	kit.Must(c.tb, c.readers.QueryRow("SELECT count(*) FROM "+from).Scan(&n))
	return n
}

func playerIDs(players []matchmaking.Candidate) (ids []int64) {
	for _, p := range players {
		ids = append(ids, p.ID)
	}
	return ids
}

// players returns the players in the pool of a ladder.
func (c *competition) players(name string) (players []matchmaking.Candidate) {
	c.tb.Helper()
	kit.Get[*matchmaking.Pool](c.tb)(c.Ladders.Pool(bg, name)).Contains(func(p *matchmaking.Candidate) bool {
		players = append(players, *p)
		return false
	})
	return players
}

func (c *competition) addUnrated(by int64, versions ...int64) ladder.Match {
	c.tb.Helper()
	l := testLadders(c.tb)[0]
	m, err := c.Matches.Add(bg, NewMatch{Game: l.Game, Options: l.Options, Clock: l.Clock, Deals: 1, Versions: versions, RequestedBy: by})
	kit.Must(c.tb, err)
	return m
}

// awaitGroup waits until the group satisfies so.
func (c *competition) awaitGroup(so func(*group) bool) {
	kit.Until(c.tb, "the changes wait", func() bool {
		c.group.mu.Lock()
		defer c.group.mu.Unlock()
		return so(&c.group)
	})
}
