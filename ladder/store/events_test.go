//go:build !race || slowrace

package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/stats"
)

// TestEvents checks that committed changes publish events, in order, and that refused changes do not.
func TestEvents(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna")[0]
	first := c.liveIDs("@first")[0]
	v := c.addLive(p.ID, "anna-bot")
	told, stop := c.Events().Subscribe(100, nil)
	defer stop()
	want := func(what string, want ...string) {
		t.Helper()
		var got []string
		for len(told) > 0 {
			e := <-told
			got = append(got, fmt.Sprintf("%s %s", e.Kind, e.Ladder))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s tells %q, want %q", what, got, want)
		}
	}
	waits := kit.Get[ladder.Match](t)(c.Matches.Add(bg, NewMatch{Ladder: "tebes-4", Versions: []int64{v.ID, first}}))
	want("a match that waits")
	seed := c.startAttempt(waits)
	want("an attempt", "match-began tebes-4")
	kit.Get[bool](t)(c.Matches.InterruptAttempt(bg, waits.ID, 1, phrase.Plain("no"), false))
	want("its end", "match-broken tebes-4")
	if _, err := c.Matches.Finish(bg, waits.ID, 1, playMatch(t, waits, seed)); err == nil {
		t.Error("a match that waits is finished")
	}
	want("a result that is refused")
	kit.Must(t, c.Matches.Cancel(bg, waits.ID, 0, phrase.Plain("cancelled")))
	want("a match that waits and is dropped", "match-broken tebes-4")
	c.playRatedMatch("tebes-4", v.ID, first)
	want("a match", "match-began tebes-4", "match-finished tebes-4")
	kit.Must(t, c.Ladders.SaveFit(bg, "tebes-4", map[int64]stats.Estimate{}))
	want("a fit", "fit-saved tebes-4")
	c.addUnrated(p.ID, v.ID, first)
	kit.Must(t, c.Bots.Withdraw(bg, v.BotID))
	want("a bot that is withdrawn, for which a match waits", "version-moved ", "match-broken ")
	kit.Must(t, c.Bots.Restore(bg, v.BotID))
	want("a bot that is restored", "version-moved ")
	next := c.addBuilt(p.ID, "anna-bot")
	want("a build", "submission-moved ")
	kit.Must(t, c.Versions.SetState(bg, next.ID, ladder.Queued))
	want("a submission that begins", "queue-moved ", "submission-moved ")
	kit.Must(t, c.Versions.StartStage(bg, next.ID, "unpack"))
	kit.Must(t, c.Versions.FinishStage(bg, next.ID, ladder.Stage{Name: "unpack", OK: true}))
	want("a stage", "submission-moved ", "submission-moved ")
	kit.Must(t, c.Versions.Promote(bg, next.ID))
	want("a version that is live", "version-moved ")
	kit.Get[bool](t)(c.Versions.Suspend(bg, next.ID, 0, phrase.Plain("faults")))
	want("a version that is suspended", "version-moved ")
	c.addWaiting(p, 1)
	kit.Must(t, c.Versions.Cancel(bg, kit.Get[[]ladder.Version](t)(c.Versions.ListPending(bg))[0].ID))
	want("a submission that is cancelled", "queue-moved ", "version-moved ")
	kit.Must(t, c.People.SetBlocked(bg, p.ID, true))
	want("somebody who is blocked", "access-ended ")
	kit.Must(t, c.People.SetBlocked(bg, p.ID, false))
	want("somebody who is let in again")
}

// TestEventOfMatch checks that the event of a finished match has its rating changes.
func TestEventOfMatch(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	told, stop := c.Events().Subscribe(1, func(e events.Event) bool { return e.Kind == events.MatchFinished })
	defer stop()
	m, changes := c.playRatedMatch("tebes-4", c.liveIDs("@first", "@random")...)
	if e := <-told; e.Match != m.ID || !slices.Equal(e.Changes, changes) {
		t.Errorf("%+v is told of match %d with %+v", e, m.ID, changes)
	}
}

// TestGeneration checks that Generation changes if and only if other matches wait.
func TestGeneration(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna")[0]
	first := c.liveIDs("@first")[0]
	v := c.addLive(p.ID, "anna-bot")
	key, _, err := c.Sessions.AddToken(bg, p.ID, "", ladder.ScopeAll, time.Time{})
	kit.Must(t, err)
	before := c.Matches.Generation()
	want := func(what string, moves bool) {
		t.Helper()
		if now := c.Matches.Generation(); (now != before) != moves {
			t.Errorf("%s: moved %t, want %t", what, now != before, moves)
		}
		before = c.Matches.Generation()
	}
	_, _, err = c.Sessions.Authenticate(bg, key)
	kit.Must(t, err)
	want("the use of a token", false)
	c.addBuilt(p.ID, "other-bot")
	want("a submission", false)
	begun := c.Matches.Start(bg, []MatchStart{{New: &NewMatch{Ladder: "tebes-4", Versions: []int64{v.ID, first}}, Seed: referee.NewSeed()}})[0]
	kit.Must(t, begun.Err)
	want("a new match that begins", false)
	kit.Get[bool](t)(c.Matches.InterruptAttempt(bg, begun.Match.ID, 1, phrase.Plain("no"), false))
	want("a match that waits again", true)
	c.startAttempt(begun.Match)
	want("a match that waited and begins", true)
	m := c.addUnrated(p.ID, v.ID, first)
	want("a match that somebody asks for", true)
	kit.Must(t, c.Matches.Cancel(bg, m.ID, p.ID, phrase.Plain("cancelled")))
	want("a match that is cancelled", true)
}
