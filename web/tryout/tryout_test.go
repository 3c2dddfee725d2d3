package tryout_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/runner"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/submission"
	"github.com/timba-arena/timba/web/tryout"
)

func person(id int64) service.Actor {
	return service.Actor{
		Person: ladder.Person{ID: id}, Token: ladder.Token{ID: id, Scope: ladder.ScopeSubmit},
		Address: netip.AddrFrom4([4]byte{10, 0, 0, byte(id / int64(tryout.Limits.Address))}),
	}
}

// stuck plays until it is cancelled, or the text of its bot says how it ends.
func stuck(ctx context.Context, t submission.Tryout, _ int) (string, error) {
	t.Built()
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
		Play: stuck, Memory: func(string, ladder.Version) (int64, error) { return 7, nil }, Wake: func() {}, Log: slog.New(slog.DiscardHandler),
	})
}

func add(t *testing.T, x *tryout.Tryouts, who service.Actor, text string) string {
	t.Helper()
	return kit.Get[string](t)(x.Add(who, submission.Tryout{Text: text, Game: "teeko"}))
}

func state(t *testing.T, x *tryout.Tryouts, who service.Actor, id string) tryout.Progress {
	t.Helper()
	return kit.Get[tryout.Progress](t)(x.Await(t.Context(), who, id, -1))
}

// A person has one tryout at the same time, an address and all have a few; another's is nobody's business.
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
	for n := int64(2); n < int64(tryout.Limits.Address); n++ {
		add(t, x, person(n), "")
	}
	near := person(int64(tryout.Limits.Address))
	near.Address = person(1).Address
	add(t, x, near, "")
	near = person(1000)
	near.Address = person(1).Address
	refused(near, "for one address is 30")
	for n := range int64(tryout.Limits.Total - tryout.Limits.Address) {
		add(t, x, person(100*30+n), "")
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
	guest := service.Actor{Address: near.Address}
	if _, err := x.Add(guest, submission.Tryout{}); ladder.CodeOf(err) != ladder.Unauthorized {
		t.Errorf("a guest: %v", err)
	}
}

// The runner gets tryouts in their order, none of somebody who has one that runs; each ends as its bot does, or is
// cancelled, or ends with the server. It is kept for an hour.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTryouts()
		next := func(busy ...int64) *runner.Tryout { return x.Next(busy) }
		for n, want := range map[string]tryout.State{"fine": tryout.Over, "bad": tryout.Failed, "broken": tryout.Broken} {
			id := add(t, x, person(1), n)
			if next(1) != nil || next().Owner != 1 || next().Memory != 7 {
				t.Error("the runner does not get it")
			}
			next().Run(t.Context(), 0)
			if p := state(t, x, person(1), id); p.State != want || !p.Done() || want == tryout.Failed && p.Reason != "it does not compile" {
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
			if p := kit.Get[tryout.Progress](t)(x.Await(t.Context(), person(2), two, second.Change)); p.State != tryout.Stopped {
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
		time.Sleep(tryout.Keep - time.Second)
		state(t, x, person(1), one)
		time.Sleep(2 * time.Second)
		if _, err := x.Await(t.Context(), person(1), one, -1); ladder.CodeOf(err) != ladder.NotFound {
			t.Errorf("after an hour: %v", err)
		}
	})
}
