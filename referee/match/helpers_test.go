package match

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
)

// variant returns a game with options from "key=value key=value".
var variant = refereetest.Variant

// alone returns a variant in which each seat is a side. It has nothing else.
func alone(players int) *rules.Variant { return &rules.Variant{Players: players, Sides: players} }

// patient is a clock that no test exceeds.
var patient = referee.Clock{Move: time.Minute, Margin: 50 * time.Millisecond, Startup: time.Minute}

// talker is the connection of a bot without a process. It answers at once; if it has no answer, its time is over.
type talker struct {
	answer func(protocol.RefLine) string // the lines for a turn, joined by LF; "" for none
	told   *[]string                     // all lines that it is sent
	lines  [][]byte
}

func (c *talker) Send(data []byte, _ time.Time) (int, error) {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if c.told != nil {
			*c.told = append(*c.told, string(line))
		}
		l, err := protocol.ParseReferee(line)
		if err != nil {
			return 0, err
		}
		switch l.Verb {
		case protocol.RefTimba:
			c.lines = append(c.lines, []byte("ready talker 1"))
		case protocol.RefTurn:
			if text := c.answer(l); text != "" {
				c.lines = append(c.lines, bytes.Split([]byte(text), []byte("\n"))...)
			}
		}
	}
	return len(data), nil
}

func (c *talker) Line(now, deadline time.Time) ([]byte, time.Time, error) {
	if len(c.lines) == 0 {
		return nil, now, ErrLate
	}
	line := c.lines[0]
	c.lines = c.lines[1:]
	return line, now, nil
}

func (c *talker) BeginTurn(time.Time, time.Duration) error           { return nil }
func (c *talker) Loss(time.Time, time.Time, bool) (l fairclock.Loss) { return l }
func (c *talker) Memory() (used, limit int64)                        { return 0, 0 }
func (c *talker) Rest() []byte                                       { return nil }
func (c *talker) EndTurn()                                           {}
func (c *talker) Stderr() []byte                                     { return nil }
func (c *talker) Close(time.Duration)                                {}

// firstMove answers with the first legal move.
func firstMove(l protocol.RefLine) string { return "move " + string(l.Moves.Token(0)) }

// starter implements Match.start for bots without processes. It has a constructor by name; other bots are talkers.
type starter map[string]func() BotConn

func (s starter) start(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
	if make := s[b.Name]; make != nil {
		return make(), nil
	}
	if b.Command != nil {
		return startProcess(ctx, b, w)
	}
	return &talker{answer: firstMove}, nil
}

// named returns n bots without processes.
func named(n int) (bots []Contestant) {
	for i := range n {
		bots = append(bots, Contestant{Name: fmt.Sprintf("bot%d", i), Hash: strings.Repeat("0", 64)})
	}
	return bots
}

// record has everything that a match has reported.
type record struct {
	games []*referee.GameResult
	voids []string
}

// keep makes a match add its void games to a record. Pass the record's add to Play for the other games.
func keep(m *Match) *record {
	r := new(record)
	m.Observer.Trouble = func(err error) {
		if v, ok := errors.AsType[*VoidError](err); ok {
			r.voids = append(r.voids, fmt.Sprintf("%d.%d: %v", v.Deal, v.Rotation, v.Err))
		}
	}
	return r
}

// add adds a finished game.
func (r *record) add(g *referee.GameResult) error {
	r.games = append(r.games, g)
	return nil
}

// playAll plays a match and returns its games by deal and rotation. It requires that every replay verifies
// and that no game is void.
func playAll(t testing.TB, m *Match) []*referee.GameResult {
	t.Helper()
	r := keep(m)
	kit.Must(t, m.Play(t.Context(), r.add))
	if len(r.voids) > 0 {
		t.Fatalf("void: %v", r.voids)
	}
	slices.SortFunc(r.games, func(a, b *referee.GameResult) int {
		return cmp.Or(a.Match.Deal-b.Match.Deal, a.Match.Rotation-b.Match.Rotation)
	})
	for _, g := range r.games {
		g.Reveal(m.Seed)
		for _, err := range g.Verify(m.Variant.Game) {
			t.Errorf("deal %d, rotation %d: %v", g.Match.Deal, g.Match.Rotation, err)
		}
	}
	return r.games
}

// oneGame plays a match and returns its game in rotation 0.
func oneGame(t testing.TB, m *Match) *referee.GameResult {
	t.Helper()
	m.Deals = 1
	m.OnlyRotations = []int{0}
	all := playAll(t, m)
	if len(all) != 1 {
		t.Fatalf("%d games were played, want 1", len(all))
	}
	return all[0]
}

// timeless returns the text of a replay without what may differ from run to run.
func timeless(g *referee.GameResult) string {
	r := g.Replay
	r.Moves = slices.Clone(r.Moves)
	for i := range r.Moves {
		r.Moves[i].MS, r.Moves[i].Credit = 0, 0
	}
	return string(r.Encode())
}

// until waits for a condition.
var until = kit.Until

// codeOf returns the code of a fault, "" for nil, and the text of another error.
func codeOf(err error) protocol.Code {
	if err == nil {
		return ""
	}
	if r, ok := errors.AsType[fault.Reason](err); ok {
		return r.Code()
	}
	return protocol.Code(err.Error())
}

// raced reports whether the test binary has the race detector.
var raced = kit.HasRaceDetector
