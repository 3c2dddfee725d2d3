//go:build !race || slowrace

package store

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

// TestOpponents checks that the record against an opponent covers the games of all versions of a bot, for two
// sides, teams and four sides.
func TestOpponents(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	ladders := kit.Get[[]LadderInfo](t)(c.Ladders.List(bg))
	for _, l := range ladders {
		want := map[string]map[string]rules.Record{}
		sides, err := l.Sides()
		kit.Must(t, err)
		matches, err := c.Matches.List(bg, MatchFilter{Ladder: l.Name, State: ladder.Finished, Limit: 10_000})
		kit.Must(t, err)
		for _, m := range matches {
			games := kit.Get[[]ladder.FinishedGame](t)(c.Matches.Games(bg, m.ID))
			for a := range m.Bots {
				for b := range m.Bots {
					if sides[a] == sides[b] {
						continue
					}
					if want[m.Bots[a]] == nil {
						want[m.Bots[a]] = map[string]rules.Record{}
					}
					r := want[m.Bots[a]][m.Bots[b]]
					for _, g := range games {
						rank := func(slot int) int {
							return g.Seats[slices.IndexFunc(g.Seats, func(s ladder.GameSeat) bool { return s.Slot == slot })].Rank
						}
						one := rules.Record{Games: 1}
						switch {
						case rank(a) < rank(b):
							one.Wins = 1
						case rank(a) > rank(b):
							one.Losses = 1
						default:
							one.Draws = 1
						}
						r.Add(one)
					}
					want[m.Bots[a]][m.Bots[b]] = r
				}
			}
		}
		for name, records := range want {
			b, err := c.Bots.Find(bg, name)
			kit.Must(t, err)
			list, total, err := c.Ladders.Opponents(bg, l.Name, b.ID, 1000, 0, 1000)
			kit.Must(t, err)
			got := map[string]rules.Record{}
			for i, o := range list {
				got[o.Bot] = o.Record
				if i > 0 && o.Games > list[i-1].Games {
					t.Errorf("%s, %s: %s comes after fewer games", l.Name, name, o.Bot)
				}
			}
			if diff := cmp.Diff(records, got); diff != "" || total != len(records) {
				t.Errorf("%s, %s: %d opponents, %s", l.Name, name, total, diff)
			}
			part, total, err := c.Ladders.Opponents(bg, l.Name, b.ID, 1000, 1, 1)
			kit.Must(t, err)
			if len(records) > 1 && (total != len(records) || len(part) != 1 || part[0].Bot != list[1].Bot) {
				t.Errorf("%s, %s: the second opponent is %+v of %d", l.Name, name, part, total)
			}
		}
	}
}

// TestRatings checks that the points of a chart are evenly spaced over all versions and include the last match.
func TestRatings(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := kit.Get[ladder.Person](t)(c.People.Add(bg, "ada", false))
	other := c.liveIDs("@random")[0]
	for range 2 {
		v := c.addLive(p.ID, "mine")
		for range 5 {
			c.playRatedMatch("tebes-4", v.ID, other)
		}
	}
	b := kit.Get[ladder.Bot](t)(c.Bots.Find(bg, "mine"))
	for n, want := range map[int]string{
		10: "[1@1 2@1 3@1 4@1 5@1 6@2 7@2 8@2 9@2 10@2]",
		99: "[1@1 2@1 3@1 4@1 5@1 6@2 7@2 8@2 9@2 10@2]",
		3:  "[3@1 6@2 10@2]",
		1:  "[10@2]",
	} {
		points := kit.Get[[]RatingPoint](t)(c.Ladders.RatingHistory(bg, "tebes-4", b.ID, 10, n))
		var got []string
		for _, p := range points {
			got = append(got, fmt.Sprintf("%d@%d", p.Count, p.Version))
			if m, err := c.Matches.Find(bg, p.Match); err != nil || m.Changes[0].EloAfter != p.Elo || !m.FinishedAt.Equal(p.FinishedAt) {
				t.Errorf("point %+v is not of its match (%v)", p, err)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%d points are %v, want %v", n, got, want)
		}
	}
	last := kit.Get[[]RatingPoint](t)(c.Ladders.RatingHistory(bg, "tebes-4", b.ID, 1, 10))
	if len(last) != 5 || last[0].Version != 2 {
		t.Errorf("the points of one version are %+v", last)
	}
	if none, err := c.Ladders.RatingHistory(bg, "tute-4", b.ID, 10, 10); err != nil || len(none) != 0 {
		t.Errorf("without a match there are %v, %v", none, err)
	}
}

// TestForfeits checks that forfeited games are found by bot, and that Verify notices a wrong mark of a match.
func TestForfeits(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p, err := c.People.Add(bg, "ada", false)
	kit.Must(t, err)
	v, other := c.addLive(p.ID, "mine"), c.liveIDs("@random")[0]
	c.playRatedMatch("tebes-4", v.ID, other)
	m, seed := c.startRatedMatch("tebes-4", v.ID, other)
	_, err = c.Matches.Finish(bg, m.ID, c.lastAttempt(m.ID), playFaulty(t, m, seed))
	kit.Must(t, err)
	list, err := c.Matches.Forfeits(bg, v.BotID, 3)
	kit.Must(t, err)
	if len(list) != 3 || list[0].Match != m.ID || list[0].Version != 1 || list[0].GameName != "tebes" || list[0].Ladder != "tebes-4" || list[0].Code == "" {
		t.Fatalf("the games are %+v", list)
	}
	for _, f := range list {
		g := kit.Get[ladder.FinishedGame](t)(c.Matches.Game(bg, f.GameID))
		if s := g.Seats[f.Seat]; s.Slot != 0 || s.Fault != f.Code {
			t.Errorf("game %d has %+v", f.GameID, g.Seats)
		}
	}
	if list, err := c.Matches.Forfeits(bg, c.botID(other), 3); err != nil || len(list) != 0 {
		t.Errorf("@random has %v, %v", list, err)
	}
	wantSound(t, c.Store)
	_, err = c.writer.Exec("UPDATE match_slots SET faulty = 1 - faulty WHERE match_id = ?", m.ID)
	kit.Must(t, err)
	found, err := c.Verify(bg, nil)
	kit.Must(t, err)
	if len(found) != 2 {
		t.Errorf("verify finds %v", found)
	}
}

func (c *competition) botID(version int64) int64 {
	v := kit.Get[ladder.Version](c.tb)(c.Versions.Find(bg, version))
	return v.BotID
}

// playFaulty plays a match whose first bot answers with illegal moves.
func playFaulty(t *testing.T, m ladder.Match, seed rules.Seed) (out []*referee.GameResult) {
	v := kit.Get[*rules.Variant](t)(m.Variant())
	rm := match.Match{Variant: v, Deals: m.Deals, Seed: seed, Clock: m.Clock}
	for slot := range m.Versions {
		serve := func(lines io.Reader, answers io.Writer) error { return house.Run("random", lines, answers) }
		if slot == 0 {
			serve = func(lines io.Reader, answers io.Writer) error {
				io.WriteString(answers, "ready\nmove zz\n")
				_, err := io.Copy(io.Discard, lines)
				return err
			}
		}
		rm.Bots = append(rm.Bots, match.Contestant{Name: fmt.Sprintf("%s/%d", m.Bots[slot], m.Numbers[slot]), Version: labelOf(m.Bots[slot]), Hash: bundleOf(2), Serve: serve})
	}
	kit.Must(t, rm.Play(bg, func(g *referee.GameResult) error {
		g.Reveal(seed)
		out = append(out, g)
		return nil
	}))
	return out
}

// TestNames checks the lists of bots (filters, order, pages) and the search for names, in which a text is never
// a pattern and names that begin with it come first.
func TestNames(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	for _, name := range []string{"ada", "adam"} {
		p := kit.Get[ladder.Person](t)(c.People.Add(bg, name, false))
		c.addLive(p.ID, "x-"+name)
		c.addBuilt(p.ID, "madam-"+name)
	}
	yes, no := true, false
	for _, x := range []struct {
		f    BotFilter
		want []string
	}{
		{BotFilter{House: &no}, []string{"madam-adam", "x-adam", "madam-ada", "x-ada"}},
		{BotFilter{Name: "X-A"}, []string{"x-adam", "x-ada"}},
		{BotFilter{Name: "adam", House: &no}, []string{"madam-adam", "x-adam", "madam-ada"}},
		{BotFilter{Name: "%"}, nil},
		{BotFilter{Ladder: "tebes-4", House: &no}, []string{"x-adam", "x-ada"}},
		{BotFilter{Language: "Rust"}, nil},
		{BotFilter{Name: "rand", House: &yes}, []string{"@random"}},
	} {
		var got []string
		for before := int64(0); ; {
			page := kit.Get[[]ListedBot](t)(c.Bots.Search(bg, x.f, before, 1))
			if len(page) == 0 {
				break
			}
			got, before = append(got, page[0].Name), page[0].ID
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%+v: %q, want %q", x.f, got, x.want)
		}
	}
	for text, want := range map[string]string{
		"ADA": "[madam-ada madam-adam] [ada adam]", "x-": "[x-ada x-adam] []", "m": "[madam-ada madam-adam] [adam]", "": "[] []", "%": "[] []", "\x00": "[] []",
	} {
		bots, people, err := c.Bots.SearchNames(bg, text, 2)
		kit.Must(t, err)
		if got := fmt.Sprint(bots, people); got != want {
			t.Errorf("%q finds %s, want %s", text, got, want)
		}
	}
	if list, err := c.Bots.Languages(bg, 10); err != nil || !slices.Equal(list, []string{"Go"}) {
		t.Errorf("the languages are %q, %v", list, err)
	}
}

// TestMatchesOfBotIn checks that the queries for matches of a bot or version in a rare state, and for matches
// of two versions, agree with a filter of all matches.
func TestMatchesOfBotIn(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	ids := c.liveIDs("@random", "@first", "@greedy")
	c.playRatedMatch("tebes-4", ids[0], ids[1])
	waits := kit.Get[ladder.Match](t)(c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: []int64{ids[0], ids[1]}}))
	var runs []int64
	for range 3 {
		m, _ := c.startRatedMatch("tebes-4", ids[1], ids[0])
		runs = append(runs, m.ID)
	}
	c.startRatedMatch("tebes-4", ids[1], ids[2])
	team, _ := c.startRatedMatch("tute-4", ids[0], ids[1], ids[2], c.addLive(c.addPeople("anna")[0].ID, "anna-bot").ID)
	for _, test := range []struct {
		filter MatchFilter
		want   []int64
	}{
		{MatchFilter{Bot: "@random", State: ladder.Waiting}, []int64{waits.ID}},
		{MatchFilter{Bot: "@random", State: ladder.Running}, []int64{team.ID, runs[2], runs[1], runs[0]}},
		{MatchFilter{Bot: "@random", State: ladder.Running, Ladder: "tebes-4"}, []int64{runs[2], runs[1], runs[0]}},
		{MatchFilter{Version: ids[0], State: ladder.Running, BeforeID: team.ID, Limit: 2}, []int64{runs[2], runs[1]}},
		{MatchFilter{Version: ids[0], State: ladder.Waiting, Ladder: "tute-4"}, nil},
		{MatchFilter{Version: ids[0], Opponent: ids[2], Ladder: "tute-4"}, []int64{team.ID}},
		{MatchFilter{Version: ids[2], Opponent: ids[0], Ladder: "tute-4"}, []int64{team.ID}},
	} {
		var got []int64
		for _, m := range kit.Get[[]ladder.Match](t)(c.Matches.List(bg, test.filter)) {
			got = append(got, m.ID)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v gives %v, want %v", test.filter, got, test.want)
		}
	}
}
