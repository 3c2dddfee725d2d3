//go:build !race || slowrace

package store

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// addWaiting adds n versions to the queue, each of another bot of the person, and returns the names of the bots.
func (c *competition) addWaiting(person ladder.Person, n int) (names []string) {
	c.tb.Helper()
	for i := range n {
		name := fmt.Sprint(person.Name, i)
		_, err := c.Versions.Add(bg, person.ID, NewVersion{Bot: name, Bundle: writeUpload(c.tb, c.Dir(), name)}, noLimits)
		kit.Must(c.tb, err)
		names = append(names, name)
	}
	return names
}

func (c *competition) addPeople(names ...string) (people []ladder.Person) {
	c.tb.Helper()
	for _, name := range names {
		p := kit.Get[ladder.Person](c.tb)(c.People.Add(bg, name, false))
		people = append(people, p)
	}
	return people
}

// TestOwnersTakeTurns checks that owners take turns, regardless of how many versions each submits, and that
// QueuePlace agrees with the order.
func TestOwnersTakeTurns(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna", "ben", "cleo")
	c.addWaiting(p[0], 5)
	c.addWaiting(p[1], 2)
	var order []string
	for {
		pending := kit.Get[[]ladder.Version](t)(c.Versions.ListPending(bg))
		if len(pending) == 0 {
			break
		}
		for i, v := range pending {
			if place, err := c.Versions.QueuePlace(bg, v.ID); err != nil || place != i+1 {
				t.Errorf("%s has place %d, want %d; %v", v.Bot, place, i+1, err)
			}
		}
		v := pending[0]
		kit.Must(t, c.Versions.SetState(bg, v.ID, ladder.Queued)) // its turn
		kit.Must(t, c.Versions.StartStage(bg, v.ID, "unpack"))
		if place, err := c.Versions.QueuePlace(bg, v.ID); err != nil || place != 0 {
			t.Errorf("%s is begun, and has place %d; %v", v.Bot, place, err)
		}
		kit.Must(t, c.Versions.Fail(bg, v.ID, phrase.Plain("no")))
		if order = append(order, v.Bot); len(order) == 2 {
			c.addWaiting(p[2], 2)
		}
	}
	want := []string{"anna0", "ben0", "cleo0", "anna1", "ben1", "cleo1", "anna2", "anna3", "anna4"}
	if !slices.Equal(order, want) {
		t.Errorf("the turns were %v, want %v", order, want)
	}
}

// TestPlacesOfRequestedMatches checks that people take turns with the matches that they request: the person whose last
// match began longest ago is next.
func TestPlacesOfRequestedMatches(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna", "ben")
	v := c.liveIDs("@first", "@random")
	places := func(want string) {
		t.Helper()
		got := ""
		for _, m := range kit.Get[[]ladder.Match](t)(c.Matches.ListWaiting(bg, 100)) {
			got += fmt.Sprintf("%d:%d ", m.ID, kit.Get[int](t)(c.Matches.QueuePlace(bg, m.ID)))
		}
		if got != want {
			t.Errorf("the places are %q, want %q", got, want)
		}
	}
	first := c.addUnrated(p[0].ID, v...)
	c.addUnrated(p[0].ID, v...)
	c.addUnrated(p[0].ID, v...)
	c.addUnrated(p[1].ID, v...)
	places("1:1 2:3 3:4 4:2 ")
	c.startAttempt(first)
	places("2:2 3:3 4:1 ")
	if place := kit.Get[int](t)(c.Matches.QueuePlace(bg, first.ID)); place != 0 {
		t.Errorf("a match that is played has place %d", place)
	}
}

// TestBlockedPeopleHaveNoTurn checks that submissions of a blocked person are not processed.
func TestBlockedPeopleHaveNoTurn(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna")[0]
	c.addWaiting(p, 1)
	for _, blocked := range []bool{true, false} {
		kit.Must(t, c.People.SetBlocked(bg, p.ID, blocked))
		if pending, err := c.Versions.ListPending(bg); err != nil || (len(pending) == 0) != blocked {
			t.Errorf("blocked %v: %d wait; %v", blocked, len(pending), err)
		}
	}
}

// TestCancel checks that only a submission that waits for its first stage can be canceled.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	c.addWaiting(c.addPeople("anna")[0], 2)
	pending := kit.Get[[]ladder.Version](t)(c.Versions.ListPending(bg))
	kit.Must(t, c.Versions.Cancel(bg, pending[0].ID))
	wantError(t, c.Versions.Cancel(bg, pending[0].ID), ladder.Conflict, "version 1 of anna0 is cancelled already")
	if v, err := c.Versions.Find(bg, pending[0].ID); err != nil || v.State != ladder.Cancelled || v.Reason.String() != "cancelled by its owner" {
		t.Errorf("%+v, %v", v, err)
	}
	kit.Must(t, c.Versions.StartStage(bg, pending[1].ID, "unpack"))
	wantError(t, c.Versions.Cancel(bg, pending[1].ID), ladder.Conflict, "version 1 of anna1 has been begun: wait for its end")
}

// TestUploadsThatNobodyNeeds checks that an upload is stored as long as a version needs it, and that
// SweepUploads removes what a killed server has left.
func TestUploadsThatNobodyNeeds(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna")[0]
	left := func(want ...string) {
		t.Helper()
		entries := kit.Get[[]os.DirEntry](t)(os.ReadDir(c.Dir().Bundles()))
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("the uploads are %v, want %v", got, want)
		}
	}
	shared := writeUpload(t, c.Dir(), "shared")
	var ids []int64
	for _, name := range []string{"one", "two"} {
		v := kit.Get[ladder.Version](t)(c.Versions.Add(bg, p.ID, NewVersion{Bot: name, Bundle: shared}, noLimits))
		ids = append(ids, v.ID)
	}
	kit.Must(t, c.Versions.Fail(bg, ids[0], phrase.Plain("unpack: no")))
	left(shared) // the other one needs it
	kit.Must(t, c.Versions.Fail(bg, ids[1], phrase.Plain("unpack: no")))
	left()
	built := c.addBuilt(p.ID, "built")
	kit.Must(t, c.Versions.Fail(bg, built.ID, phrase.Plain("trial: no")))
	left(built.Bundle)
	writeUpload(t, c.Dir(), "orphan")
	stuck := c.addWaiting(p, 1)
	kept := writeUpload(t, c.Dir(), stuck[0])
	kit.Must(t, os.Remove(c.Dir().Bundles()+"/"+kept))
	kit.Must(t, os.MkdirAll(c.Dir().Bundles()+"/"+kept+"/file", 0o700)) // cannot be deleted
	pending := kit.Get[[]ladder.Version](t)(c.Versions.ListPending(bg))
	kit.Must(t, c.Versions.Cancel(bg, pending[0].ID))
	kit.Must(t, os.RemoveAll(c.Dir().Bundles()+"/"+kept))
	kit.Must(t, os.WriteFile(c.Dir().Bundles()+"/notes.txt", nil, 0o600))
	if n, err := c.Versions.SweepUploads(bg); err != nil || n != 1 {
		t.Errorf("%d are swept, want 1; %v", n, err)
	}
	left(built.Bundle, "notes.txt")
	wantSound(t, c.Store)
}
