package match

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// moody is a connection of a bot that takes some time for its moves, and may fail at one of them.
type moody struct {
	talker
	think func() time.Duration
	fault func(line protocol.RefLine) error // for Line after a turn or a greeting
	next  error
}

func (c *moody) Send(data []byte, deadline time.Time) (int, error) {
	n, err := c.talker.Send(data, deadline)
	for line := range bytes.Lines(data) {
		l, perr := protocol.ParseReferee(bytes.TrimSuffix(line, lf))
		if perr != nil {
			return n, perr
		}
		if l.Verb == protocol.RefTurn || l.Verb == protocol.RefTimba {
			c.next = c.fault(l)
		}
	}
	return n, err
}

func (c *moody) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	if err := c.next; err != nil {
		return nil, now, err
	}
	if len(c.lines) > 0 && now.Before(deadline) {
		now = now.Add(c.think())
	}
	return c.talker.Line(now, deadline)
}

// moods are the ways to fail at a move. Their texts could also be texts of the bot.
var moods = map[string]func(first string) (lines string, err error){
	"late":       func(string) (string, error) { return "", nil },
	"illegal":    func(string) (string, error) { return "move banana", nil },
	"garbled":    func(string) (string, error) { return `before "ready": came when no move was asked for: `, nil },
	"exit":       func(string) (string, error) { return "", fault.Reason{Kind: fault.Exited, Status: 1} },
	"output":     func(string) (string, error) { return "", fault.Reason{Kind: fault.TooMuchOutput, Limit: 64} },
	"memory":     func(string) (string, error) { return "", fault.Reason{Kind: fault.OutOfMemory, Limit: 512} },
	"twice":      func(first string) (string, error) { return "move " + first + "\nmove " + first, nil },
	"stray line": func(first string) (string, error) { return "move " + first + "\nhello", nil },
}

// entrances are the ways to fail at the greeting.
var entrances = map[string]func() (lines string, err error){
	"no ready":   func() (string, error) { return "", nil },
	"banner":     func() (string, error) { return "welcome", nil },
	"early move": func() (string, error) { return "move 1o", nil },
	"crash":      func() (string, error) { return "", fault.Reason{Kind: fault.Exited, Status: 1} },
	"long line": func() (string, error) {
		return "", fault.LineReason(bytes.Repeat([]byte("x"), protocol.MaxLine+1), protocol.TooLong)
	},
}

// drawMoody returns a bot that fails at some turn, or not at all.
func drawMoody(t *rapid.T) *moody {
	c := &moody{}
	dice := rules.NewRand(rapid.Uint64().Draw(t, "dice"))
	c.think = func() time.Duration { return time.Duration(dice.Below(9_000_000)) }
	c.answer = func(l protocol.RefLine) string {
		pick := l.Moves.Token(dice.Below(l.Moves.Len()))
		if dice.Below(10) == 0 {
			return "info score=1\n# idle\ninfo depth=2\nmove " + string(pick)
		}
		return "move " + string(pick)
	}
	c.fault = func(protocol.RefLine) error { return nil }
	turns := rapid.IntRange(0, 30).Draw(t, "turns before it fails")
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		enter := entrances[rapid.SampledFrom(keys(entrances)).Draw(t, "entrance")]
		c.fault = func(l protocol.RefLine) error {
			text, err := enter()
			c.lines = nil
			if text != "" {
				c.lines = [][]byte{[]byte(text)}
			}
			return err
		}
	case 1, 2:
		mood := moods[rapid.SampledFrom(keys(moods)).Draw(t, "mood")]
		c.fault = func(l protocol.RefLine) error {
			if l.Verb != protocol.RefTurn {
				return nil
			}
			if turns--; turns >= 0 {
				return nil
			}
			text, err := mood(string(l.Moves.Token(0)))
			c.lines = nil
			if text != "" {
				c.lines = bytes.Split([]byte(text), lf)
			}
			return err
		}
	}
	return c
}

func keys[V any](m map[string]V) (k []string) {
	for name := range m {
		k = append(k, name)
	}
	slices.Sort(k)
	return k
}

// tape records the lines to and from each seat in each game.
type tape struct {
	mu   sync.Mutex
	sent map[string]string
	back map[string]string
}

func tapeOf(m *Match) *tape {
	tp := &tape{sent: map[string]string{}, back: map[string]string{}}
	m.Observer.Trace = func(p referee.Traffic) {
		tp.mu.Lock()
		defer tp.mu.Unlock()
		key := fmt.Sprintf("%d/%d/%d", p.Deal, p.Rotation, p.Seat)
		if p.FromBot {
			if bytes.HasPrefix(p.Lines, []byte("move ")) || bytes.HasPrefix(p.Lines, []byte("info ")) {
				tp.back[key] += string(p.Lines)
			}
		} else {
			tp.sent[key] += string(p.Lines)
		}
	}
	return tp
}

// check compares the traffic that a replay gives with the tape.
func (tp *tape) check(t interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
}, g *referee.GameResult, v *rules.Variant) {
	t.Helper()
	for seat := range v.Players {
		all := kit.Get[[]referee.Traffic](t)(g.Replay.Traffic(v.Game, seat))
		var got, back string
		for _, p := range all {
			if p.FromBot {
				back += string(p.Lines)
			} else {
				got += string(p.Lines)
			}
		}
		key := fmt.Sprintf("%d/%d/%d", g.Match.Deal, g.Match.Rotation, seat)
		want := tp.sent[key]
		fault := slices.IndexFunc(g.Faults, func(f referee.Fault) bool { return f.Seat == seat })
		if fault >= 0 && g.Faults[fault].HadNoProcess() {
			if got != "" { // what was sent went to a process that an earlier game had left
				t.Errorf("%s: rebuilt %q for a bot that was not started", key, got)
			}
			continue
		}
		if !strings.HasPrefix(want, "timba ") { // its process ran already
			want = "timba 1\n" + want
		}
		if fault < 0 {
			want += "bye\n"
		}
		if !strings.HasPrefix(tp.back[key], back) {
			t.Errorf("%s: rebuilt answers\n%s\nwhere the bot wrote\n%s", key, back, tp.back[key])
		}
		if got == want {
			continue
		}
		if fault >= 0 && !slices.Contains([]protocol.Code{protocol.Illegal, protocol.Startup}, g.Faults[fault].Code) && withoutLastTurn(got) == want {
			continue // it failed by itself between two turns
		}
		t.Errorf("%s: sent\n%s\nrebuilt\n%s", key, want, got)
	}
}

// withoutLastTurn removes the last view and turn.
func withoutLastTurn(lines string) string {
	i := strings.LastIndex(lines, "\nview ") + 1
	j := strings.LastIndex(lines, "\nturn ") + 1
	if i == 0 || j < i {
		return lines
	}
	end := strings.IndexByte(lines[j:], '\n')
	return lines[:i] + lines[j+end+1:]
}

var feedGames = []struct{ game, options string }{
	{"brisca", "players=2 exchange=yes"}, {"brisca", "players=3"}, {"brisca", "players=4 teams=yes"},
	{"tute", "players=3 exchange=yes"}, {"podrida", "players=5"}, {"tebes", "size=4"}, {"teeko", "start=drop"},
}

// Replays: from a replay alone the lines that each bot was sent are rebuilt, byte
// by byte, whatever bots do and whatever the clock is.
func TestReplaysTraffic(t *testing.T) {
	var variants []*rules.Variant
	for _, c := range feedGames {
		variants = append(variants, variant(t, c.game, c.options))
	}
	rapid.Check(t, func(t *rapid.T) {
		v := variants[rapid.IntRange(0, len(variants)-1).Draw(t, "game")]
		m := &Match{Variant: v, Bots: named(rapid.IntRange(1, v.Players).Draw(t, "bots")), Deals: 2, Seed: rules.Seed{byte(rapid.IntRange(0, 255).Draw(t, "seed"))}}
		m.Clock = rapid.SampledFrom([]referee.Clock{
			patient,
			{Bank: time.Minute, Margin: time.Millisecond, Startup: time.Second},
			{Bank: 20 * time.Millisecond, Inc: 3 * time.Millisecond, Margin: time.Minute, Startup: time.Second},
		}).Draw(t, "clock")
		m.start = func(context.Context, Contestant, *fairclock.Monitor) (BotConn, error) {
			if rapid.IntRange(0, 15).Draw(t, "starts") == 0 {
				return nil, fault.Reason{Kind: fault.NotStarted, Detail: "no such file", Command: "bot"}
			}
			return drawMoody(t), nil
		}
		tp := tapeOf(m)
		done := keep(m)
		kit.Must(t, m.Play(context.Background(), done.add))
		for _, g := range done.games {
			for _, err := range g.Verify(v.Game) {
				t.Error(err)
			}
			tp.check(t, g, v)
		}
	})
}

// The codes whose turn was surely sent, and the second move for which none was, are rebuilt without any doubt.
func TestReplaysTrafficOfCertainFaults(t *testing.T) {
	v := variant(t, "brisca", "players=3")
	for _, mood := range []string{"late", "illegal", "twice"} {
		m := &Match{Variant: v, Bots: named(3), Clock: patient, Seed: rules.Seed{3}}
		turns := 0
		m.start = starter{}.start
		bots := starter{"bot1": func() BotConn {
			return &talker{answer: func(l protocol.RefLine) string {
				if turns++; turns < 3 {
					return firstMove(l)
				}
				lines, _ := moods[mood](string(l.Moves.Token(0)))
				return lines
			}}
		}}
		m.start = bots.start
		tp := tapeOf(m)
		g := oneGame(t, m)
		if len(g.Faults) != 1 {
			t.Fatalf("%s: faults %v", mood, g.Faults)
		}
		sent := ""
		all := kit.Get[[]referee.Traffic](t)(g.Replay.Traffic(v.Game, 1))
		for _, p := range all {
			if !p.FromBot {
				sent += string(p.Lines)
			}
		}
		if sent != tp.sent["0/0/1"] {
			t.Errorf("%s: sent\n%s\nrebuilt\n%s", mood, tp.sent["0/0/1"], sent)
		}
	}
}

// Replays that are not whole are refused or rebuilt, never a panic.
func TestReplaysTrafficOfBrokenReplays(t *testing.T) {
	v := variant(t, "teeko", "")
	g := oneGame(t, &Match{Variant: v, Bots: named(2), Clock: patient, start: starter{}.start})
	for name, c := range map[string]struct {
		seat  int
		wreck func(*referee.Replay)
		want  string
	}{
		"seat":  {2, func(*referee.Replay) {}, "replay: seat 2 does not exist: the game has seats 0 to 1"},
		"clock": {0, func(r *referee.Replay) { r.Clock.Movetime = -1 }, "replay: clock: movetime cannot be -1ms"},
		"fault": {0, func(r *referee.Replay) { r.Faults = []referee.Fault{{Seat: 1, Ply: 0, Code: protocol.Illegal}} }, "replay: fault 0: it is not the turn of seat 1"},
		"far":   {0, func(r *referee.Replay) { r.Faults = []referee.Fault{{Seat: 9, Ply: 0, Code: protocol.Startup}} }, "replay: fault 0: seat 9 does not exist"},
		"moves": {0, func(r *referee.Replay) { r.Moves = r.Moves[1:] }, "replay: move 0, "},
		"time": {0, func(r *referee.Replay) {
			r.Moves = slices.Clone(r.Moves)
			r.Moves[0].MS = -60000
		}, "replay: move 0: it took -60000 ms"},
		"credit": {0, func(r *referee.Replay) {
			r.Moves = slices.Clone(r.Moves)
			r.Moves[0].Credit = r.Moves[0].MS + 1
		}, "replay: move 0: it took "},
	} {
		r := g.Replay
		c.wreck(&r)
		if _, err := r.Traffic(v.Game, c.seat); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A game that is over with its deal has its bots, too: they are started and told, and their versions are in
// its replay.
func TestReplaysTrafficOfWonDeals(t *testing.T) {
	v := variant(t, "tute", "")
	m := &Match{Variant: v, Bots: named(2), Clock: patient, start: starter{}.start}
	for n := range 100_000 {
		m.Seed = rules.Seed{byte(n >> 16), byte(n >> 8), byte(n)}
		if stream := rules.NewStream(referee.DealSeed(m.Seed, 0)); v.Deal(&stream).Turn() == rules.Over {
			break
		}
	}
	tp := tapeOf(m)
	g := oneGame(t, m)
	if tp.check(t, g, v); len(g.Moves) != 0 || g.Seats[0].Version != "1" || g.Seats[1].Version != "1" {
		t.Errorf("%d moves, seats %v", len(g.Moves), g.Seats)
	}
}
