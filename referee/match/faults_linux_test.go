package match

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/internal/script"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// faultReasons has, by name of a fault, the kind of its reason and what its text quotes.
var faultReasons = map[string]struct {
	kind  fault.Kind
	quote string
}{
	"no-ready": {fault.NoReady, "3600000"}, "slow-ready": {fault.NoReady, "3600000"},
	"exit-at-start": {fault.Exited, `before "ready": the process exited with status 3`},
	"banner":        {fault.NoSuchLine, `"misbehave, the bot that fails"`},
	"move-first":    {fault.MoveBeforeReady, `"move 1o"`},
	"ready-twice":   {fault.ReadyAgain, `"ready misbehave 1"`},
	"silent":        {fault.Late, noMove}, "late": {fault.Late, noMove}, "slow-drip": {fault.Late, noMove}, "no-flush": {fault.Late, noMove},
	"no-lf":   {fault.Late, `no move within 3600000 ms and the margin of 50 ms, after the unfinished line "move `},
	"illegal": {fault.IllegalMove, `"1o": `}, "illegal-syntax": {fault.IllegalMove, `"banana": `},
	"garbled-text": {fault.NoSuchLine, `"I think I will play `}, "debug-print": {fault.NoSuchLine, `"DEBUG: evaluating 3 moves"`},
	"empty-line": {fault.NoSuchLine, `""`}, "two-moves": {fault.BadMove, `"move `},
	"not-ascii": {fault.NotASCII, `"# \u00a1\u00f3rdago!" is not printable ASCII: byte 3 is 0xc2`}, "nul": {fault.NotASCII, `\x00"`},
	"long-line": {fault.LineTooLong, `"... is longer than 4096 bytes`}, "megabyte": {fault.LineTooLong, `"xxxx`},
	"unasked": {fault.MoveUnasked, `"move `}, "flood": {fault.TooMuchOutput, "64 KiB"},
	"exit-0": {fault.Exited, "status 0"}, "exit-3": {fault.Exited, "status 3"}, "panic": {fault.Exited, "status 2"}, "fork-exit": {fault.Exited, "status 0"},
	"half-line": {fault.Exited, `status 0, after the unfinished line "move `},
	"segv":      {fault.Signalled, "signal 11 (SIGSEGV)"}, "abort": {fault.Signalled, "signal 6 (SIGABRT)"},
	"close-stdout": {fault.OutputClosed, "output"}, "close-stdin": {fault.InputClosed, "input"},
}

const noMove = "no move within 3600000 ms and the margin of 50 ms: "

// nextTurn lists the faults that are found at the bot's next turn.
var nextTurn = []string{"unasked", "close-stdin"}

// seating is a game with one bot that misbehaves and others that do not.
type seating struct {
	name, options string
	culprit       int
	ranks         func(ranks []int) bool // when it forfeits
	plies         int                    // of the game when it forfeits, 0 if that ends it
}

var seatings = []seating{
	{"two", "players=2", 1, func(r []int) bool { return slices.Equal(r, []int{1, 2}) }, 0},
	{"three", "players=3", 1, func(r []int) bool { return r[1] == 3 && r[0] < 3 && r[2] < 3 }, 39},
	{"teams", "players=4 teams=yes", 2, func(r []int) bool { return slices.Equal(r, []int{2, 1, 2, 1}) }, 0},
}

// long is a clock so long that the test hangs if a fault is not noticed.
var long = referee.Clock{Move: time.Hour, Margin: 50 * time.Millisecond, Startup: time.Hour}

// startOverdue starts a bot. A misbehaving bot is late as soon as the referee waits for it.
func startOverdue(ctx context.Context, b Contestant, _ *fairclock.Monitor) (BotConn, error) {
	c, err := starter{}.start(ctx, b, nil)
	if p, ok := c.(*process); ok && err == nil {
		return &overdue{process: p, word: faults.WaitsLine}, nil
	}
	return c, err
}

// Limits and faults: every way to fail by a real process, in games of two, three and two teams; after each one
// nothing is left, and a fresh process plays the next deal of the same rotation.
func TestLimitsAndFaultsOfProcesses(t *testing.T) {
	misbehave(t)
	seatings := seatings
	if !kit.Soak {
		seatings = seatings[:1]
	}
	for _, f := range faults.All {
		for _, s := range seatings {
			t.Run(f.Name+"/"+s.name, func(t *testing.T) { s.test(t, f) })
		}
	}
}

func (s seating) test(t *testing.T, f faults.Fault) {
	left := nothingLeft(t)
	v := variant(t, "brisca", s.options)
	told := make([][]string, v.Players)
	starts := 0
	bots := named(v.Players)
	bots[s.culprit].Command = misbehave(t, "--fault", f.Name, "--at=4", "--game=2", "--tell")
	m := &Match{Variant: v, Bots: bots, Deals: 3, Seed: rules.Seed{8}, Clock: long}
	if f.Moment == faults.AtGreeting {
		m.Deals = 1
	}
	m.OnlyRotations = []int{0}
	m.start = func(ctx context.Context, b Contestant, w *fairclock.Monitor) (BotConn, error) {
		if b.Command != nil {
			starts++
			return startOverdue(ctx, b, w)
		}
		seat := slices.IndexFunc(bots, func(o Contestant) bool { return o.Name == b.Name })
		return &talker{answer: firstMove, told: &told[seat]}, nil
	}
	all := playAll(t, m)
	left()
	faulty := min(1, m.Deals-1) // the deal with the fault
	for deal, g := range all {
		valid(t, &g.Replay)
		if f.Code == "" || deal != faulty {
			if len(g.Faults) > 0 {
				t.Errorf("deal %d: faults %v", deal, g.Faults)
			}
			continue
		}
		s.check(t, f, g)
		s.checkTold(t, f, told, v.Sides)
	}
	if f.Code == "" {
		checkNoFault(t, f, all, s.culprit)
	}
	if want := map[bool]int{true: 2, false: 1}[f.Code != "" && m.Deals > 1]; starts != want {
		t.Errorf("%d processes were started, want %d", starts, want)
	}
}

// Limits and faults: what has come of a line in pieces when the time is over does not show in the
// fault, be it nothing, a part of the verb or a part of the move; all of an answer but its end does.
func TestFaultsInPieces(t *testing.T) {
	s := scene{variant: variant(t, "brisca", "")}
	stream := rules.NewStream(referee.DealSeed(s.seed, 0))
	state := s.variant.Deal(&stream)
	move := "move " + string(state.MoveText(nil, state.Legal(nil)[0]))
	const noMove = "no move within 60000 ms and the margin of 50 ms: "
	for _, c := range []struct{ piece, want string }{
		{"", noMove}, {"mo", noMove}, {"move ", noMove}, {move[:len(move)-1], noMove},
		{move, noMove[:len(noMove)-2] + fmt.Sprintf(", after the unfinished line %q: ", move)},
		{move + "\r", noMove[:len(noMove)-2] + fmt.Sprintf(", after the unfinished line %q: ", move+"\r")},
	} {
		late := script.Script{Pieces: []script.Piece{{Text: []byte("ready drip 1\n")}, {Text: []byte(c.piece)}}}
		g := kit.Get[*referee.GameResult](t)(s.play(t.Context(), s.onPipes(late), nil))
		if len(g.Faults) != 1 || !strings.HasPrefix(g.Faults[0].Text, c.want) {
			t.Errorf("%q: %v, want %q", c.piece, g.Faults, c.want)
		}
	}
}

// checkTold checks the "fault" line that the other seats get, and that they get nothing if the game was
// decided before it began.
func (s seating) checkTold(t *testing.T, f faults.Fault, told [][]string, sides int) {
	t.Helper()
	want := fmt.Sprintf("fault %d %s %s", s.culprit, f.Code, fault.Brief(f.Code))
	begun := f.Moment != faults.AtGreeting || f.Name == "ready-twice" || sides > 2
	for seat, lines := range told {
		if seat == s.culprit {
			continue
		}
		if begun && !slices.Contains(lines, want) {
			t.Errorf("seat %d has not been told %q", seat, want)
		}
		if want := []string{"timba 1", "bye"}; !begun && !slices.Equal(lines, want) {
			t.Errorf("seat %d has been told %q, want %q", seat, lines, want)
		}
	}
}

// check checks the game with the fault.
func (s seating) check(t *testing.T, f faults.Fault, g *referee.GameResult) {
	t.Helper()
	if len(g.Faults) != 1 {
		t.Fatalf("faults: %v, want one", g.Faults)
	}
	found := g.Faults[0]
	if want := faultReasons[f.Name]; found.Seat != s.culprit || found.Code != f.Code || found.Reason.Kind != want.kind || want.quote == "" || !strings.Contains(found.Text, want.quote) {
		t.Errorf("%v for %+v, want seat %d, %s and %s with %q", found, found.Reason, s.culprit, f.Code, want.kind, want.quote)
	}
	if !s.ranks(g.Ranks) {
		t.Errorf("ranks are %v", g.Ranks)
	}
	due, own := 4, 0 // where it misbehaves, and its moves from there on
	switch {
	case f.Name == "ready-twice":
		due = s.culprit
	case f.Moment == faults.AtGreeting:
		due = 0
	case slices.Contains(nextTurn, f.Name):
		own = 1
	}
	for ply, m := range g.Moves {
		if m.Seat != s.culprit {
			continue
		}
		if m.StandIn != (ply >= found.Ply) {
			t.Errorf("ply %d: the stand-in plays: %v", ply, m.StandIn)
		}
		if ply >= due && !m.StandIn {
			own--
		}
	}
	if own != 0 || found.Ply < due {
		t.Errorf("the fault is at ply %d, %d turns off", found.Ply, own)
	}
	if want := max(s.plies, found.Ply); len(g.Moves) != want {
		t.Errorf("%d moves, want %d", len(g.Moves), want)
	}
	if log := string(g.Logs[s.culprit]); f.Name == "panic" && !strings.Contains(log, "this bot misbehaves") {
		t.Errorf("the log has no trace of the panic: %q", log)
	}
}

// checkNoFault checks that output of a bot that is allowed is in the replay or the log.
func checkNoFault(t *testing.T, f faults.Fault, all []*referee.GameResult, seat int) {
	t.Helper()
	for deal, g := range all[1:] {
		log, infos := string(g.Logs[seat]), ""
		for _, m := range g.Moves {
			if m.Seat == seat {
				infos += strings.Join(m.Info, "\n") + "\n"
			}
		}
		for name, ok := range map[string]bool{
			"crlf":         strings.Contains(infos, "depth=1\n"),
			"comments":     strings.Contains(log, "# any text: 100 %  of it \n"),
			"infos":        strings.Contains(infos, "score=-0.5 pv=1o,2c\n"),
			"long-comment": strings.Contains(log, "#"+strings.Repeat("x", protocol.MaxLine-1)+"\n"),
			"flood-stderr": strings.HasPrefix(log, "a line of a very long log\n") && strings.Contains(log, " bytes are left out here]\n") && len(log) > MaxLog*9/10 && len(log) <= MaxLog+cutlog.MaxNote,
		} {
			if name == f.Name && !ok {
				t.Errorf("deal %d: the infos are %.200q, the log of %d bytes is %.200q", deal+1, infos, len(log), log)
			}
		}
	}
}
