package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

// brokenRule is a fault with what its game tells about it.
type brokenRule struct {
	referee.Fault
	asked    bool     // it was the seat's turn
	frame    int      // of the film
	legal    []string // moves, where it was asked
	before   []string // the legal moves of the seat's turn before, nil for none
	turns    int      // that the seat had answered in this game
	longest  float64  // milliseconds of its longest think
	movetime int64    // milliseconds, 0 with a bank
}

func caseOf(film *film, f referee.Fault) brokenRule {
	c := brokenRule{Fault: f, frame: f.Ply, movetime: film.replay.Clock.Movetime}
	if f.Ply < 0 || f.Ply >= len(film.frames) {
		return c
	}
	for _, fr := range film.frames[:f.Ply] {
		if m := fr.move; m != nil && m.Seat == f.Seat && !m.StandIn {
			c.turns++
			c.before = fr.legal
			c.longest = max(c.longest, m.MS)
		}
	}
	if fr := film.frames[f.Ply]; fr.turn == f.Seat && !f.BeforeGame() {
		c.asked, c.legal = true, fr.legal
	}
	return c
}

// advice says what to change, the likeliest first.
func (c brokenRule) advice() []string {
	if c.Disqualified() {
		return []string{"nothing here: look at its faults before this game, which put it out of the match."}
	}
	switch c.Code {
	case protocol.Startup:
		return c.startup()
	case protocol.Timeout:
		return c.timeout()
	case protocol.Illegal:
		return c.illegal()
	case protocol.Garbled:
		return c.garbled()
	case protocol.Exit:
		return c.exit()
	case protocol.Output:
		return []string{"write logs to standard error: standard output is for ready, move and info lines, at most 64 KiB between two turns."}
	case protocol.Memory:
		return []string{"keep less: clear tables between games and bound what grows with the search. The limit holds for the bot and all that it starts."}
	case protocol.Processes:
		return []string{"start fewer processes and threads, and wait for those that have ended: each one that was not waited for still counts."}
	}
	return []string{"leave out what the sandbox does not allow: a bot needs its own files, TMPDIR, and its standard input and output, nothing else."}
}

func (c brokenRule) startup() []string {
	if strings.Contains(c.Text, "could not be started") {
		return []string{
			"try the command by hand in the bot's folder: the path must be right, the file executable, and a script needs a first line such as #!/usr/bin/env python3.",
			"in timba.toml, run is a list of words: [\"python3\", \"bot.py\"].",
		}
	}
	if strings.Contains(c.Text, "no \"ready\"") {
		return []string{
			"answer the line \"timba 1\" with \"ready\" at once, and flush: output that stays in a buffer never arrives.",
			"if it has long preparations, do them before ready and raise --startup.",
		}
	}
	return []string{"the bot ended before it said ready: its log tells why; start it by hand, type \"timba 1\" and wait for its ready."}
}

func (c brokenRule) timeout() []string {
	if strings.Contains(c.Text, "did not read") {
		return []string{"read standard input to the end all the time: lines that are not read fill the pipe. A thread that reads while another one thinks does."}
	}
	var advice []string
	flush := "flush standard output after every line (print(..., flush=True), fflush(stdout), autoflush): output that stays in a buffer never arrives."
	if c.turns == 0 {
		return append(advice, "it has answered no turn of this game yet, so look at the output first: "+flush,
			"see that the loop reads line by line: one that waits for the end of the input or for a full buffer never begins.")
	}
	if c.movetime > 0 && c.longest > float64(c.movetime)/2 {
		return []string{fmt.Sprintf("think for less: its longest think before was %.0f ms of %d ms. Look at the clock inside the search, not only between its depths, and keep some milliseconds in reserve.", c.longest, c.movetime),
			"take the time from the turn line (turn PLY MS ...), not from a constant."}
	}
	if c.movetime == 0 {
		advice = append(advice, "spend the bank in shares: the turn line tells what is left of it, and the inc comes back after each move.")
	}
	return append(advice,
		fmt.Sprintf("it had answered %d turns, the slowest in %.0f ms, so this one is different: look for an endless loop, or for a question that waits for a line that never comes.", c.turns, c.longest),
		flush)
}

func (c brokenRule) illegal() []string {
	move := quotedStart(c.Text)
	var advice []string
	if near := nearest(move, c.legal); near != "" {
		advice = append(advice, fmt.Sprintf("write moves letter for letter as they are listed: %q instead of %q.", near, move))
	}
	if slices.Contains(c.before, move) {
		advice = append(advice, fmt.Sprintf("%q was a legal move of its turn before: does it answer an old turn, or think with a position that it has not brought up to date?", move))
	}
	return append(advice,
		"choose among the moves that the turn line lists: they are all legal ones, and the referee accepts nothing else.",
		"take the position from the view line, which is complete; a bot that follows the events must start anew with every game line.")
}

// nearest is the listed move that differs from another only in how it is
// written, "" if there is none.
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

// quotedStart is the text in the quotes that a fault's text begins with.
func quotedStart(text string) string {
	word, err := strconv.QuotedPrefix(text)
	if err != nil {
		return ""
	}
	move, err := strconv.Unquote(word)
	if err != nil {
		return ""
	}
	return move
}

func (c brokenRule) garbled() []string {
	line := quotedStart(strings.TrimPrefix(c.Text, `before "ready": `))
	stderr := "write what is for people to standard error, or begin the line with #: standard output belongs to the protocol."
	switch {
	case c.BeforeGame():
		return []string{"let \"ready\" be the first line that it writes, after it has read \"timba 1\".", stderr}
	case strings.Contains(c.Text, "no move was asked for"):
		return []string{
			"answer each turn line with one move line, and no other line with any.",
			"a move that comes too late shows like this as well, and so does one that is printed twice, such as by a function that prints and returns it.",
		}
	case strings.Contains(c.Text, "in the middle of a game"):
		return []string{"say ready once to each line \"timba 1\", which comes once to each process."}
	case strings.Contains(c.Text, "longer than"):
		return []string{"end every line with LF (\\n): what came without one was too long for a line.", stderr}
	case strings.Contains(c.Text, "printable ASCII"):
		return []string{"write ASCII only, in comments too: no accents, no tabs, no byte order mark, no escape codes.", stderr}
	case slices.Contains(c.legal, line):
		return []string{fmt.Sprintf("write the verb before the move: \"move %s\".", line)}
	case strings.Contains(c.Text, "a space too many"):
		return []string{"one space between words, none before or after: join the words of a line with single spaces."}
	}
	return []string{stderr, "look for print calls left over from debugging, and for libraries that greet on standard output."}
}

func (c brokenRule) exit() []string {
	switch {
	case strings.Contains(c.Text, "unfinished line"):
		return []string{"end the last line with LF before it exits, and exit only at bye or at the end of the input."}
	case strings.Contains(c.Text, "closed its"):
		return []string{"leave standard input and output open until bye."}
	case strings.Contains(c.Text, "SIGKILL"):
		return []string{"something killed it: most likely the machine ran out of memory. Keep less."}
	case strings.Contains(c.Text, "signal"):
		return []string{
			"it crashed: build it with debug information and sanitizers (cc -g -fsanitize=address,undefined), then give it the lines below again.",
			"look for an index outside of an array: an empty hand, \"-\" for an empty list, twelve seats.",
		}
	case strings.Contains(c.Text, "status 0"):
		return []string{
			"go on reading after a move: a bot plays many games in one process and ends at bye.",
			"\"-\" is an empty list and verbs may be new: neither may end the loop.",
		}
	}
	return []string{"its log has the error message, if it wrote one; give it the lines below again to see it fail.",
		"catch errors around the search and play the first legal move instead: a bad move loses less than a fault."}
}
