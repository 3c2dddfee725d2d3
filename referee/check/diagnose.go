package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

const (
	logsBelong  = "write debug output to stderr, or begin its lines with \"#\""
	stderrTells = "the end of its stderr should say why; send it the lines above by hand to see it again"
	onlyAnswers = "answer the line that begins with \"turn\" once, and say nothing to any other line but \"timba\""
)

// blame makes a failure of a process's fault; want is what the bot owed, "" for
// nothing. Errors that are not the bot's fault stay what they are.
func (s *session) blame(err error, want string) error {
	var f *referee.Fault
	if !errors.As(err, &f) {
		return err
	}
	text := f.Text
	switch {
	case f.Code != protocol.Exit || strings.Contains(text, "unfinished line"):
	case want != "":
		text += fmt.Sprintf(" instead of sending %s", want)
	default:
		text += ", after " + s.last
	}
	switch f.Code {
	case protocol.Startup:
		return s.fail(text, "check the path and that the file may be executed; a script needs its interpreter in front, as in \"python3 bot.py\"")
	case protocol.Timeout:
		return s.fail(text, "read every line of stdin, also those that ask for nothing")
	case protocol.Output:
		return s.fail(text, logsBelong+": comments and infos count, too")
	case protocol.Garbled:
		return s.fail(text, "end every line with a line feed; "+logsBelong)
	}
	failure := s.fail(text, "")
	failure.Change, failure.exit = s.exitAdvice(f.Text, failure.Stderr), true
	if s.kit.program.Hold != nil {
		did, change := s.runInto(f, failure.Stderr)
		if did != "" {
			failure.Text += ": it " + did
		}
		failure.Change = cmp.Or(change, failure.Change)
	}
	return failure
}

// exitAdvice is what to do about the end of a process that wrote this on stderr.
func (s *session) exitAdvice(text string, stderr []string) string {
	last := ""
	if len(stderr) > 0 {
		last = stderr[len(stderr)-1]
	}
	switch {
	case strings.Contains(text, "unfinished line"):
		return "end every line with a line feed, flush it, and go on reading until the line \"bye\""
	case strings.Contains(text, "closed its output"):
		return "leave stdout open until the line \"bye\""
	case strings.Contains(text, "closed its input"):
		return "leave stdin open and go on reading it until the line \"bye\""
	case strings.Contains(text, "SIGSEGV"), strings.Contains(text, "SIGBUS"), strings.Contains(text, "SIGABRT"), strings.Contains(text, "SIGILL"):
		return "look for an index out of range, a null pointer or a failed assertion; in C and C++ build with -g -fsanitize=address,undefined and look at stderr"
	case strings.Contains(text, "SIGKILL"):
		return "it was killed from outside: does it use too much memory?"
	case strings.Contains(text, "status 0") && s.games > 1 && s.moves == 0:
		return "go on reading after \"end\": one process plays many games, until the line \"bye\""
	case strings.Contains(text, "status 0") && s.games == 0:
		return "read stdin line by line in a loop until the line \"bye\""
	case strings.Contains(text, "status 0"):
		return "go on reading until the line \"bye\": one process makes many moves and plays many games"
	case quotes(last, "?"):
		return "a card that the seat may not see is written \"?\": " + stderrTells
	case quotes(last, "-"):
		return "an empty list is written \"-\": " + stderrTells
	case last == "":
		return "it says nothing on stderr: start it by hand and send it the lines above"
	case strings.Contains(text, "status 126"), strings.Contains(text, "status 127"):
		return "a command that it runs was not found or may not be executed: run it by hand in its folder"
	}
	return stderrTells
}

// leftOver makes a failure that a fresh process does not have one of what is left
// over from the games before.
func (f *Failure) leftOver() {
	const reset = "reset at the line \"game\" all that the bot remembers: cards seen, boards, lists, its seat"
	f.Text += "; a fresh process plays the same game without fault"
	switch {
	case strings.HasPrefix(f.Change, "go on reading"):
	case f.Change == stderrTells:
		f.Change = reset + "; the end of its stderr may say what was left over"
	default:
		f.Change = reset
	}
}

// quotes tells whether an error message has a word in quotes.
func quotes(message, word string) bool {
	return strings.Contains(message, "'"+word+"'") || strings.Contains(message, `"`+word+`"`)
}

// unasked is the failure of a move that nobody asked for.
func (s *session) unasked(line []byte) *Failure {
	text := fmt.Sprintf("%s came when no move was asked for, after %s", protocol.Quote(line), s.last)
	switch {
	case strings.HasPrefix(s.last, "its move"):
		return s.fail(text+": one turn was answered twice", "print exactly one \"move\" for each turn: leave the function after the answer, and do not print it again")
	case s.last == "the end of the game":
		return s.fail(text, "print nothing after \"end\": the game is over; "+onlyAnswers)
	}
	return s.fail(text, onlyAnswers)
}

func (s *session) readyAgain(line []byte) *Failure {
	return s.fail(fmt.Sprintf("%s came in the middle, after %s: only the line \"timba 1\" asks for it", protocol.Quote(line), s.last),
		"print \"ready\" once, when the line begins with \"timba\"")
}

// garbled is the failure of a line that the protocol does not have.
func (s *session) garbled(line []byte, err error) *Failure {
	return s.fail(strings.Replace(err.Error(), "; debug output belongs on stderr or in a line that begins with '#'", "", 1), s.garbledAdvice(bytes.TrimSuffix(line, []byte("\r"))))
}

// garbledAdvice guesses from a line what its author meant.
func (s *session) garbledAdvice(line []byte) string {
	text := string(line)
	lower := strings.ToLower(text)
	verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	before, after, hasMove := strings.Cut(text, "move ")
	switch {
	case text == "":
		return "print no empty lines: a text that ends with a line feed needs no println, and a print without arguments writes a line"
	case bytes.HasPrefix(line, []byte("\xef\xbb\xbf")), bytes.HasPrefix(line, []byte("\xff\xfe")):
		return "write plain ASCII: the output begins with a byte order mark, as UTF-8 with BOM and UTF-16 have"
	case bytes.IndexByte(line, 0) >= 0 && bytes.Count(line, []byte{0}) > 1:
		return "write plain ASCII: every other byte is 0, so the output is UTF-16"
	case bytes.IndexByte(line, 0) >= 0:
		return "do not write the 0 that ends a string in C: the length for write or fwrite is strlen, not sizeof"
	case bytes.ContainsRune(line, '\x1b'):
		return "do not colour the output: its escape codes are part of the line"
	case bytes.IndexByte(line, '\t') >= 0:
		return "separate words by one space, not by a tab"
	case strings.ContainsFunc(text, func(r rune) bool { return r > '~' }):
		return "write printable ASCII only, also in infos and comments: replace or escape other characters, or write them to stderr"
	case s.listed(text):
		return fmt.Sprintf("the verb is missing: print \"move %s\"", text)
	case text != strings.TrimSpace(text) || strings.Contains(text, "  "):
		return spaces(text)
	case verb == "move" && rest == "":
		return "the move is missing: print \"move\", a space and one of the listed moves"
	case verb == "move" && strings.Contains(rest, " "):
		return "print one move, as in \"move 12c\": not the whole list, and nothing after the move; what you think of it goes into a line \"info key=value\" before"
	case verb == "info":
		return "print \"info\" and key=value pairs without spaces in them, as in \"info score=0.5 depth=3\"; free text goes into a line that begins with \"#\""
	case verb == "ready":
		return "print \"ready NAME VERSION\", without spaces in the name"
	case verb == "bestmove":
		return "the protocol is not UCI: answer with \"move\", as in \"move 12c\""
	case hasMove && before != "" && s.listed(after):
		return fmt.Sprintf("%q is printed before the move on the same line: a prompt, as of input(\"...\") in Python, belongs on stderr", before)
	case strings.HasPrefix(lower, "move") || strings.HasPrefix(lower, "ready"):
		return "write the verb in lower case with one space after it and nothing else: \"ready\" or \"move 12c\""
	case strings.HasPrefix(text, "Traceback"), strings.Contains(text, "Exception"), strings.Contains(text, "Error:"):
		return "the bot fails and prints why on stdout: mend that; error messages belong on stderr"
	case strings.HasPrefix(text, "timba "), strings.HasPrefix(text, "turn "), strings.HasPrefix(text, "view "), strings.HasPrefix(text, "game "), strings.HasPrefix(text, "event "):
		return "do not print what is read: " + logsBelong
	}
	return "print only \"ready\", \"move\" and \"info\" lines on stdout; " + logsBelong
}

// spaces is the advice for a line with spaces that do not belong there.
func spaces(text string) string {
	switch {
	case strings.HasSuffix(text, " "):
		return "take the space at the end of the line away"
	case strings.HasPrefix(text, " "):
		return "take the space at the beginning of the line away"
	}
	return "separate the words by exactly one space"
}

// listed tells whether a text is a move of the turn that was sent last.
func (s *session) listed(text string) bool {
	return text != "" && slices.Contains(s.turnMoves(), text)
}

// turnMoves are the moves of the turn line sent last.
func (s *session) turnMoves() []string {
	for _, line := range slices.Backward(s.tail) {
		if words := strings.Fields(line.Text); !line.FromBot && len(words) > 3 && words[0] == "turn" {
			return words[3:]
		}
	}
	return nil
}

// illegal is the failure of a move that is not in its turn's list.
func (t *table) illegal(move string, moves []string) *Failure {
	return t.fail(fmt.Sprintf("the move %q is not in the list of its turn: %s", move, t.whyIllegal(move)), t.illegalAdvice(move, moves))
}

func (t *table) whyIllegal(move string) string {
	m, err := t.state.ParseMove(move)
	if err == nil {
		err = t.state.Check(m)
	}
	if err == nil {
		return "it is not written as in the list"
	}
	return strings.TrimPrefix(err.Error(), t.variant.Game().Name()+": ")
}

// illegalAdvice guesses from a move what its author meant.
func (t *table) illegalAdvice(move string, moves []string) string {
	bare := strings.Trim(move, `'"[](){},;.`)
	index, err := strconv.Atoi(move)
	sample := moves[len(moves)-1]
	switch {
	case slices.Contains(moves, strings.ToLower(move)):
		return fmt.Sprintf("write moves as they are listed, letter for letter: %q, in lower case", strings.ToLower(move))
	case bare != move && slices.Contains(moves, bare):
		return fmt.Sprintf("print the bare move %q, without quotes, brackets or commas", bare)
	case err == nil && index >= 0 && index <= len(moves):
		return fmt.Sprintf("that looks like a position in the list: print the move that stands there, as in \"move %s\"", sample)
	case move == strconv.Itoa(t.state.Ply()) || move == strconv.FormatInt(t.clock.Move.Milliseconds(), 10):
		return "the first two words after \"turn\" are the ply and the milliseconds: the moves begin after them"
	case slices.Contains(t.before, move):
		return "the move was in the list of the turn before: take the moves from the turn line that is being answered, and forget the old ones"
	case strings.HasPrefix(move, "?") || move == "-":
		return "\"-\" is an empty list and \"?\" a card that the seat may not see: neither is a move"
	}
	return fmt.Sprintf("answer with one of the words that the turn line lists after the milliseconds, as in \"move %s\"", sample)
}
