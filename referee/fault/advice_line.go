package fault

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
)

// illegalMoveAdvice returns the advice for an illegal move. If it can guess what mistake the bot made, the guess
// comes first.
func (r Reason) illegalMoveAdvice(c Circumstances) (advice []phrase.Text) {
	guess, move := r.guessMove(c)
	if !guess.IsZero() {
		advice = append(advice, guess)
	}
	if move == "" && len(c.Turn.Legal) > 0 {
		move = c.Turn.Legal[0]
	}
	answer := phrase.New("answer with one of the words that the turn line lists after the milliseconds")
	if move != "" {
		answer = phrase.New("answer with one of the words that the turn line lists after the milliseconds, as in %s", moveLine(move))
	}
	return append(advice, answer,
		phrase.New("take the position from the view line, which is complete; a bot that follows the events must start over at every game line"))
}

func moveLine(move string) string { return `"move ` + move + `"` }

const letterForLetter = "write moves letter for letter as they are listed: "

// guessMove guesses what mistake led to an illegal move. guess describes the mistake; it is empty if there is no
// guess. move is the legal move that the bot probably meant, or "" if that is unknown.
func (r Reason) guessMove(c Circumstances) (guess phrase.Text, move string) {
	text, legal := string(r.Move), c.Turn.Legal
	bare := strings.Trim(text, `'"[](){},;.`)
	index, err := strconv.Atoi(text)
	near, beginning, shifted := respelledMove(text, legal), moveWithPrefix(text, legal), shiftedMove(text, legal)
	switch {
	case near != "" && near == strings.ToLower(text):
		return phrase.New(letterForLetter+"%q instead of %q, in lower case", near, text), near
	case bare != text && slices.Contains(legal, bare):
		return phrase.New("print the bare move %q, without quotes, brackets or commas", bare), bare
	case near != "":
		return phrase.New(letterForLetter+"%q instead of %q", near, text), near
	case err == nil && index >= 0 && index <= len(legal) && legal != nil:
		return guessFromIndex(index, legal)
	case legal != nil && (text == strconv.Itoa(c.Turn.Ply) || text == strconv.FormatInt(c.Turn.Movetime, 10)):
		return phrase.New("the first two words after \"turn\" are the ply and the milliseconds: the moves begin after them"), ""
	case c.History.Move == text:
		return phrase.New(`%q was its answer to the previous turn: print exactly one "move" for each turn, and take it from the current turn line, not from the list of the previous turn`, text), ""
	case slices.Contains(c.History.Legal, text):
		return phrase.New("%q was in the list of the previous turn: take the moves from the current turn line", text), ""
	case strings.HasPrefix(text, "?") || text == "-":
		return phrase.New("\"-\" is an empty list and \"?\" a card that the seat may not see: neither is a move"), ""
	case beginning != "":
		return phrase.New("print the whole move: %q instead of %q", beginning, text), beginning
	case shifted != "":
		return phrase.New("count from 0: %q is listed, and %q has each number one higher or lower", shifted, text), shifted
	}
	return guess, ""
}

// guessFromIndex returns the guess for an illegal move that is the number n: the bot printed the index of a move
// instead of the move. legal lists the legal moves. The index may count from 0 or from 1.
func guessFromIndex(n int, legal []string) (guess phrase.Text, move string) {
	const looks = `that looks like a position in the list: print the move that stands there, as in %s`
	switch n {
	case 0:
		return phrase.New(looks, moveLine(legal[0])), legal[0]
	case len(legal):
		return phrase.New(looks+", counted from 1", moveLine(legal[n-1])), legal[n-1]
	}
	return phrase.New(looks+", counted from 0, or %s, counted from 1", moveLine(legal[n]), moveLine(legal[n-1])), legal[n]
}

// moveWithPrefix returns the move in legal that begins with text, or "" if there is none or more than one.
func moveWithPrefix(text string, legal []string) (move string) {
	for _, m := range legal {
		if text == "" || !strings.HasPrefix(m, text) {
			continue
		}
		if move != "" {
			return ""
		}
		move = m
	}
	return move
}

var number = regexp.MustCompile(`[0-9]+`)

// shiftedMove returns the move in legal that is equal to text if 1 is added to all numbers in text, or subtracted
// from all of them. It returns "" if there is none, or if text has fewer than two numbers.
func shiftedMove(text string, legal []string) string {
	if len(number.FindAllString(text, 2)) < 2 {
		return ""
	}
	for _, by := range []int{-1, 1} {
		moved := number.ReplaceAllStringFunc(text, func(digits string) string {
			n, err := strconv.Atoi(digits)
			if err != nil {
				return digits
			}
			return strconv.Itoa(n + by)
		})
		if slices.Contains(legal, moved) {
			return moved
		}
	}
	return ""
}

// respelledMove returns a move in legal that is spelled differently from move: only in capital letters or in
// separators such as "-" and ":". It returns "" if there is none.
func respelledMove(move string, legal []string) string {
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

func unaskedAdvice(c Circumstances) []phrase.Text {
	switch c.History.Act {
	case Moved:
		return texts(`print exactly one "move" for each turn: leave the function after the answer, and do not print it again`)
	case HeardEnd:
		return []phrase.Text{phrase.New(`print nothing after "end": the game is over; %s`, phrase.New(onlyAnswers))}
	}
	return texts(onlyAnswers+`, and print exactly one "move" for it`,
		"a move that comes too late has the same effect, and so does one that is printed twice, for example by a function that prints and returns it")
}

// garbledAdvice returns the advice for a line that breaks the protocol. The advice depends on what the bot probably
// wanted to write.
func (r Reason) garbledAdvice(c Circumstances) []phrase.Text {
	line := string(r.Line)
	switch r.Kind {
	case NotASCII:
		return texts(r.notASCIIAdvice())
	case BadSpacing:
		return texts(spacingAdvice(line))
	case BadMove:
		if line == "move" {
			return texts(`the move is missing: print "move", a space and one of the listed moves`)
		}
		return texts(`print one move, as in "move 12c": not the whole list, and nothing after the move; write your thoughts about it before, in a line "info key=value"`)
	case BadInfo:
		return texts(`print "info" and key=value pairs without spaces in them, as in "info score=0.5 depth=3"; free text goes into a line that begins with "#"`)
	case BadReady:
		return texts(`print "ready NAME VERSION", without spaces in the name`)
	}
	return []phrase.Text{strayLineAdvice(line, c.Turn.Legal), phrase.New("look for print calls left over from debugging, and for libraries that print a greeting on stdout")}
}

func (r Reason) notASCIIAdvice() string {
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

func spacingAdvice(line string) string {
	switch {
	case strings.HasSuffix(line, " "):
		return "remove the space at the end of the line"
	case strings.HasPrefix(line, " "):
		return "remove the space at the beginning of the line"
	}
	return "separate the words by exactly one space, with none before or after"
}

const prompts = `a prompt, as of input("...") in Python, belongs on stderr`

var (
	// promptEnd matches a text that ends like a prompt for a person, such as "Your move> ".
	promptEnd = regexp.MustCompile(`[>?:$#%\])] *$`)
	// verbs matches a line that begins with "move" or "ready", also in capital letters or before other punctuation.
	verbs = regexp.MustCompile(`^(?i:move|ready)([^a-zA-Z]|$)`)
)

// promptAdvice returns the advice for a line in which a prompt comes before the answer, such as "> move 12". legal
// has the legal moves of the turn. The advice is empty for other lines.
func promptAdvice(line string, legal []string) (advice phrase.Text) {
	if i := strings.LastIndex(line, "move "); i > 0 {
		if before, move := line[:i], line[i+len("move "):]; slices.Contains(legal, move) || promptEnd.MatchString(before) && !strings.Contains(move, " ") {
			return phrase.New("%q is printed before the move on the same line: "+prompts, withoutRepeats(before))
		}
	}
	if before, _, ok := strings.Cut(line+" ", "ready "); ok && promptEnd.MatchString(before) {
		return phrase.New("%q is printed before \"ready\" on the same line: "+prompts, withoutRepeats(before))
	}
	i := strings.LastIndex(line, " ") + 1
	if before, move := line[:i], line[i:]; promptEnd.MatchString(before) && slices.Contains(legal, move) && !verbs.MatchString(line) {
		return phrase.New("print %s instead of %q: "+prompts, moveLine(move), line)
	}
	return advice
}

// withoutRepeats returns a prompt only once if it was printed several times in a row: "> " for "> > > ". Programs
// print their prompt once for each line that they read. Other prompts are returned unchanged.
func withoutRepeats(prompt string) string {
	for n := 1; n <= len(prompt)/2; n++ {
		if len(prompt)%n == 0 && strings.Repeat(prompt[:n], len(prompt)/n) == prompt {
			return prompt[:n]
		}
	}
	return prompt
}

func strayLineAdvice(line string, legal []string) phrase.Text {
	verb, _, _ := strings.Cut(line, " ")
	prompt := promptAdvice(line, legal)
	switch {
	case line == "":
		return phrase.New("print no empty lines: a text that ends with a line feed needs no println, and a print without arguments writes a line")
	case slices.Contains(legal, line):
		return phrase.New("the verb is missing: print %s", moveLine(line))
	case verb == "bestmove":
		return phrase.New(`the protocol is not UCI: answer with "move", as in "move 12c"`)
	case !prompt.IsZero():
		return prompt
	case verbs.MatchString(line), verb == "timba" && strings.HasSuffix(line, " ready"):
		return phrase.New(`write the verb in lower case with one space after it and nothing else: "ready" or "move 12c"`)
	case strings.HasPrefix(line, "Traceback"), strings.Contains(line, "Exception"), strings.Contains(line, "Error:"):
		return phrase.New("the bot fails and prints why on stdout: fix that; error messages belong on stderr")
	case slices.Contains([]string{"timba", "turn", "view", "game", "event"}, verb):
		return phrase.New("do not print what is read: %s", debugAdvice)
	}
	return phrase.New(`print only "ready", "move" and "info" lines on stdout; %s`, debugAdvice)
}
