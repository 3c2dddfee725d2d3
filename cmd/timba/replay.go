package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

func newReplay() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Show, verify or export the replay of a game",
	}
	cmd.AddCommand(newReplayShow(), newReplayVerify(), newReplayExport())
	return cmd
}

// readReplay reads a replay and finds its game; "-" is stdin.
func readReplay(cmd *cobra.Command, path string) (*referee.Replay, rules.Game, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(cmd.InOrStdin())
	} else {
		data, err = os.ReadFile(path)
	}
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
		Use:   "verify FILE...",
		Short: "Rebuild games from their replays and say what differs",
		Long: "Rebuilds each game by the rules from its options, seed and moves, and says what\n" +
			"differs: illegal moves, a wrong result, a deal that is not the one committed to.\n" +
			"Exit status: 0 all is well, 1 something differs, 2 a file cannot be read.",
		Example: "  timba replay verify replays/games/*.json",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			bad := 0
			for _, path := range args {
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
			fmt.Fprintf(w, "%d of %d replays verified\n", len(args)-bad, len(args))
			if bad > 0 {
				return errFault
			}
			return nil
		},
	}
}

func newReplayShow() *cobra.Command {
	var seat int
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Tell a game move by move",
		Long: "Tells a game move by move: the view of the seat to move, its move, what it thought\n" +
			"and what happened. With --seat only what that seat could see.",
		Example: "  timba replay show replays/games/00000-0.json --seat 1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, g, err := readReplay(cmd, args[0])
			if err != nil {
				return err
			}
			if seat < -1 || seat >= len(r.Seats) {
				return fmt.Errorf("seat %d does not exist: the game has seats 0 to %d", seat, len(r.Seats)-1)
			}
			return showReplay(cmd.OutOrStdout(), r, g, seat)
		},
	}
	cmd.Flags().IntVar(&seat, "seat", -1, "show only what this seat could see")
	return cmd
}

// showReplay tells a game from one seat, or from all when seat is -1.
func showReplay(w io.Writer, r *referee.Replay, g rules.Game, seat int) error {
	v, err := r.Settle(g)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s %s\nseed %s, deal %d, rotation %d\n", r.Game, v.Settings(), r.Seed, r.Match.Deal, r.Match.Rotation)
	for i, s := range r.Seats {
		fmt.Fprintf(w, "seat %d: %s %s\n", i, s.Name, s.Version)
	}
	fmt.Fprintln(w)
	show := shower{w: w, replay: r, seat: seat}
	state, err := r.Rebuild(g, show.start, show.step)
	if err != nil {
		return err
	}
	show.faults(state.Ply())
	fmt.Fprintf(w, "\nranks %v, points %v\n", r.Ranks, r.Points)
	return nil
}

type shower struct {
	w      io.Writer
	replay *referee.Replay
	seat   int
	next   int // of the faults
}

func (s *shower) sees(seat int) bool { return s.seat < 0 || s.seat == seat }

func (s *shower) start(state rules.State) {
	var log rules.Log
	state.Start(&log)
	s.events(&log)
}

// events shows what the seats saw, once where all saw the same.
func (s *shower) events(log *rules.Log) {
	if s.seat >= 0 {
		s.w.Write(log.Events(nil, s.seat, "    "))
		return
	}
	for _, e := range log.Open() {
		fmt.Fprintf(s.w, "    %s\n", e)
	}
}

func (s *shower) faults(ply int) {
	for ; s.next < len(s.replay.Faults) && s.replay.Faults[s.next].Ply <= ply; s.next++ {
		f := s.replay.Faults[s.next]
		fmt.Fprintf(s.w, "  ! seat %d (%s) forfeits: %s: %s\n", f.Seat, s.replay.Seats[f.Seat].Name, f.Code, f.Text)
	}
}

func (s *shower) step(step referee.Step) error {
	ply := step.State.Ply()
	s.faults(ply)
	if s.sees(step.Record.Seat) {
		fmt.Fprintf(s.w, "  %s\n", step.State.View(nil, step.Record.Seat))
	}
	by := s.replay.Seats[step.Record.Seat].Name
	if step.Record.StandIn {
		by = "the stand-in"
	}
	fmt.Fprintf(s.w, "%3d seat %d (%s) %s", ply, step.Record.Seat, by, step.Record.Move)
	if !step.Record.StandIn {
		fmt.Fprintf(s.w, "  %.3f ms", step.Record.MS)
	}
	fmt.Fprintln(s.w)
	for _, info := range step.Record.Info {
		fmt.Fprintf(s.w, "    thought: %s\n", info)
	}
	var log rules.Log
	after := step.State.Clone()
	after.Apply(step.Move, &log)
	s.events(&log)
	return nil
}
