package fault

import (
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
)

// Circumstances contains what is known about a fault besides its Reason. With it, the advice to the bot's author is
// more precise. All fields are optional.
type Circumstances struct {
	Turn     FailedTurn
	History  History
	Answer   LateAnswer
	Log      BotLog
	Sandbox  Confinement
	Language string // the language in which the bot is written; "" if unknown
	LeftOver bool   // a new process of the bot plays the same game without the fault
	Fixed    bool   // a competition sets the limits, so that the bot's author cannot change them
}

// FailedTurn describes the turn in which a bot failed.
type FailedTurn struct {
	Ply      int
	Movetime int64       // time for the move in milliseconds; 0 if the clock has a bank instead
	Legal    []string    // the moves that the turn line lists
	Refusal  phrase.Text // why the rules refuse an illegal move
}

// History describes what a bot did before its fault.
type History struct {
	Games   int      // number of games that its process had started, or an upper bound
	Turns   int      // number of turns that it answered in this game
	Longest float64  // its slowest answer in this game, in milliseconds
	Legal   []string // the legal moves of its previous turn in this game; nil if there was none
	Move    string   // its move in the previous turn
	Act     Act      // the last thing that it did or was sent before the fault
}

// Act is the last thing that a bot did, or that was sent to it, before its fault. The zero value means anything that
// does not change the advice.
type Act uint8

// The values of Act.
const (
	Moved    Act = iota + 1 // it answered its turn
	HeardEnd                // it was sent the end of the game
)

// LateAnswer says whether and when the answer came of a bot that was too late. This is known only if the referee
// waited for the answer: in a check of the bot, or in a match that appended the text of ArrivalNote to the bot's log.
type LateAnswer struct {
	Arrival Arrival
	Took    int64 // elapsed time in milliseconds until the answer came or, if Arrival is StillMissing, until the referee stopped waiting
}

// Arrival says whether an answer that was too late came at all. The zero value means that this is unknown.
type Arrival uint8

// The values of Arrival.
const (
	Came      Arrival = iota + 1
	CameAtEnd         // only after the bot's input was closed
	NeverCame
	StillMissing // it had not come when the referee stopped waiting, with the bot's input open
)

// BotLog contains what a bot wrote to its log in the game in which it failed.
type BotLog struct {
	Lines   []string // lines without their LF, at least the last ones
	Private bool     // only the bot's author can see the lines, and the advice is for somebody else
}

// Confinement describes the sandbox in which a bot ran. It helps to explain a fault of the bot.
type Confinement struct {
	Absent    bool                   // the bot ran without a sandbox
	Memory    int64                  // memory limit in MiB; 0 if unknown
	Processes int64                  // limit of the number of processes; 0 if unknown
	Hides     func(path string) bool // reports whether a file exists and the sandbox hides it; nil if unknown

	HasOwnMemory, HasOwnProcesses bool // the limit is in the manifest or the argument of the bot, which precedes the flag
}

const (
	byHand      = "; send it the same lines by hand to see it again"
	onlyAnswers = `answer each "turn" line once, and no other line except "timba"`
	reset       = `reset everything that the bot remembers at the line "game": cards seen, boards, lists, its seat`
	slower      = `keep some of the time in reserve, and clear at the line "game" what grows from game to game (tables, caches, lists): a fresh process is in time here, so either the bot becomes slower, or the machine was busy for a moment`
	readBye     = `keep reading until the line "bye"`

	writeToStdout = `write "ready" and the moves to stdout: they are in its log, which is what it writes to stderr`
)

// debugAdvice says where a bot should write its debug output.
var debugAdvice = phrase.New(`write debug output to stderr, or begin its lines with "#"`)

// Advice returns what the author of the bot can change to avoid the fault, the most likely change first. It
// returns at least one text.
func (r Reason) Advice(c Circumstances) []phrase.Text {
	if c.LeftOver && !(r.Kind == Exited && r.Status == 0) {
		return r.leftOverAdvice(c)
	}
	advice := r.kindAdvice(c)
	if !r.BeforeReady || r.Kind.IsUnstarted() {
		return advice
	}
	if r.Line != "" || r.Kind == NoSuchLine {
		return append(advice, phrase.New(`write "ready" as the first line, after reading "timba 1"`))
	}
	return append(advice, phrase.New(`start it by hand, type "timba 1" and wait for its "ready"`))
}

func (r Reason) leftOverAdvice(c Circumstances) []phrase.Text {
	switch {
	case (r.Kind == Late || r.Kind == LateBank) && c.Answer.Arrival != NeverCame && c.Answer.Arrival != StillMissing:
		return append(texts(slower), r.lateAdvice(c)...)
	case r.Kind == OutOfMemory:
		return []phrase.Text{phrase.New(`clear at the line "game" what grows from game to game: tables, caches, lists`), c.lessMemory(r.Limit)}
	case r.Kind == Exited && len(c.Log.Lines) > 0:
		return texts(reset + "; the end of its stderr may show what was left over")
	}
	return texts(reset)
}

func (r Reason) kindAdvice(c Circumstances) []phrase.Text {
	switch r.Kind {
	case NotStarted:
		return texts(
			`check the path and that the file is executable; a script needs its interpreter before it, as in "python3 bot.py", or a first line such as #!/usr/bin/env python3`,
			`try the command by hand in the bot's directory; in timba.toml, run is a list of words: ["python3", "bot.py"]`,
		)
	case OtherSystem:
		return []phrase.Text{phrase.New(buildHere, r.Detail), phrase.New("or give its source with a build command in timba.toml, which builds it where it plays")}
	case NoInterpreter:
		return []phrase.Text{r.noInterpreterAdvice()}
	case NoLoader:
		if strings.Contains(r.Detail, "musl") {
			return texts("link it statically, or build it on a system with glibc: it is built for musl, the C library of Alpine Linux")
		}
		return texts("link it statically, or build it on a system like this one: that loader belongs to another C library or processor")
	case NoFirstLine:
		return texts(`begin the file with a line such as #!/usr/bin/env python3, or write its interpreter before it, as in "python3 bot.py"`)
	case ByteOrderMark:
		return texts("save the file as UTF-8 without a byte order mark (BOM)")
	case EmptyFile:
		return texts("write the bot into the file; if a build makes it, look at what the build prints")
	case NotExecutable:
		return texts(`make it executable with chmod +x, or write its interpreter before it, as in "python3 bot.py"`)
	case NoProgram:
		return texts("link an object file, as cc -o bot bot.o does; write the program that runs any other file before it, as in java -jar bot.jar")
	case NoReady:
		return r.noReadyAdvice(c)
	case Disqualified:
		return texts("nothing here: look at its faults before this game, which disqualified it")
	case Late, LateBank:
		return r.lateAdvice(c)
	case NotReading:
		return texts("read every line of stdin, even those that need no answer: unread lines fill the pipe",
			"read in one thread while another one thinks")
	case IllegalMove:
		return r.illegalMoveAdvice(c)
	case MoveBeforeReady:
		return texts(`answer the line "timba 1" with "ready", and only a line that begins with "turn" with a move: look at the first word of each line`)
	case MoveUnasked:
		return unaskedAdvice(c)
	case ReadyAgain:
		return texts(`print "ready" once, after the line that begins with "timba"; each process gets that line once`)
	case LineTooLong:
		return []phrase.Text{phrase.New("end every line with a line feed; %s", debugAdvice)}
	case TooMuchOutput:
		return []phrase.Text{phrase.New("%s: comments and infos count, too", debugAdvice), phrase.New("stdout is for ready, move and info lines")}
	case NotASCII, BadSpacing, BadMove, BadInfo, BadReady, NoSuchLine:
		return r.garbledAdvice(c)
	case OutOfMemory:
		return []phrase.Text{c.lessMemory(r.Limit),
			phrase.New("clear tables between games and limit what grows with the search: the limit applies to the bot and all its processes together")}
	case TooManyProcesses:
		return []phrase.Text{c.fewerProcesses(r.Limit), phrase.New("wait for child processes that have ended: until then they still count")}
	case ForbiddenCall:
		return texts("leave out what inspects other processes, mounts file systems, loads modules or the like: only attacks make such calls",
			"a bot needs its own files, TMPDIR, stdin and stdout, nothing else")
	}
	return r.exitAdvice(c)
}

// buildHere is the format of the advice for a program that was built for another system. %s is the system and the
// processor of this machine, such as linux/amd64.
const buildHere = "build it for %s: on such a machine, or with the target of the compiler, such as GOOS and GOARCH in Go and --target in Rust"

func (r Reason) noInterpreterAdvice() phrase.Text {
	switch {
	case strings.HasSuffix(string(r.Line), "\r"):
		return phrase.New(endLinesByLF)
	case !strings.Contains(r.Detail, "/") && !strings.Contains(string(r.Line), "env "):
		return phrase.New("write the path of the program, or /usr/bin/env before its name, as in #!/usr/bin/env python3")
	}
	return phrase.New("install %s, or name a program that is there, as in #!/usr/bin/env python3", r.Detail)
}

// lessMemory returns the advice for a bot that exceeded a memory limit. limit is in MiB; 0 means that it is unknown.
// Unless c.Fixed is set, the advice names the setting that changes the limit.
func (c Circumstances) lessMemory(limit int64) phrase.Text {
	change := phrase.New("use less")
	if !c.Fixed {
		change = phrase.New("use less, or allow more with %s", settingOf("memory", c.Sandbox.HasOwnMemory))
	}
	if limit == 0 {
		return change
	}
	return phrase.New("%s; the limit was %d MiB", change, limit)
}

// settingOf returns what a user can set to change the limit called name: the key "NAME=" of the bot if own is true,
// and otherwise the flag "--NAME".
func settingOf(name string, own bool) string {
	if own {
		return name + "="
	}
	return "--" + name
}

// fewerProcesses returns the advice for a bot that exceeded limit, a number of processes; 0 means that the limit is
// unknown. Unless c.Fixed is set, the advice names the setting that changes the limit.
func (c Circumstances) fewerProcesses(limit int64) phrase.Text {
	change := phrase.New("start fewer")
	if !c.Fixed {
		change = phrase.New("start fewer, or allow more with %s", settingOf("processes", c.Sandbox.HasOwnProcesses))
	}
	if limit == 0 {
		return change
	}
	return phrase.New("%s; the limit was %d", change, limit)
}

func (r Reason) noReadyAdvice(c Circumstances) []phrase.Text {
	sooner := phrase.New(`answer "timba 1" earlier and load less before it`)
	if !c.Fixed {
		sooner = phrase.New(`answer "timba 1" earlier and load less before it, or allow more time with --startup`)
	}
	flush := phrase.New(`answer the line "timba 1" with "ready" and flush the output: %s`, Flush(c.Language))
	switch {
	case r.UnfinishedLine != "":
		return append(r.unfinishedAdvice(), flush)
	case c.hasLoggedAnswer():
		return append(texts(writeToStdout), flush)
	case c.Answer.Arrival == CameAtEnd:
		return []phrase.Text{orReadLines(flushAdvice(c))}
	case c.Answer.Arrival == Came:
		return []phrase.Text{sooner}
	case c.Answer.Arrival == NeverCame:
		return []phrase.Text{orReadLines(flush)}
	}
	return []phrase.Text{orReadLines(flush), sooner}
}

func (r Reason) unfinishedAdvice() []phrase.Text {
	if rest := string(r.UnfinishedLine); promptEnd.MatchString(rest) {
		return []phrase.Text{phrase.New("%q is not the answer: "+prompts, withoutRepeats(rest))}
	}
	return texts(`end every line with a line feed ("\n") and flush it`)
}

// hasLoggedAnswer reports whether the bot wrote an answer into its log. It returns false for a private log, so that advice
// does not reveal what is in it.
func (c Circumstances) hasLoggedAnswer() bool {
	return !c.Log.Private && slices.ContainsFunc(c.Log.Lines, isAnswer)
}

// isAnswer reports whether a line of a bot's log is an answer, which belongs on stdout.
func isAnswer(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && words[0] == "ready" && len(words) < 4 || len(words) == 2 && words[0] == "move"
}

// orReadLines adds a second possibility to the advice: the bot may be waiting for the end of its input, and should
// read line by line.
func orReadLines(advice phrase.Text) phrase.Text {
	return phrase.New("%s; or, if the bot waits for more input before it answers, read line by line, not up to the end of stdin", advice)
}

func flushAdvice(c Circumstances) phrase.Text {
	return phrase.New("flush the output after every line: %s", Flush(c.Language))
}

func (r Reason) lateAdvice(c Circumstances) []phrase.Text {
	switch {
	case r.UnfinishedLine != "":
		return append(r.unfinishedAdvice(), flushAdvice(c))
	case c.History.Turns == 0 && c.hasLoggedAnswer():
		return append(texts(writeToStdout), flushAdvice(c))
	}
	switch c.Answer.Arrival {
	case CameAtEnd:
		return []phrase.Text{orReadLines(flushAdvice(c))}
	case Came:
		return []phrase.Text{phrase.New("%s: think for less than the milliseconds in the turn line (its third word), measured from when the line was read, and keep some of them for the answer to arrive", r.slowMoveText(c))}
	case NeverCame:
		return []phrase.Text{phrase.New("look for a turn that the bot forgets to answer, an endless loop, or output in a buffer that is never flushed: %s", Flush(c.Language))}
	}
	switch {
	case c.History.Turns == 0:
		return []phrase.Text{phrase.New("it has not answered a turn of this game yet, so check the output first: %s", orReadLines(flushAdvice(c))),
			phrase.New("look for an endless loop")}
	case c.Answer.Arrival == StillMissing:
		return []phrase.Text{phrase.New("it hangs: no answer came within %d ms, and the slowest of its %d answers before took %.0f ms. Look for an endless loop, or for a read that waits for a line that never comes", c.Answer.Took, c.History.Turns, c.History.Longest),
			flushAdvice(c)}
	case c.Turn.Movetime > 0 && c.History.Longest > float64(c.Turn.Movetime)/2:
		return []phrase.Text{phrase.New("think for less: its longest think before was %.0f ms of %d ms. Check the clock inside the search, not only between its depths, and keep some milliseconds in reserve", c.History.Longest, c.Turn.Movetime),
			phrase.New("take the time from the turn line (turn PLY MS ...), not from a constant")}
	}
	advice := []phrase.Text{phrase.New("it had answered %d turns, the slowest in %.0f ms, so this one is different: look for an endless loop, or for a read that waits for a line that never comes", c.History.Turns, c.History.Longest),
		flushAdvice(c)}
	if r.Kind == LateBank {
		return append(texts("divide the bank among the moves: the turn line gives what is left of it, and each move adds inc"), advice...)
	}
	return advice
}

func (r Reason) slowMoveText(c Circumstances) phrase.Text {
	if r.Kind == LateBank {
		return phrase.New("this move took it about %d ms, more than was left of its bank", roundMilliseconds(c.Answer.Took))
	}
	return phrase.New("it needs about %d ms for this move, and has %d", roundMilliseconds(c.Answer.Took), r.Limit)
}

// exitAdvice returns the advice for a bot whose process has ended or has closed a pipe. It also returns the advice
// for unknown kinds of faults.
func (r Reason) exitAdvice(c Circumstances) []phrase.Text {
	if did, change := r.restrictionHit(c); !did.IsZero() {
		return append([]phrase.Text{change}, r.errorExitAdvice(c)...)
	}
	switch {
	case r.UnfinishedLine != "":
		return texts("end every line with a line feed, flush it, and " + readBye)
	case r.Kind == OutputClosed:
		return texts(`leave stdout open until the line "bye"`)
	case r.Kind == InputClosed:
		return texts(`leave stdin open and keep reading it until the line "bye"`)
	case r.Kind == ConnectionLost:
		return texts("look at the network between the bot and the server, and whether the program that connects them kept running",
			"connect again sooner: the game goes on at the same line if the connection is back in time")
	case r.Kind == ConnectionSlow:
		return texts("connect over a faster network: timba connect prints how long a message and its receipt take, and how many moves that allows")
	case r.Kind == Resigned:
		return texts("nothing here: whoever played this seat gave the game up")
	case r.Kind == Returned, r.Kind == Failed:
		return texts("nothing in your own bot: a bot that is part of timba failed, so report it with the replay")
	case slices.Contains([]string{"SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"}, r.Name): // signals of a crash
		return r.crashAdvice(c)
	case r.Name == "SIGKILL":
		return texts("it was killed from outside: does it use too much memory?")
	case r.Kind == Exited && r.Status == 0:
		return r.cleanExitAdvice(c)
	}
	return append(r.errorExitAdvice(c), phrase.New("catch errors around the search and play the first legal move instead: a bad move loses less than a fault"))
}

func (r Reason) crashAdvice(c Circumstances) (advice []phrase.Text) {
	if r.Name == "SIGILL" {
		advice = texts(forEveryProcessor)
	}
	if _, sure := Cause(c.Log.Lines); sure {
		advice = append(advice, r.errorExitAdvice(c)...)
	}
	return append(advice, texts(
		"look for an index out of range, a null pointer or a failed assertion; in C and C++ build with -g -fsanitize=address,undefined and look at stderr",
		`try an empty hand, "-" for an empty list, and twelve seats`)...)
}

func (r Reason) cleanExitAdvice(c Circumstances) []phrase.Text {
	advice := readBye + ": one process makes many moves and plays many games"
	switch {
	case r.BeforeReady || c.History.Games == 0:
		advice = `read stdin line by line in a loop until the line "bye"`
	case c.History.Games > 1 && c.History.Turns == 0:
		advice = `keep reading after "end": one process plays many games, until the line "bye"`
	}
	return texts(advice, `"-" is an empty list, and verbs may be unknown: neither must end the loop`)
}

func (r Reason) errorExitAdvice(c Circumstances) []phrase.Text {
	line, sure := Cause(c.Log.Lines)
	tells := "the end of its stderr should say why" + byHand
	if sure {
		tells = "its stderr says why" + byHand
	}
	switch {
	case c.Log.Private:
		return texts("its author sees what it wrote to stderr, which may say why" + byHand)
	case line == "":
		return texts("it wrote nothing to stderr: start it by hand and send it the same lines")
	case containsQuoted(line, "?"):
		return texts(`a card that the seat may not see is written "?"` + byHand)
	case containsQuoted(line, "-"):
		return texts(`an empty list is written "-"` + byHand)
	case r.Kind == Exited && (r.Status == 126 || r.Status == 127):
		return texts("a command that it runs was not found or is not executable: run it by hand in its directory", tells)
	}
	return texts(tells)
}

// Evidence returns what a bot's stderr reveals about a fault. That is something that the bot tried and its sandbox
// does not allow, or the line that says why the bot ended. The text can follow a colon in a sentence. It is empty if
// stderr reveals nothing.
func (r Reason) Evidence(c Circumstances) (saw phrase.Text) {
	if did, _ := r.restrictionHit(c); !did.IsZero() {
		return did
	}
	if r.Kind != Exited && r.Kind != Signalled || r.Kind == Exited && r.Status == 0 {
		return saw
	}
	if line, sure := Cause(c.Log.Lines); sure || line != "" && r.Kind == Exited {
		return phrase.New("its stderr says %s", quote(line))
	}
	return saw
}

// TextIn returns the text of the fault, followed by what Evidence finds in c, the circumstances of the fault.
func (f *Fault) TextIn(c Circumstances) phrase.Text {
	r := f.Reason
	text := r.Phrase()
	if text.String() != f.Text {
		text = phrase.Plain(f.Text) // a replay of an old version, whose faults have no reasons
	} else if r.Kind == IllegalMove && c.Turn.Refusal.String() == r.Detail {
		text = r.phraseWithDetail(c.Turn.Refusal)
	}
	if saw := r.Evidence(c); !saw.IsZero() {
		return phrase.New("%s: %s", text, saw)
	}
	return text
}

func texts(formats ...string) (list []phrase.Text) {
	for _, format := range formats {
		list = append(list, phrase.New(format))
	}
	return list
}

func containsQuoted(message, word string) bool {
	return strings.Contains(message, "'"+word+"'") || strings.Contains(message, `"`+word+`"`)
}
