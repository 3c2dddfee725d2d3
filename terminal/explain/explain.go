// Package explain describes the faults in the games of a match or, if there are none, the remarkable moves.
// Begin with Explainer.
package explain

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/terminal/draw"
	"github.com/timba-arena/timba/terminal/playback"
)

// gameFault is a fault with the replay of its game.
type gameFault struct {
	*ReplayFile
	fault referee.Fault
}

// Explainer writes descriptions of games, and of the faults in them, to its Writer.
type Explainer struct {
	io.Writer
	draw.Style
	Paths []string // the paths that were passed to Open, to repeat them in suggested commands
	Games []*ReplayFile
	All   bool // describe every fault in full, not only the first of each kind
	// Command returns the command line by which the user runs this program with the given arguments.
	Command func(words ...string) string
	// DescribeBot adds to c, the circumstances of a fault, what else is known about the named bot, and returns the
	// result. path is the path of the replay. It also returns the arguments of the command that checks the bot, or
	// nil if there is no such command.
	DescribeBot func(path, name string, c fault.Circumstances) (fault.Circumstances, []string)

	faults []gameFault
}

// Explain describes the faults or, if there are none, the games. Of several faults of one bot with the same code,
// it describes the first in full and the others in one line each.
func (e *Explainer) Explain() error {
	e.collect()
	if len(e.faults) == 0 {
		e.writeSummary()
		return nil
	}
	return e.writeFaults()
}

// Fault describes one fault in full. The faults of all games are numbered from 1. If the number does not exist,
// Fault returns an error.
func (e *Explainer) Fault(number int) error {
	e.collect()
	if err := e.checkFault(number); err != nil {
		return err
	}
	return e.writeFault(number - 1)
}

// checkFault returns an error if the games have no fault with this number.
func (e *Explainer) checkFault(number int) error {
	if len(e.faults) == 0 {
		return errors.New("explain: the games have no faults: leave --fault out")
	}
	if number < 1 || number > len(e.faults) {
		return fmt.Errorf("explain: fault %d does not exist: there are faults 1 to %d", number, len(e.faults))
	}
	return nil
}

func (e *Explainer) collect() {
	e.faults = nil
	for _, g := range e.Games {
		for _, f := range g.Replay.Faults {
			e.faults = append(e.faults, gameFault{g, f})
		}
	}
}

// writeFaults describes the first fault of each bot and code in full, and the others in one line each.
func (e *Explainer) writeFaults() error {
	type kind struct {
		bot  string
		code protocol.Code
	}
	e.writeAdjudicated("of " + text.Count(len(e.Games), "game"))
	shown := map[kind]bool{}
	var rest []string
	for i, x := range e.faults {
		k := kind{x.name(x.fault.Seat), x.fault.Code}
		if !e.All && (shown[k] || x.fault.IsDisqualified()) {
			rest = append(rest, fmt.Sprintf("%4d  %s: %s", i+1, x.place(), draw.Clean(x.fault.Text)))
			continue
		}
		shown[k] = true
		if err := e.writeFault(i); err != nil {
			return err
		}
	}
	if rest != nil {
		fmt.Fprintf(e, "\n%s\n", e.Rule("more faults of the same kind"))
		for _, line := range rest {
			fmt.Fprintln(e, line)
		}
		again := "the same command with"
		if len(e.Paths) <= shownPaths {
			again = e.Command(append([]string{"explain"}, e.Paths...)...)
		}
		fmt.Fprintf(e, "\nshow one in full: %s --fault N\n", again)
	}
	return nil
}

// place returns a line with the bot, the game and the ply (number of moves before) of a fault.
func (x gameFault) place() string {
	m := x.Replay.Match
	return fmt.Sprintf("%s (seat %d), deal %d, rotation %d, ply %d: %s", x.name(x.fault.Seat), x.fault.Seat, m.Deal, m.Rotation, x.fault.Ply, x.fault.Code)
}

func (e *Explainer) writeFault(i int) error {
	x := e.faults[i]
	f := x.fault
	r, err := e.report(i)
	if err != nil {
		return err
	}
	fmt.Fprintf(e, "\n%s\n", e.Rule(e.Alert(fmt.Sprintf("fault %d of %d: %s", i+1, len(e.faults), f.Code))))
	fmt.Fprintf(e, "%s\n%s\nreplay: %s\n", x.place(), draw.Clean(r.Text), x.Path)
	e.writeTraffic(r)
	e.writeLog(r)
	if r.Legal != nil {
		game, err := playback.New(x.Replay, x.Rules)
		if err != nil {
			return fmt.Errorf("%s: %w", x.Path, err)
		}
		fmt.Fprintf(e, "\n%s\n", e.Bold("the position"))
		fmt.Fprint(e, e.Position(game.Position(f.Ply, f.Seat, false)))
		fmt.Fprintf(e, "\n%s\n  %s\n", e.Bold("legal moves"), strings.Join(r.Legal, " "))
	}
	fmt.Fprintf(e, "\n%s\n", e.Bold("what to change"))
	for _, advice := range r.Advice {
		fmt.Fprintf(e, "%s\n", text.Paragraph("- ", advice, 78))
	}
	if len(r.Lines) > 0 {
		fmt.Fprintf(e, "\nsend the same lines again: %s | YOUR BOT\n", e.Command("replay", "feed", x.Path, "--seat", strconv.Itoa(f.Seat)))
	}
	if r.Check != "" {
		fmt.Fprintf(e, "check the whole bot: %s\n", r.Check)
	}
	return nil
}

// shownPaths is the largest number of paths of replays that a suggested command lists. If there are more, the
// command lists none of them.
const shownPaths = 3

// lastLines is the number of lines that are shown from the end of the traffic and of a log.
const lastLines = 12

// lastTraffic returns the last lines to the bot, which begin with "<", and from it, with ">", and the number of the
// earlier ones. A replay contains only the bot's info lines and moves, so that the line that was a fault is missing.
func lastTraffic(traffic []referee.Traffic) (lines []string, earlier int) {
	for _, t := range traffic {
		arrow := "<"
		if t.FromBot {
			arrow = ">"
		}
		for line := range strings.Lines(string(t.Lines)) {
			lines = append(lines, arrow+" "+strings.TrimSuffix(line, "\n"))
		}
	}
	earlier = max(0, len(lines)-lastLines)
	return lines[earlier:], earlier
}

func (e *Explainer) writeTraffic(r faultReport) {
	fmt.Fprintf(e, "\n%s %s\n", e.Bold("the last lines"), e.Dim("(< to the bot, > its answers)"))
	if len(r.Lines) == 0 {
		fmt.Fprintln(e, "  none: the bot was not started")
		return
	}
	if r.EarlierLines > 0 {
		fmt.Fprintf(e, "  %s\n", e.Dim(fmt.Sprintf("... %d earlier lines", r.EarlierLines)))
	}
	for _, line := range r.Lines {
		line = draw.Clean(line)
		if line[0] == '>' {
			line = e.Bold(line)
		}
		fmt.Fprintf(e, "  %s\n", line)
	}
}

// readLog returns the content and the path of the log of the bot that had the fault. If the bot wrote nothing,
// the log is empty. path is "" if the log is not on this machine.
func (x gameFault) readLog() (log []byte, path string) {
	path = x.logPath(x.fault.Seat)
	log, err := os.ReadFile(path)
	if _, ok := numberOf(x.Path); err != nil && !ok {
		return nil, ""
	}
	return log, path
}

func (e *Explainer) writeLog(r faultReport) {
	switch {
	case r.Log == "":
		fmt.Fprintf(e, "\n%s\n", e.Dim("its log is not here: timba logs shows your bot's log of a game of the competition"))
		return
	case len(r.LogEnd) == 0:
		fmt.Fprintf(e, "\n%s\n", e.Dim("its log is empty: it wrote nothing to stderr"))
		return
	}
	fmt.Fprintf(e, "\n%s %s\n", e.Bold("the end of its log"), e.Dim("("+r.Log+")"))
	for _, line := range r.LogEnd {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    ")
		fmt.Fprintf(e, "  | %s\n", draw.Clean(line))
	}
}

func best[T any](items []T, n int, worth func(T) float64) []T {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b T) int { return cmp.Compare(worth(b), worth(a)) })
	return items[:min(n, len(items))]
}
