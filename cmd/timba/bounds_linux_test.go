package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

// Three long matches of one account on a real server: rated matches and requests go on,
// a kill -9 leaves them to be played again with what is left of their time, and
// cancelling and blocking end them for good, over a restart as well.
func TestAskedMatchesServed(t *testing.T) {
	kit.Slow(t)
	t.Parallel()
	a := newArena(t, strings.ReplaceAll(quickLadders(3), "movetime = 10000", "movetime = 2000"))
	s := a.serve(t, "--workers", "1", "--grace", "0s")
	ctx := t.Context()
	connect := func(token string) *client.Client {
		t.Helper()
		c, err := client.New(s.url, token)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	invite, err := connect(s.token).AddInvite(ctx, wire.NewInvite{Name: "mel"})
	if err != nil {
		t.Fatal(err)
	}
	made, err := connect("").Register(ctx, "mel", invite.Code)
	if err != nil {
		t.Fatal(err)
	}
	mel := connect(made.Key)
	var ids []int64
	for range 3 {
		m, err := mel.AskMatch(ctx, wire.AskedMatch{
			Game: "podrida", Options: map[string]string{"players": "3", "rounds": "updown"}, Deals: 100, Bots: []string{"@random", "@first", "@greedy"},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	state := func(id int64) wire.Match {
		m, err := connect("").Match(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	rated := func() int { return len(finishedIn(s.log())) }
	until(t, "one of them runs", func() bool { return state(ids[0]).State == "running" })
	at := rated()
	until(t, "rated matches go on", func() bool { return rated() >= at+10 })

	a.kill(t, s)
	s = a.serve(t, "--workers", "1", "--grace", "0s")
	until(t, "it runs again", func() bool { return len(state(ids[0]).Attempts) == 2 })
	a.timba(t, made.Key, "login", s.url, "--token-file", "-")
	if said := a.timba(t, "", "matches", "cancel", strconv.FormatInt(ids[0], 10)); said != fmt.Sprintf("match %d is cancelled by mel\n", ids[0]) {
		t.Errorf("cancelling says %q", said)
	}
	until(t, "the next one runs", func() bool { return state(ids[1]).State == "running" })
	a.timba(t, "", "admin", "block", "mel", "--data", a.dir)
	for _, id := range ids[1:] {
		if m := state(id); m.State != "dropped" || m.Reason != "cancelled: mel is blocked" {
			t.Errorf("match %d is %s, %q", id, m.State, m.Reason)
		}
	}
	until(t, "both have ended", func() bool { return strings.Count(s.log(), `msg="match cancelled"`) == 2 })
	at = rated()
	until(t, "rated matches go on", func() bool { return rated() >= at+10 })
	a.kill(t, s)
	s = a.serve(t, "--workers", "1")
	at = rated()
	until(t, "rated matches go on", func() bool { return rated() >= at+10 })
	for _, id := range ids {
		if m := state(id); m.State != "dropped" || len(m.Attempts) > 2 {
			t.Errorf("match %d is %s after a restart, with %d attempts", id, m.State, len(m.Attempts))
		}
	}
}

// A local match says so when its bots can use more memory than there is, and plays.
func TestNoticeMemory(t *testing.T) {
	h := &referee.Sandbox{Level: sandbox.Full, Limit: sandbox.Limit{Memory: 512 << 20}}
	v, err := resolveGame("podrida", []string{"players=12"}, 12)
	if err != nil {
		t.Fatal(err)
	}
	tour := &tournament.Tournament{Variant: v, Bots: make([]referee.Bot, 12)}
	for i := range 9 {
		tour.Bots[i].Sandbox = h
	}
	for _, c := range []struct {
		machine int64
		want    string
	}{
		{54 << 30, ""}, {0, ""},
		{54<<30 - 1, "notice: 108 processes of bots can use 55296 MiB at once, 512 MiB each, and this machine has 55295 MiB: try a smaller --memory\n"},
	} {
		var b bytes.Buffer
		if noticeMemory(&b, tour, c.machine); b.String() != c.want {
			t.Errorf("%d: %q, want %q", c.machine, b.String(), c.want)
		}
	}
}
