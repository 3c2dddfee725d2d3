package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/draw"
	"github.com/timba-arena/timba/referee/rules"
)

func newExplain() *cobra.Command {
	var number int
	var all bool
	cmd := &cobra.Command{
		Use:   "explain FOLDER|FILE",
		Short: "Say what went wrong in a match, or what was remarkable",
		Long: "Looks at the games of a match's folder, or at one replay. For each fault it shows who\n" +
			"failed where and how: the last lines of both sides, the bot's log, the position, the\n" +
			"legal moves, and what to change. Faults of one bot and kind are shown once, the others\n" +
			"by a line each. Without faults it tells the longest thinks, the moves after which a bot\n" +
			"thought otherwise of its game, and the closest and the most lopsided deals.",
		Example: "  timba explain replays\n" +
			"  timba explain replays --fault 3\n" +
			"  timba explain replays/games/0000-00002-1.json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			games, err := openGames(cmd, args[0])
			if err != nil {
				return err
			}
			e := &explainer{Writer: cmd.OutOrStdout(), Style: draw.For(cmd.OutOrStdout()), games: games, path: args[0], all: all}
			for _, g := range games {
				for _, f := range g.replay.Faults {
					e.faults = append(e.faults, exhibit{g, f})
				}
			}
			if number != 0 || cmd.Flags().Changed("fault") {
				return e.one(number)
			}
			if len(e.faults) == 0 {
				e.summary()
				return nil
			}
			return e.explain()
		},
	}
	cmd.Flags().IntVar(&number, "fault", 0, "only this fault, by its number from 1")
	cmd.Flags().BoolVar(&all, "all", false, "all faults in full")
	return cmd
}

// kept is a game as it was kept: its replay, and logs beside it.
type kept struct {
	path   string
	match  string // its number in a tournament, as the file's name has it
	replay *referee.Replay
	rules  rules.Game
}

// exhibit is a fault and its game.
type exhibit struct {
	*kept
	fault referee.Fault
}

// openGames reads one replay, or all of a match's folder in order.
func openGames(cmd *cobra.Command, path string) ([]*kept, error) {
	paths := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if paths, err = filepath.Glob(filepath.Join(globbed(path), "games", "*.json")); err != nil {
			return nil, fmt.Errorf("explain: %w", err)
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("explain: %s holds no games: name a replay, or a folder that timba match --out has written", path)
		}
		slices.Sort(paths)
	}
	var games []*kept
	for _, p := range paths {
		r, g, err := readReplay(cmd, p)
		if err != nil {
			return nil, err
		}
		if _, err := r.Settle(g); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		match, _, _ := strings.Cut(filepath.Base(p), "-")
		games = append(games, &kept{p, match, r, g})
	}
	return games, nil
}

// globbed is a path as a pattern that matches it alone.
func globbed(path string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(path)
}

// name is the bot of a seat.
func (k *kept) name(seat int) string {
	if seat < 0 || seat >= len(k.replay.Seats) {
		return fmt.Sprintf("seat %d", seat)
	}
	return draw.Clean(k.replay.Seats[seat].Name)
}

// log is the path of what a seat's bot wrote beside its moves.
func (k *kept) log(seat int) string {
	base := strings.TrimSuffix(filepath.Base(k.path), ".json")
	return filepath.Join(filepath.Dir(k.path), "..", "logs", fmt.Sprintf("%s-seat%d.log", base, seat))
}

// explainer tells of games.
type explainer struct {
	io.Writer
	draw.Style
	path   string
	games  []*kept
	faults []exhibit
	all    bool
}

func (e *explainer) one(number int) error {
	if len(e.faults) == 0 {
		return errors.New("explain: there are no faults: leave --fault out")
	}
	if number < 1 || number > len(e.faults) {
		return fmt.Errorf("explain: fault %d does not exist: there are faults 1 to %d", number, len(e.faults))
	}
	return e.fault(number - 1)
}

// explain shows the first fault of each bot and kind in full, the others in a
// line.
func (e *explainer) explain() error {
	type kind struct {
		bot  string
		code protocol.Code
	}
	shown := map[kind]bool{}
	var rest []string
	for i, x := range e.faults {
		k := kind{x.name(x.fault.Seat), x.fault.Code}
		if !e.all && (shown[k] || x.fault.Disqualified()) {
			rest = append(rest, fmt.Sprintf("%4d  %s: %s", i+1, x.where(), draw.Clean(x.fault.Text)))
			continue
		}
		shown[k] = true
		if err := e.fault(i); err != nil {
			return err
		}
	}
	if rest != nil {
		fmt.Fprintf(e, "\n%s\n", e.Rule("more of the same"))
		for _, line := range rest {
			fmt.Fprintln(e, line)
		}
		fmt.Fprintf(e, "\none in full: %s explain %s --fault N\n", self(), quoted(e.path))
	}
	return nil
}

// where says whose fault it was and in which game.
func (x exhibit) where() string {
	m := x.replay.Match
	return fmt.Sprintf("%s (seat %d), deal %d, rotation %d, ply %d: %s", x.name(x.fault.Seat), x.fault.Seat, m.Deal, m.Rotation, x.fault.Ply, x.fault.Code)
}

func (e *explainer) fault(i int) error {
	x := e.faults[i]
	f := x.fault
	traffic, err := x.replay.Traffic(x.rules, f.Seat)
	if err != nil {
		return fmt.Errorf("%s: %w", x.path, err)
	}
	film, err := newFilm(x.replay, x.rules)
	if err != nil {
		return fmt.Errorf("%s: %w", x.path, err)
	}
	fmt.Fprintf(e, "\n%s\n", e.Rule(e.Alert(fmt.Sprintf("fault %d of %d: %s", i+1, len(e.faults), f.Code))))
	fmt.Fprintf(e, "%s\n%s\nreplay: %s\n", x.where(), draw.Clean(f.Text), x.path)
	e.lines(traffic)
	e.log(x)
	c := caseOf(film, f)
	if c.asked {
		fmt.Fprintf(e, "\n%s\n", e.Bold("the position"))
		p := film.position(c.frame, f.Seat, false)
		fmt.Fprint(e, e.Position(p))
		fmt.Fprintf(e, "\n%s\n  %s\n", e.Bold("legal moves"), strings.Join(c.legal, " "))
	}
	fmt.Fprintf(e, "\n%s\n", e.Bold("what to change"))
	for _, advice := range c.advice() {
		fmt.Fprintf(e, "%s\n", paragraph("- ", advice, 78))
	}
	if len(traffic) > 0 {
		fmt.Fprintf(e, "\nthe same lines again: %s replay feed %s --seat %d | YOUR BOT\n", self(), quoted(x.path), f.Seat)
	}
	return nil
}

// lastLines is how many lines of a conversation or a log are shown.
const lastLines = 12

// lines shows the end of what was said, "<" to the bot, ">" by it. A move is what
// the replay has of its answers; the one that failed is in the fault's text.
func (e *explainer) lines(traffic []referee.Traffic) {
	var lines []string
	for _, t := range traffic {
		arrow := "<"
		if t.FromBot {
			arrow = ">"
		}
		for line := range strings.Lines(string(t.Lines)) {
			lines = append(lines, arrow+" "+strings.TrimSuffix(line, "\n"))
		}
	}
	fmt.Fprintf(e, "\n%s %s\n", e.Bold("the last lines"), e.Dim("(< to the bot, > its answers)"))
	if len(lines) == 0 {
		fmt.Fprintln(e, "  none: the bot was not started")
		return
	}
	if n := len(lines) - lastLines; n > 0 {
		fmt.Fprintf(e, "  %s\n", e.Dim(fmt.Sprintf("... %d lines before", n)))
		lines = lines[n:]
	}
	for _, line := range lines {
		line = draw.Clean(line)
		if line[0] == '>' {
			line = e.Bold(line)
		}
		fmt.Fprintf(e, "  %s\n", line)
	}
}

// log shows the end of what the bot wrote on stderr.
func (e *explainer) log(x exhibit) {
	path := x.log(x.fault.Seat)
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		fmt.Fprintf(e, "\n%s\n", e.Dim("its log is empty: it wrote nothing on stderr"))
		return
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	fmt.Fprintf(e, "\n%s %s\n", e.Bold("the end of its log"), e.Dim("("+path+")"))
	for _, line := range lines[max(0, len(lines)-lastLines):] {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\r"), "\t", "    ")
		fmt.Fprintf(e, "  | %s\n", draw.Clean(line))
	}
}

// paragraph breaks a text into lines, the first after a mark.
func paragraph(mark, text string, columns int) string {
	var out strings.Builder
	out.WriteString(mark)
	n := len(mark)
	for i, word := range strings.Fields(text) {
		if i > 0 && n+1+len(word) > columns {
			out.WriteString("\n" + strings.Repeat(" ", len(mark)))
			n = len(mark)
		} else if i > 0 {
			out.WriteString(" ")
			n++
		}
		out.WriteString(word)
		n += len(word)
	}
	return out.String()
}

// best are the first few of a list by how much they are worth.
func best[T any](items []T, n int, worth func(T) float64) []T {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b T) int { return cmp.Compare(worth(b), worth(a)) })
	return items[:min(n, len(items))]
}
