package fault

import (
	"strings"
	"testing"
)

// Each kind of fault has its own advice, the most likely first.
func TestAdvice(t *testing.T) {
	stuck := Circumstances{Turn: FailedTurn{Movetime: 100}, History: History{Turns: 3, Longest: 2}}
	for _, c := range []struct {
		name   string
		reason Reason
		c      Circumstances
		want   string // the beginning of the first
	}{
		{"case", Reason{Kind: IllegalMove, Move: "12C"}, Circumstances{Turn: FailedTurn{Legal: []string{"1o", "12c"}}}, `write moves letter for letter as they are listed: "12c" instead of "12C", in lower case`},
		{"dash", Reason{Kind: IllegalMove, Move: "8:4"}, Circumstances{Turn: FailedTurn{Legal: []string{"8-4"}}}, `write moves letter for letter as they are listed: "8-4" instead of "8:4"`},
		{"quotes", Reason{Kind: IllegalMove, Move: "'8-4'"}, Circumstances{Turn: FailedTurn{Legal: []string{"8-4"}}}, `print the bare move "8-4"`},
		{"index", Reason{Kind: IllegalMove, Move: "1"}, Circumstances{Turn: FailedTurn{Legal: []string{"1o", "12c"}, Ply: 1}}, `that looks like a position in the list`},
		{"first index", Reason{Kind: IllegalMove, Move: "0"}, Circumstances{Turn: FailedTurn{Legal: []string{"1o", "12c"}, Ply: 9}}, `that looks like a position in the list: print the move that stands there, as in "move 1o"`},
		{"index, either way", Reason{Kind: IllegalMove, Move: "1"}, Circumstances{Turn: FailedTurn{Legal: []string{"1o", "12c"}, Ply: 9}}, `that looks like a position in the list: print the move that stands there, as in "move 12c", counted from 0, or "move 1o", counted from 1`},
		{"last index", Reason{Kind: IllegalMove, Move: "2"}, Circumstances{Turn: FailedTurn{Legal: []string{"1o", "12c"}, Ply: 9}}, `that looks like a position in the list: print the move that stands there, as in "move 12c", counted from 1`},
		{"beginning", Reason{Kind: IllegalMove, Move: "swap"}, Circumstances{Turn: FailedTurn{Legal: []string{"1o", "swap:7o"}}}, `print the whole move: "swap:7o" instead of "swap"`},
		{"squares from 1", Reason{Kind: IllegalMove, Move: "9-5"}, Circumstances{Turn: FailedTurn{Legal: []string{"8-4"}}}, `count from 0: "8-4" is listed`},
		{"again", Reason{Kind: IllegalMove, Move: "3o"}, Circumstances{History: History{Move: "3o", Legal: []string{"3o"}}, Turn: FailedTurn{Legal: []string{"4o"}}}, `"3o" was its answer to the previous turn: print exactly one "move" for each turn`},
		{"ply", Reason{Kind: IllegalMove, Move: "17"}, Circumstances{Turn: FailedTurn{Legal: []string{"1o", "12c"}, Ply: 17}}, `the first two words after "turn"`},
		{"time", Reason{Kind: IllegalMove, Move: "1000"}, Circumstances{Turn: FailedTurn{Legal: []string{"1o", "12c"}, Movetime: 1000}}, `the first two words after "turn"`},
		{"old turn", Reason{Kind: IllegalMove, Move: "3o"}, Circumstances{History: History{Legal: []string{"3o"}}, Turn: FailedTurn{Legal: []string{"4o"}}}, `"3o" was in the list of the previous turn`},
		{"unseen", Reason{Kind: IllegalMove, Move: "?"}, Circumstances{Turn: FailedTurn{Legal: []string{"4o"}}}, `"-" is an empty list`},
		{"illegal", Reason{Kind: IllegalMove, Move: "3o"}, Circumstances{Turn: FailedTurn{Legal: []string{"4o"}}}, `answer with one of the words that the turn line lists after the milliseconds, as in "move 4o"`},
		{"not for the reader", Reason{Kind: Exited, Status: 1}, Circumstances{Log: BotLog{Private: true}}, "its author sees what it wrote to stderr"},
		{"never answered", Reason{Kind: Late, Limit: 100}, Circumstances{Turn: FailedTurn{Movetime: 100}}, "it has not answered a turn of this game yet"},
		{"slower and slower", Reason{Kind: Late, Limit: 100}, Circumstances{Turn: FailedTurn{Movetime: 100}, History: History{Turns: 3, Longest: 90}}, "think for less: its longest think before was 90 ms of 100 ms"},
		{"hangs", Reason{Kind: Late, Limit: 100}, Circumstances{Turn: FailedTurn{Movetime: 100}, History: History{Turns: 3, Longest: 90}, Answer: LateAnswer{StillMissing, 1100}}, "it hangs: no answer came within 1100 ms, and the slowest of its 3 answers before took 90 ms"},
		{"hangs with a bank", Reason{Kind: LateBank}, Circumstances{History: History{Turns: 3, Longest: 2}, Answer: LateAnswer{StillMissing, 1100}}, "it hangs: no answer came within 1100 ms"},
		{"stuck", Reason{Kind: Late, Limit: 100}, stuck, "it had answered 3 turns, the slowest in 2 ms"},
		{"not ended, late", Reason{Kind: Late, Limit: 100, UnfinishedLine: "move 3o"}, stuck, "end every line with a line feed"},
		{"a prompt, late", Reason{Kind: Late, Limit: 100, UnfinishedLine: "> > "}, stuck, `"> " is not the answer: a prompt`},
		{"bank", Reason{Kind: LateBank}, Circumstances{History: History{Turns: 3, Longest: 2}}, "divide the bank among the moves"},
		{"came later", Reason{Kind: Late}, Circumstances{Answer: LateAnswer{Arrival: Came}}, "it needs about 0 ms for this move, and has 0: think for less than the milliseconds"},
		{"in a buffer", Reason{Kind: Late}, Circumstances{Answer: LateAnswer{Arrival: CameAtEnd}, Language: "C"}, "flush the output after every line: in C: fflush(stdout)"},
		{"not ended", Reason{Kind: NoReady, UnfinishedLine: "ready"}, Circumstances{}, "end every line with a line feed"},
		{"never ready", Reason{Kind: NoReady}, Circumstances{Answer: LateAnswer{Arrival: NeverCame}}, `answer the line "timba 1"`},
		{"slow start", Reason{Kind: NoReady}, Circumstances{Answer: LateAnswer{Arrival: Came}}, `answer "timba 1" earlier`},
		{"deaf", Reason{Kind: NotReading}, Circumstances{}, "read every line of stdin"},
		{"no verb", Reason{Kind: NoSuchLine, Line: "3o"}, Circumstances{Turn: FailedTurn{Legal: []string{"3o"}}}, `the verb is missing: print "move 3o"`},
		{"prompt", Reason{Kind: NoSuchLine, Line: "Move? move 3o"}, Circumstances{Turn: FailedTurn{Legal: []string{"3o"}}}, `"Move? " is printed before the move`},
		{"bare prompts", Reason{Kind: NoSuchLine, Line: "> > > move 3o"}, Circumstances{Turn: FailedTurn{Legal: []string{"4o"}}}, `"> " is printed before the move`},
		{"prompt and ready", Reason{Kind: NoSuchLine, BeforeReady: true, Line: "> ready"}, Circumstances{}, `"> " is printed before "ready"`},
		{"prompt and ready with a name", Reason{Kind: NoSuchLine, BeforeReady: true, Line: "> ready mybot 1.0"}, Circumstances{}, `"> " is printed before "ready"`},
		{"prompt, no verb", Reason{Kind: NoSuchLine, Line: "Your move: 3o"}, Circumstances{Turn: FailedTurn{Legal: []string{"3o"}}}, `print "move 3o" instead of "Your move: 3o"`},
		{"no prompt", Reason{Kind: NoSuchLine, Line: "moves: ['3o']"}, Circumstances{Turn: FailedTurn{Legal: []string{"3o"}}}, `print only "ready"`},
		{"not ready", Reason{Kind: NoSuchLine, BeforeReady: true, Line: "not ready"}, Circumstances{}, `print only "ready"`},
		{"banner", Reason{Kind: NoSuchLine, BeforeReady: true, Line: "hi"}, Circumstances{}, `print only "ready", "move" and "info" lines on stdout`},
		{"twice", Reason{Kind: MoveUnasked, Line: "move 3o"}, Circumstances{History: History{Act: Moved}}, `print exactly one "move" for each turn`},
		{"at any time", Reason{Kind: MoveUnasked, Line: "move 3o"}, Circumstances{}, `answer each "turn" line once`},
		{"after the end", Reason{Kind: MoveUnasked, Line: "move 3o"}, Circumstances{History: History{Act: HeardEnd}}, `print nothing after "end"`},
		{"accents", Reason{Kind: NotASCII, Line: "#\xc3", Position: 2, Byte: 0xc3}, Circumstances{}, "write printable ASCII only"},
		{"UTF-16", Reason{Kind: NotASCII, Line: "m\x00o\x00", Position: 2}, Circumstances{}, "write plain ASCII: every other byte is 0"},
		{"debug", Reason{Kind: NoSuchLine, Line: "DEBUG"}, Circumstances{}, `print only "ready", "move" and "info" lines on stdout; write debug output to stderr`},
		{"crash", Reason{Kind: Signalled, Signal: 11, Name: "SIGSEGV"}, Circumstances{}, "look for an index out of range"},
		{"ready on stderr", Reason{Kind: NoReady, Limit: 1000}, Circumstances{Log: BotLog{Lines: []string{"ready"}}}, `write "ready" and the moves to stdout`},
		{"move on stderr", Reason{Kind: Late, Limit: 1000}, Circumstances{Log: BotLog{Lines: []string{"thinking", "move 12c"}}}, `write "ready" and the moves to stdout`},
		{"talk on stderr", Reason{Kind: NoReady, Limit: 1000}, Circumstances{Log: BotLog{Lines: []string{"ready to load the network now", "move generator: fast"}}}, `answer the line "timba 1"`},
		{"ready after what is read", Reason{Kind: NoSuchLine, Line: "timba 1 ready"}, Circumstances{}, "write the verb in lower case with one space after it and nothing else"},
		{"killed", Reason{Kind: Signalled, Signal: 9, Name: "SIGKILL"}, Circumstances{}, "it was killed from outside"},
		{"one game", Reason{Kind: Exited}, Circumstances{History: History{Games: 2}}, `keep reading after "end"`},
		{"one move", Reason{Kind: Exited}, Circumstances{History: History{Games: 2, Turns: 1}}, `keep reading until the line "bye"`},
		{"one game, left over", Reason{Kind: Exited}, Circumstances{History: History{Games: 2}, LeftOver: true}, `keep reading after "end"`},
		{"no loop", Reason{Kind: Exited, BeforeReady: true}, Circumstances{History: History{Games: 1}}, "read stdin line by line in a loop"},
		{"half a line", Reason{Kind: Exited, UnfinishedLine: "move 3"}, Circumstances{}, "end every line with a line feed, flush it"},
		{"traceback", Reason{Kind: Exited, Status: 1}, Circumstances{Log: BotLog{Lines: []string{"KeyError"}}}, "its stderr says why; send it"},
		{"unseen card", Reason{Kind: Exited, Status: 1}, Circumstances{Log: BotLog{Lines: []string{"int: '?'"}}}, `a card that the seat may not see is written "?"`},
		{"left over", Reason{Kind: Exited, Status: 1}, Circumstances{Log: BotLog{Lines: []string{"KeyError"}}, LeftOver: true}, `reset everything that the bot remembers at the line "game"`},
		{"late, left over", Reason{Kind: Late, Limit: 100}, Circumstances{Turn: FailedTurn{Movetime: 100}, History: History{Turns: 3, Longest: 80}, LeftOver: true, Answer: LateAnswer{Arrival: Came}}, `keep some of the time in reserve, and clear at the line "game" what grows`},
		{"late bank, left over", Reason{Kind: LateBank}, Circumstances{History: History{Turns: 3}, LeftOver: true}, "keep some of the time in reserve, and clear"},
		{"hangs, left over", Reason{Kind: Late}, Circumstances{LeftOver: true, Answer: LateAnswer{Arrival: NeverCame}}, `reset everything that the bot remembers at the line "game"`},
		{"memory, left over", Reason{Kind: OutOfMemory, Limit: 64}, Circumstances{LeftOver: true}, `clear at the line "game" what grows from game to game`},
		{"silent crash", Reason{Kind: Exited, Status: 1}, Circumstances{}, "it wrote nothing to stderr"},
		{"processes", Reason{Kind: TooManyProcesses, Limit: 64, Status: 1}, Circumstances{}, "start fewer, or allow more with --processes; the limit was 64"},
		{"own limit", Reason{Kind: TooManyProcesses, Limit: 64, Status: 1}, Circumstances{Sandbox: Confinement{HasOwnProcesses: true}}, "start fewer, or allow more with processes=; the limit was 64"},
		{"processes, fixed", Reason{Kind: TooManyProcesses, Limit: 64, Status: 1}, Circumstances{Fixed: true}, "start fewer; the limit was 64"},
		{"not installed", Reason{Kind: Exited, Status: 127}, Circumstances{Log: BotLog{Lines: []string{"sh: x: not found"}}}, "a command that it runs was not found"},
		{"not found", Reason{Kind: NotStarted}, Circumstances{}, "check the path"},
		{"no ready", Reason{Kind: NoReady, Limit: 10}, Circumstances{}, `answer the line "timba 1"`},
		{"out", Reason{Kind: Disqualified, Limit: 3}, Circumstances{}, "nothing here"},
		{"unknown", Reason{}, Circumstances{Log: BotLog{Lines: []string{"x"}}}, "the end of its stderr should say why"},
	} {
		if got := c.reason.Advice(c.c); !strings.HasPrefix(got[0].String(), c.want) {
			t.Errorf("%s: %q, want %q first", c.name, got, c.want)
		}
	}
}
