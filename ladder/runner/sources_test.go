package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/store"
)

// Each case lists the jobs of a machine, round after round; all jobs of a round end after a second. SUBMISSION is a
// bot, "asked" is followed by the person who requested the match, and "tebes" is a new match of the ladder.
func TestNext(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cores       int
		submissions string // owners; each has another bot
		asked       string // people who requested a match
		interrupted bool
		noLadder    bool
		paused      bool // the ladder
		rounds      []string
	}{
		"nothing but the ladder":        {cores: 2, rounds: []string{"tebes, tebes", "tebes, tebes"}},
		"interrupted":                   {cores: 1, asked: "anna", interrupted: true, rounds: []string{"interrupted", "asked anna", "tebes"}},
		"submissions take turns":        {cores: 1, submissions: "amy amy ben", rounds: []string{"amy0", "tebes", "ben0", "tebes", "amy1", "tebes", "tebes"}},
		"half of two cores":             {cores: 2, submissions: "amy amy ben", rounds: []string{"amy0, tebes", "ben0, tebes", "amy1, tebes", "tebes, tebes"}},
		"an odd number of cores":        {cores: 3, submissions: "amy ben cleo", rounds: []string{"amy0, tebes, ben0", "cleo0, tebes, tebes"}},
		"each owner has one core":       {cores: 4, submissions: "amy amy amy ben", rounds: []string{"amy0, ben0, tebes, tebes", "amy1, tebes, tebes, tebes"}},
		"submissions where all is done": {cores: 2, submissions: "amy ben", noLadder: true, rounds: []string{"amy0", "ben0", ""}},
		"asked ones have their share":   {cores: 1, asked: "anna ben anna", rounds: []string{"asked anna", "tebes", "asked ben", "tebes", "asked anna", "tebes"}},
		"more where all is done":        {cores: 1, asked: "anna anna ben", noLadder: true, rounds: []string{"asked anna", "asked ben", "asked anna", ""}},
		"one core is free of them":      {cores: 3, asked: "anna ben cleo", rounds: []string{"asked anna, asked ben, tebes", "tebes, tebes, tebes", "asked cleo, tebes, tebes"}},
		"each person has one":           {cores: 4, asked: "anna anna", rounds: []string{"asked anna, tebes, tebes, tebes", "asked anna, tebes, tebes, tebes"}},
		"a paused ladder":               {cores: 2, submissions: "amy", asked: "anna", interrupted: true, paused: true, rounds: []string{"amy0, interrupted", "asked anna", ""}},
		"all together": {
			cores: 2, submissions: "amy", asked: "anna", interrupted: true, rounds: []string{"amy0, interrupted", "asked anna, tebes", "tebes, tebes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tiny)
			now := time.Now()
			r := w.newRunner(c.cores, func(o *runnerParts) {
				o.Now = func() time.Time { return now }
				o.submit = func(context.Context, int64, int) error { return nil }
				if c.noLadder {
					o.Ladders = nil
				}
			})
			var house []int64
			for _, name := range []string{"@random", "@first"} {
				b := kit.Get[ladder.Bot](t)(w.Store.Bots.Find(t.Context(), name))
				house = append(house, kit.Get[[]ladder.Version](t)(w.Store.Versions.List(t.Context(), b.ID, 0, -1))[0].ID)
			}
			if c.interrupted {
				b := w.Store.Matches.Start(t.Context(), []store.MatchStart{{New: &store.NewMatch{Ladder: "tebes", Versions: house}, Machine: attempt.Local}})[0]
				w.Must(b.Err)
				kit.Get[bool](t)(w.Store.Matches.InterruptAttempt(t.Context(), b.Match.ID, 1, serverStopped, false))
			}
			w.Must(w.Store.Ladders.SetPaused(t.Context(), "tebes", c.paused))
			people := map[string]ladder.Person{"anna": w.person}
			person := func(name string) int64 {
				p, ok := people[name]
				if !ok {
					p = w.AddPerson(name, false)
					people[name] = p
				}
				return p.ID
			}
			count := map[string]int{}
			for _, name := range strings.Fields(c.submissions) {
				bot := fmt.Sprint(name, count[name])
				count[name]++
				w.Submit(person(name), bot, hashOf(bot))
			}
			for _, name := range strings.Fields(c.asked) {
				w.requestMatches(person(name), 1, house...)
			}
			for i, want := range c.rounds {
				var names []string
				jobs := r.chooseJobs(t.Context())
				for _, a := range jobs {
					names = append(names, w.jobName(a.job, people))
				}
				if got := strings.Join(names, ", "); got != want {
					t.Errorf("round %d: %q, want %q", i+1, got, want)
				}
				now = now.Add(time.Second)
				for _, a := range jobs {
					w.finishJob(a.job)
					r.releaseJob(a, time.Second)
				}
			}
		})
	}
}

// jobName returns the name of a job.
func (w *world) jobName(j Job, people map[string]ladder.Person) string {
	switch j := j.(type) {
	case *submission:
		return kit.Get[ladder.Version](w.t)(w.Store.Versions.Find(w.t.Context(), j.ID)).Bot
	case *matchJob:
		switch {
		case j.fresh != nil:
			return j.match.Ladder
		case j.match.RequestedBy == 0:
			return "interrupted"
		}
	}
	for name, p := range people {
		if p.ID == requesterOf(j) {
			return "asked " + name
		}
	}
	return "asked"
}

// finishJob ends a job in the store, for good.
func (w *world) finishJob(j Job) {
	w.t.Helper()
	switch j := j.(type) {
	case *submission:
		w.Must(w.Store.Versions.SetState(w.t.Context(), j.ID, ladder.Queued))
		w.Must(w.Store.Versions.Fail(w.t.Context(), j.ID, phrase.Plain("for the test")))
	case *matchJob:
		if j.fresh != nil {
			j.fresh.pool.Close(j.fresh.poolNumber)
			return
		}
		w.Must(w.Store.Matches.Cancel(w.t.Context(), j.match.ID, 0, phrase.Plain("cancelled for the test")))
	}
}

// absentRemotes has remote versions that are gone.
type absentRemotes struct{ Remotes }

func (absentRemotes) IsReady(int64) bool { return false }
func (absentRemotes) IsGone(int64) bool  { return true }

// undroppableMatches is a store that cannot drop matches.
type undroppableMatches struct {
	Matches
	err error
}

func (s *undroppableMatches) Cancel(ctx context.Context, match, by int64, reason phrase.Text) error {
	if s.err != nil {
		return s.err
	}
	return s.Matches.Cancel(ctx, match, by, reason)
}

// A match that waits for a remote version that is gone is dropped, and the person who requested it is told.
// If the drop cannot be stored, it is tried again.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tiny)
	broken := &undroppableMatches{w.Store.Matches, errors.New("the disk is full")}
	r := w.newRunner(1, func(o *runnerParts) { o.Store.Matches, o.Remotes, o.Ladders = broken, absentRemotes{}, nil })
	far := kit.Get[ladder.Version](t)(w.Store.Versions.ConnectRemote(t.Context(), w.person.ID, store.RemoteVersion{Bot: "far"}, w.Config.Limits))
	house := kit.Get[ladder.Bot](t)(w.Store.Bots.Find(t.Context(), "@first"))
	last := kit.Get[map[int64]ladder.Version](t)(w.Store.Versions.LastOfBots(t.Context(), []int64{house.ID}))
	id := w.requestMatches(w.person.ID, 1, far.ID, last[house.ID].ID)[0]
	for _, want := range []string{"waiting", "dropped"} {
		if jobs := r.chooseJobs(t.Context()); len(jobs) != 0 {
			t.Errorf("it is played: %+v", jobs)
		}
		m := kit.Get[ladder.Match](t)(w.Store.Matches.Find(t.Context(), id))
		if string(m.State) != want {
			t.Errorf("it is %s, want %s", m.State, want)
		}
		broken.err = nil
	}
	told := kit.Get[[]ladder.Message](t)(w.Store.People.Messages(t.Context(), w.person.ID, 0, 10))
	if len(told) != 1 || told[0].Match != id || told[0].Reason.String() != "cancelled: version 1 of far is not connected" {
		t.Errorf("who asked for it is told %+v", told)
	}
}
