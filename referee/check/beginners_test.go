package check

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// beginner is a bot with a mistake that beginners make. Its fields are the parts of the bot that a mistake
// can replace.
type beginner struct {
	pipe   io.Reader // what in reads
	in     *bufio.Reader
	out    io.Writer
	err    io.Writer
	end    func() // before it exits
	answer func(b *beginner, words []string) string
	other  func(b *beginner, line string, words []string) string // of lines that ask for nothing
	hand   []string
	keys   map[string]string // of the view
	games  int
	last   []string // the list of the turn before
}

// play is the main loop of every beginner.
func (b *beginner) play() {
	defer b.end()
	for {
		line, err := b.in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		words := strings.Split(line, " ")
		out := ""
		switch words[0] {
		case "timba":
			out = "ready\n"
		case "turn":
			out = b.answer(b, words[3:])
			b.last = words[3:]
		case "bye":
			if b.other == nil || b.other(b, line, words) == "" {
				return
			}
		default:
			if words[0] == "game" {
				b.games++
			}
			if words[0] == "view" {
				b.keys = map[string]string{}
				for _, w := range words[1:] {
					k, v, _ := strings.Cut(w, "=")
					b.keys[k] = v
				}
			}
			if b.other != nil {
				out = b.other(b, line, words)
			}
		}
		io.WriteString(b.out, out)
	}
}

// first returns the answer of a correct bot: the first legal move.
func first(_ *beginner, moves []string) string { return "move " + moves[0] + "\n" }

// says returns a mistake: the bot writes its answer by a format that contains the first legal move.
func says(format string) func(*beginner) {
	return func(b *beginner) {
		b.answer = func(_ *beginner, moves []string) string { return fmt.Sprintf(format, moves[0]) }
	}
}

// on returns a mistake: the bot writes out for each line that begins with prefix.
func on(prefix, out string) func(*beginner) {
	return func(b *beginner) {
		b.other = func(_ *beginner, line string, _ []string) string {
			if strings.HasPrefix(line, prefix) {
				return out
			}
			return ""
		}
	}
}

// crash ends the bot as an uncaught exception does.
func (b *beginner) crash(format string, args ...any) {
	fmt.Fprintf(b.err, "Traceback (most recent call last):\n"+format+"\n", args...)
	panic(exit(1))
}

// crashes returns a mistake: the bot crashes at lines for which bad returns a message.
func crashes(bad func(b *beginner, line string, words []string) string) func(*beginner) {
	return func(b *beginner) {
		b.other = func(b *beginner, line string, words []string) string {
			if why := bad(b, line, words); why != "" && words[0] != "bye" {
				b.crash("%s", why)
			}
			return ""
		}
	}
}

// beginnerCase is a mistake, and the expected verdict.
type beginnerCase struct {
	name string
	make func(*beginner)
	verdict
}

// beginners are all mistakes.
var beginners = []beginnerCase{
	{"prompt", says("Your move? move %s\n"), verdict{FirstGame, Failed, []string{`"Your move? move 5c" is no line`}, "a prompt, as of input(\"...\") in Python"}},
	{"list", func(b *beginner) {
		b.answer = func(_ *beginner, moves []string) string { return "move " + strings.Join(moves, " ") + "\n" }
	}, verdict{FirstGame, Failed, []string{`"move 5c 7e 12e" is not a move`}, "not the whole list"}},
	{"debug list", func(b *beginner) {
		b.answer = func(_ *beginner, moves []string) string {
			return "['" + strings.Join(moves, "', '") + "']\nmove " + moves[0] + "\n"
		}
	}, verdict{FirstGame, Failed, []string{`"['5c', '7e', '12e']" is no line`}, "stderr"}},
	{"quotes", says("move '%s'\n"), verdict{FirstGame, Failed, []string{`the move "'5c'" is not in the list`}, `print the bare move "5c"`}},
	{"index", says("move 0%.0s\n"), verdict{FirstGame, Failed, []string{`the move "0" is not in the list`}, "that looks like a position in the list"}},
	{"upper", func(b *beginner) {
		b.answer = func(_ *beginner, moves []string) string { return "move " + strings.ToUpper(moves[0]) + "\n" }
	}, verdict{FirstGame, Failed, []string{`the move "5C" is not in the list`}, "in lower case"}},
	{"verb", says("Move %s\n"), verdict{FirstGame, Failed, []string{`"Move 5c" is no line`}, "write the verb in lower case"}},
	{"colon", says("move: %s\n"), verdict{FirstGame, Failed, []string{`"move: 5c" is no line`}, "one space after it"}},
	{"no verb", says("%s\n"), verdict{FirstGame, Failed, []string{`"5c" is no line`}, `the verb is missing: print "move 5c"`}},
	{"uci", says("bestmove %s\n"), verdict{FirstGame, Failed, []string{`"bestmove 5c" is no line`}, "not UCI"}},
	{"space after", says("move %s \n"), verdict{FirstGame, Failed, []string{`"move 5c " has a space too many`}, "the space at the end"}},
	{"space before", says(" move %s\n"), verdict{FirstGame, Failed, []string{`" move 5c" has a space too many`}, "the space at the beginning"}},
	{"two spaces", says("move  %s\n"), verdict{FirstGame, Failed, []string{`"move  5c" has a space too many`}, "exactly one space"}},
	{"tab", says("move\t%s\n"), verdict{FirstGame, Failed, []string{"is not printable ASCII"}, "not by a tab"}},
	{"println", says("move %s\n\n"), verdict{FirstGame, Failed, []string{`"" is no line`}, "needs no println"}},
	{"colour", says("move \x1b[1m%s\x1b[0m\n"), verdict{FirstGame, Failed, []string{"is not printable ASCII"}, "do not colour"}},
	{"mark", says("\xef\xbb\xbfmove %s\n"), verdict{FirstGame, Failed, []string{"is not printable ASCII"}, "byte order mark"}},
	{"info", says("info I like %s\nmove 5c\n"), verdict{FirstGame, Failed, []string{`"info I like 5c" is not an info`}, "key=value pairs"}},
	{"score", says("info score=good\nmove %s\n"), verdict{Output, Warning, []string{`score is "good", not a number`}, ""}},
	{"old list", func(b *beginner) {
		b.answer = func(b *beginner, moves []string) string {
			for _, m := range b.last {
				if !slices.Contains(moves, m) {
					return "move " + m + "\n"
				}
			}
			return "move " + moves[0] + "\n"
		}
	}, verdict{FirstGame, Failed, []string{"is not in the list of its turn", "is not in hand"}, "the list of the previous turn"}},

	{"echo", func(b *beginner) {
		b.other = func(_ *beginner, line string, _ []string) string { return line + "\n" }
	}, verdict{FirstGame, Failed, []string{`"game brisca players=2 `, "is no line of the protocol"}, "do not print what is read"}},
	{"answers views", func(b *beginner) {
		b.other = func(b *beginner, _ string, words []string) string {
			if words[0] != "view" {
				return ""
			}
			hand, _, _ := strings.Cut(b.keys["hand"], ",")
			return "move " + hand + "\n"
		}
		b.answer = func(*beginner, []string) string { return "" }
	}, verdict{Silent, Failed, []string{`"move 5c" came when no move was asked for, after the line "view `}, `answer each "turn" line once`}},
	{"answers twice", says("move %[1]s\nmove %[1]s\n"), verdict{FirstGame, Failed, []string{"one turn was answered twice"}, `exactly one "move"`}},
	{"good game", on("end ", "good game\n"), verdict{FirstGame, Failed, []string{`"good game" is no line`}, "stderr"}},
	{"one more move", on("end ", "move 5c\n"), verdict{FirstGame, Failed, []string{`"move 5c" came when no move was asked for, after the end of the game`}, `print nothing after "end"`}},
	{"unknown command", func(b *beginner) {
		b.other = func(_ *beginner, _ string, words []string) string {
			if slices.Contains([]string{"game", "event", "view", "fault", "end", "bye"}, words[0]) {
				return ""
			}
			return "# unknown\nerror unknown command\n"
		}
	}, verdict{Verbs, Failed, []string{`"error unknown command" is no line`}, "ignore every line whose first word you do not know"}},

	{"reads all", func(b *beginner) {
		data, _ := io.ReadAll(b.in)
		b.in = bufio.NewReader(bytes.NewReader(data))
	}, verdict{Start, Failed, []string{"it came only after the bot's input was closed"}, "read line by line"}},
	{"buffers", func(b *beginner) {
		w := bufio.NewWriter(b.out)
		b.out, b.end = w, func() { w.Flush() }
	}, verdict{Start, Failed, []string{"it came only after the bot's input was closed, so it was stuck in a buffer"}, "flush the output after every line"}},
	{"buffers moves", func(b *beginner) {
		w := bufio.NewWriter(b.out)
		b.end = func() { w.Flush() }
		b.answer = func(_ *beginner, moves []string) string { fmt.Fprintf(w, "move %s\n", moves[0]); return "" }
	}, verdict{FirstGame, Failed, []string{"no move of ply 0 within", "so it was stuck in a buffer"}, "flush the output after every line"}},

	{"one game", func(b *beginner) {
		b.other = func(_ *beginner, _ string, words []string) string {
			if words[0] == "end" {
				panic(exit(0))
			}
			return ""
		}
	}, verdict{ManyGames, Failed, []string{"the process exited with status 0", "; a fresh process plays the same game without a fault"}, `keep reading after "end"`}},
	{"remembers", func(b *beginner) {
		b.other = func(b *beginner, _ string, words []string) string {
			if words[0] == "event" && words[1] == "deal" {
				b.hand = append(b.hand, strings.Split(words[2], ",")...)
			}
			return ""
		}
		b.answer = func(b *beginner, moves []string) string {
			for i, c := range b.hand { // the first card that it thinks it holds
				b.hand = slices.Delete(b.hand, i, i+1)
				return "move " + c + "\n"
			}
			return "move " + moves[0] + "\n"
		}
	}, verdict{Faults, Failed, []string{"is not in hand", "a fresh process plays the same game without a fault"}, `reset everything that the bot remembers at the line "game"`}},
	{"first seat", func(b *beginner) {
		seat := ""
		b.other = func(b *beginner, line string, words []string) string {
			if words[0] != "game" {
				return ""
			}
			_, after, _ := strings.Cut(line, " seat=")
			if now, _, _ := strings.Cut(after, " "); seat == "" {
				seat = now
			} else if seat != now {
				b.crash("AssertionError: I sit in seat %s", seat)
			}
			return ""
		}
	}, verdict{ManyGames, Failed, []string{"the process exited with status 1", "a fresh process plays the same game without a fault"}, "reset everything that the bot remembers at the line \"game\""}},

	{"unseen card", crashes(func(_ *beginner, line string, words []string) string {
		if words[0] == "event" && words[1] == "draw" && words[3] == "?" {
			return "ValueError: invalid literal for int() with base 10: '?'"
		}
		return ""
	}), verdict{FirstGame, Failed, []string{"the process exited with status 1"}, `a card that the seat may not see is written "?"`}},
	{"empty list", crashes(func(_ *beginner, line string, words []string) string {
		if words[0] == "view" && strings.Contains(line, "trick=-") {
			return "ValueError: invalid literal for int() with base 10: '-'"
		}
		return ""
	}), verdict{FirstGame, Failed, []string{"the process exited with status 1"}, `an empty list is written "-"`}},
	{"unknown verb", crashes(func(_ *beginner, _ string, words []string) string {
		if !slices.Contains([]string{"game", "event", "view", "fault", "end"}, words[0]) {
			return "KeyError: " + words[0]
		}
		return ""
	}), verdict{Verbs, Failed, []string{"the process exited with status 1"}, "ignore every line whose first word you do not know"}},
	{"unknown event", crashes(func(_ *beginner, _ string, words []string) string {
		if words[0] == "event" && words[1] == "novelty" {
			return "KeyError: 'novelty'"
		}
		return ""
	}), verdict{Events, Failed, []string{"the process exited with status 1"}, "ignore events that you do not know"}},
	{"unknown key", crashes(func(_ *beginner, line string, words []string) string {
		if words[0] == "view" && strings.Contains(line, " novelty=1") {
			return "TypeError: View() got an unexpected keyword argument"
		}
		return ""
	}), verdict{Keys, Failed, []string{"the process exited with status 1"}, "ignore the others"}},
	{"order", crashes(func(_ *beginner, _ string, words []string) string {
		if words[0] != "view" || strings.Contains(strings.Join(words, " "), "novelty") {
			return ""
		}
		if !strings.HasPrefix(words[1], "hand=") {
			return "ValueError: not a hand"
		}
		return ""
	}), verdict{Order, Failed, []string{"the process exited with status 1"}, "look up keys by name"}},
	{"short buffer", crashes(func(_ *beginner, line string, _ []string) string {
		if len(line) > 1024 {
			return "buffer overflow"
		}
		return ""
	}), verdict{Long, Failed, []string{"the process exited with status 1"}, "read lines of up to 4096 bytes"}},
	{"one read", func(b *beginner) {
		b.in = bufio.NewReaderSize(wholeLines{b}, 64<<10)
	}, verdict{Pieces, Failed, []string{"the process exited with status 1"}, "read until the line feed"}},
	{"fault is mine", crashes(func(_ *beginner, _ string, words []string) string {
		if words[0] == "fault" {
			return "RuntimeError: I lost"
		}
		return ""
	}), verdict{Faults, Failed, []string{"the process exited with status 1"}, "ignore it if you do not need it"}},
	{"movetime", crashes(func(_ *beginner, line string, words []string) string {
		if words[0] == "game" && !strings.Contains(line, " movetime=") {
			return "KeyError: 'movetime'"
		}
		return ""
	}), verdict{Bank, Failed, []string{"the process exited with status 1"}, "has the keys bank and inc instead of movetime"}},

	{"stays", on("bye", "# still here\n"), verdict{Bye, Failed, []string{"exits only when its input is closed"}, `leave the loop at the line "bye"`}},
	{"bad exit", func(b *beginner) { b.end = func() { panic(exit(1)) } }, verdict{Bye, Warning, []string{"after games: it exited with status 1"}, ""}},
	{"dice", func(b *beginner) {
		b.answer = func(_ *beginner, moves []string) string {
			return "move " + moves[rand.IntN(len(moves))] + "\n"
		}
	}, verdict{Repeat, OK, []string{"for information: with the same seed it plays the same game differently"}, ""}},
}

// endless is a bot that never stops writing.
func endless(b *beginner) {
	b.answer = func(b *beginner, moves []string) string {
		for {
			if _, err := io.WriteString(b.out, "# thinking\n"); err != nil {
				panic(exit(1))
			}
		}
	}
}

// wholeLines is a bot that takes the bytes of one read for whole lines.
type wholeLines struct{ *beginner }

func (w wholeLines) Read(p []byte) (int, error) {
	n, err := w.pipe.Read(p)
	if n > 0 && p[n-1] != '\n' {
		w.crash("json.decoder.JSONDecodeError: half a line")
	}
	return n, err
}

// begin returns a bot with a mistake, for a checkup.
func begin(change func(*beginner)) func(in io.Reader, out, err io.Writer) error {
	return func(in io.Reader, out, err io.Writer) error {
		b := &beginner{pipe: in, in: bufio.NewReader(in), out: out, err: err, end: func() {}, answer: first}
		change(b)
		b.play()
		return nil
	}
}

func TestBeginners(t *testing.T) {
	var list []checkup
	for _, b := range beginners {
		list = append(list, checkup{b.name, "@first", begin(b.make), func(o *Options) {
			o.Games = oneGame(t, "brisca")
			switch { // they answer late, however long they have
			case b.check == Start:
				o.Clock.Startup = 300 * time.Millisecond
			case b.name == "buffers moves":
				o.Clock.Move = 300 * time.Millisecond
			}
		}})
	}
	reports := checked(t, list)
	for _, b := range beginners {
		t.Run(b.name, func(t *testing.T) { b.compare(t, reports[b.name]) })
	}
}
