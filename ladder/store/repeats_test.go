//go:build !race || slowrace

package store

import (
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// ratingOf returns the rating of a version and its number of matches and games.
func (c *competition) ratingOf(name string, version int64) (elo, uncertainty float64, matches, games int64) {
	c.tb.Helper()
	l, err := c.read.LadderByName(bg, name)
	kit.Must(c.tb, err)
	e, err := c.read.Entry(bg, l.ID, version)
	kit.Must(c.tb, err)
	return e.Elo, e.Uncertainty, e.Matches, e.Games
}

// deterministic returns two versions that play the same moves in every match.
func (c *competition) deterministic() (versions [2]int64) {
	c.tb.Helper()
	p, err := c.People.Add(bg, "dora", false)
	kit.Must(c.tb, err)
	for i, name := range []string{"plays-first", "plays-last"} {
		versions[i] = c.addLive(p.ID, name).ID
	}
	return versions
}

// TestRepeatsMoveNothing checks that repeated games do not change ratings: two deterministic bots in a game
// without chance are rated by a single deal, in either rotation. In a game with chance all deals count.
func TestRepeatsMoveNothing(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	v := c.deterministic()
	m, changes := c.playRatedMatch("tebes-4", v[0], v[1])
	if m.Deals != 2 || m.DistinctDeals != 1 || changes[0].Deals != 1 || m.Changes[0].Deals != 1 || changes[0].K == 0 {
		t.Errorf("the first match has %d deals, %d distinct, and moves %+v", m.Deals, m.DistinctDeals, changes)
	}
	elo, uncertainty, _, _ := c.ratingOf("tebes-4", v[0])
	const counts = "SELECT deals, score, squares, matches, wins, draws, losses FROM pairs WHERE ladder_id = 1"
	_, pairs := c.rows(counts)
	for i, versions := range [][2]int64{{v[0], v[1]}, {v[1], v[0]}, {v[0], v[1]}} {
		m, changes := c.playRatedMatch("tebes-4", versions[0], versions[1])
		for _, change := range changes {
			if m.DistinctDeals != 0 || change.Deals != 0 || change.K != 0 || change.EloAfter != change.EloBefore || change.Score+changes[1-change.Slot].Score != 1 {
				t.Errorf("match %d: %d distinct deals move %+v", i+2, m.DistinctDeals, change)
			}
		}
		gotElo, gotUncertainty, matches, games := c.ratingOf("tebes-4", v[0])
		if gotElo != elo || gotUncertainty != uncertainty || matches != int64(i+2) || games != int64(4*(i+2)) {
			t.Errorf("after match %d: Elo %v ± %v, %d matches, %d games", i+2, gotElo, gotUncertainty, matches, games)
		}
	}
	_, again := c.rows(counts)
	want := pairs[0]
	want[3] = int64(4) // matches and games count, deals do not
	for i := 4; i < len(want); i++ {
		want[i] = 4 * want[i].(int64)
	}
	if len(again) != 1 || !slices.Equal(again[0], want) {
		t.Errorf("the pairs are %v, want %v", again, want)
	}
	// A new version that plays the same moves is another bot.
	next := c.addLive(1, "plays-first")
	if m, _ := c.playRatedMatch("tebes-4", next.ID, v[1]); m.DistinctDeals != 1 {
		t.Errorf("of a new version %d deals count", m.DistinctDeals)
	}
	four := append(c.liveIDs("@random", "@first"), next.ID, v[1])
	for range 2 {
		if m, _ := c.playRatedMatch("tute-4", four...); m.DistinctDeals != m.Deals {
			t.Errorf("at cards %d of %d deals count", m.DistinctDeals, m.Deals)
		}
	}
	history, err := c.Ladders.ChangeHistory(bg, "tebes-4", v[0], 0)
	kit.Must(t, err)
	if len(history) != 4 || history[0].Deals != 1 || history[3].Deals != 0 {
		t.Errorf("the history is %+v", history)
	}
	wantSound(t, c.Store)
}

// TestBoutsOfRepeats checks that repeated deals are not included in the bouts of teams.
func TestBoutsOfRepeats(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	v := c.deterministic()
	for range 2 {
		c.playRatedMatch("tebes-4", v[0], v[1])
	}
	_, bouts, err := c.Ladders.Bouts(bg, "tebes-4", []int{0, 1}, 1000)
	kit.Must(t, err)
	if len(bouts) != 2 || bouts[0].Deals != 1 || bouts[1].Deals != 0 || bouts[1].Score != 0 {
		t.Errorf("the bouts are %+v", bouts)
	}
}
