package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// illegal returns the advice for an illegal move, with a guess at what was meant.
func (r Reason) illegal(c Circumstances) (advice []string) {
	if guess := r.meant(c); guess != "" {
		advice = append(advice, guess)
	}
	sample := ""
	if n := len(c.Legal); n > 0 {
		sample = fmt.Sprintf(", as in \"move %s\"", c.Legal[n-1])
	}
	return append(advice,
		"answer with one of the words that the turn line lists after the milliseconds"+sample,
		"take the position from the view line, which is complete; a bot that follows the events must start over at every game line")
}

func (r Reason) meant(c Circumstances) string {
	move := string(r.Move)
	bare := strings.Trim(move, `'"[](){},;.`)
	index, err := strconv.Atoi(move)
	near := nearest(move, c.Legal)
	switch {
	case near != "" && near == strings.ToLower(move):
		return fmt.Sprintf("write moves letter for letter as they are listed: %q instead of %q, in lower case", near, move)
	case bare != move && slices.Contains(c.Legal, bare):
		return fmt.Sprintf("print the bare move %q, without quotes, brackets or commas", bare)
	case near != "":
		return fmt.Sprintf("write moves letter for letter as they are listed: %q instead of %q", near, move)
	case err == nil && index >= 0 && index <= len(c.Legal) && c.Legal != nil:
		return fmt.Sprintf("that looks like a position in the list: print the move that stands there, as in \"move %s\"", c.Legal[len(c.Legal)-1])
	case c.Legal != nil && (move == strconv.Itoa(c.Ply) || move == strconv.FormatInt(c.Movetime, 10)):
		return "the first two words after \"turn\" are the ply and the milliseconds: the moves begin after them"
	case slices.Contains(c.Before, move):
		return fmt.Sprintf("%q was in the list of the previous turn: take the moves from the current turn line", move)
	case strings.HasPrefix(move, "?") || move == "-":
		return "\"-\" is an empty list and \"?\" a card that the seat may not see: neither is a move"
	}
	return ""
}

// nearest returns the listed move that differs from another only in how it is written,
// "" if there is none.
func nearest(move string, legal []string) string {
	plain := func(text string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune("-:, _", r) {
				return -1
			}
			return r
		}, strings.ToLower(text))
	}
	for _, m := range legal {
		if m != move && plain(m) == plain(move) {
			return m
		}
	}
	return ""
}

// unasked returns the advice for a move without a turn.
func unasked(c Circumstances) []string {
	switch c.Did {
	case Moved:
		return []string{`print exactly one "move" for each turn: leave the function after the answer, and do not print it again`}
	case HeardEnd:
		return []string{`print nothing after "end": the game is over; ` + onlyAnswers}
	}
	return []string{onlyAnswers,
		"a move that comes too late has the same effect, and so does one that is printed twice, for example by a function that prints and returns it"}
}

// garbled returns the advice for a line that is not part of the protocol, with a guess
// at what was meant.
func (r Reason) garbled(c Circumstances) []string {
	line := string(r.Line)
	switch r.Kind {
	case NotASCII:
		return []string{r.notASCII()}
	case BadSpacing:
		return []string{spaces(line)}
	case BadMove:
		if line == "move" {
			return []string{`the move is missing: print "move", a space and one of the listed moves`}
		}
		return []string{`print one move, as in "move 12c": not the whole list, and nothing after the move; write your thoughts about it before, in a line "info key=value"`}
	case BadInfo:
		return []string{`print "info" and key=value pairs without spaces in them, as in "info score=0.5 depth=3"; free text goes into a line that begins with "#"`}
	case BadReady:
		return []string{`print "ready NAME VERSION", without spaces in the name`}
	}
	return []string{stray(line, c.Legal), "look for print calls left over from debugging, and for libraries that print a greeting on stdout"}
}

// notASCII returns the advice for a line with the byte r.Byte.
func (r Reason) notASCII() string {
	zeros := strings.Count(string(r.Line), "\x00")
	switch {
	case strings.HasPrefix(string(r.Line), "\xef\xbb\xbf"), strings.HasPrefix(string(r.Line), "\xff\xfe"):
		return "write plain ASCII: the output begins with a byte order mark, as UTF-8 with BOM and UTF-16 have"
	case r.Byte == 0 && zeros > 1:
		return "write plain ASCII: every other byte is 0, so the output is UTF-16"
	case r.Byte == 0:
		return "do not write the 0 that ends a string in C: the length for write or fwrite is strlen, not sizeof"
	case r.Byte == '\x1b':
		return "do not colour the output: its escape codes are part of the line"
	case r.Byte == '\t':
		return "separate words by one space, not by a tab"
	}
	return "write printable ASCII only, also in infos and comments: replace or escape other characters, or write them to stderr"
}

// spaces returns the advice for a line with spaces in the wrong places.
func spaces(line string) string {
	switch {
	case strings.HasSuffix(line, " "):
		return "remove the space at the end of the line"
	case strings.HasPrefix(line, " "):
		return "remove the space at the beginning of the line"
	}
	return "separate the words by exactly one space, with none before or after"
}

// stray returns the advice for a line without a verb of a bot.
func stray(line string, legal []string) string {
	verb, _, _ := strings.Cut(line, " ")
	before, after, hasMove := strings.Cut(line, "move ")
	lower := strings.ToLower(line)
	switch {
	case line == "":
		return "print no empty lines: a text that ends with a line feed needs no println, and a print without arguments writes a line"
	case slices.Contains(legal, line):
		return fmt.Sprintf("the verb is missing: print \"move %s\"", line)
	case verb == "bestmove":
		return `the protocol is not UCI: answer with "move", as in "move 12c"`
	case hasMove && before != "" && slices.Contains(legal, after):
		return fmt.Sprintf("%q is printed before the move on the same line: a prompt, as of input(\"...\") in Python, belongs on stderr", before)
	case strings.HasPrefix(lower, "move") || strings.HasPrefix(lower, "ready"):
		return `write the verb in lower case with one space after it and nothing else: "ready" or "move 12c"`
	case strings.HasPrefix(line, "Traceback"), strings.Contains(line, "Exception"), strings.Contains(line, "Error:"):
		return "the bot fails and prints why on stdout: fix that; error messages belong on stderr"
	case slices.Contains([]string{"timba", "turn", "view", "game", "event"}, verb):
		return "do not print what is read: " + belongs
	}
	return `print only "ready", "move" and "info" lines on stdout; ` + belongs
}
