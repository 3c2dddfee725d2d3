package tryout_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/laddertest"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/tryout"
)

func person(id int64) service.Actor {
	return service.Actor{
		Person: ladder.Person{ID: id}, Token: ladder.Token{ID: id, Scope: ladder.ScopeSubmit},
		Address: netip.MustParseAddr("10.0.0.1"), // of a class
	}
}

// stuck plays until it is canceled, or ends as the text of its bot says.
func stuck(ctx context.Context, t submission.Tryout, _ int) (string, error) {
	t.OnBuilt()
	switch t.Text {
	case "fine":
		return "built", nil
	case "bad":
		return "no", ladder.Errorf(ladder.Invalid, "", "it does not compile")
	case "broken":
		return "", errors.New("the disk")
	}
	<-ctx.Done()
	return "", ctx.Err()
}

func newTryouts() *tryout.Tryouts {
	return tryout.New(tryout.Options{
		Play: stuck, Memory: func(submission.Tryout) (int64, error) { return 7, nil }, Wake: func() {}, Log: slog.New(slog.DiscardHandler),
	})
}

func add(t *testing.T, x *tryout.Tryouts, who service.Actor, text string) string {
	t.Helper()
	return kit.Get[string](t)(x.Add(who, submission.Tryout{Text: text, Game: "teeko"}))
}

// next returns the try-out that a core gets while some people are busy, nil if there is none.
func next(t *testing.T, x *tryout.Tryouts, busy ...int64) *runner.TryoutJob {
	t.Helper()
	j, _ := kit.Get[runner.Job](t)(x.Next(t.Context(), runner.Core{BusyOwners: busy})).(*runner.TryoutJob)
	return j
}

func state(t *testing.T, x *tryout.Tryouts, who service.Actor, id string) tryout.TryoutProgress {
	t.Helper()
	return kit.Get[tryout.TryoutProgress](t)(x.Await(t.Context(), who, id, -1))
}

// A person has one try-out at a time, at all addresses, and the total is limited. Nobody can see a try-out of
// another person.
func TestLimits(t *testing.T) {
	x := newTryouts()
	refused := func(who service.Actor, words string) {
		t.Helper()
		if _, err := x.Add(who, submission.Tryout{Game: "teeko"}); ladder.CodeOf(err) != ladder.TooMany || !strings.Contains(fmt.Sprint(err), words) {
			t.Errorf("person %d: %v, want %q", who.Person.ID, err, words)
		}
	}
	first := add(t, x, person(1), "")
	refused(person(1), "for one person is 1")
	far := person(1)
	far.Address = netip.MustParseAddr("10.0.0.2")
	refused(far, "for one person is 1")
	for n := int64(2); n <= int64(tryout.Limits.Total); n++ {
		add(t, x, person(n), "")
	}
	refused(person(5000), "the limit is 60")
	if p := state(t, x, person(1), first); p.Place != 1 || p.State != tryout.Waiting {
		t.Errorf("the first is %+v", p)
	}
	if _, err := x.Await(t.Context(), person(2), first, -1); ladder.CodeOf(err) != ladder.NotFound {
		t.Errorf("another sees it: %v", err)
	}
	if err := x.Cancel(person(2), first); ladder.CodeOf(err) != ladder.NotFound {
		t.Errorf("another cancels it: %v", err)
	}
	kit.Must(t, x.Cancel(person(1), first))
	if p := state(t, x, person(1), first); p.State != tryout.Stopped {
		t.Errorf("a cancelled one is %+v", p)
	}
	add(t, x, person(1), "")
	if _, err := x.Await(t.Context(), person(1), first, -1); ladder.CodeOf(err) != ladder.NotFound {
		t.Errorf("the one before is kept: %v", err)
	}
	guest := service.Actor{Address: far.Address}
	if _, err := x.Add(guest, submission.Tryout{}); ladder.CodeOf(err) != ladder.Unauthorized {
		t.Errorf("a guest: %v", err)
	}
}

// The runner gets try-outs in their order, but none of a person who has one running. Each ends as its bot
// does, or is canceled, or ends with the server. It is available for an hour.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTryouts()
		next := func(busy ...int64) *runner.TryoutJob { return next(t, x, busy...) }
		for n, want := range map[string]tryout.TryoutState{"fine": tryout.Over, "bad": tryout.Failed, "broken": tryout.Broken} {
			id := add(t, x, person(1), n)
			if next(1) != nil || next().Owner != 1 || next().Memory != 7 {
				t.Error("the runner does not get it")
			}
			next().Run(t.Context(), 0)
			if p := state(t, x, person(1), id); p.State != want || !p.IsDone() || want == tryout.Failed && p.Reason.String() != "it does not compile" {
				t.Errorf("%s: %+v", n, p)
			}
		}
		one, two := add(t, x, person(1), ""), add(t, x, person(2), "")
		if p := state(t, x, person(2), two); p.Place != 2 {
			t.Errorf("the second has place %d", p.Place)
		}
		job, done := next(), make(chan bool)
		go func() { job.Run(t.Context(), 0); done <- true }()
		synctest.Wait()
		if p := state(t, x, person(1), one); p.State != tryout.Playing {
			t.Errorf("the first is %+v", p)
		}
		second := state(t, x, person(2), two)
		if second.Place != 1 {
			t.Errorf("the second has place %d then", second.Place)
		}
		var seen sync.WaitGroup
		seen.Go(func() {
			if p := kit.Get[tryout.TryoutProgress](t)(x.Await(t.Context(), person(2), two, second.Revision)); p.State != tryout.Stopped {
				t.Errorf("who waits sees %+v", p)
			}
		})
		kit.Must(t, x.Cancel(person(1), one))
		<-done
		ctx, stop := context.WithCancel(t.Context())
		go func() { x.Run(ctx); done <- true }()
		stop()
		<-done
		seen.Wait()
		if next() != nil {
			t.Error("there is another")
		}
		if _, err := x.Add(person(3), submission.Tryout{Game: "teeko"}); ladder.CodeOf(err) != ladder.Unavailable {
			t.Errorf("after the end: %v", err)
		}
		time.Sleep(tryout.Retention - time.Second)
		state(t, x, person(1), one)
		time.Sleep(2 * time.Second)
		if _, err := x.Await(t.Context(), person(1), one, -1); ladder.CodeOf(err) != ladder.NotFound {
			t.Errorf("after an hour: %v", err)
		}
	})
}

// Of the finished try-outs, the newest remain.
func TestKept(t *testing.T) {
	x := newTryouts()
	var ids []string
	for n := range int64(60) {
		id := add(t, x, person(n+1), "fine")
		next(t, x).Run(t.Context(), 0)
		ids = append(ids, id)
	}
	for n, id := range ids {
		_, err := x.Await(t.Context(), person(int64(n+1)), id, -1)
		if kept := err == nil; kept != (n >= 10) {
			t.Errorf("tryout %d of 60 is kept: %t", n+1, kept)
		}
	}
}

// The score of a game is that of the bot's best seat against the other bot's, as on a ladder.
func TestScore(t *testing.T) {
	games := []struct {
		bots, ranks []int
		want        float64
	}{
		{[]int{0, 1}, []int{1, 2}, 1},
		{[]int{1, 0}, []int{1, 2}, 0},
		{[]int{0, 1}, []int{1, 1}, 0.5},
		{[]int{1, 0, 1, 0}, []int{2, 3, 4, 1}, 1},
		{[]int{0, 1, 0, 1}, []int{1, 1, 3, 3}, 0.5},
	}
	x := tryout.New(tryout.Options{
		Play: func(_ context.Context, b submission.Tryout, _ int) (string, error) {
			for _, g := range games {
				r := &referee.GameResult{Bots: g.bots, Logs: make([][]byte, len(g.bots))}
				r.Ranks, r.Points = g.ranks, make([]float64, len(g.bots))
				b.OnGame(r, nil)
			}
			return "", nil
		},
		Memory: func(submission.Tryout) (int64, error) { return 0, nil }, Wake: func() {}, Log: slog.New(slog.DiscardHandler),
	})
	id := add(t, x, person(1), "")
	next(t, x).Run(t.Context(), 0)
	for i, g := range state(t, x, person(1), id).Games {
		if g.Score != games[i].want {
			t.Errorf("bots %v with the ranks %v: the score is %v, want %v", games[i].bots, games[i].ranks, g.Score, games[i].want)
		}
	}
}

// A try-out that is replaced by the next one of its owner is freed.
func TestForgotten(t *testing.T) {
	played := make(chan weak.Pointer[submission.TryoutFault], 1)
	x := tryout.New(tryout.Options{
		Play: func(_ context.Context, b submission.Tryout, _ int) (string, error) {
			faults := make([]submission.TryoutFault, 1)
			played <- weak.Make(&faults[0])
			r := &referee.GameResult{Bots: []int{0, 1}, Logs: make([][]byte, 2)}
			r.Ranks, r.Points = []int{1, 2}, make([]float64, 2)
			b.OnGame(r, faults)
			return "", nil
		},
		Memory: func(submission.Tryout) (int64, error) { return 0, nil }, Wake: func() {},
		Log: slog.New(slog.DiscardHandler),
	})
	id := add(t, x, person(1), "")
	next(t, x).Run(t.Context(), 0)
	first := <-played
	if runtime.GC(); len(state(t, x, person(1), id).Games) != 1 || first.Value() == nil {
		t.Error("the first is not kept")
	}
	add(t, x, person(1), "")
	if runtime.GC(); first.Value() != nil {
		t.Error("the first is in memory yet")
	}
}

// A try-out ends when its owner is blocked or removed, and only then.
func TestBlockedOwner(t *testing.T) {
	t.Parallel()
	w := laddertest.New(t, "", store.Options{})
	x := tryout.New(tryout.Options{
		Play: stuck, Memory: func(submission.Tryout) (int64, error) { return 7, nil }, Wake: func() {}, Log: slog.New(slog.DiscardHandler), Store: w.Store,
	})
	blocked, removed, free := person(w.AddPerson("anna", false).ID), person(w.AddPerson("ben", false).ID), person(w.AddPerson("cleo", false).ID)
	ids := []string{add(t, x, blocked, "one"), add(t, x, removed, "two"), add(t, x, free, "three")}
	w.Must(w.Store.People.SetBlocked(t.Context(), blocked.Person.ID, true))
	w.Must(w.Store.People.Remove(t.Context(), removed.Person.ID))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	kit.Until(t, "the end of two try-outs", func() bool {
		w.Store.Events().Publish(events.Event{Kind: events.AccessEnded, Person: blocked.Person.ID}) // Run may not have subscribed yet
		return state(t, x, blocked, ids[0]).State == tryout.Stopped && state(t, x, removed, ids[1]).State == tryout.Stopped
	})
	if p := state(t, x, free, ids[2]); p.State != tryout.Waiting {
		t.Errorf("the try-out of somebody else is %+v", p)
	}
	stop()
	w.Must(<-done)
}
