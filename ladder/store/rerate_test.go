package store

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
)

// other has all constants changed.
var other = rating.Formula{Rule: 1, Start: 1200, Anchor: 900, Newcomer: 10, Forget: 0.01}

// ratings returns all that a formula moves, by ladder.
func (c *competition) ratings() (out []string) {
	c.tb.Helper()
	for _, query := range []string{
		"SELECT 'ladder ' || id || ' ' || formula FROM ladders ORDER BY id",
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

func (c *competition) rerateAll(dry bool) (out []Rerated) {
	c.tb.Helper()
	ladders := kit.Get[[]LadderInfo](c.tb)(c.Ladders(bg))
	for _, l := range ladders {
		r := kit.Get[Rerated](c.tb)(c.Rerate(bg, l.Name, dry, nil))
		out = append(out, r)
	}
	return out
}

// A release with other constants finds nothing wrong before its ratings are computed again, and
// nothing after; going back gives the same bits as before.
func TestRerate(t *testing.T) {
	t.Parallel()
	c := template(t)
	first := c.ratings()
	c.formula = other
	wantSound(t, c.Store)

	dry := c.rerateAll(true)
	if diff := cmp.Diff(first, c.ratings()); diff != "" {
		t.Errorf("a dry run changes (-before +after): %s", diff)
	}
	done := c.rerateAll(false)
	if diff := cmp.Diff(dry, done); diff != "" {
		t.Errorf("(-dry +done): %s", diff)
	}
	wantSound(t, c.Store)
	moved := 0
	for _, l := range done {
		if l.Before != rating.Current || l.After != other {
			t.Errorf("%s: %v became %v", l.Ladder, l.Before, l.After)
		}
		for _, v := range l.Versions {
			if v.Before != v.After {
				moved++
			}
			if v.Bot == ladder.Anchor && v.After != other.Anchor {
				t.Errorf("%s: the anchor has %v", l.Ladder, v.After)
			}
			if v.Matches == 0 && v.Bot != ladder.Anchor && v.Number == 1 && v.After != other.Start {
				t.Errorf("%s: %s, without a match, has %v", l.Ladder, v.Bot, v.After)
			}
		}
	}
	if moved < 10 {
		t.Errorf("only %d ratings have moved", moved)
	}

	c.formula = rating.Current
	wantSound(t, c.Store)
	c.rerateAll(false)
	if diff := cmp.Diff(first, c.ratings()); diff != "" {
		t.Errorf("there and back (-before +after): %s", diff)
	}

	// Matches go on by a new formula, and new versions come by it.
	c.formula = other
	c.rerateAll(false)
	ids := c.ids("@random", "@first")
	c.finished("tebes-4", ids...)
	p := kit.Get[ladder.Person](t)(c.AddPerson(bg, "carla", false))
	v := c.live(p.ID, "carla-bot")
	c.finished("tebes-4", ids[0], v.ID)
	wantSound(t, c.Store)
}

// What cannot be rated again stays as it is, and so does what is stopped.
func TestRerateErrors(t *testing.T) {
	t.Parallel()
	c := template(t)
	_, err := c.Rerate(bg, "mus", false, nil)
	wantError(t, err, ladder.NotFound, `ladder "mus" does not exist: timba standings lists them`)
	first := c.ratings()
	c.formula = other
	ctx, cancel := context.WithCancel(bg)
	if _, err := c.Rerate(ctx, "tebes-4", false, func(done, total int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop is %v", err)
	}
	_, err = c.writer.Exec("UPDATE results SET data = zeroblob(9) WHERE match_id = 1")
	kit.Must(t, err)
	if _, err := c.Rerate(bg, "tebes-4", false, nil); ladder.CodeOf(err) != ladder.Unavailable {
		t.Errorf("a match without games is %v", err)
	}
	if diff := cmp.Diff(first, c.ratings()); diff != "" {
		t.Errorf("(-before +after): %s", diff)
	}
}

// Nobody has the directory beside who rates it again.
func TestExclusiveRaced(t *testing.T) {
	t.Parallel()
	c := template(t)
	dir := string(c.Dir())
	_, err := Open(dir, Options{Exclusive: true})
	if ladder.CodeOf(err) != ladder.Unavailable {
		t.Errorf("beside a server it says %v", err)
	}
	kit.Must(t, c.Close())
	s, err := Open(dir, Options{Exclusive: true})
	kit.Must(t, err)
	kit.Must(t, s.Close())
	if _, err := Open(t.TempDir(), Options{Exclusive: true}); ladder.CodeOf(err) != ladder.NotFound {
		t.Errorf("an empty directory is %v", err)
	}
}

// An older version that is used again before the first match of a new ladder comes after the newer one,
// whose Elo it starts with.
func TestOlderVersionComesLater(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	kit.Must(t, c.SyncHouse(bg, []HouseBot{{Name: "@random", Label: "1", Hash: bundleOf(0)}}))
	anna := kit.Get[ladder.Person](t)(c.AddPerson(bg, "anna", false))
	older, newer := c.live(anna.ID, "anna-bot"), c.live(anna.ID, "anna-bot")
	kit.Must(t, c.SyncLadders(bg, testLadders(t)))
	kit.Must(t, c.Use(bg, older.BotID, 1))
	c.finished("tebes-4", c.ids("@random")[0], older.ID)
	kit.Must(t, c.Use(bg, older.BotID, 2))
	c.finished("tebes-4", c.ids("@random")[0], newer.ID)
	wantSound(t, c.Store)
	first := c.ratings()
	c.rerateAll(false)
	if diff := cmp.Diff(first, c.ratings()); diff != "" {
		t.Errorf("rated again (-before +after): %s", diff)
	}
}
