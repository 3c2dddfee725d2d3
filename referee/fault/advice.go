package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Circumstances is what is known about a fault besides its reason. All fields are
// optional.
type Circumstances struct {
	Legal    []string // moves of the turn
	Before   []string // moves of the bot's previous turn
	Last     string   // its previous move in this game
	Ply      int
	Movetime int64    // milliseconds; 0 for a bank
	Games    int      // started by its process, at most
	Turns    int      // answered in this game
	Longest  float64  // longest think in this game, in milliseconds
	Did      Did      // the last thing that it did
	Later    Later    // what happened to a late answer
	Took     int64    // milliseconds that a late answer took, if it came later
	Stderr   []string // its last lines, or all
	Private  bool     // its stderr is only for its author, not for the reader
	Language string   // of the program
	LeftOver bool     // a fresh process plays the same game without the fault

	Fixed     bool                   // a competition sets the limits: its author cannot change them
	Bare      bool                   // it ran without a sandbox
	Memory    int64                  // its limit in MiB; 0 if unknown
	Processes int64                  // its limit; 0 if unknown
	Hidden    func(path string) bool // reports whether only the sandbox hides a file; nil if unknown
}

// Did is what happened to a bot before its fault.
type Did uint8

// What matters for advice; the zero value is anything else.
const (
	Moved    Did = iota + 1 // it answered its turn
	HeardEnd                // it was sent the end of the game
)

// Later is what happened to an answer that did not come in time. It is only known to a
// caller that waits longer than a match does.
type Later uint8

// What may happen to it; the zero value is unknown.
const (
	Came      Later = iota + 1
	CameAtEnd       // only when the bot's input was closed
	NeverCame
)

const (
	belongs     = `write debug output to stderr, or begin its lines with "#"`
	byHand      = "; send it the same lines by hand to see it again"
	onlyAnswers = `answer each "turn" line once, and no other line except "timba"`
	reset       = `reset everything that the bot remembers at the line "game": cards seen, boards, lists, its seat`
	slower      = `keep some of the time in reserve, and clear at the line "game" what grows from game to game (tables, caches, lists): a fresh process is in time here, so either the bot becomes slower, or the machine was busy for a moment`
	readBye     = `keep reading until the line "bye"`
)

// Advice returns what to change in the bot, the most likely first; never none.
func (r Reason) Advice(c Circumstances) []string {
	if c.LeftOver && !(r.Kind == Exited && r.Status == 0) {
		return r.leftOver(c)
	}
	advice := r.advice(c)
	if !r.BeforeReady {
		return advice
	}
	if r.Line != "" || r.Kind == NoSuchLine {
		return append(advice, `write "ready" as the first line, after reading "timba 1"`)
	}
	return append(advice, `start it by hand, type "timba 1" and wait for its "ready"`)
}

// leftOver returns the advice for a fault that a fresh process does not repeat.
func (r Reason) leftOver(c Circumstances) []string {
	switch {
	case (r.Kind == Late || r.Kind == LateBank) && c.Later != NeverCame:
		return append([]string{slower}, r.late(c)...)
	case r.Kind == OutOfMemory:
		return []string{`clear at the line "game" what grows from game to game: tables, caches, lists`, c.limited("use less", "--memory", r.Limit, " MiB")}
	case r.Kind == Exited && len(c.Stderr) > 0:
		return []string{reset + "; the end of its stderr may show what was left over"}
	}
	return []string{reset}
}

func (r Reason) advice(c Circumstances) []string {
	switch r.Kind {
	case NotStarted:
		return []string{
			`check the path and that the file is executable; a script needs its interpreter before it, as in "python3 bot.py", or a first line such as #!/usr/bin/env python3`,
			`try the command by hand in the bot's directory; in timba.toml, run is a list of words: ["python3", "bot.py"]`,
		}
	case NoReady:
		return r.noReady(c)
	case Disqualified:
		return []string{"nothing here: look at its faults before this game, which disqualified it"}
	case Late, LateBank:
		return r.late(c)
	case NotReading:
		return []string{"read every line of stdin, even those that need no answer: unread lines fill the pipe",
			"read in one thread while another one thinks"}
	case IllegalMove:
		return r.illegal(c)
	case MoveBeforeReady:
		return []string{`answer the line "timba 1" with "ready", and only a line that begins with "turn" with a move: look at the first word of each line`}
	case MoveUnasked:
		return unasked(c)
	case ReadyAgain:
		return []string{`print "ready" once, after the line that begins with "timba"; each process gets that line once`}
	case LineTooLong:
		return []string{"end every line with a line feed; " + belongs}
	case TooMuchOutput:
		return []string{belongs + ": comments and infos count, too", "stdout is for ready, move and info lines"}
	case NotASCII, BadSpacing, BadMove, BadInfo, BadReady, NoSuchLine:
		return r.garbled(c)
	case OutOfMemory:
		return []string{c.limited("use less", "--memory", r.Limit, " MiB"),
			"clear tables between games and limit what grows with the search: the limit applies to the bot and all its processes together"}
	case TooManyProcesses:
		return []string{c.limited("start fewer", "--processes", r.Limit, ""),
			"wait for child processes that have ended: until then they still count"}
	case ForbiddenCall:
		return []string{"leave out what inspects other processes, mounts file systems, loads modules or the like: only attacks make such calls",
			"a bot needs its own files, TMPDIR, stdin and stdout, nothing else"}
	}
	return r.exit(c)
}

// limited returns the advice for a limit, with the flag that sets it if its author can.
func (c Circumstances) limited(change, flag string, limit int64, unit string) string {
	if !c.Fixed {
		change += ", or allow more with " + flag
	}
	if limit == 0 {
		return change
	}
	return fmt.Sprintf("%s; the limit was %d%s", change, limit, unit)
}

func (r Reason) noReady(c Circumstances) []string {
	sooner := `answer "timba 1" earlier and load less before it`
	if !c.Fixed {
		sooner += ", or allow more time with --startup"
	}
	flush := `answer the line "timba 1" with "ready" and flush the output: ` + Flush(c.Language)
	switch {
	case r.Unfinished != "":
		return append(r.unended(), flush)
	case c.Later == CameAtEnd:
		return []string{flushing(c) + orReadLines}
	case c.Later == Came:
		return []string{sooner}
	case c.Later == NeverCame:
		return []string{flush + orReadLines}
	}
	return []string{flush + orReadLines, sooner}
}

// unended returns the advice for an answer without a line feed.
func (r Reason) unended() []string {
	if rest := string(r.Unfinished); asks.MatchString(rest) {
		return []string{fmt.Sprintf("%q is not the answer: %s", once(rest), prompts)}
	}
	return []string{`end every line with a line feed ("\n") and flush it`}
}

// orReadLines is the other reason for an answer that does not arrive until the input ends.
const orReadLines = "; or, if the bot waits for more input before it answers, read line by line, not up to the end of stdin"

func flushing(c Circumstances) string {
	return "flush the output after every line: " + Flush(c.Language)
}

func (r Reason) late(c Circumstances) []string {
	if r.Unfinished != "" {
		return append(r.unended(), flushing(c))
	}
	switch c.Later {
	case CameAtEnd:
		return []string{flushing(c) + orReadLines}
	case Came:
		return []string{r.slow(c) + ": think for less than the milliseconds in the turn line (its third word), measured from when the line was read, and keep some of them for the answer to arrive"}
	case NeverCame:
		return []string{"look for a turn that the bot forgets to answer, an endless loop, or output in a buffer that is never flushed: " + Flush(c.Language)}
	}
	switch {
	case c.Turns == 0:
		return []string{"it has not answered a turn of this game yet, so check the output first: " + flushing(c) + orReadLines,
			"look for an endless loop"}
	case c.Movetime > 0 && c.Longest > float64(c.Movetime)/2:
		return []string{fmt.Sprintf("think for less: its longest think before was %.0f ms of %d ms. Check the clock inside the search, not only between its depths, and keep some milliseconds in reserve", c.Longest, c.Movetime),
			"take the time from the turn line (turn PLY MS ...), not from a constant"}
	}
	advice := []string{fmt.Sprintf("it had answered %d turns, the slowest in %.0f ms, so this one is different: look for an endless loop, or for a read that waits for a line that never comes", c.Turns, c.Longest),
		flushing(c)}
	if r.Kind == LateBank {
		return append([]string{"divide the bank among the moves: the turn line gives what is left of it, and each move adds inc"}, advice...)
	}
	return advice
}

// slow returns how long a move took and how long it may take.
func (r Reason) slow(c Circumstances) string {
	if r.Kind == LateBank {
		return fmt.Sprintf("this move took it about %d ms, more than was left of its bank", about(c.Took))
	}
	return fmt.Sprintf("it needs about %d ms for this move, and has %d", about(c.Took), r.Limit)
}

// exit returns the advice for a process that has ended, and for unknown kinds.
func (r Reason) exit(c Circumstances) []string {
	if did, change := r.ranInto(c); did != "" {
		return append([]string{change}, r.failed(c)...)
	}
	switch {
	case r.Unfinished != "":
		return []string{"end every line with a line feed, flush it, and " + readBye}
	case r.Kind == OutputClosed:
		return []string{`leave stdout open until the line "bye"`}
	case r.Kind == InputClosed:
		return []string{`leave stdin open and keep reading it until the line "bye"`}
	case r.Kind == ConnectionLost:
		return []string{"look at the network between the bot and the server, and whether the program that connects them kept running",
			"connect again sooner: the game goes on at the same line if the connection is back in time"}
	case r.Kind == Resigned:
		return []string{"nothing here: whoever played this seat gave the game up"}
	case r.Kind == Returned, r.Kind == Failed:
		return []string{"nothing in your own bot: a bot that is part of timba failed, so report it with the replay"}
	case slices.Contains([]string{"SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"}, r.Name): // its own mistake
		return r.crash(c)
	case r.Name == "SIGKILL":
		return []string{"it was killed from outside: does it use too much memory?"}
	case r.Kind == Exited && r.Status == 0:
		return r.exitedByItself(c)
	}
	return append(r.failed(c), "catch errors around the search and play the first legal move instead: a bad move loses less than a fault")
}

func (r Reason) crash(c Circumstances) (advice []string) {
	if _, sure := Cause(c.Stderr); sure {
		advice = r.failed(c)
	}
	return append(advice,
		"look for an index out of range, a null pointer or a failed assertion; in C and C++ build with -g -fsanitize=address,undefined and look at stderr",
		`try an empty hand, "-" for an empty list, and twelve seats`)
}

func (r Reason) exitedByItself(c Circumstances) []string {
	advice := readBye + ": one process makes many moves and plays many games"
	switch {
	case r.BeforeReady || c.Games == 0:
		advice = `read stdin line by line in a loop until the line "bye"`
	case c.Games > 1 && c.Turns == 0:
		advice = `keep reading after "end": one process plays many games, until the line "bye"`
	}
	return []string{advice, `"-" is an empty list, and verbs may be unknown: neither must end the loop`}
}

// failed returns the advice for a process that ended with an error.
func (r Reason) failed(c Circumstances) []string {
	line, sure := Cause(c.Stderr)
	tells := "the end of its stderr should say why" + byHand
	if sure {
		tells = "its stderr says why" + byHand
	}
	switch {
	case c.Private:
		return []string{"its author sees what it wrote to stderr, which may say why" + byHand}
	case line == "":
		return []string{"it wrote nothing to stderr: start it by hand and send it the same lines"}
	case quotes(line, "?"):
		return []string{`a card that the seat may not see is written "?"` + byHand}
	case quotes(line, "-"):
		return []string{`an empty list is written "-"` + byHand}
	case r.Kind == Exited && (r.Status == 126 || r.Status == 127):
		return []string{"a command that it runs was not found or is not executable: run it by hand in its directory", tells}
	}
	return []string{tells}
}

// Saw returns what a bot's stderr reveals of a fault beyond its text, to follow a colon:
// what it ran into, or the line that says why it ended. It is "" if it reveals nothing.
func (r Reason) Saw(c Circumstances) string {
	if did, _ := r.ranInto(c); did != "" {
		return "it " + did
	}
	if r.Kind != Exited && r.Kind != Signalled || r.Kind == Exited && r.Status == 0 {
		return ""
	}
	if line, sure := Cause(c.Stderr); sure || line != "" && r.Kind == Exited {
		return "its stderr says " + quoted(line)
	}
	return ""
}

// TextIn returns the text of a fault and what the circumstances reveal beyond it.
func (f *Fault) TextIn(c Circumstances) string {
	if saw := f.Reason.Saw(c); saw != "" {
		return f.Text + ": " + saw
	}
	return f.Text
}

// quotes reports whether an error message has the word in quotes.
func quotes(message, word string) bool {
	return strings.Contains(message, "'"+word+"'") || strings.Contains(message, `"`+word+`"`)
}
