package commands

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/terminal/draw"
	"github.com/timba-arena/timba/terminal/playback"
	"github.com/timba-arena/timba/web/board"
)

func newReplay() *cobra.Command {
	cmd := &cobra.Command{Use: "replay", Short: "Show, verify, export or feed replays, and try --resign on them"}
	return cli.Group(cmd, newReplayShow(), newReplayVerify(), newReplayExport(), newReplayFeed(), newReplayScores())
}

// readReplay returns the replay in the file at path, or on stdin if path is "-", and its game. After an
// interruption of the command it returns an error, so that commands that read many files end.
func readReplay(cmd *cobra.Command, path string) (*referee.Replay, *rules.Game, error) {
	data, err := cli.ReadInput(cmd, path, cli.MaxInput)
	if err != nil {
		return nil, nil, fmt.Errorf("replay: %w", err)
	}
	r, err := referee.DecodeReplay(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	g, err := games.Find(r.Game)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, g, nil
}

func newReplayVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE|DIRECTORY...",
		Short: "Rebuild games from their replays and print the differences",
		Long: "Rebuilds each game by the rules from its options, seed and moves, and prints the\n" +
			"differences: illegal moves, a wrong result, an adjudication that does not follow from the\n" +
			"bots' scores, a deal that does not match its commitment.\n" +
			"A directory of timba match or timba replays stands for all its replays.\n\n" +
			"Exit status: 0 no differences, 1 differences, 2 a file cannot be read.",
		Example: "  timba replay verify replays\n  timba replay verify replays/games/0000-00000-*.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := playback.Files(args)
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			bad := 0
			for _, path := range files {
				r, g, err := readReplay(cmd, path)
				if err != nil {
					return err
				}
				differences := r.Verify(g)
				if len(differences) == 0 {
					continue
				}
				bad++
				for _, d := range differences {
					fmt.Fprintf(w, "%s: %v\n", path, d)
				}
			}
			fmt.Fprintf(w, "%d of %d replays verified\n", len(files)-bad, len(files))
			if bad > 0 {
				return cli.ErrFault
			}
			return nil
		},
	}
}

type showFlags struct {
	seat, ply        int
	plain, all, step bool
}

func newReplayShow() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show FILE|DIRECTORY...",
		Short: "Draw games move by move",
		Long: "Draws games move by move: what the seat to move sees, its move, its thoughts and the events.\n" +
			"With --seat it shows only what that seat could see, with --all the hands of all seats.\n" +
			"A directory of timba match or timba replays stands for all its replays.\n\n" +
			"--step shows one position at a time in a terminal: n is next, p is previous, q quits.",
		Example: "  timba replay show replays/games/0000-00000-0.json --seat 1\n" +
			"  timba replay show replays/games/0000-00000-0.json --ply 12 --all\n" +
			"  timba replay show replays --ply 0",
		Args: cobra.MinimumNArgs(1),
		RunE: f.showAll,
	}
	flags := cmd.Flags()
	cli.NumberFlag(cmd, &f.seat, "seat", -1, 0, math.MaxInt, "show only what this seat could see")
	cli.NumberFlag(cmd, &f.ply, "ply", -1, 0, math.MaxInt, "show only the position after this many moves")
	flags.BoolVar(&f.all, "all", false, "show the cards of all seats")
	flags.BoolVar(&f.plain, "plain", false, "show lines of the protocol instead of drawings")
	flags.BoolVar(&f.step, "step", false, "step through the positions with keys")
	cmd.MarkFlagsMutuallyExclusive("seat", "all")
	return cmd
}

// errNoPly is the error for the number of a move (ply) after the end of a game.
var errNoPly = errors.New("does not exist")

// showAll prints the games in the named replay files, and in all files of named directories. If there are several
// files, it prints the name of each above its game.
func (f *showFlags) showAll(cmd *cobra.Command, args []string) error {
	files, err := playback.Files(args)
	if err != nil {
		return err
	}
	if f.step && len(files) > 1 {
		return fmt.Errorf("--step shows one game, not %d: name one file", len(files))
	}
	w := cmd.OutOrStdout()
	for i, path := range files {
		r, g, err := readReplay(cmd, path)
		if err != nil {
			return err
		}
		if len(files) > 1 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s:\n", draw.Clean(path))
		}
		err = f.show(cmd, r, g)
		if len(files) > 1 && errors.Is(err, errNoPly) {
			fmt.Fprintln(w, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (f *showFlags) show(cmd *cobra.Command, r *referee.Replay, g *rules.Game) error {
	if f.seat >= len(r.Seats) {
		return fmt.Errorf("seat %d does not exist: the game has seats 0 to %d", f.seat, len(r.Seats)-1)
	}
	w := cmd.OutOrStdout()
	game, err := playback.New(r, g)
	if err != nil {
		return err
	}
	if f.ply >= len(game.Frames) {
		return fmt.Errorf("ply %d %w: the game has plies 0 to %d", f.ply, errNoPly, len(game.Frames)-1)
	}
	s := playback.Screen{Writer: w, Style: draw.StyleFor(w), Game: game, Seat: f.seat, All: f.all, Plain: f.plain}
	switch {
	case f.step:
		_, err := cli.UntilInterrupt(cmd, func() (any, error) { return nil, s.Steps(cmd.InOrStdin(), max(0, f.ply)) })
		return err
	case f.ply >= 0:
		s.ShowFrame(f.ply)
	default:
		s.ShowGame()
	}
	return nil
}

func newReplayExport() *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "export FILE|DIRECTORY...",
		Short: "Export replays as a page, as a table for training, or as text",
		Long: "Exports one replay as a self-contained HTML page that plays the game back, or one or more\n" +
			"replays as a table, csv or json. The table has one row for each move: what the seat saw, its\n" +
			"legal moves, its move, and its result in the game. With --format text each game is one line\n" +
			"with its options, seed and moves, which you can paste, or give to timba match --openings.\n" +
			"A page is written next to FILE with the extension .html, other formats to standard output,\n" +
			"unless --out names a file (- is standard output).",
		Example: "  timba replay export replays/games/0000-00000-0.json\n" +
			"  timba replay export --format csv --out moves.csv replays\n" +
			"  timba replay export --format text replays/games/0000-00000-0.json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := playback.Files(args)
			if err != nil {
				return err
			}
			if format == "html" && len(args) > 1 {
				return fmt.Errorf("export: a page shows one game, not %d: export the files one at a time, or use --format csv", len(args))
			}
			if format == "html" && out == "" {
				out = pageName(args[0])
			}
			if err := checkOutput(out, args); err != nil {
				return err
			}
			switch format {
			case "html":
				return cli.WriteFile(cmd, out, func(w io.Writer) error { return exportPage(cmd, w, args[0]) })
			case "csv":
				return cli.WriteFile(cmd, out, func(w io.Writer) error { return board.WriteCSV(w, rowsOf(cmd, args)) })
			case "json":
				return cli.WriteFile(cmd, out, func(w io.Writer) error { return board.WriteJSON(w, rowsOf(cmd, args)) })
			case "text":
				return cli.WriteFile(cmd, out, func(w io.Writer) error { return exportText(cmd, w, args) })
			}
			return fmt.Errorf("export: format %q does not exist: try html, csv, json or text", format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "html", "html, csv, json or text")
	cmd.Flags().StringVarP(&out, "out", "o", "", "the file to write, - for standard output")
	return cmd
}

func pageName(path string) string {
	if path == "-" {
		return "-"
	}
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".html"
}

// checkOutput returns an error if out, the name of an output file, is one of the input files in the argument in. The
// name "-" means standard output.
func checkOutput(out string, in []string) error {
	to, err := os.Stat(out)
	if err != nil || out == "-" {
		return nil
	}
	for _, path := range in {
		if from, err := os.Stat(path); err == nil && path != "-" && os.SameFile(from, to) {
			return fmt.Errorf("out: %q would replace the replay %q: name another file with --out", out, path)
		}
	}
	return nil
}

func exportPage(cmd *cobra.Command, w io.Writer, path string) error {
	r, g, err := readReplay(cmd, path)
	if err != nil {
		return err
	}
	game, err := board.NewRecording(r, g)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return game.WritePage(w)
}

// exportText writes two lines to w for each replay file in paths: a comment with the players and the result, and the
// game in notation.
func exportText(cmd *cobra.Command, w io.Writer, paths []string) error {
	for _, path := range paths {
		r, g, err := readReplay(cmd, path)
		if err != nil {
			return err
		}
		v, err := r.Resolve(g)
		if err == nil {
			err = r.CheckSeats()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(w, "# %s\n%s\n", draw.Clean(r.ResultText()), r.Notation(v))
	}
	return nil
}

// rowsOf yields a row for each move of the replays in the files at paths, one file after the other. After an
// error of reading a file it stops.
func rowsOf(cmd *cobra.Command, paths []string) iter.Seq2[board.Row, error] {
	return func(yield func(board.Row, error) bool) {
		for _, path := range paths {
			r, g, err := readReplay(cmd, path)
			if err != nil {
				yield(board.Row{}, err)
				return
			}
			for row, err := range board.Rows(r, g, path) {
				if err != nil {
					err = fmt.Errorf("%s: %w", path, err)
				}
				if !yield(row, err) {
					return
				}
			}
		}
	}
}

func newReplayFeed() *cobra.Command {
	seat := -1
	cmd := &cobra.Command{
		Use:   "feed FILE --seat N",
		Short: "Print what a bot was sent in a game, to debug it offline",
		Long: "Prints the lines that the bot of a seat was sent in a game, byte for byte: greeting, game,\n" +
			"events, views, turns with the time it had, faults, end, bye. A bot whose randomness comes\n" +
			"only from its seed makes the same moves again. No referee is needed: the bot's answers\n" +
			"are ignored.\n\n" +
			"If the bot failed between turns (exit, garbled, output), the replay does not show whether\n" +
			"the referee noticed it before or after it sent the last turn: the feed contains that turn.",
		Example: "  timba replay feed replays/games/0000-00000-0.json --seat 1 | ./bot\n" +
			"  timba replay feed game.json --seat 0 > game.in && gdb --args ./bot  # then: run < game.in",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, g, err := readReplay(cmd, args[0])
			if err != nil {
				return err
			}
			traffic, err := r.Traffic(g, seat)
			if err != nil {
				return err
			}
			if len(traffic) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "seat %d was sent no lines: its bot was not started in this game\n", seat)
			}
			for _, t := range traffic {
				if t.FromBot {
					continue
				}
				if _, err := cmd.OutOrStdout().Write(t.Lines); err != nil {
					return nil // the bot has ended and reads no more
				}
			}
			return nil
		},
	}
	cli.NumberFlag(cmd, &seat, "seat", -1, 0, math.MaxInt, "print the lines of this seat")
	cmd.MarkFlagRequired("seat")
	return cmd
}
