package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/draw"
	"github.com/timba-arena/timba/referee/playback"
	"github.com/timba-arena/timba/referee/rules"
)

// showFlags are the flags of replay show.
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.showAll(cmd, args)
		},
	}
	flags := cmd.Flags()
	numberFlag(cmd, &f.seat, "seat", -1, 0, math.MaxInt, "show only what this seat could see")
	numberFlag(cmd, &f.ply, "ply", -1, 0, math.MaxInt, "show only the position after this many moves")
	flags.BoolVar(&f.all, "all", false, "show the cards of all seats")
	flags.BoolVar(&f.plain, "plain", false, "show lines of the protocol instead of drawings")
	flags.BoolVar(&f.step, "step", false, "step through the positions with keys")
	return cmd
}

// errNoPly says that a game ended earlier.
var errNoPly = errors.New("does not exist")

// showAll shows the games of files and directories, each under the name of its file if there
// are several.
func (f *showFlags) showAll(cmd *cobra.Command, args []string) error {
	files, err := replayFiles(args)
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
	if f.seat >= 0 && f.all {
		return errors.New("--seat shows what one seat could see and --all shows all hands: choose one")
	}
	w := cmd.OutOrStdout()
	game, err := playback.New(r, g)
	if err != nil {
		return err
	}
	if f.ply >= len(game.Frames) {
		return fmt.Errorf("ply %d %w: the game has plies 0 to %d", f.ply, errNoPly, len(game.Frames)-1)
	}
	s := playback.Screen{Writer: w, Style: draw.For(w), Game: game, Seat: f.seat, All: f.all, Plain: f.plain}
	switch {
	case f.step:
		return untilInterrupt(cmd, func() error { return s.Steps(cmd.InOrStdin(), max(0, f.ply)) })
	case f.ply >= 0:
		s.Frame(f.ply)
	default:
		s.Whole()
	}
	return nil
}
