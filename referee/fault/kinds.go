package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/protocol"
)

// Kind says in which way a bot failed. It determines the code and the text of a Reason, and which other fields of the
// Reason are set.
type Kind string

// The kinds of faults.
const (
	NotStarted       Kind = "not-started"
	OtherSystem      Kind = "other-system"
	NoInterpreter    Kind = "no-interpreter"
	NoLoader         Kind = "no-loader"
	NoFirstLine      Kind = "no-first-line"
	ByteOrderMark    Kind = "byte-order-mark"
	EmptyFile        Kind = "empty-file"
	NotExecutable    Kind = "not-executable"
	NoProgram        Kind = "no-program"
	NoReady          Kind = "no-ready"
	Disqualified     Kind = "disqualified"
	Late             Kind = "late"
	LateBank         Kind = "late-bank"
	NotReading       Kind = "not-reading"
	IllegalMove      Kind = "illegal-move"
	MoveBeforeReady  Kind = "move-before-ready"
	MoveUnasked      Kind = "move-unasked"
	ReadyAgain       Kind = "ready-again"
	LineTooLong      Kind = Kind(protocol.TooLong)
	NotASCII         Kind = Kind(protocol.NotASCII)
	BadSpacing       Kind = Kind(protocol.BadSpacing)
	BadMove          Kind = Kind(protocol.BadMove)
	BadInfo          Kind = Kind(protocol.BadInfo)
	BadReady         Kind = Kind(protocol.BadReady)
	NoSuchLine       Kind = Kind(protocol.NoSuchLine)
	Exited           Kind = "exited"
	Signalled        Kind = "signalled"
	Stopped          Kind = "stopped"
	Ended            Kind = "ended"
	InputClosed      Kind = "input-closed"
	OutputClosed     Kind = "output-closed"
	Returned         Kind = "returned"
	Failed           Kind = "failed"
	ConnectionLost   Kind = "connection-lost"
	ConnectionSlow   Kind = "connection-slow"
	Resigned         Kind = "resigned"
	TooMuchOutput    Kind = "too-much-output"
	OutOfMemory      Kind = "out-of-memory"
	TooManyProcesses Kind = "too-many-processes"
	ForbiddenCall    Kind = "forbidden-call"
)

// kind is a row of the table kinds: one way in which a bot can fail. Its text contains JSON names of fields of Reason
// in braces, such as {limit}.
type kind struct {
	Kind
	code protocol.Code
	text string
}

const (
	answer     = "answer within the milliseconds that the turn line gives"
	inTime     = " and the margin of {margin} ms{unfinished}: " + answer
	theProcess = "the process "
	notStarted = "could not be started: "
	exitedWith = "exited with status {status}"
	killedBy   = "was killed by signal {signal} ({name})"
)

var kinds = []kind{
	{NotStarted, protocol.Startup, notStarted + "{detail}: try {command} by hand"},
	unstartedKind(OtherSystem, "is a program for {name}, and this machine is {detail}"),
	unstartedKind(NoInterpreter, "has the first line {line}, and there is no {detail}"),
	unstartedKind(NoLoader, "needs the loader {detail}, which is not there"),
	unstartedKind(NoFirstLine, "is a text, and its first line does not say which program runs it"),
	unstartedKind(ByteOrderMark, "has a byte order mark before its first line"),
	unstartedKind(EmptyFile, "is empty"),
	unstartedKind(NotExecutable, "is not executable"),
	unstartedKind(NoProgram, "is neither a program nor a script"),
	{NoReady, protocol.Startup, `no "ready" within {limit} ms{unfinished}: answer the line "timba 1" with "ready" and flush the output`},
	{Disqualified, protocol.Startup, "forfeits the rest of the match after {limit} faults"},
	{Late, protocol.Timeout, "no move within {limit} ms" + inTime},
	{LateBank, protocol.Timeout, "no move within the rest of its bank" + inTime},
	{NotReading, protocol.Timeout, "did not read its input in time: the pipe is full"},
	{IllegalMove, protocol.Illegal, "{move}: {detail}: answer with one of the moves that the turn line lists"},
	{MoveBeforeReady, protocol.Garbled, `{line} came before "ready": answer the line "timba 1" with "ready" first`},
	{MoveUnasked, protocol.Garbled, "{line} came when no move was asked for: answer each turn line once, within its time"},
	{ReadyAgain, protocol.Garbled, `{line} came in the middle of a game: only the line "timba 1" asks for it`},
	{LineTooLong, protocol.Garbled, "{line} is longer than {limit} bytes: end every line with LF and write logs to stderr"},
	flawKind(protocol.NotASCII, ": byte {at} is {byte}"),
	flawKind(protocol.BadSpacing, ""),
	flawKind(protocol.BadMove, ""),
	flawKind(protocol.BadInfo, ""),
	flawKind(protocol.BadReady, ""),
	flawKind(protocol.NoSuchLine, ""),
	{Exited, protocol.Exit, theProcess + exitedWith + "{unfinished}"},
	{Signalled, protocol.Exit, theProcess + killedBy + "{unfinished}"},
	{Stopped, protocol.Exit, theProcess + "was ended{unfinished}"},
	{Ended, protocol.Exit, "the process ended: {detail}"},
	{InputClosed, protocol.Exit, "closed its input while it was running"},
	{OutputClosed, protocol.Exit, "closed its output while it was running"},
	{Returned, protocol.Exit, "ended while the game went on"},
	{Failed, protocol.Exit, "ended: {detail}"},
	{ConnectionLost, protocol.Exit, "lost its connection and was not back within {limit} s"},
	{ConnectionSlow, protocol.Exit, "its connection is too slow: a message and its receipt took about {detail}, and waiting for receipts may take {limit} s in all"},
	{Resigned, protocol.Exit, "resigned"},
	{TooMuchOutput, protocol.Output, "more than {limit} KiB on stdout between two turns: write logs to stderr"},
	{OutOfMemory, protocol.Memory, "more than {limit} MiB of memory in all its processes"},
	{TooManyProcesses, protocol.Processes, "more than {limit} processes and threads, after which it {end}"},
	{ForbiddenCall, protocol.Forbidden, "the process made a system call that the sandbox does not allow"},
}

// WhereDebugBelongs is the advice that ends the text of every fault for a line that breaks the protocol.
const WhereDebugBelongs = "debug output belongs on stderr or in a line that begins with '#'"

// flawKind returns a row of the table kinds for lines that break the protocol. f says in which way they break it.
// more is added to the text.
func flawKind(f protocol.Flaw, more string) kind {
	return kind{Kind(f), protocol.Garbled, "{line} " + f.Error() + more + "; " + WhereDebugBelongs}
}

// unstartedKind returns a row of the table kinds for a program whose file could not be started. k is the kind of
// fault. why ends the text; it says what is wrong with the file.
func unstartedKind(k Kind, why string) kind {
	return kind{k, protocol.Startup, notStarted + "{command} " + why}
}

// IsUnstarted reports whether a bot with a fault of this kind has never run, because its program could not be
// started.
func (k Kind) IsUnstarted() bool {
	return strings.HasPrefix(k.Form(), notStarted)
}

// IsOfConnection reports whether a fault of this kind concerns the connection to a bot on another machine, which was
// lost or too slow.
func (k Kind) IsOfConnection() bool { return k == ConnectionLost || k == ConnectionSlow }

// Kinds returns all kinds of faults.
func Kinds() (list []Kind) {
	for _, k := range kinds {
		list = append(list, k.Kind)
	}
	return list
}

// Code returns the protocol's code for a fault of this kind during a game, or "" for an unknown kind.
func (k Kind) Code() protocol.Code { return k.row().code }

// Parameters returns the JSON names of the fields that every Reason of this kind contains in JSON, even if their
// values are zero.
func (k Kind) Parameters() (names []string) {
	expand(k.row().text, func(name string) string {
		if name != "unfinished" && name != "end" {
			names = append(names, name)
		}
		return ""
	})
	return names
}

// Form returns the text of faults of this kind. The text has JSON names of fields of Reason in braces, such as
// {limit}, in place of their values.
func (k Kind) Form() string { return k.row().text }

func (k Kind) row() kind {
	if i := slices.IndexFunc(kinds, func(row kind) bool { return row.Kind == k }); i >= 0 {
		return kinds[i]
	}
	return kind{}
}

// Code returns the protocol's code for a fault with this reason. It is protocol.Startup if the process ended, or was
// late, before it wrote "ready".
func (r Reason) Code() protocol.Code {
	code := r.Kind.Code()
	if r.BeforeReady && (code == protocol.Exit || code == protocol.Timeout) {
		return protocol.Startup
	}
	return code
}

// Text describes the reason in English. It contains no measured times and no process numbers, so that a match that is
// played again gives the same replays. Only the text of ConnectionSlow contains a time.
func (r Reason) Text() string { return r.Phrase().String() }

// Phrase returns the same description as Text, in a form that can be translated.
func (r Reason) Phrase() phrase.Text { return r.phraseWithDetail(phrase.Plain(r.Detail)) }

// Short returns the same description as Text, but without WhereDebugBelongs, in a form that can be translated.
func (r Reason) Short() phrase.Text {
	return r.phraseOf(strings.TrimSuffix(r.Kind.row().text, "; "+WhereDebugBelongs), phrase.Plain(r.Detail))
}

// phraseWithDetail returns the same description as Text, except that detail replaces r.Detail.
func (r Reason) phraseWithDetail(detail phrase.Text) phrase.Text {
	return r.phraseOf(r.Kind.row().text, detail)
}

// phraseOf returns text, which comes from the table kinds, with values in place of the names in braces. {detail}
// becomes detail; the other values are fields of r.
func (r Reason) phraseOf(text string, detail phrase.Text) phrase.Text {
	if r.UnfinishedLine != "" {
		text = strings.Replace(text, answer, "end every line with a line feed, and flush the output after every line", 1)
	}
	said := r.fill(text, detail)
	if r.BeforeReady {
		said = phrase.New(`before "ready": %s`, said)
	}
	return said
}

// End describes how the process ended, in words that can end a sentence: "exited with status 1".
func (r Reason) End() phrase.Text {
	return r.fill(strings.TrimPrefix(r.Kind.row().text, theProcess), phrase.Plain(r.Detail))
}

// fill replaces the names in braces in text by the values of r, and {detail} by detail.
func (r Reason) fill(text string, detail phrase.Text) phrase.Text {
	var values []any
	format := expand(text, func(name string) string {
		values = append(values, r.value(name, detail))
		return "%s"
	})
	return phrase.New(format, values...)
}

func (r Reason) value(name string, detail phrase.Text) any {
	switch name {
	case "detail":
		return detail
	case "line":
		return protocol.Quote([]byte(r.Line))
	case "byte":
		return fmt.Sprintf("0x%02x", r.Byte)
	case "unfinished":
		if r.UnfinishedLine == "" {
			return ""
		}
		return phrase.New(", after the unfinished line %q", string(r.UnfinishedLine))
	case "end":
		if r.Signal != 0 {
			return r.fill(killedBy, detail)
		}
		return r.fill(exitedWith, detail)
	}
	if raw, ok := r.parameter(name).Interface().(Raw); ok {
		return strconv.Quote(string(raw))
	}
	return fmt.Sprint(r.parameter(name))
}

// expand replaces each name in braces in text by the result of calling the function name with it.
func expand(text string, name func(string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		in, after, _ := strings.Cut(rest, "}")
		b.WriteString(name(in))
		text = after
	}
}
