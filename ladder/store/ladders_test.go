//go:build !race || slowrace

package store

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/stats"
)

// TestLadderState checks the pool for matchmaking: who plays, how long ago, against whom, and which matches are
// open.
func TestLadderState(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first", "@greedy")
	c.playRatedMatch("tebes-4", ids[0], ids[1])
	c.playRatedMatch("tebes-4", ids[0], ids[1])
	c.startRatedMatch("tebes-4", ids[0], ids[2])
	players := c.players("tebes-4")
	if len(players) != 3 {
		t.Fatalf("the players are %+v", players)
	}
	for i, want := range []struct{ matches, last, busy int }{{2, 2, 1}, {2, 2, 0}, {0, 0, 1}} {
		p := players[slices.IndexFunc(players, func(p matchmaking.Candidate) bool { return p.ID == ids[i] })]
		if p.Matches != want.matches || p.LastOrder != want.last || p.OpenMatches != want.busy {
			t.Errorf("player %d is %+v, want %+v", i, p, want)
		}
	}
	met := c.metOn("tebes-4")
	if met(ids[0], ids[1]) != 2 || met(ids[1], ids[0]) != 2 || met(ids[2], ids[0]) != 1 || met(ids[1], ids[2]) != 0 {
		t.Errorf("met: %d %d %d %d", met(ids[0], ids[1]), met(ids[1], ids[0]), met(ids[2], ids[0]), met(ids[1], ids[2]))
	}
}

// metOn returns a function that counts the matches of two versions as opponents on a ladder.
func (c *competition) metOn(name string) func(a, b int64) int {
	return func(a, b int64) int {
		c.tb.Helper()
		return c.met(name, a)[b]
	}
}

// met returns, by opponent, how often the pool of a ladder knows that a version has met it.
func (c *competition) met(name string, versionID int64) map[int64]int {
	c.tb.Helper()
	for {
		if met := kit.Get[*matchmaking.Pool](c.tb)(c.Ladders.Pool(bg, name)).Meetings(versionID); met != nil {
			return met
		}
		kit.Must(c.tb, c.Ladders.LoadPoolOpponents(bg, name, versionID))
	}
}

// TestLadderStateOfTeams checks that partners do not count as opponents.
func TestLadderStateOfTeams(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	c.addLive(p.ID, "anna-bot")
	ids := c.liveIDs("@random", "@first", "@greedy", "anna-bot")
	c.playRatedMatch("brisca-4-teams", ids...)
	c.startRatedMatch("brisca-4-teams", ids...)
	met := c.metOn("brisca-4-teams")
	if met(ids[0], ids[2]) != 0 || met(ids[0], ids[1]) != 2 || met(ids[3], ids[2]) != 2 {
		t.Errorf("met: %d %d %d", met(ids[0], ids[2]), met(ids[0], ids[1]), met(ids[3], ids[2]))
	}
}

// TestSyncLadders checks that a ladder that leaves the configuration keeps its history, and that the game of a
// ladder with matches cannot change.
func TestSyncLadders(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	c.playRatedMatch("tebes-4", ids...)
	ladders := testLadders(t)
	kit.Must(t, c.Ladders.Sync(bg, ladders[1:]))
	info, err := c.Ladders.Find(bg, "tebes-4")
	kit.Must(t, err)
	if info.Active || info.FinishedMatches != 1 {
		t.Errorf("a retired ladder is %+v", info)
	}
	_, err = c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: ids})
	wantError(t, err, ladder.Conflict, `ladder "tebes-4" is not played any more`)
	inactive, err := c.Ladders.ListInactive(bg, "tebes-4")
	kit.Must(t, err)
	if len(inactive) != 3 {
		t.Errorf("%d versions are inactive there", len(inactive))
	}
	kit.Must(t, c.Ladders.Sync(bg, ladders))
	c.playRatedMatch("tebes-4", ids...)
	ladders[0].Options = map[string]string{"size": "6"}
	if err, checked := c.Ladders.Sync(bg, ladders), c.Ladders.CheckSync(bg, ladders); checked == nil || checked.Error() != err.Error() {
		t.Errorf("Sync says %v, and CheckSync %v", err, checked)
	}
	err = c.Ladders.Sync(bg, ladders)
	if ladder.CodeOf(err) != ladder.Conflict || !strings.HasPrefix(err.Error(), `ladder "tebes-4" has matches of tebes {"board":"standard"`) {
		t.Errorf("a changed game says %v", err)
	}
	ladders[0] = testLadders(t)[0]
	ladders[0].House = []string{"@random", "@greedy"}
	kit.Must(t, c.Ladders.CheckSync(bg, ladders))
	kit.Must(t, c.Ladders.Sync(bg, ladders))
	list, err := c.Ladders.Standings(bg, "tebes-4")
	kit.Must(t, err)
	if len(list) != 2 {
		t.Errorf("without @first the standings are %+v", list)
	}
	wantSound(t, c.Store)
}

// TestOpeningMayChange checks that the opening of a ladder with matches may change.
func TestOpeningMayChange(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	c.playRatedMatch("tebes-4", ids...)
	ladders := testLadders(t)
	ladders[0].Options["opening"] = "6"
	kit.Must(t, c.Ladders.Sync(bg, ladders))
	if m, _ := c.playRatedMatch("tebes-4", ids...); m.Options["opening"] != "6" {
		t.Errorf("the match is of %v", m.Options)
	}
	wantSound(t, c.Store)
}

// TestSyncHouse checks that a house bot with a new label gets a new version, that a new hash alone does not,
// and that a bot that no longer exists is retired.
func TestSyncHouse(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	first := c.liveIDs("@random", "@first", "@greedy")
	kit.Must(t, c.Bots.SyncHouse(bg, []HouseBot{{Name: "@random", Label: "1", Hash: bundleOf(7)}, {Name: "@first", Label: "2", Hash: bundleOf(7)}}))
	now := c.liveIDs("@random", "@first")
	if now[0] != first[0] || now[1] == first[1] {
		t.Errorf("the versions were %v and are %v", first, now)
	}
	v := kit.Get[ladder.Version](t)(c.Versions.Find(bg, now[0]))
	if v.Hash != bundleOf(7) || v.Number != 1 {
		t.Errorf("@random is %+v", v)
	}
	v = kit.Get[ladder.Version](t)(c.Versions.Find(bg, first[2]))
	if v.State != ladder.Retired {
		t.Errorf("@greedy is %+v", v)
	}
	list := kit.Get[[]ladder.Standing](t)(c.Ladders.Standings(bg, "tebes-4"))
	if len(list) != 2 {
		t.Errorf("the standings are %+v", list)
	}
	kit.Must(t, c.Bots.SyncHouse(bg, []HouseBot{{Name: "@random", Label: "1", Hash: bundleOf(7)}, {Name: "@first", Label: "2", Hash: bundleOf(7), Games: []string{"teeko"}}}))
	v = kit.Get[ladder.Version](t)(c.Versions.Find(bg, now[1]))
	if v.Number != 2 || !v.Plays("teeko", nil) || v.Plays("tebes", nil) {
		t.Errorf("made for teeko, @first is %+v", v)
	}
}

// TestAddHouse checks that a house bot with options plays at once, is made only once, and counts against the limits of
// the person and of all people together.
func TestAddHouse(t *testing.T) {
	// limit: limits.house, limits.versions
	t.Parallel()
	c := newCompetition(t)
	anna, ben := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false)), kit.Get[ladder.Person](t)(c.People.Add(bg, "ben", false))
	few := ladder.Limits{Versions: 2, House: 3, Bots: 5}
	add := func(p ladder.Person, name string) error { return c.Bots.AddHouse(bg, p.ID, name, few) }
	kit.Must(t, add(anna, "@greedy:noise=1"))
	kit.Must(t, add(anna, "@greedy:noise=1"))
	kit.Must(t, add(anna, "@greedy:noise=2"))
	wantError(t, add(anna, "@greedy:noise=3"), ladder.TooMany, "2 versions within a day are the limit: try again in 24 h")
	_, err := c.Versions.Add(bg, anna.ID, NewVersion{Bot: "own", Bundle: bundleOf(1)}, few)
	wantError(t, err, ladder.TooMany, "2 versions within a day are the limit: try again in 24 h")
	wantError(t, add(ben, "@nobody:noise=3"), ladder.NotFound, `bot "@nobody" does not exist: look at the list of bots`)
	kit.Must(t, add(ben, "@greedy:noise=3"))
	wantError(t, add(ben, "@greedy:noise=4"), ladder.Conflict, "3 house bots with options are the limit of this server: choose one that has been played before")
	kit.Must(t, add(ben, "@greedy:noise=1"))
	v := kit.Get[ladder.Version](t)(c.Versions.FindLive(bg, "@greedy:noise=3"))
	if v.Label != "1" || v.Hash != bundleOf(0) || !v.IsHouse() {
		t.Errorf("the bot is %+v", v)
	}
	c.clock.skip(25 * time.Hour)
	few.House = 4
	kit.Must(t, add(anna, "@greedy:noise=4"))
	for _, v := range kit.Get[[]ladder.Version](t)(c.Versions.ListLive(bg, 100)) {
		if strings.Contains(v.Bot, ":") {
			t.Errorf("the list of bots that are offered has %s", v.Bot)
		}
	}
	for name, want := range map[string]int{"": 0, "noise": 4} {
		list := kit.Get[[]ListedBot](t)(c.Bots.Search(bg, BotFilter{Name: name}, 0, 100))
		n := 0
		for _, b := range list {
			if strings.Contains(b.Name, ":") {
				n++
			}
		}
		if n != want {
			t.Errorf("the search for %q finds %d of the bots, want %d", name, n, want)
		}
	}
	wantSound(t, c.Store)
}

// TestStandingsByFit checks that standings are ordered by the fit wherever they are returned, that a rating is
// provisional until its interval is narrow and the version has met three others, and which bot leads.
func TestStandingsByFit(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	about := func(elo, half float64) stats.Estimate {
		return stats.Estimate{Value: elo, Low: elo - half, High: elo + half}
	}
	ids := append(c.liveIDs("@random", "@first", "@greedy"), c.addLive(c.addPeople("anna")[0].ID, "ada").ID)
	fit := func(estimates ...stats.Estimate) {
		t.Helper()
		byID := map[int64]stats.Estimate{}
		for i, e := range estimates {
			byID[ids[i]] = e
		}
		kit.Must(t, c.Ladders.SaveFit(bg, "tebes-4", byID))
	}
	// check compares the standings with want, the names by place, of which provisional ones end with "?".
	check := func(leader string, want ...string) {
		t.Helper()
		all := kit.Get[[]ladder.Standing](t)(c.Ladders.Standings(bg, "tebes-4"))
		summaries := kit.Get[[]LadderSummary](t)(c.Ladders.Summaries(bg, 3))
		summary := summaries[slices.IndexFunc(summaries, func(s LadderSummary) bool { return s.Name == "tebes-4" })]
		if summary.Leader == nil && leader != "" || summary.Leader != nil && summary.Leader.Bot != leader {
			t.Errorf("%+v leads, want %q", summary.Leader, leader)
		}
		for i, text := range want {
			name, provisional := strings.CutSuffix(text, "?")
			if all[i].Bot != name || all[i].Rank != i+1 || all[i].IsProvisional() != provisional {
				t.Fatalf("place %d has %+v, want %s", i+1, all[i], text)
			}
			if i < 3 && (summary.Top[i].Bot != name || summary.Top[i].Rank != i+1) {
				t.Errorf("place %d of the summary has %+v, want %s", i+1, summary.Top[i], name)
			}
			b := kit.Get[ladder.Bot](t)(c.Bots.Find(bg, name))
			of := kit.Get[[]ladder.Standing](t)(c.Ladders.StandingsOf(bg, b.ID))
			if s := of[slices.IndexFunc(of, func(s ladder.Standing) bool { return s.Ladder == "tebes-4" })]; s.Rank != i+1 || s.IsProvisional() != provisional {
				t.Errorf("%s alone has %+v, want place %d", name, s, i+1)
			}
		}
	}
	c.playRatedMatch("tebes-4", ids[0], ids[1])
	check("")
	fit(about(1000, 0), about(1000.5, 98.9))
	check("@first", "@first?", "@random") // few results seem certain; bots without a match are last
	c.playRatedMatch("tebes-4", ids[0], ids[2])
	c.playRatedMatch("tebes-4", ids[1], ids[2])
	fit(about(1000, 0), about(1010, 20), about(1300, 400))
	check("@first", "@greedy?", "@first?", "@random", "ada?") // 900 is below 990
	c.playRatedMatch("tebes-4", ids[1], ids[3])
	fit(about(1000, 0), about(1010, 99.9), about(1300, 300), about(990, 50))
	check("@greedy", "@greedy?", "@first", "@random", "ada?") // @first has met three
	c.cache.clear()
	check("@greedy", "@greedy?", "@first", "@random", "ada?")
	fit(about(1000, 0), about(1010, 100), about(1300, math.Inf(1)), about(990, 50))
	check("ada", "@greedy?", "@first?", "@random", "ada?")
}

// TestOptionsOfVersions checks that a version plays only on ladders with the options that it requires, when it becomes live
// and when the ladders change, whatever characters the texts have.
func TestOptionsOfVersions(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna := c.addPeople("anna")[0]
	for i, x := range []struct {
		games []string
		want  []string
	}{
		{[]string{"tebes size=4"}, []string{"tebes-4"}},
		{[]string{"tebes size=6", "teb"}, nil},
		{[]string{"tute", "tebes size=6 opening=1", "tebes size=4 opening=9"}, []string{"tute-4"}},
		{[]string{"tebes \" size=4", "tebes ' [\\"}, nil},
	} {
		v := c.addBuilt(anna.ID, fmt.Sprintf("bot-%d", i))
		kit.Must(t, c.Versions.SetBuildInfo(bg, v.ID, BuildInfo{Hash: bundleOf(2 + i), Games: x.games, Command: []string{"./bot"}}))
		kit.Must(t, c.Versions.Promote(bg, v.ID))
		for _, when := range []string{"live", "synced"} {
			var on []string
			for _, l := range testLadders(t) {
				if slices.ContainsFunc(c.players(l.Name), func(p matchmaking.Candidate) bool { return p.ID == v.ID }) {
					on = append(on, l.Name)
				}
			}
			if !slices.Equal(on, x.want) {
				t.Errorf("%s: %q plays on %q, want %q", when, x.games, on, x.want)
			}
			all := testLadders(t)
			kit.Must(t, c.Ladders.Sync(bg, all[:1]))
			kit.Must(t, c.Ladders.Sync(bg, all))
		}
	}
}

// TestGameBeforeTheFirstMatch checks that, when the game of a ladder without matches changes, only bots for the
// new game play on it.
func TestGameBeforeTheFirstMatch(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna := c.addPeople("anna")[0]
	v := c.addBuilt(anna.ID, "anna-bot")
	kit.Must(t, c.Versions.SetBuildInfo(bg, v.ID, BuildInfo{Hash: bundleOf(2), Games: []string{"tebes"}, Command: []string{"./bot"}}))
	kit.Must(t, c.Versions.Promote(bg, v.ID))
	playing := func() (on []string) {
		for _, l := range testLadders(t) {
			if slices.ContainsFunc(c.players(l.Name), func(p matchmaking.Candidate) bool { return p.ID == v.ID }) {
				on = append(on, l.Name)
			}
		}
		return on
	}
	if got := playing(); !slices.Equal(got, []string{"tebes-4"}) {
		t.Errorf("it plays on %q", got)
	}
	all := testLadders(t)
	other := all[2]
	other.Name = all[0].Name
	kit.Must(t, c.Ladders.Sync(bg, []ladder.Ladder{other, all[1], all[2]}))
	if got := playing(); got != nil {
		t.Errorf("it plays on %q", got)
	}
	wantSound(t, c.Store)
	kit.Must(t, c.Ladders.Sync(bg, all))
	if got := playing(); !slices.Equal(got, []string{"tebes-4"}) {
		t.Errorf("after that it plays on %q", got)
	}
	wantSound(t, c.Store)
}

// TestPausedLadder checks that no match of a paused ladder is added, by any program and after a restart, that matches
// which were added before are played, and that the ladder can be resumed.
func TestPausedLadder(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	pair := c.liveIDs("@first", "@random")
	waits := kit.Get[ladder.Match](t)(c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: pair}))
	isPlayed := func(by *Store) bool {
		return kit.Get[*matchmaking.Pool](t)(by.Ladders.Pool(bg, "tebes-4")) != nil
	}
	if !isPlayed(c.Store) {
		t.Fatal("the ladder is paused from the start")
	}
	other := kit.Get[*Store](t)(Open(string(c.Dir()), Options{Now: c.clock.now})) // a command beside the server
	kit.Must(t, other.Ladders.SetPaused(bg, "tebes-4", true))
	_, err := c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: pair})
	wantError(t, err, ladder.Conflict, `ladder "tebes-4" is paused`)
	if isPlayed(c.Store) {
		t.Error("the server has not learnt of the pause")
	}
	since := kit.Get[LadderInfo](t)(c.Ladders.Find(bg, "tebes-4")).PausedAt
	c.clock.skip(time.Hour)
	c.syncConfig() // as at a start of the server
	kit.Must(t, c.Ladders.SetPaused(bg, "tebes-4", true))
	if l := kit.Get[LadderInfo](t)(c.Ladders.Find(bg, "tebes-4")); since.IsZero() || !l.PausedAt.Equal(since) {
		t.Errorf("it is paused since %s, want %s", l.PausedAt, since)
	}
	if names := kit.Get[[]string](t)(c.Ladders.ListPaused(bg)); !slices.Equal(names, []string{"tebes-4"}) {
		t.Errorf("paused are %q", names)
	}
	c.startAttempt(waits)

	kit.Must(t, other.Ladders.SetPaused(bg, "tebes-4", false))
	kit.Must(t, other.Close())
	if !isPlayed(c.Store) {
		t.Error("the server has not learnt of its end")
	}
	c.playRatedMatch("tebes-4", pair...)
	wantError(t, c.Ladders.SetPaused(bg, "chess", true), ladder.NotFound, `ladder "chess" does not exist: look at the list of ladders`)
	kit.Must(t, c.Ladders.Sync(bg, testLadders(t)[1:]))
	wantError(t, c.Ladders.SetPaused(bg, "tebes-4", true), ladder.Conflict, `ladder "tebes-4" is not played any more`)
	wantSound(t, c.Store)
}
