//go:build !race || slowrace

package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
)

// TestFinishKeepsAll checks that matches of every shape are stored exactly as they were played.
func TestFinishKeepsAll(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	c.addLive(p.ID, "anna-bot")
	ids := c.liveIDs("@random", "@first", "@greedy", "anna-bot")
	for name, versions := range map[string][]int64{"tebes-4": ids[:2], "brisca-4-teams": ids, "tute-4": ids} {
		m, seed := c.startRatedMatch(name, versions...)
		played := playMatch(t, m, seed)
		played[0].Logs[1] = []byte("thinking\n")
		slices.Reverse(played) // the order does not matter
		changes := kit.Get[[]ladder.Change](t)(c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), played))
		slices.Reverse(played)

		m = kit.Get[ladder.Match](t)(c.Matches.Find(bg, m.ID))
		if m.State != ladder.Finished || m.Order != 1 || !slices.Equal(m.Versions, versions) || m.Ladder != name || !m.Rated {
			t.Errorf("%s: the match is %+v", name, m)
		}
		if a := m.Attempts; len(a) != 1 || a[0].Seed == nil || *a[0].Seed != referee.Hex(seed) || a[0].Commitment != referee.Commitment(seed) {
			t.Errorf("%s: attempts are %+v", name, m.Attempts)
		}
		if diff := cmp.Diff(changes, m.Changes); diff != "" || len(changes) != len(versions) {
			t.Errorf("%s: changes: %s", name, diff)
		}
		games := kit.Get[[]ladder.FinishedGame](t)(c.Matches.Games(bg, m.ID))
		if len(games) != len(played) {
			t.Fatalf("%s: there are %d games, not %d", name, len(games), len(played))
		}
		for i, g := range games {
			replay := kit.Get[[]byte](t)(c.Matches.Replay(bg, g.ID))
			if string(replay) != string(played[i].Encode()) {
				t.Errorf("%s: the replay of game %d differs", name, i)
			}
			one := kit.Get[ladder.FinishedGame](t)(c.Matches.Game(bg, g.ID))
			if diff := cmp.Diff(g, one); diff != "" {
				t.Errorf("%s: game %d: %s", name, i, diff)
			}
			want := wantGame(played[i])
			want.Repeated = g.Repeated && name == "tebes-4" // cards never are
			want.ID, want.MatchID, want.Took = g.ID, m.ID, played[i].Took.Truncate(time.Microsecond)
			if diff := cmp.Diff(want, g); diff != "" {
				t.Errorf("%s: game %d: %s", name, i, diff)
			}
		}
		log := kit.Get[[]byte](t)(c.Matches.Log(bg, games[0].ID, 1))
		none := kit.Get[[]byte](t)(c.Matches.Log(bg, games[0].ID, 0))
		if string(log) != "thinking\n" || none != nil {
			t.Errorf("%s: logs are %q and %q", name, log, none)
		}
	}
	wantSound(t, c.Store)
}

// TestFinishRefuses checks that games that do not belong to the attempt are refused and nothing is stored.
func TestFinishRefuses(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	m, stale := c.startRatedMatch("tebes-4", ids...)
	old := playMatch(t, m, stale)
	_, err := c.Matches.InterruptAttempt(bg, m.ID, c.lastAttempt(m.ID), phrase.Plain("the referee failed"), true)
	kit.Must(t, err)
	seed := c.startAttempt(m)
	played := playMatch(t, m, seed)
	for _, x := range []struct {
		name, want string
		games      func([]*referee.GameResult) []*referee.GameResult
	}{
		{"an older attempt", "match 1: deal 0, rotation 0: the replay is not of attempt 2: it has another seed", func([]*referee.GameResult) []*referee.GameResult { return old }},
		{"one missing", "match 1: there are 3 games, not 2 deals in 2 rotations", func(g []*referee.GameResult) []*referee.GameResult { return g[1:] }},
		{"one twice", "match 1: deal 0, rotation 0 is there where deal 0, rotation 1 is due", func(g []*referee.GameResult) []*referee.GameResult { g[1] = g[0]; return g }},
		{"no replay", `match 1: deal 1, rotation 1: replay: the game is "", not "tebes"`, changeOne(3, func(g *referee.GameResult) { g.Replay = referee.Replay{Match: g.Match} })},
		{"seed not revealed", "match 1: deal 1, rotation 0: the replay is not of attempt 2: it has another seed", changeOne(2, func(g *referee.GameResult) { g.Match.Seed = nil })},
		{"other options", "match 1: deal 0, rotation 1: the replay's options are ", changeOne(1, func(g *referee.GameResult) {
			g.Options = maps.Clone(g.Options)
			g.Options["board"] = "random"
		})},
		{"other bots", "match 1: deal 0, rotation 1: seat 0 was played by bot 0 where the rotation has bot 1", changeOne(1, func(g *referee.GameResult) { g.Bots = []int{0, 1} })},
		{"games that scores could end", "match 1: deal 0, rotation 0: the game could be adjudicated by scores: the games of a competition are played to their end", changeOne(0, func(g *referee.GameResult) {
			g.Adjudication = &referee.Adjudication{Draw: &referee.ScoreRule{Plies: 8, Score: 10}}
		})},
		{"another clock", "match 1: deal 0, rotation 0: the replay's clock is movetime=1 bank=0 inc=0 margin=50, the match's movetime=60000 ", changeOne(0, func(g *referee.GameResult) { g.Clock.Movetime = 1 })},
		{"a clock of its own", "match 1: deal 0, rotation 0: seat 1 has a clock of its own", changeOne(0, func(g *referee.GameResult) {
			g.Seats = slices.Clone(g.Seats)
			g.Seats[1].Untimed = true
		})},
		{"too few points", "match 1: deal 0, rotation 1: there are 2 ranks and 1 points for 2 seats", changeOne(1, func(g *referee.GameResult) { g.Points = g.Points[:1] })},
		{"a move of nobody", "match 1: deal 0, rotation 1: move 0 is of seat 7, and there are 2", changeOne(1, func(g *referee.GameResult) {
			g.Moves = slices.Clone(g.Moves)
			g.Moves[0].Seat = 7
		})},
		{"a fault of nobody", "match 1: deal 0, rotation 1: a fault is of seat -1, and there are 2", changeOne(1, func(g *referee.GameResult) { g.Faults = []referee.Fault{{Seat: -1}} })},
		{"a fault of no kind", `match 1: deal 0, rotation 1: a fault has the code "lazy", which there is not`, changeOne(1, func(g *referee.GameResult) { g.Faults = []referee.Fault{{Code: "lazy"}} })},
		{"a rank that cannot be", "match 1: deal 0, rotation 0: seat 1 has rank 0 of 2 sides", changeOne(0, func(g *referee.GameResult) { g.Ranks = []int{1, 0} })},
	} {
		_, err := c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), x.games(slices.Clone(played)))
		if err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%s: says %v, want %s", x.name, err, x.want)
		}
	}
	if n := c.countRows("results") + c.countRows("changes") + c.countRows("pairs"); n != 0 {
		t.Errorf("%d rows were kept", n)
	}
	_, err = c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), played)
	kit.Must(t, err)
	_, err = c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), played)
	wantError(t, err, ladder.Conflict, "match 1 is finished, not running")
	_, err = c.Matches.Finish(bg, 77, c.lastAttempt(77), played)
	wantError(t, err, ladder.NotFound, "match 77 does not exist")
	wantSound(t, c.Store)
}

// changeOne returns a function that applies change to the i-th game of a list.
func changeOne(i int, change func(*referee.GameResult)) func([]*referee.GameResult) []*referee.GameResult {
	return func(games []*referee.GameResult) []*referee.GameResult {
		g := *games[i]
		change(&g)
		games[i] = &g
		return games
	}
}

// TestAttempts checks that a match waits again after a failed attempt and is dropped after the third, that
// stops of the server do not count, and that seeds are public only after an attempt.
func TestAttempts(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	m, _ := c.startRatedMatch("tebes-4", ids...)
	for range 5 {
		_, err := c.Matches.InterruptAttempt(bg, m.ID, c.lastAttempt(m.ID), phrase.Plain("the server stopped"), false)
		kit.Must(t, err)
		c.startAttempt(m)
	}
	for i := 1; i <= 3; i++ {
		dropped := kit.Get[bool](t)(c.Matches.InterruptAttempt(bg, m.ID, c.lastAttempt(m.ID), phrase.Plain("the referee failed"), true))
		if dropped != (i == 3) {
			t.Fatalf("failure %d: dropped is %v", i, dropped)
		}
		if !dropped {
			c.startAttempt(m)
		}
	}
	m, err := c.Matches.Find(bg, m.ID)
	kit.Must(t, err)
	if m.State != ladder.Dropped || m.Reason.String() != "the referee failed" || len(m.Attempts) != 8 || m.FinishedAt.IsZero() {
		t.Errorf("the match is %+v", m)
	}
	_, err = c.Matches.InterruptAttempt(bg, m.ID, c.lastAttempt(m.ID), phrase.Plain(""), true)
	wantError(t, err, ladder.Conflict, "match 1 is dropped, not running")
	err = c.Matches.Start(bg, []MatchStart{{Match: m.ID, Seed: referee.NewSeed()}})[0].Err
	wantError(t, err, ladder.Conflict, "match 1 is dropped, not waiting")
}

// TestInterruptedWaitFirst checks that an interrupted match is among the first waiting ones, however many
// matches people request.
func TestInterruptedWaitFirst(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	ids := c.liveIDs("@random", "@first")
	want := []int64{0, c.addUnrated(p.ID, ids...).ID, c.addUnrated(p.ID, ids...).ID}
	m, _ := c.startRatedMatch("tebes-4", ids...)
	want[0] = m.ID
	kit.Get[bool](t)(c.Matches.InterruptAttempt(bg, m.ID, c.lastAttempt(m.ID), phrase.Plain("the server stopped"), false))
	for n := 1; n <= len(want); n++ {
		var got []int64
		for _, m := range kit.Get[[]ladder.Match](t)(c.Matches.ListWaiting(bg, n)) {
			got = append(got, m.ID)
		}
		if !slices.Equal(got, want[:n]) {
			t.Errorf("the first %d that wait are %v, want %v", n, got, want[:n])
		}
	}
}

// TestRunningSeedsAreSecret checks that no public method returns the seed of a running attempt.
func TestRunningSeedsAreSecret(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	m, seed := c.startRatedMatch("tebes-4", ids...)
	hidden := referee.Hex(seed).String()
	raw := fmt.Sprint([32]byte(seed))
	see := func(what string, v any, err error) {
		t.Helper()
		kit.Must(t, err)
		for _, form := range []string{jsonText(v), fmt.Sprintf("%+v", v), fmt.Sprint(v)} {
			if strings.Contains(form, hidden) || strings.Contains(form, raw) {
				t.Errorf("%s shows the seed", what)
			}
		}
	}
	look := func() {
		one, err := c.Matches.Find(bg, m.ID)
		see("Match", one, err)
		if len(one.Attempts) == 0 || one.Attempts[len(one.Attempts)-1].Seed != nil {
			t.Errorf("attempts are %+v", one.Attempts)
		}
		for _, f := range []MatchFilter{{}, {Ladder: "tebes-4"}, {Bot: "@first"}, {Version: ids[0]}, {State: ladder.Running}, {Ladder: "tebes-4", State: ladder.Running}} {
			list, err := c.Matches.List(bg, f)
			see("Matches", list, err)
			if len(list) != 1 {
				t.Errorf("%+v finds %d matches", f, len(list))
			}
		}
		games, err := c.Matches.Games(bg, m.ID)
		see("Games", games, err)
		see("Changes", one.Changes, nil)
	}
	look()
	if _, err := c.Matches.InterruptAttempt(bg, m.ID, c.lastAttempt(m.ID), phrase.Plain(""), false); err != nil {
		t.Fatal(err)
	}
	one := kit.Get[ladder.Match](t)(c.Matches.Find(bg, m.ID))
	if s := one.Attempts[0].Seed; s == nil || s.String() != hidden {
		t.Errorf("after the attempt the seed is %v", s)
	}
	seed = c.startAttempt(m)
	hidden, raw = referee.Hex(seed).String(), fmt.Sprint([32]byte(seed))
	look()
}

// TestVersionsChangeWhileMatchesWait checks that a waiting rated match is dropped if one of its versions no
// longer plays, and that a running match still counts.
func TestVersionsChangeWhileMatchesWait(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p, err := c.People.Add(bg, "anna", false)
	kit.Must(t, err)
	v := c.addLive(p.ID, "anna-bot")
	other := c.liveIDs("@first")[0]
	waiting, err := c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: []int64{v.ID, other}})
	kit.Must(t, err)
	running, seed := c.startRatedMatch("tebes-4", v.ID, other)
	broken, _ := c.startRatedMatch("tebes-4", other, v.ID)
	next := c.addLive(p.ID, "anna-bot")
	m, err := c.Matches.Find(bg, waiting.ID)
	kit.Must(t, err)
	if m.State != ladder.Dropped || m.Reason.String() != "version 1 of anna-bot plays no more" {
		t.Errorf("the one that waited is %s: %s", m.State, m.Reason)
	}
	_, err = c.Matches.Finish(bg, running.ID, c.lastAttempt(running.ID), playMatch(t, running, seed))
	kit.Must(t, err)
	if dropped, err := c.Matches.InterruptAttempt(bg, broken.ID, c.lastAttempt(broken.ID), phrase.Plain("the server stopped"), false); err != nil || !dropped {
		t.Errorf("the one that was broken off: dropped %v, %v", dropped, err)
	}
	_, err = c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: []int64{v.ID, other}})
	wantError(t, err, ladder.Conflict, "version 1 of anna-bot does not play on that ladder")
	_, err = c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: []int64{next.ID, next.ID}})
	wantError(t, err, ladder.Invalid, "version 2 of anna-bot cannot play against itself: name different versions")
	wantSound(t, c.Store)
}

// TestPredecessor checks that a new version starts with the Elo that its predecessor has at that moment.
func TestPredecessor(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	v := c.addLive(p.ID, "anna-bot")
	c.playRatedMatch("tebes-4", v.ID, c.liveIDs("@first")[0])
	find := func(id int64) ladder.Standing {
		places := kit.Get[[]ladder.Standing](t)(c.Ladders.StandingsOf(bg, v.BotID))
		for _, s := range places {
			if s.VersionID == id && s.Ladder == "tebes-4" {
				return s
			}
		}
		t.Fatalf("version %d has no place", id)
		return ladder.Standing{}
	}
	old := find(v.ID)
	if old.Elo == 1000 || old.Matches != 1 || !old.Active || old.Rank == 0 {
		t.Fatalf("the first version has %+v", old)
	}
	next := c.addLive(p.ID, "anna-bot")
	s := find(next.ID)
	if s.Elo != old.Elo || s.Matches != 0 || !s.Active {
		t.Errorf("the second version has %+v", s)
	}
	if s := find(v.ID); s.Active || s.Rank != 0 || s.Elo != old.Elo {
		t.Errorf("the first version then has %+v", s)
	}
	before := kit.Get[ladder.Version](t)(c.Versions.Find(bg, v.ID))
	if before.State != ladder.Retired || before.EndedAt.IsZero() {
		t.Errorf("the first version is %+v", before)
	}
}

// TestAnchorIsHeld checks that the rating of the anchor never changes.
func TestAnchorIsHeld(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	for range 3 {
		c.playRatedMatch("tebes-4", ids...)
	}
	list := kit.Get[[]ladder.Standing](t)(c.Ladders.Standings(bg, "tebes-4"))
	i := slices.IndexFunc(list, func(s ladder.Standing) bool { return s.Bot == ladder.Anchor })
	if list[i].Elo != 1000 || list[i].Matches != 3 || list[i].Games != 12 || list[i].Wins+list[i].Draws+list[i].Losses != 12 {
		t.Errorf("the anchor has %+v", list[i])
	}
}

// TestHistory checks that a history is thinned to the requested length and includes the last change.
func TestHistory(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first")
	for range 7 {
		c.playRatedMatch("tebes-4", ids...)
	}
	for limit, want := range map[int][]int{0: {1, 2, 3, 4, 5, 6, 7}, 7: {1, 2, 3, 4, 5, 6, 7}, 4: {1, 3, 5, 7}, 3: {1, 4, 7}, 2: {3, 7}, 1: {7}} {
		list := kit.Get[[]ladder.Change](t)(c.Ladders.ChangeHistory(bg, "tebes-4", ids[1], limit))
		var got []int
		for _, x := range list {
			got = append(got, x.Number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d gives %v, want %v", limit, got, want)
		}
	}
}

// TestReplaysAfter checks that replays are returned in the order in which they were stored, from any cursor and
// with any filter.
func TestReplaysAfter(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	type seen struct {
		game, match int64
		ladder      string
	}
	read := func(cursor int64, f ReplayFilter) (out []seen) {
		kit.Must(t, c.Matches.ReplaysAfter(bg, cursor, f, func(r StoredReplay) error {
			out = append(out, seen{r.Game, r.Match, r.Ladder})
			_, err := referee.DecodeReplay(r.Data)
			return err
		}))
		return out
	}
	all := read(0, ReplayFilter{})
	var games int
	kit.Must(t, c.readers.QueryRow("SELECT sum(games) FROM results").Scan(&games))
	if len(all) != games {
		t.Fatalf("%d replays of %d games", len(all), games)
	}
	cursors := []int64{0}
	for i := 0; i < len(all); i += 3 {
		cursors = append(cursors, all[i].game)
	}
	for _, cursor := range append(cursors, all[len(all)-1].game) {
		for _, f := range []ReplayFilter{{}, {Ladder: "tebes-4"}, {Bot: "anna-bot"}, {Bot: "anna-bot", Ladder: "tebes-4"}, {Match: all[0].match}} {
			var want []seen
			for _, s := range all {
				m := kit.Get[ladder.Match](t)(c.Matches.Find(bg, s.match))
				if s.game > cursor && (f.Ladder == "" || s.ladder == f.Ladder) && (f.Bot == "" || slices.Contains(m.Bots, f.Bot)) && (f.Match == 0 || f.Match == s.match) {
					want = append(want, s)
				}
			}
			if got := read(cursor, f); !slices.Equal(got, want) {
				t.Errorf("after %d with %+v: %v, want %v", cursor, f, got, want)
			}
		}
	}
	err := c.Matches.ReplaysAfter(bg, 0, ReplayFilter{Ladder: "mus"}, nil)
	wantError(t, err, ladder.NotFound, `ladder "mus" does not exist: look at the list of ladders`)
}
