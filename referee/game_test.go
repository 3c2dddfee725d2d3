package referee

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// newGame returns a game of bots with names.
func newGame(t testing.TB, v *rules.Variant, clock Clock, listening rules.Seats) *Game {
	t.Helper()
	head := Replay{Seed: Hex(DealSeed(rules.Seed{7}, 0)), Clock: clock.InReplay(), Seats: identities(v.Players)}
	return NewGame(v, head, listening)
}

// exited is the reason of a bot that fails during a game, unready of one that fails before it.
var (
	exited  = fault.Reason{Kind: fault.Exited, Status: 1}
	unready = fault.Reason{Kind: fault.NoReady, Limit: 1}
)

// The lines for each seat after the steps of a game: their verbs, and the seat of each "fault". SPEC.md,
// "Lines from the referee".
func TestGameLines(t *testing.T) {
	const three, two = "brisca players=3", "teeko limit=2"
	for _, c := range []struct {
		name, game, steps string
		want              []string // by seat
		ranks             string
	}{
		{"a whole game", two, "begin move move end", []string{"game view turn event end", "game event view turn event end"}, "[1 1]"},
		{"nobody begins", two, "unready:0 end", []string{"fault 0", ""}, "[2 1]"},
		{"both do not start", two, "unready:1 unready:0 begin end", []string{"fault 1 fault 0", "fault 1"}, "[1 2]"},
		{"one of two fails", two, "begin move exited:1 end", []string{"game view turn event fault 1 end", "game event fault 1"}, "[1 2]"},
		{"it fails when it is asked", two, "begin ask exited:0 end", []string{"game view turn fault 0", "game fault 0 end"}, "[2 1]"},
		{"one of three does not start", three, "unready:1 begin move standin move end",
			[]string{"game fault 1 event view turn event end", "fault 1", "game fault 1 event view turn event end"}, "[2 3 1]"},
		{"one of three fails", three, "begin move exited:1 standin move end",
			[]string{"game event view turn event fault 1 event end", "game event fault 1", "game event fault 1 event view turn event end"}, "[2 3 1]"},
		{"two of three fail", three, "begin exited:0 standin exited:1 standin move end",
			[]string{"game event fault 0", "game event fault 0 event fault 1", "game event fault 0 event fault 1 event view turn event end"}, "[3 2 1]"},
	} {
		name, options, _ := strings.Cut(c.game, " ")
		v := variant(t, name, options)
		g := newGame(t, v, patient, rules.AllSeats)
		got := make([]string, v.Players)
		hear := func(seat int, lines []byte) {
			for line := range bytes.Lines(lines) {
				l := kit.Get[protocol.RefLine](t)(protocol.ParseReferee(line[:len(line)-1]))
				word := l.Verb.String()
				if l.Verb == protocol.RefFault {
					word += fmt.Sprint(" ", l.Seat)
				}
				if word != "event" || !strings.HasSuffix(got[seat], "event") { // several are told as one
					got[seat] = strings.TrimSpace(got[seat] + " " + word)
				}
			}
		}
		for step := range strings.FieldsSeq(c.steps) {
			verb, seat, _ := strings.Cut(step, ":")
			turn := g.Turn()
			switch verb {
			case "begin":
				if g.Begin() == g.IsOver() {
					t.Errorf("%s: begins although it is over, or does not", c.name)
				}
			case "ask":
				hear(turn, g.TurnLines())
			case "move":
				hear(turn, g.TurnLines())
				kit.Must(t, g.Move(g.State.MoveText(nil, g.State.Legal(nil)[0]), MoveTime{Took: time.Millisecond}, nil))
			case "standin":
				g.PlayStandIn()
			case "end":
				g.End()
				for seat := range got {
					hear(seat, g.TakeLines(seat))
				}
			default:
				why := map[string]fault.Reason{"exited": exited, "unready": unready}[verb]
				kit.Must(t, g.Forfeit(int(seat[0]-'0'), why, 0))
				hear(int(seat[0]-'0'), g.TakeLines(int(seat[0]-'0')))
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
		if got := fmt.Sprint(g.Record.Ranks); got != c.ranks || !g.HasEnded() {
			t.Errorf("%s: ranks %s, want %s", c.name, got, c.ranks)
		}
	}
}

// A walk shows the deal also of a game that was decided before it began.
func TestWalkBeforeTheGame(t *testing.T) {
	v := variant(t, "brisca", "")
	g := newGame(t, v, patient, rules.AllSeats)
	kit.Must(t, g.Forfeit(0, unready, 0))
	g.End()
	var want rules.Log
	g.State.LogStart(&want)
	var log rules.Log
	log.Add(rules.AllSeats, "of another game")
	for _, err := range g.Record.Walk(v, &log) {
		kit.Must(t, err)
		if diff := cmp.Diff(want.OpenEvents(), log.OpenEvents()); diff != "" || len(want.OpenEvents()) == 0 {
			t.Error(diff)
		}
	}
}

// Calls in the wrong order return an error and change nothing.
func TestGameRefuses(t *testing.T) {
	v := variant(t, "brisca", "players=3")
	for _, c := range []struct {
		name  string
		begun bool
		first []int // seats with a fault before
		seat  int
		why   fault.Reason
		want  string
	}{
		{"no seat", true, nil, 3, exited, "seat 3 does not exist"},
		{"no seat either", false, nil, -1, unready, "seat -1 does not exist"},
		{"not its turn", true, nil, 1, exited, "it is not the turn of seat 1"},
		{"its turn before the game", false, nil, 1, exited, "it is not the turn of seat 1"},
		{"it has started", true, nil, 0, unready, "a bot does not start at ply 0, but before the first move"},
		{"twice", true, []int{1}, 1, exited, "seat 1 has forfeited before"},
		{"after the end", true, []int{0, 1, 2}, 0, exited, "seat 0 has forfeited before"},
	} {
		g := newGame(t, v, patient, rules.AllSeats)
		for _, seat := range c.first {
			kit.Must(t, g.Forfeit(seat, unready, 0))
		}
		if c.begun {
			g.Begin()
		}
		faults, lines := len(g.Record.Faults), len(g.lines[2])
		if err := g.Forfeit(c.seat, c.why, 0); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if len(g.Record.Faults) != faults || len(g.lines[2]) != lines {
			t.Errorf("%s: it is recorded or told", c.name)
		}
	}
	g := newGame(t, variant(t, "teeko", "start=drop"), patient, 0)
	g.Begin()
	for text, detail := range map[string]string{
		"banana": `"banana" is not a move: `,
		"3-4":    `"3-4" moves a piece while pieces are placed: `,
		"\xff":   `"\xff" is not a move: `,
	} {
		r, ok := g.Move([]byte(text), MoveTime{}, nil).(fault.Reason)
		if !ok || r.Kind != fault.IllegalMove || string(r.Move) != text || !strings.HasPrefix(r.Detail, detail) {
			t.Errorf("%q: %v", text, r)
		}
	}
	if g.State.Ply() != 0 || len(g.Record.Moves) != 0 {
		t.Error("an illegal move is made")
	}
}

// The time in a turn line follows from the times of the bot's own moves, in whole microseconds.
func TestGameTimes(t *testing.T) {
	const ms = time.Millisecond
	g := newGame(t, variant(t, "teeko", "start=drop limit=8"), Clock{Bank: 100 * ms, Inc: ms, Startup: time.Second}, rules.AllSeats)
	g.Begin()
	var told []int
	for _, spent := range []MoveTime{{Took: 40*ms + 1}, {}, {Took: 90 * ms, Credit: 80*ms + 999}, {}, {Took: 1 << 60}, {}, {Took: ms}} {
		seat := g.Turn()
		lines := g.TurnLines()
		if turn, _ := protocol.ParseReferee(bytes.TrimSuffix(lines[bytes.LastIndex(lines, []byte("turn ")):], []byte{'\n'})); seat == 0 {
			told = append(told, turn.MS)
		}
		kit.Must(t, g.Move(g.State.MoveText(nil, g.State.Legal(nil)[0]), spent, nil))
	}
	if want := []int{100, 60, 51, 1}; !slices.Equal(told, want) {
		t.Errorf("the turns tell %v ms, want %v", told, want)
	}
}

// A turn allocates only the text of its move, and what the rules allocate for its events.
func TestGameAllocates(t *testing.T) {
	if raced() { // which allocates: script/test runs this again without it
		return
	}
	for _, game := range games.All() {
		v := variant(t, game.Name, "")
		var moves []rules.Move
		play := func(each func(rules.State, rules.Move), state rules.State) {
			for _, m := range moves {
				each(state, m)
			}
		}
		dice, legal := rules.NewRand(3), make([]rules.Move, 0, rules.MaxMoves)
		for s := newGame(t, v, patient, 0).State; s.Turn() != rules.Over; {
			legal = s.Legal(legal[:0])
			moves = append(moves, legal[dice.Below(len(legal))])
			s.Apply(moves[len(moves)-1], nil)
		}
		var log rules.Log
		bare := testing.AllocsPerRun(5, func() {
			play(func(s rules.State, m rules.Move) {
				log.Reset()
				s.Apply(m, &log)
			}, newGame(t, v, patient, rules.AllSeats).State)
		})
		text := make([]byte, 0, 100)
		whole := testing.AllocsPerRun(5, func() {
			g := newGame(t, v, patient, rules.AllSeats)
			play(func(s rules.State, m rules.Move) {
				g.TurnLines()
				text = s.MoveText(text[:0], m)
				kit.Must(t, g.Move(text, MoveTime{Took: time.Millisecond}, nil))
			}, g.State)
		})
		// The memory of lines and of the record grows now and then.
		if most := bare + float64(len(moves)) + 10*float64(v.Players) + 20; whole > most {
			t.Errorf("%s: a game of %d moves allocates %v times, want at most %v", game.Name, len(moves), whole, most)
		}
	}
}
