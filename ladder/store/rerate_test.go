//go:build !race || slowrace

package store

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
)

var otherFormula = func() rating.Formula {
	f := rating.Current
	f.Start, f.Anchor, f.Newcomer, f.Forget, f.Person.Deviation = 1200, 900, 10, 0.01, 300
	return f
}()

// ratings returns everything that the formula computes, as text.
func (c *competition) ratings() (out []string) {
	c.tb.Helper()
	for _, query := range []string{
		"SELECT 'formula ' || fingerprint FROM formula",
		"SELECT 'person ' || game || ' ' || person_id || ' ' || rating || ' ' || deviation || ' ' || volatility FROM person_ratings ORDER BY game, person_id",
		"SELECT 'seat ' || play_id || ' ' || seat || ' ' || rating_before || ' ' || rating_after FROM play_seats WHERE rating_after IS NOT NULL ORDER BY play_id, seat",
		"SELECT 'entry ' || ladder_id || ' ' || version_id || ' ' || start || ' ' || elo || ' ' || uncertainty || ' ' || matches || ' ' || wins FROM entries ORDER BY ladder_id, version_id",
		"SELECT 'change ' || match_id || ' ' || slot || ' ' || elo_before || ' ' || elo_after || ' ' || k || ' ' || expected FROM changes ORDER BY match_id, slot",
	} {
		_, rows := c.rows(query)
		for _, row := range rows {
			out = append(out, row[0].(string))
		}
	}
	return out
}

// wantRerate checks that Verify reports only that the ratings were computed by another formula.
func wantRerate(tb testing.TB, s *Store) {
	tb.Helper()
	found := kit.Get[[]Difference](tb)(s.Verify(bg, nil))
	if len(found) != 1 || found[0].Place != OtherFormula {
		tb.Errorf("verify says %v", found)
	}
}

// TestRerate checks that, after a change of the formula, a server does not start and Verify says so until
// Rerate was called, and that going back restores the same bits.
func TestRerate(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	first := c.ratings()
	dir := string(c.Dir())
	kit.Must(t, c.Close())
	if _, err := open(dir, Options{Server: true, NoSync: true}, otherFormula); ladder.CodeOf(err) != ladder.Unavailable || !strings.Contains(err.Error(), "compute them again, in ") {
		t.Errorf("a server with other constants says %v", err)
	}
	again := kit.Get[*Store](t)(open(dir, Options{Now: c.clock.now, Exclusive: true, NoSync: true}, otherFormula))
	t.Cleanup(func() { again.Close() })
	c.Store = again
	wantRerate(t, c.Store)

	dry := kit.Get[[]ReratedLadder](t)(c.Rerate(bg, true, nil))
	if diff := cmp.Diff(first, c.ratings()); diff != "" {
		t.Errorf("a dry run changes (-before +after): %s", diff)
	}
	wantRerate(t, c.Store)
	last, total := int64(0), int64(0)
	done := kit.Get[[]ReratedLadder](t)(c.Rerate(bg, false, func(done, all int64) { last, total = done, all }))
	if last != 7 || total != 7 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	if diff := cmp.Diff(dry, done); diff != "" {
		t.Errorf("(-dry +done): %s", diff)
	}
	wantSound(t, c.Store)
	moved := 0
	for _, l := range done {
		for _, v := range l.Versions {
			if v.EloBefore != v.EloAfter {
				moved++
			}
			if v.Bot == ladder.Anchor && v.EloAfter != otherFormula.Anchor {
				t.Errorf("%s: the anchor has %v", l.Ladder, v.EloAfter)
			}
			if v.Matches == 0 && v.Bot != ladder.Anchor && v.Number == 1 && v.EloAfter != otherFormula.Start {
				t.Errorf("%s: %s, without a match, has %v", l.Ladder, v.Bot, v.EloAfter)
			}
		}
	}
	if moved < 10 {
		t.Errorf("only %d ratings have moved", moved)
	}
	for i, line := range c.ratings() {
		if strings.HasPrefix(line, "person ") && line == first[i] {
			t.Errorf("the rating of a person has not moved: %s", line)
		}
	}

	c.formula = rating.Current
	wantRerate(t, c.Store)
	kit.Get[[]ReratedLadder](t)(c.Rerate(bg, false, nil))
	if diff := cmp.Diff(first, c.ratings()); diff != "" {
		t.Errorf("there and back (-before +after): %s", diff)
	}

	// Matches go on by a new formula, and new versions come by it.
	c.formula = otherFormula
	kit.Get[[]ReratedLadder](t)(c.Rerate(bg, false, nil))
	ids := c.liveIDs("@random", "@first")
	c.playRatedMatch("tebes-4", ids...)
	p := kit.Get[ladder.Person](t)(c.People.Add(bg, "carla", false))
	v := c.addLive(p.ID, "carla-bot")
	c.playRatedMatch("tebes-4", ids[0], v.ID)
	wantSound(t, c.Store)
}

// TestRerateErrors checks that Rerate changes nothing if it fails or is stopped.
func TestRerateErrors(t *testing.T) {
	t.Parallel()
	c := copyBusyCompetition(t)
	first := c.ratings()
	c.formula = otherFormula
	ctx, cancel := context.WithCancel(bg)
	if _, err := c.Rerate(ctx, false, func(done, total int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop is %v", err)
	}
	wantDamage := func(damage string) {
		t.Helper()
		_, err := c.writer.Exec(damage)
		kit.Must(t, err)
		_, err = c.Rerate(bg, false, nil)
		if ladder.CodeOf(err) != ladder.Unavailable || !strings.HasSuffix(err.Error(), "a verification says what differs") {
			t.Errorf("%s: it says %v", damage, err)
		}
	}
	wantDamage("UPDATE results SET data = zeroblob(9) WHERE match_id = 1") // a match without games
	if diff := cmp.Diff(first, c.ratings()); diff != "" {
		t.Errorf("(-before +after): %s", diff)
	}
	wantDamage("UPDATE entries SET wins = wins + 1, losses = losses - 1 WHERE losses > 0")
}

// TestOlderVersionComesLater checks the case of an older version that is used again before the first match of a
// new ladder: it enters after the newer one and starts with its Elo.
func TestOlderVersionComesLater(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	kit.Must(t, c.Bots.SyncHouse(bg, []HouseBot{{Name: "@random", Label: "1", Hash: bundleOf(0)}}))
	anna := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	older, newer := c.addLive(anna.ID, "anna-bot"), c.addLive(anna.ID, "anna-bot")
	kit.Must(t, c.Ladders.Sync(bg, testLadders(t)))
	kit.Must(t, c.Bots.UseVersion(bg, older.BotID, 1))
	c.playRatedMatch("tebes-4", c.liveIDs("@random")[0], older.ID)
	kit.Must(t, c.Bots.UseVersion(bg, older.BotID, 2))
	c.playRatedMatch("tebes-4", c.liveIDs("@random")[0], newer.ID)
	wantSound(t, c.Store)
	first := c.ratings()
	kit.Get[[]ReratedLadder](t)(c.Rerate(bg, false, nil))
	if diff := cmp.Diff(first, c.ratings()); diff != "" {
		t.Errorf("rated again (-before +after): %s", diff)
	}
}
