package match

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
)

// full is a connection whose pipe is full at the end of a game.
type full struct{ BotConn }

func (c full) Send(lines []byte, deadline time.Time) (int, error) {
	if bytes.Contains(lines, []byte("end ranks=")) {
		return 0, fault.Reason{Kind: fault.NotReading}
	}
	return c.BotConn.Send(lines, deadline)
}

// Limits and faults: what a bot does after its last turn of a game is judged at its
// first turn of the next; after the last game nothing is.
func TestLimitsAndFaultsAfterTheLastTurn(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(l protocol.RefLine) string
		full   bool
		code   protocol.Code
	}{
		{"does not take its result", firstMove, true, protocol.Timeout},
		{"moves once more", func(l protocol.RefLine) string {
			if l.Ply >= 38 {
				return firstMove(l) + "\n" + firstMove(l)
			}
			return firstMove(l)
		}, false, protocol.Garbled},
	} {
		m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Deals: 3, Clock: patient}
		m.start = starter{"bot0": func() BotConn {
			talk := &talker{answer: c.answer}
			if c.full {
				return full{talk}
			}
			return talk
		}}.start
		m.OnlyRotations = []int{0}
		for deal, g := range playAll(t, m) {
			if deal != 1 { // 0 is honest to its end, and a fresh process plays 2
				if len(g.Faults) > 0 {
					t.Errorf("%s, deal %d: faults %v", c.name, deal, g.Faults)
				}
				continue
			}
			if len(g.Faults) != 1 || g.Faults[0].Seat != 0 || g.Faults[0].Code != c.code {
				t.Errorf("%s: faults %v, want %s of seat 0", c.name, g.Faults, c.code)
			}
			if slices.ContainsFunc(g.Moves, func(m referee.ReplayMove) bool { return m.Seat == 0 }) {
				t.Errorf("%s: it is found out after %d moves, not at its first turn", c.name, len(g.Moves))
			}
		}
	}
}

// Limits and faults: a bot whose partner does not start plays on in the next game.
func TestLimitsAndFaultsOfPartners(t *testing.T) {
	m := &Match{Variant: variant(t, "brisca", "players=4 teams=yes"), Bots: named(4), Deals: 2, OnlyRotations: []int{0}, Clock: patient}
	failed := false
	m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
		if b.Name == "bot0" && !failed {
			failed = true
			return nil, fault.Reason{Kind: fault.NotStarted, Detail: "no such file", Command: "bot0"}
		}
		return starter{}.start(ctx, b, w)
	}
	if g := playAll(t, m)[1]; len(g.Faults) > 0 {
		t.Errorf("faults %v", g.Faults)
	}
}

// Lines from the referee: what each seat is told, in which order, and of a fault only the culprit in full.
func TestLinesFromTheReferee(t *testing.T) {
	told := make([][]string, 3)
	m := &Match{Variant: variant(t, "brisca", "players=3"), Bots: named(3), Clock: patient}
	m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
		seat := slices.IndexFunc(m.Bots, func(o Contestant) bool { return o.Name == b.Name })
		return &talker{told: &told[seat], answer: func(l protocol.RefLine) string {
			if seat == 1 && l.Ply > 3 {
				return "move 13o"
			}
			return firstMove(l)
		}}, nil
	}
	g := oneGame(t, m)
	order := func(lines []string) (verbs string) { // a letter a line, views with their turns
		for _, line := range lines {
			verb, _, _ := strings.Cut(line, " ")
			verbs += verb[:2] + " "
		}
		return verbs
	}
	for seat, lines := range told {
		if !strings.HasPrefix(lines[1], fmt.Sprintf("game brisca players=3 teams=no exchange=no last10=no blackhand=no hunt3=no without2=no seat=%d seed=%d movetime=60000", seat, g.Seats[seat].Seed)) {
			t.Errorf("seat %d: the game begins with %q", seat, lines[1])
		}
		if got := order(lines); !strings.HasPrefix(got, "ti ga ev ev ") {
			t.Errorf("seat %d: the lines are %s", seat, got)
		}
		for i, line := range lines {
			if strings.HasPrefix(line, "turn ") && !strings.HasPrefix(lines[i-1], "view ") {
				t.Errorf("seat %d: %q comes after %q", seat, line, lines[i-1])
			}
			if len(line) > protocol.MaxLine {
				t.Errorf("seat %d: a line of %d bytes", seat, len(line))
			}
		}
	}
	if want := "fault 1 illegal " + g.Faults[0].Text; told[1][len(told[1])-1] != want {
		t.Errorf("the culprit is told %q at last, want %q", told[1][len(told[1])-1], want)
	}
	if strings.Count(order(told[1]), "en ") != 0 || strings.Count(order(told[1]), "by ") != 0 {
		t.Errorf("the culprit is told %s: it gets no end", order(told[1]))
	}
	for _, seat := range []int{0, 2} {
		if want := "fault 1 illegal " + fault.Brief(protocol.Illegal); !slices.Contains(told[seat], want) {
			t.Errorf("seat %d is not told %q", seat, want)
		}
		if got := order(told[seat]); !strings.HasSuffix(got, "en by ") || strings.Count(got, "fa ") != 1 {
			t.Errorf("seat %d is told %s", seat, got)
		}
		if strings.Contains(strings.Join(told[seat], "\n"), "13o") {
			t.Errorf("seat %d is told the culprit's move", seat)
		}
	}
}
