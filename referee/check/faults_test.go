package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit/binaries"
	"github.com/timba-arena/timba/sample-bots/misbehave/faults"
)

// verdict is the expected result of a check: which check fails, and words of its text and of its advice.
type verdict struct {
	check  string
	status CheckStatus
	text   []string // of the failure, or of the note and warnings
	change string
}

// verdicts has the expected verdict on each bot of package faults.
var verdicts = map[string]verdict{
	"no-ready":      {Start, Failed, []string{`no "ready" within 300 ms: it did not come later either`}, `answer the line "timba 1" with "ready"`},
	"slow-ready":    {Start, Failed, []string{`no "ready" within 300 ms: it came `, " ms later"}, "load less before it, or allow more time with --startup"},
	"exit-at-start": {Start, Failed, []string{`the process exited with status 3 instead of sending "ready"`}, "it wrote nothing to stderr"},
	"banner":        {Start, Failed, []string{`"misbehave, the bot that fails" is no line of the protocol`}, "write debug output to stderr"},
	"move-first":    {Start, Failed, []string{`"move 1o" came before "ready"`}, `answer the line "timba 1" with "ready"`},
	"ready-twice":   {FirstGame, Failed, []string{`"ready misbehave 1" came again`, `only the line "timba 1" asks for it`}, `print "ready" once`},

	"silent":    {FirstGame, Failed, []string{"no move of ply 0 within 300 ms and the margin: it did not come later either"}, "a turn that the bot forgets to answer"},
	"late":      {FirstGame, Failed, []string{"no move of ply 0 within 300 ms and the margin: it came ", " ms later"}, "think for less than the milliseconds"},
	"slow-drip": {FirstGame, Failed, []string{"no move of ply 0 within 300 ms and the margin: it came ", " ms later"}, "think for less than the milliseconds"},
	"no-lf":     {FirstGame, Failed, []string{`the line "move 5c" does not end with a line feed`}, "end every line with a line feed"},
	"no-flush":  {FirstGame, Failed, []string{"no move of ply 0 within 300 ms and the margin: it did not come later either"}, "output in a buffer that is never flushed"},

	"illegal":        {FirstGame, Failed, []string{`the move "1o" is not in the list of its turn: "1o" is not in hand`}, "answer with one of the words that the turn line lists"},
	"illegal-syntax": {FirstGame, Failed, []string{`the move "banana" is not in the list of its turn`}, "answer with one of the words that the turn line lists"},

	"garbled-text": {FirstGame, Failed, []string{`"I think I will play `, "is no line of the protocol"}, "write debug output to stderr"},
	"debug-print":  {FirstGame, Failed, []string{`"DEBUG: evaluating 3 moves" is no line of the protocol`}, "write debug output to stderr"},
	"two-moves":    {FirstGame, Failed, []string{"is not a move: print move and one of the listed moves"}, "print one move"},
	"empty-line":   {FirstGame, Failed, []string{`"" is no line of the protocol`}, "print no empty lines"},
	"not-ascii":    {FirstGame, Failed, []string{"is not printable ASCII"}, "write printable ASCII only, also in infos and comments"},
	"nul":          {FirstGame, Failed, []string{`\x00" is not printable ASCII`}, "the 0 that ends a string in C"},
	"long-line":    {FirstGame, Failed, []string{"is longer than 4096 bytes"}, "end every line with a line feed"},
	"megabyte":     {FirstGame, Failed, []string{"is longer than 4096 bytes"}, "end every line with a line feed"},
	"unasked":      {FirstGame, Failed, []string{"came when no move was asked for, after its move of ply 0: one turn was answered twice"}, `print exactly one "move" for each turn`},

	"flood": {FirstGame, Failed, []string{"more than 64 KiB on stdout between two turns"}, "comments and infos count, too"},

	"exit-0":       {FirstGame, Failed, []string{"the process exited with status 0 instead of sending the move of ply 0"}, `keep reading until the line "bye"`},
	"exit-3":       {FirstGame, Failed, []string{"the process exited with status 3 instead of sending the move of ply 0"}, "it wrote nothing to stderr"},
	"panic":        {FirstGame, Failed, []string{"the process exited with status 2 instead of sending the move of ply 0"}, "its stderr says why"},
	"segv":         {FirstGame, Failed, []string{"the process was killed by signal 11 (SIGSEGV)"}, "an index out of range, a null pointer"},
	"abort":        {FirstGame, Failed, []string{"the process was killed by signal 6 (SIGABRT)"}, "a failed assertion"},
	"half-line":    {FirstGame, Failed, []string{`the process exited with status 0, after the unfinished line "move 5c"`}, "end every line with a line feed, flush it, and keep reading"},
	"fork-exit":    {FirstGame, Failed, []string{"the process exited with status 0 instead of sending the move of ply 0"}, `keep reading until the line "bye"`},
	"close-stdout": {FirstGame, Failed, []string{"closed its output while it was running"}, "leave stdout open"},
	"close-stdin":  {FirstGame, Failed, []string{"closed its input while it was running"}, "leave stdin open"},

	"crlf":         {Output, OK, []string{"lines ended by CR LF, which is allowed"}, ""},
	"comments":     {Output, OK, []string{" comments"}, ""},
	"infos":        {Output, Warning, []string{" info lines", `info line "info": it is empty`}, ""},
	"long-comment": {Output, OK, []string{" comments"}, ""},
	"flood-stderr": {Output, Warning, []string{"KiB on stderr in one game: a match keeps only the first 256"}, ""},
	"fork":         {Bye, Warning, []string{"after games: it left 1 process running"}, ""},
	"setsid":       {Bye, Warning, []string{"after games: it left 1 process running"}, ""},
	"ignore-bye":   {Bye, Failed, []string{`it is still running 1000 ms after "bye", after games, even when its input is closed`}, `leave the loop at the line "bye"`},
}

// waiting are the faults that are found only when a time limit is over.
var waiting = []string{"no-ready", "slow-ready", "silent", "late", "slow-drip", "no-lf", "no-flush"}

// ofProcesses are the faults that only a real process can have.
var ofProcesses = []string{"half-line", "segv", "abort", "fork-exit", "close-stdout", "close-stdin", "fork", "setsid"}

// Each fault is found by the right check and described in its own words; SPEC.md, "Limits and faults".
func TestLimitsAndFaults(t *testing.T) {
	var list []checkup
	for _, f := range faults.All {
		c := checkup{name: f.Name, bot: fmt.Sprintf("%s --fault %s", binaries.Program(t, "misbehave"), f.Name)}
		if !slices.Contains(ofProcesses, f.Name) {
			c.serve = misbehave(f.Name, func(b *faults.Bot) {
				if b.Delay = 1500 * time.Millisecond; f.Name == "slow-ready" {
					b.Delay = -9 * time.Second // it is ready after a second
				}
			})
		}
		c.change = func(o *Options) {
			o.Games = oneGame(t, "brisca")
			if !slices.Contains(waiting, f.Name) {
				return
			}
			o.Clock.Move = 300 * time.Millisecond
			if f.Moment == faults.AtGreeting {
				o.Clock.Startup = 300 * time.Millisecond
			}
		}
		list = append(list, c)
	}
	for name, r := range checked(t, list) {
		t.Run(name, func(t *testing.T) {
			want, ok := verdicts[name]
			if !ok {
				t.Fatal("no verdict is expected of it")
			}
			want.compare(t, r)
		})
	}
	if len(verdicts) != len(faults.All) {
		t.Errorf("%d verdicts of %d faults", len(verdicts), len(faults.All))
	}
}

// compare requires the verdict, and no other failure.
func (v verdict) compare(t *testing.T, r *Report) {
	t.Helper()
	c := r.Find(v.check)
	if c == nil {
		t.Fatalf("there is no check %q:\n%s", v.check, summary(r))
	}
	said := c.Note + "\n" + strings.Join(c.Warnings, "\n")
	for _, want := range v.text {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said", want)
		}
	}
	if c.Status != v.status {
		t.Errorf("%s is %s, want %s", v.check, c.Status, v.status)
	}
	if c.Failure != nil && !strings.Contains(c.Failure.Change.String(), v.change) {
		t.Errorf("the advice is not %q", v.change)
	}
	for _, other := range r.Checks {
		if other.Name != v.check && other.Status == Failed {
			t.Errorf("%s fails as well", other.Name)
		}
	}
	if t.Failed() {
		t.Log(summary(r))
	}
}
