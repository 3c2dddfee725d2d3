package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/draw"
	"github.com/timba-arena/timba/referee/rules"
)

// showFlags say how a replay is shown.
type showFlags struct {
	seat, ply        int
	plain, all, step bool
}

func newReplayShow() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Draw a game move by move",
		Long: "Draws a game move by move: what the seat to move sees, its move, what it thought and\n" +
			"what happened. With --seat only what that seat could see; with --all all hands lie open.\n\n" +
			"--step shows one position at a time in a terminal: n and p go on and back, q ends it.",
		Example: "  timba replay show replays/games/0000-00000-0.json --seat 1\n" +
			"  timba replay show replays/games/0000-00000-0.json --ply 12 --all",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, g, err := readReplay(cmd, args[0])
			if err != nil {
				return err
			}
			return f.show(cmd, r, g)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.seat, "seat", -1, "show only what this seat could see")
	flags.IntVar(&f.ply, "ply", -1, "show only the position after so many moves")
	flags.BoolVar(&f.all, "all", false, "show the cards of all seats")
	flags.BoolVar(&f.plain, "plain", false, "lines of the protocol in place of drawings")
	flags.BoolVar(&f.step, "step", false, "one position at a time, by keys")
	return cmd
}

func (f *showFlags) show(cmd *cobra.Command, r *referee.Replay, g rules.Game) error {
	if f.seat < -1 || f.seat >= len(r.Seats) {
		return fmt.Errorf("seat %d does not exist: the game has seats 0 to %d", f.seat, len(r.Seats)-1)
	}
	if f.seat >= 0 && f.all {
		return errors.New("--seat shows what one seat could see and --all shows all hands: choose one")
	}
	w := cmd.OutOrStdout()
	film, err := newFilm(r, g)
	if err != nil {
		return err
	}
	if f.ply >= len(film.frames) {
		return fmt.Errorf("ply %d does not exist: the game has plies 0 to %d", f.ply, len(film.frames)-1)
	}
	s := screen{Writer: w, Style: draw.For(w), film: film, seat: f.seat, all: f.all, plain: f.plain}
	switch {
	case f.step:
		return s.steps(cmd.InOrStdin(), max(0, f.ply))
	case f.ply >= 0:
		s.frame(f.ply)
		return nil
	}
	s.head()
	for i := range film.frames {
		s.frame(i)
	}
	return nil
}

// screen shows the positions of a replay.
type screen struct {
	io.Writer
	draw.Style
	film       *film
	seat       int // whose eyes it is seen with, -1 for the seat to move
	all, plain bool
}

// head says which game it is and who plays.
func (s *screen) head() {
	r := s.film.replay
	fmt.Fprintf(s, "%s %s\nseed %s, deal %d, rotation %d\n", r.Game, s.film.rules.Settings(), r.Seed, r.Match.Deal, r.Match.Rotation)
	for i, seat := range r.Seats {
		fmt.Fprintln(s, strings.TrimRight(fmt.Sprintf("seat %d: %s %s", i, draw.Clean(seat.Name), draw.Clean(seat.Version)), " "))
	}
	if !s.plain && hasCards(r.Game) {
		fmt.Fprintln(s, s.Legend())
	}
	if len(s.film.deal.events) > 0 {
		fmt.Fprintln(s)
		s.events(&s.film.deal)
	}
}

// hasCards tells the games of cards from those of boards.
func hasCards(game string) bool { return game == "brisca" || game == "tute" || game == "podrida" }

func (s *screen) frame(i int) {
	fr := &s.film.frames[i]
	if s.plain {
		s.plainFrame(fr)
		return
	}
	p := s.film.position(i, s.seat, s.all)
	title := s.Bold("end")
	if m := fr.move; m != nil {
		title = s.Bold(fmt.Sprintf("%d", fr.ply)) + " " + s.who(m) + " plays " + s.Bold(s.Move(m.Move))
		if !m.StandIn {
			title += s.Dim(fmt.Sprintf(" in %.3f ms", m.MS))
		}
		p.Move = m.Move
	}
	fmt.Fprintf(s, "\n%s\n", s.Rule(title))
	fmt.Fprint(s, s.Position(p))
	for _, f := range fr.faults {
		fmt.Fprintf(s, " %s\n", s.Alert(s.faultText(f)))
	}
	s.thoughts(fr)
	s.events(fr)
	if fr.move == nil {
		s.result()
	}
}

// who made a move.
func (s *screen) who(m *referee.ReplayMove) string {
	name := draw.Clean(s.film.replay.Seats[m.Seat].Name)
	if m.StandIn {
		return fmt.Sprintf("the stand-in for %s (seat %d)", name, m.Seat)
	}
	return fmt.Sprintf("%s (seat %d)", name, m.Seat)
}

func (s *screen) faultText(f referee.Fault) string {
	name := "?"
	if f.Seat >= 0 && f.Seat < len(s.film.replay.Seats) {
		name = draw.Clean(s.film.replay.Seats[f.Seat].Name)
	}
	return fmt.Sprintf("! %s (seat %d) forfeits: %s: %s", name, f.Seat, f.Code, draw.Clean(f.Text))
}

// thoughts shows what a bot wrote of its move, to those who may know it.
func (s *screen) thoughts(fr *frame) {
	if fr.move == nil || s.seat >= 0 && fr.move.Seat != s.seat {
		return
	}
	for _, info := range fr.move.Info {
		fmt.Fprintf(s, "   %s\n", s.Dim("thought: "+draw.Clean(info)))
	}
}

// events shows what the seats saw, once where all saw the same.
func (s *screen) events(fr *frame) {
	events := fr.events
	if s.seat >= 0 && len(fr.seen) > 0 {
		events = fr.seen[s.seat]
	}
	for _, e := range events {
		if s.plain {
			fmt.Fprintf(s, "    %s\n", e)
			continue
		}
		if fr.move != nil && e == fmt.Sprintf("play %d %s", fr.move.Seat, fr.move.Move) {
			continue // the headline says it
		}
		event, whose := e, ""
		if i := strings.Index(e, " (seat "); i >= 0 {
			event, whose = e[:i], e[i:]
		}
		fmt.Fprintf(s, "   %s\n", s.Event(event, s.name)+whose)
	}
}

func (s *screen) name(seat int) string {
	if seat < 0 || seat >= len(s.film.replay.Seats) {
		return "seat " + strconv.Itoa(seat)
	}
	return s.film.replay.Seats[seat].Name
}

// result lists the seats, the best first.
func (s *screen) result() {
	fmt.Fprint(s, "\n"+ranking(s.film.replay))
}

func ranking(r *referee.Replay) string {
	var out strings.Builder
	for rank := 1; rank <= len(r.Seats); rank++ {
		for seat := range r.Seats {
			if seat < len(r.Points) && seat < len(r.Ranks) && r.Ranks[seat] == rank {
				points := "points"
				if r.Points[seat] == 1 {
					points = "point"
				}
				fmt.Fprintf(&out, " %2d.  %s (seat %d)  %g %s\n", rank, draw.Clean(r.Seats[seat].Name), seat, r.Points[seat], points)
			}
		}
	}
	return out.String()
}

// plainFrame tells a position in the protocol's own words.
func (s *screen) plainFrame(fr *frame) {
	for _, f := range fr.faults {
		fmt.Fprintf(s, "  %s\n", s.faultText(f))
	}
	m := fr.move
	if m == nil {
		fmt.Fprintf(s, "\nranks %v, points %v\n", s.film.replay.Ranks, s.film.replay.Points)
		return
	}
	if s.seat < 0 || s.seat == m.Seat {
		fmt.Fprintf(s, "  %s\n", fr.views[m.Seat])
	}
	if s.all {
		for seat, view := range fr.views {
			if seat != m.Seat {
				fmt.Fprintf(s, "  (seat %d) %s\n", seat, view)
			}
		}
	}
	by := draw.Clean(s.film.replay.Seats[m.Seat].Name)
	if m.StandIn {
		by = "the stand-in"
	}
	fmt.Fprintf(s, "%3d seat %d (%s) %s", fr.ply, m.Seat, by, m.Move)
	if !m.StandIn {
		fmt.Fprintf(s, "  %.3f ms", m.MS)
	}
	fmt.Fprintln(s)
	for _, info := range m.Info {
		if s.seat < 0 || s.seat == m.Seat {
			fmt.Fprintf(s, "    thought: %s\n", draw.Clean(info))
		}
	}
	s.events(fr)
}

// steps shows one position at a time, as keys say.
func (s *screen) steps(in io.Reader, i int) error {
	file, ok := in.(*os.File)
	out, outOK := s.Writer.(*os.File)
	if !ok || !outOK || !term.IsTerminal(int(file.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return errors.New("--step needs a terminal to read keys from and to draw on: leave it out, or use --ply")
	}
	old, err := term.MakeRaw(int(file.Fd()))
	if err != nil {
		return fmt.Errorf("--step: %w", err)
	}
	defer term.Restore(int(file.Fd()), old)
	for {
		s.page(out, i)
		var typed [64]byte
		n, err := file.Read(typed[:])
		if err != nil {
			return nil
		}
		var more bool
		if i, more = turnPages(string(typed[:n]), i, len(s.film.frames)); !more {
			return nil
		}
	}
}

// turnPages follows all keys that were typed; an arrow is three bytes.
func turnPages(typed string, i, pages int) (next int, more bool) {
	more = true
	for typed != "" && more {
		key := typed[:1]
		if strings.HasPrefix(typed, "\x1b[") && len(typed) > 2 {
			key = typed[:3]
		}
		typed = typed[len(key):]
		i, more = turnPage(key, i, pages)
	}
	return i, more
}

// turnPage is where a key leads to; more is false when it ends the show.
func turnPage(key string, i, pages int) (next int, more bool) {
	switch key {
	case "n", " ", "\r", "j", "\x1b[C", "\x1b[B":
		i++
	case "p", "\b", "\x7f", "k", "\x1b[D", "\x1b[A":
		i--
	case "g", "\x1b[H":
		i = 0
	case "G", "\x1b[F":
		i = pages - 1
	case "q", "\x03", "\x04", "\x1b":
		return i, false
	}
	return min(max(i, 0), pages-1), true
}

// page clears the terminal and shows a position. In raw mode a line feed does not
// go back to the first column.
func (s *screen) page(out io.Writer, i int) {
	var text strings.Builder
	inner := *s
	inner.Writer = &text
	inner.frame(i)
	fmt.Fprintf(&text, "\n%s\n", s.Dim(fmt.Sprintf("%d of %d: n next, p back, g first, G last, q quit", i, len(s.film.frames)-1)))
	fmt.Fprint(out, "\x1b[H\x1b[2J"+strings.ReplaceAll(text.String(), "\n", "\r\n"))
}
