package fault

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
)

// a80 is as long as the part of a line that a text quotes.
var a80 = strings.Repeat("a", 80)

// examples are all texts of faults from the time before faults had reasons. Old replays have them and must
// stay readable.
var examples = []struct {
	reason Reason
	code   protocol.Code
	text   string
}{
	{Reason{Kind: NotStarted, Detail: "./bot: no such file or directory", Command: "./bot --fast"}, "startup", `could not be started: ./bot: no such file or directory: try "./bot --fast" by hand`},
	{Reason{Kind: NotStarted, Detail: `a: try "b" by hand`, Command: `say "hi"`}, "startup", `could not be started: a: try "b" by hand: try "say \"hi\"" by hand`},
	{Reason{Kind: NotStarted, BeforeReady: true, Detail: "/bin/x: exec format error", Command: "x"}, "startup", `before "ready": could not be started: /bin/x: exec format error: try "x" by hand`},
	{Reason{Kind: OtherSystem, Command: "./bot", Name: "windows/amd64", Detail: "linux/arm64"}, "startup", `could not be started: "./bot" is a program for windows/amd64, and this machine is linux/arm64`},
	{Reason{Kind: NoInterpreter, Command: "./bot", Line: "#!/usr/bin/env pythn", Detail: "pythn"}, "startup", `could not be started: "./bot" has the first line "#!/usr/bin/env pythn", and there is no pythn`},
	{Reason{Kind: NoLoader, Command: "./bot", Detail: "/lib/ld-musl-x86_64.so.1"}, "startup", `could not be started: "./bot" needs the loader /lib/ld-musl-x86_64.so.1, which is not there`},
	{Reason{Kind: NoFirstLine, Command: "./bot"}, "startup", `could not be started: "./bot" is a text, and its first line does not say which program runs it`},
	{Reason{Kind: NoProgram, Command: "./bot.jar"}, "startup", `could not be started: "./bot.jar" is neither a program nor a script`},
	{Reason{Kind: ByteOrderMark, Command: "./bot"}, "startup", `could not be started: "./bot" has a byte order mark before its first line`},
	{Reason{Kind: EmptyFile, Command: "./bot"}, "startup", `could not be started: "./bot" is empty`},
	{Reason{Kind: NotExecutable, Command: "./bot"}, "startup", `could not be started: "./bot" is not executable`},
	{Reason{Kind: NoReady, Limit: 10000}, "startup", `no "ready" within 10000 ms: answer the line "timba 1" with "ready" and flush the output`},
	{Reason{Kind: Disqualified, Limit: 3}, "startup", "forfeits the rest of the match after 3 faults"},
	{Reason{Kind: Late, Limit: 1000, Margin: 50}, "timeout", "no move within 1000 ms and the margin of 50 ms: answer within the milliseconds that the turn line gives"},
	{Reason{Kind: Late, Limit: 100, Margin: 5, UnfinishedLine: "move 1o"}, "timeout", `no move within 100 ms and the margin of 5 ms, after the unfinished line "move 1o": end every line with a line feed, and flush the output after every line`},
	{Reason{Kind: NoReady, Limit: 10, UnfinishedLine: "> "}, "startup", `no "ready" within 10 ms, after the unfinished line "> ": answer the line "timba 1" with "ready" and flush the output`},
	{Reason{Kind: LateBank}, "timeout", "no move within the rest of its bank and the margin of 0 ms: answer within the milliseconds that the turn line gives"},
	{Reason{Kind: NotReading}, "timeout", "did not read its input in time: the pipe is full"},
	{Reason{Kind: NotReading, BeforeReady: true}, "startup", `before "ready": did not read its input in time: the pipe is full`},
	{Reason{Kind: IllegalMove, Move: "7o", Detail: `"7o" is not in hand: play one of 5c,7e`}, "illegal", `"7o": "7o" is not in hand: play one of 5c,7e: answer with one of the moves that the turn line lists`},
	{Reason{Kind: IllegalMove, Move: `"\`, Detail: "is not in the list of the turn"}, "illegal", `"\"\\": is not in the list of the turn: answer with one of the moves that the turn line lists`},
	{Reason{Kind: MoveBeforeReady, Line: "move 1o"}, "garbled", `"move 1o" came before "ready": answer the line "timba 1" with "ready" first`},
	{Reason{Kind: MoveUnasked, Line: "move 1o"}, "garbled", `"move 1o" came when no move was asked for: answer each turn line once, within its time`},
	{Reason{Kind: MoveUnasked, Line: Raw(a80 + "...")}, "garbled", `"` + a80 + `"... came when no move was asked for: answer each turn line once, within its time`},
	{Reason{Kind: ReadyAgain, Line: "ready"}, "garbled", `"ready" came in the middle of a game: only the line "timba 1" asks for it`},
	{Reason{Kind: LineTooLong, Line: Raw(a80 + "..."), Limit: 4096}, "garbled", `"` + a80 + `"... is longer than 4096 bytes: end every line with LF and write logs to stderr`},
	{Reason{Kind: LineTooLong, BeforeReady: true, Line: Raw(a80 + "..."), Limit: 4096}, "garbled", `before "ready": "` + a80 + `"... is longer than 4096 bytes: end every line with LF and write logs to stderr`},
	{Reason{Kind: NotASCII, Line: "# ¡órdago!", Position: 3, Byte: 0xc2}, "garbled", `"# \u00a1\u00f3rdago!" is not printable ASCII: byte 3 is 0xc2` + debug},
	{Reason{Kind: NotASCII, Line: "move 1o\x00\xff", Position: 8}, "garbled", `"move 1o\x00\xff" is not printable ASCII: byte 8 is 0x00` + debug},
	{Reason{Kind: BadSpacing, Line: "move  1o"}, "garbled", `"move  1o" has a space too many: tokens are separated by one space, with none before or after` + debug},
	{Reason{Kind: BadMove, Line: "move"}, "garbled", `"move" is not a move: print move and one of the listed moves, as in move 12c` + debug},
	{Reason{Kind: BadInfo, Line: "info x"}, "garbled", `"info x" is not an info: print key=value pairs after it, as in info score=0.5 depth=3` + debug},
	{Reason{Kind: BadReady, Line: "ready a b c"}, "garbled", `"ready a b c" is not a ready: print at most a name and a version after it, without spaces in them` + debug},
	{Reason{Kind: NoSuchLine}, "garbled", `"" is no line of the protocol: a bot prints ready, move or info` + debug},
	{Reason{Kind: NoSuchLine, BeforeReady: true, Line: `say "hi" <b> \o/`}, "garbled", `before "ready": "say \"hi\" <b> \\o/" is no line of the protocol: a bot prints ready, move or info` + debug},
	{Reason{Kind: NoSuchLine, Line: `" came before "ready": answer the line "timba 1" with "ready" first`}, "garbled", `"\" came before \"ready\": answer the line \"timba 1\" with \"ready\" first" is no line of the protocol: a bot prints ready, move or info` + debug},
	{Reason{Kind: Exited}, "exit", "the process exited with status 0"},
	{Reason{Kind: Exited, Status: 3, UnfinishedLine: "move ñ\x80"}, "exit", `the process exited with status 3, after the unfinished line "move ñ\x80"`},
	{Reason{Kind: Exited, BeforeReady: true, Status: 127}, "startup", `before "ready": the process exited with status 127`},
	{Reason{Kind: Signalled, Signal: 11, Name: "SIGSEGV"}, "exit", "the process was killed by signal 11 (SIGSEGV)"},
	{Reason{Kind: Signalled, Signal: 35, UnfinishedLine: "m"}, "exit", `the process was killed by signal 35 (), after the unfinished line "m"`},
	{Reason{Kind: Stopped}, "exit", "the process was ended"},
	{Reason{Kind: Stopped, UnfinishedLine: "move 1o"}, "exit", `the process was ended, after the unfinished line "move 1o"`},
	{Reason{Kind: Ended, Detail: "signal: killed"}, "exit", "the process ended: signal: killed"},
	{Reason{Kind: InputClosed}, "exit", "closed its input while it was running"},
	{Reason{Kind: OutputClosed, BeforeReady: true}, "startup", `before "ready": closed its output while it was running`},
	{Reason{Kind: Returned}, "exit", "ended while the game went on"},
	{Reason{Kind: ConnectionLost, Limit: 60}, "exit", "lost its connection and was not back within 60 s"},
	{Reason{Kind: ConnectionSlow, Limit: 30, Detail: "812 ms"}, "exit", "its connection is too slow: a message and its receipt took about 812 ms, and waiting for receipts may take 30 s in all"},
	{Reason{Kind: Resigned}, "exit", "resigned"},
	{Reason{Kind: Failed, Detail: "no table\nat all"}, "exit", "ended: no table\nat all"},
	{Reason{Kind: TooMuchOutput, Limit: 64}, "output", "more than 64 KiB on stdout between two turns: write logs to stderr"},
	{Reason{Kind: OutOfMemory, Limit: 512}, "memory", "more than 512 MiB of memory in all its processes"},
	{Reason{Kind: OutOfMemory, BeforeReady: true, Limit: 512}, "memory", `before "ready": more than 512 MiB of memory in all its processes`},
	{Reason{Kind: TooManyProcesses, Limit: 64, Status: 1}, "processes", "more than 64 processes and threads, after which it exited with status 1"},
	{Reason{Kind: TooManyProcesses, Limit: 64, Signal: 9, Name: "SIGKILL"}, "processes", "more than 64 processes and threads, after which it was killed by signal 9 (SIGKILL)"},
	{Reason{Kind: ForbiddenCall}, "forbidden", "the process made a system call that the sandbox does not allow"},
}

const debug = "; debug output belongs on stderr or in a line that begins with '#'"

// Each reason has its code and text, survives encoding and decoding, and has advice.
func TestReasons(t *testing.T) {
	seen := map[Kind]bool{}
	for _, c := range examples {
		seen[c.reason.Kind] = true
		f := New(0, 0, c.reason)
		if f.Code != c.code || f.Text != c.text {
			t.Errorf("%+v:\n got %s: %s\nwant %s: %s", c.reason, f.Code, f.Text, c.code, c.text)
		}
		data := kit.Get[[]byte](t)(json.Marshal(f))
		var again Fault
		if err := json.Unmarshal(data, &again); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		if diff := cmp.Diff(f, again); diff != "" {
			t.Errorf("%s is read as (-want +got):\n%s", data, diff)
		}
		for _, advice := range [][]phrase.Text{c.reason.Advice(Circumstances{}), c.reason.Advice(Circumstances{LeftOver: true, Log: BotLog{Lines: []string{"x"}}})} {
			if len(advice) == 0 || slices.ContainsFunc(advice, phrase.Text.IsZero) {
				t.Errorf("%+v has the advice %q", c.reason, advice)
			}
		}
	}
	for _, k := range Kinds() {
		if !seen[k] {
			t.Errorf("the table has no %s", k)
		}
	}
}

// JSON has the parameters of the kind even if they are zero, and others only if they are not.
func TestReasonJSON(t *testing.T) {
	for want, r := range map[string]Reason{
		`{"kind":"exited","status":0}`:                                  {Kind: Exited},
		`{"kind":"exited","before_ready":true,"status":1}`:              {Kind: Exited, BeforeReady: true, Status: 1},
		`{"kind":"exited","status":0,"unfinished":"move ñ"}`:            {Kind: Exited, UnfinishedLine: "move ñ"},
		`{"kind":"late-bank","margin":0}`:                               {Kind: LateBank},
		`{"kind":"no-such-line","line":""}`:                             {Kind: NoSuchLine},
		`{"kind":"not-ascii","line":"a\\x00","at":2,"byte":0}`:          {Kind: NotASCII, Line: "a\x00", Position: 2},
		`{"kind":"too-many-processes","limit":9,"signal":9,"name":"x"}`: {Kind: TooManyProcesses, Limit: 9, Signal: 9, Name: "x"},
	} {
		got, err := json.Marshal(r)
		if want = strings.ReplaceAll(want, "ñ", `\\u00f1`); err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	for _, text := range []string{`{"kind":"late","line":"\\q"}`, `{"kind":"late","limit":"1"}`} {
		if err := json.Unmarshal([]byte(text), new(Reason)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// SPEC.md, "Limits and faults": of an unfinished line, a reason has only what every repetition of the match has.
func TestWithUnfinishedAnswer(t *testing.T) {
	for _, c := range []struct {
		kind         Kind
		rest, listed string
		want         Raw
	}{
		{Late, "", "1o 10o", ""},
		{Late, "move", "1o 10o", ""},
		{Late, "move ", "1o 10o", ""},
		{Late, "move 1", "1o 10o", ""},
		{Late, "move 10", "1o 10o", ""},
		{Late, "move 10o", "1o 10o", "move 10o"},
		{LateBank, "move 1o", "1o 10o", "move 1o"},
		{Late, "move 1", "1 10", ""},
		{Late, "move 10", "1 10", "move 10"},
		{Late, "move 9", "1 10", ""},
		{Late, "move 1 ", "1 10", ""},
		{Late, "1o", "1o", ""},
		{Late, "ready", "1o", ""},
		{Late, "> > ", "1o", "> > "},
		{Late, "your move:", "1o", "your move:"},
		{Late, "your mo", "1o", ""},
		{NoReady, "", "", ""},
		{NoReady, "read", "", ""},
		{NoReady, "ready", "", "ready"},
		{NoReady, "ready my", "", "ready"},
		{NoReady, "ready mybot 1.0", "", "ready"},
		{NoReady, "readymade", "", ""},
		{NoReady, "? ", "", "? "},
		{NoReady, "move 1", "", ""},
	} {
		r := Reason{Kind: c.kind, Limit: 7, Margin: 1}
		got := r.WithUnfinishedAnswer([]byte(c.rest), protocol.Words(c.listed))
		if r.UnfinishedLine = c.want; got != r {
			t.Errorf("%s after %q of %q is %+v, want %q", c.kind, c.rest, c.listed, got, c.want)
		}
	}
}

// The reason for a line names its flaw, and leaves out the CR before its LF.
func TestLineReason(t *testing.T) {
	xs := strings.Repeat("x", 80)
	for _, c := range []struct{ line, want string }{
		{"\r", `"" is no line of the protocol: a bot prints ready, move or info`},
		{"move", `"move" is not a move: print move and one of the listed moves, as in move 12c`},
		{"move\t12c", `"move\t12c" is not printable ASCII: byte 5 is 0x09`},
		{"move 12c\r\r", `"move 12c\r" is not printable ASCII: byte 9 is 0x0d`},
		{"move 1\x002c", `"move 1\x002c" is not printable ASCII: byte 7 is 0x00`},
		{"# caña", `"# ca\u00f1a" is not printable ASCII: byte 5 is 0xc3`},
		{"# 1234567\x7f", `"# 1234567\x7f" is not printable ASCII: byte 10 is 0x7f`},
		{"\xff", `"\xff" is not printable ASCII: byte 1 is 0xff`},
		{"\ufeffready", `"\ufeffready" is not printable ASCII: byte 1 is 0xef`},
		{strings.Repeat("\xff", 100), `"` + strings.Repeat(`\xff`, 80) + `"... is not printable ASCII: byte 1 is 0xff`},
		{xs + "x", `"` + xs + `"... is no line of the protocol: a bot prints ready, move or info`},
		{"#" + strings.Repeat("x", protocol.MaxLine), `"#` + xs[1:] + `"... is longer than 4096 bytes: end every line with LF and write logs to stderr`},
	} {
		_, err := protocol.ParseBot([]byte(c.line))
		r := LineReason([]byte(c.line), err)
		if text := strings.TrimSuffix(r.Text(), debug); text != c.want || r.Code() != protocol.Garbled {
			t.Errorf("%q is %s: %s, want %s", c.line, r.Code(), text, c.want)
		}
		told, err := protocol.ParseReferee(bytes.TrimSuffix(protocol.AppendFault(nil, 0, r.Code(), r.Text()), []byte("\n")))
		if err != nil || string(told.Text) != r.Text() {
			t.Errorf("%q comes out of a fault as %q, %v", r.Text(), told.Text, err)
		}
	}
}
