package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

// What is typed means a move letter for letter, by its number, or by a beginning
// that no other has, in this order.
func TestChoose(t *testing.T) {
	cards := []string{"1o", "10c", "12c", "12e", "swap:7o"}
	drops := []string{"1", "2", "12"}
	steps := []string{"8-4", "8-5", "10-5"}
	many := strings.Fields("1o 2o 3o 4o 5o 6o 7o 10o 11o 12o 1c 12c")
	for _, c := range []struct {
		legal []string
		line  string
		want  string
	}{
		{cards, "12c", "12c"},
		{cards, "2", "10c"},
		{cards, "10", "10c"},
		{cards, "12", ""},
		{cards, "s", "swap:7o"},
		{cards, "0", ""},
		{cards, "6", ""},
		{cards, "-1", ""},
		{cards, "12C", ""},
		{cards, "7o", ""},
		{drops, "1", "1"},
		{drops, "2", "2"},
		{drops, "3", ""},
		{steps, "1", "8-4"},
		{steps, "10", "10-5"},
		{steps, "8-", ""},
		{steps, "8-5", "8-5"},
		{many, "12", "12c"},
		{many, "12o", "12o"},
		{nil, "1", ""},
	} {
		if got := choose(c.legal, c.line); got != c.want {
			t.Errorf("%q of %v is %q, want %q", c.line, c.legal, got, c.want)
		}
	}
}

func TestCommon(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, ""},
		{[]string{"hint"}, "hint"},
		{[]string{"help", "hint"}, "h"},
		{[]string{"12c", "why"}, ""},
		{[]string{"sing:o", "sing:c"}, "sing:"},
	} {
		if got := common(c.words); got != c.want {
			t.Errorf("%v have %q in common, want %q", c.words, got, c.want)
		}
	}
}

func TestTurnPages(t *testing.T) {
	for _, c := range []struct {
		typed string
		from  int
		want  int
		more  bool
	}{
		{"n", 0, 1, true},
		{"nnnp", 0, 2, true},
		{"p", 0, 0, true},
		{"n", 9, 9, true},
		{"G", 0, 9, true},
		{"g", 5, 0, true},
		{"\x1b[C\x1b[C\x1b[D", 3, 4, true},
		{"nq", 3, 4, false},
		{"nqn", 3, 4, false},
		{"\x1b", 3, 3, false},
		{"\x03", 3, 3, false},
		{"x?", 3, 3, true},
		{" \r", 3, 5, true},
	} {
		if got, more := turnPages(c.typed, c.from, 10); got != c.want || more != c.more {
			t.Errorf("%q on page %d leads to %d, %v, want %d, %v", c.typed, c.from, got, more, c.want, c.more)
		}
	}
}

// Each way to fail has its own advice, the likeliest first.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		name string
		rule brokenRule
		want string // the beginning of the first
	}{
		{"case", brokenRule{Fault: referee.Fault{Code: protocol.Illegal, Text: `"12C": no`}, legal: []string{"1o", "12c"}}, `write moves letter for letter as they are listed: "12c" instead of "12C"`},
		{"dash", brokenRule{Fault: referee.Fault{Code: protocol.Illegal, Text: `"8:4": no`}, legal: []string{"8-4"}}, `write moves letter for letter as they are listed: "8-4" instead of "8:4"`},
		{"old turn", brokenRule{Fault: referee.Fault{Code: protocol.Illegal, Text: `"3o": no`}, before: []string{"3o"}, legal: []string{"4o"}}, `"3o" was a legal move of its turn before`},
		{"illegal", brokenRule{Fault: referee.Fault{Code: protocol.Illegal, Text: `"3o": no`}, legal: []string{"4o"}}, "choose among the moves that the turn line lists"},
		{"never answered", brokenRule{Fault: referee.Fault{Code: protocol.Timeout, Text: "no move"}, movetime: 100}, "it has answered no turn of this game yet"},
		{"slower and slower", brokenRule{Fault: referee.Fault{Code: protocol.Timeout, Text: "no move"}, movetime: 100, turns: 3, longest: 90}, "think for less: its longest think before was 90 ms of 100 ms"},
		{"stuck", brokenRule{Fault: referee.Fault{Code: protocol.Timeout, Text: "no move"}, movetime: 100, turns: 3, longest: 2}, "it had answered 3 turns, the slowest in 2 ms"},
		{"bank", brokenRule{Fault: referee.Fault{Code: protocol.Timeout, Text: "no move"}, turns: 3, longest: 2}, "spend the bank in shares"},
		{"deaf", brokenRule{Fault: referee.Fault{Code: protocol.Timeout, Text: "did not read its input in time"}}, "read standard input"},
		{"no verb", brokenRule{Fault: referee.Fault{Ply: 1, Code: protocol.Garbled, Text: `"3o" is no line of the protocol`}, legal: []string{"3o"}}, `write the verb before the move: "move 3o"`},
		{"banner", brokenRule{Fault: referee.Fault{Code: protocol.Garbled, Text: `before "ready": "hi" is no line`}}, `let "ready" be the first line`},
		{"twice", brokenRule{Fault: referee.Fault{Ply: 1, Code: protocol.Garbled, Text: `"move 3o" came when no move was asked for: answer`}}, "answer each turn line with one move line"},
		{"accents", brokenRule{Fault: referee.Fault{Ply: 1, Code: protocol.Garbled, Text: `"#\xc3" is not printable ASCII: byte 2 is 0xc3`}}, "write ASCII only"},
		{"debug", brokenRule{Fault: referee.Fault{Ply: 1, Code: protocol.Garbled, Text: `"DEBUG" is no line of the protocol`}}, "write what is for people to standard error"},
		{"crash", brokenRule{Fault: referee.Fault{Ply: 1, Code: protocol.Exit, Text: "the process was killed by signal 11 (SIGSEGV)"}}, "it crashed"},
		{"killed", brokenRule{Fault: referee.Fault{Ply: 1, Code: protocol.Exit, Text: "the process was killed by signal 9 (SIGKILL)"}}, "something killed it"},
		{"one game", brokenRule{Fault: referee.Fault{Ply: 1, Code: protocol.Exit, Text: "the process exited with status 0"}}, "go on reading after a move"},
		{"traceback", brokenRule{Fault: referee.Fault{Ply: 1, Code: protocol.Exit, Text: "the process exited with status 1"}}, "its log has the error message"},
		{"not found", brokenRule{Fault: referee.Fault{Code: protocol.Startup, Text: "could not be started: x: no such file"}}, "try the command by hand"},
		{"no ready", brokenRule{Fault: referee.Fault{Code: protocol.Startup, Text: `no "ready" within 10 ms`}}, `answer the line "timba 1"`},
		{"out", brokenRule{Fault: referee.Fault{Code: protocol.Startup, Text: "forfeits the rest of the match after 3 faults"}}, "nothing here"},
	} {
		got := c.rule.advice()
		if len(got) == 0 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%s: %q, want %q first", c.name, got, c.want)
		}
	}
	for _, code := range protocol.Codes {
		if c := (brokenRule{Fault: referee.Fault{Code: code}}); slices.Contains(c.advice(), "") || len(c.advice()) == 0 {
			t.Errorf("there is no advice for %s", code)
		}
	}
}
