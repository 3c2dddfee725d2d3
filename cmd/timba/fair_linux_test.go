package main

import (
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

// entrant is somebody who takes part, with a client of their own.
type entrant struct {
	*client.Client
	t    *testing.T
	name string
}

func (s *served) join(t *testing.T, name string) *entrant {
	t.Helper()
	c, err := client.New(s.url, "")
	if err != nil {
		t.Fatal(err)
	}
	joined, err := c.Register(t.Context(), name, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Token = joined.Key
	return &entrant{c, t, name}
}

// submit sends a bot whose build is a command of the shell.
func (e *entrant) submit(n int, build string) wire.Submission {
	e.t.Helper()
	name := fmt.Sprint(e.name, n)
	p, err := bundle.Pack(kit.Files(e.t, e.t.TempDir(), map[string]string{
		"timba.toml": fmt.Sprintf("name = %q\nbuild = [\"sh\", \"-c\", %q]\nrun = [\"./bot\"]\n", name, build),
	}), bundle.Default)
	if err != nil {
		e.t.Fatal(err)
	}
	s, err := e.Submit(e.t.Context(), "", "application/gzip", client.Body(p.Data))
	if err != nil {
		e.t.Fatal(err)
	}
	return s
}

// TestQueueOfSlowBuilds: one person's slow builds fill the queue. Each submission of
// another waits for one of them at most, and the ladders play all the while.
func TestQueueOfSlowBuilds(t *testing.T) {
	t.Parallel()
	a := newArena(t, "registration = \"open\"\n"+quickLadders(3))
	s := a.serve(t, "--workers", "2")
	slow, quick := s.join(t, "slow"), s.join(t, "quick")
	var queue []int64
	for n := range 5 {
		queue = append(queue, slow.submit(n, "sleep 1; exit 1").ID)
	}
	played := len(finishedIn(s.log()))
	const rounds = 3
	for n := range rounds {
		sent := quick.submit(n, "exit 1")
		if sent.Place > 2 {
			t.Errorf("a submission of the other person has place %d", sent.Place)
		}
		for next, err := range quick.Follow(t.Context(), sent.ID) {
			if err != nil {
				t.Fatal(err)
			}
			sent = next
		}
		if !sent.Done {
			t.Fatalf("it is not through: %+v", sent)
		}
	}
	begun := 0
	for _, id := range queue {
		now, err := slow.Submission(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if now.Place == 0 {
			begun++
		}
	}
	if begun > rounds+1 { // one was at work at the beginning, then they took turns
		t.Errorf("%d of the slow ones were begun before %d others were through, want at most %d", begun, rounds, rounds+1)
	}
	if len(finishedIn(s.log())) == played {
		t.Errorf("no match has been finished meanwhile\n%s", s.log())
	}
}
