package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
)

// What matchmaking is told: who plays, how long they waited, whom they met, with
// the matches that are not over.
func TestLadderState(t *testing.T) {
	c := newCompetition(t)
	ids := c.ids("@random", "@first", "@greedy")
	c.finished("tebes-4", ids[0], ids[1])
	c.finished("tebes-4", ids[0], ids[1])
	c.begun("tebes-4", ids[0], ids[2])
	s, err := c.LadderState(bg, "tebes-4")
	check(t, err)
	if s.Name != "tebes-4" || s.Slots != 2 || len(s.Players) != 3 {
		t.Fatalf("got %+v", s)
	}
	for i, want := range []struct{ matches, waited, busy int }{{2, 0, 1}, {2, 0, 0}, {0, 2, 1}} {
		p := s.Players[slices.IndexFunc(s.Players, func(p matchmaking.Player) bool { return p.ID == ids[i] })]
		if p.Matches != want.matches || p.Waited != want.waited || p.Busy != want.busy {
			t.Errorf("player %d is %+v, want %+v", i, p, want)
		}
	}
	if s.Met(ids[0], ids[1]) != 2 || s.Met(ids[1], ids[0]) != 2 || s.Met(ids[2], ids[0]) != 1 || s.Met(ids[1], ids[2]) != 0 {
		t.Errorf("met: %d %d %d %d", s.Met(ids[0], ids[1]), s.Met(ids[1], ids[0]), s.Met(ids[2], ids[0]), s.Met(ids[1], ids[2]))
	}
}

// Partners have not met as opponents.
func TestLadderStateOfTeams(t *testing.T) {
	c := newCompetition(t)
	p, err := c.AddPerson(bg, "anna", false)
	check(t, err)
	c.live(p.ID, "anna-bot")
	ids := c.ids("@random", "@first", "@greedy", "anna-bot")
	c.finished("brisca-4-teams", ids...)
	c.begun("brisca-4-teams", ids...)
	s, err := c.LadderState(bg, "brisca-4-teams")
	check(t, err)
	if s.Met(ids[0], ids[2]) != 0 || s.Met(ids[0], ids[1]) != 2 || s.Met(ids[3], ids[2]) != 2 {
		t.Errorf("met: %d %d %d", s.Met(ids[0], ids[2]), s.Met(ids[0], ids[1]), s.Met(ids[3], ids[2]))
	}
}

// A ladder that leaves the configuration keeps its history; its game never changes.
func TestSyncLadders(t *testing.T) {
	c := newCompetition(t)
	ids := c.ids("@random", "@first")
	c.finished("tebes-4", ids...)
	ladders := testLadders(t)
	check(t, c.SyncLadders(bg, ladders[1:]))
	info, err := c.Ladder(bg, "tebes-4")
	check(t, err)
	if info.Active || info.Finished != 1 {
		t.Errorf("a retired ladder is %+v", info)
	}
	_, err = c.AddMatch(bg, NewMatch{Ladder: "tebes-4", Versions: ids})
	wantError(t, err, ladder.Conflict, `ladder "tebes-4" is not played any more`)
	rest, err := c.Resting(bg, "tebes-4")
	check(t, err)
	if len(rest) != 3 {
		t.Errorf("%d versions rest there", len(rest))
	}
	check(t, c.SyncLadders(bg, ladders))
	c.finished("tebes-4", ids...)
	ladders[0].Options = map[string]string{"size": "6"}
	err = c.SyncLadders(bg, ladders)
	if ladder.CodeOf(err) != ladder.Conflict || !strings.HasPrefix(err.Error(), `ladder "tebes-4" has matches of tebes {"board":"standard"`) {
		t.Errorf("a changed game says %v", err)
	}
	ladders[0] = testLadders(t)[0]
	ladders[0].House = []string{"@random", "@greedy"}
	check(t, c.SyncLadders(bg, ladders))
	list, err := c.Standings(bg, "tebes-4")
	check(t, err)
	if len(list) != 2 {
		t.Errorf("without @first the standings are %+v", list)
	}
	wantSound(t, c.Store)
}

// A house bot with another label has a new version, with another program around
// it the same; one that is gone rests.
func TestSyncHouse(t *testing.T) {
	c := newCompetition(t)
	first := c.ids("@random", "@first", "@greedy")
	check(t, c.SyncHouse(bg, []HouseBot{{"@random", "1", bundleOf(7)}, {"@first", "2", bundleOf(7)}}))
	now := c.ids("@random", "@first")
	if now[0] != first[0] || now[1] == first[1] {
		t.Errorf("the versions were %v and are %v", first, now)
	}
	v, err := c.Version(bg, now[0])
	check(t, err)
	if v.Hash != bundleOf(7) || v.Number != 1 {
		t.Errorf("@random is %+v", v)
	}
	v, err = c.Version(bg, first[2])
	check(t, err)
	if v.State != ladder.Resting {
		t.Errorf("@greedy is %+v", v)
	}
	list, err := c.Standings(bg, "tebes-4")
	check(t, err)
	if len(list) != 2 {
		t.Errorf("the standings are %+v", list)
	}
}
