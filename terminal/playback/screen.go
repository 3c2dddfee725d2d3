package playback

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/terminal/draw"
)

// Screen writes the positions of a replay to its Writer, as drawings or as lines of the protocol.
type Screen struct {
	io.Writer
	draw.Style
	Game  *Walk
	Seat  int  // the seat whose view is shown; -1 means the seat to move
	All   bool // show the cards of all seats
	Plain bool // write lines of the protocol instead of drawings
}

// ShowGame writes all positions of the game.
func (s *Screen) ShowGame() {
	s.head()
	for i := range s.Game.Frames {
		s.ShowFrame(i)
	}
}

// say writes a text, broken into lines that fit the terminal unless s.Plain is set. The first line begins with mark.
func (s *Screen) say(mark, words string) {
	if s.Plain {
		fmt.Fprintln(s, strings.TrimRight(mark+words, " "))
		return
	}
	fmt.Fprintln(s, s.Wrap(mark, words))
}

func (s *Screen) head() {
	r := s.Game.Replay
	s.say("", r.Game+" "+s.Game.Variant.Settings.String())
	fmt.Fprintf(s, "%s\ndeal %d, rotation %d\n", s.Digits("seed ", r.Seed.String()), r.Match.Deal, r.Match.Rotation)
	if slices.ContainsFunc(r.Seats, func(seat referee.ReplaySeat) bool { return seat.Clock == nil }) {
		s.say("", "clock: "+r.Clock.Clock().String())
	}
	if a := r.Adjudication; a != nil {
		s.say("", fmt.Sprintf("adjudicated by the bots' own scores: %s", a))
	}
	for i, seat := range r.Seats {
		who := strings.TrimSpace(draw.Clean(seat.Name) + " " + draw.Clean(seat.Version))
		if seat.Clock != nil {
			who += ", " + seat.Clock.Clock().String()
		}
		s.say(fmt.Sprintf("seat %d: ", i), who)
	}
	if !s.Plain {
		fmt.Fprint(s, s.Legend(s.Game.Variant.Game.Display))
	}
	if len(s.Game.Deal.All) > 0 {
		fmt.Fprintln(s)
		s.events(s.Game.Deal, nil)
	}
}

func moveTimeText(m *referee.ReplayMove) string {
	if m.Credit == 0 {
		return fmt.Sprintf("%.3f ms", m.MS)
	}
	return fmt.Sprintf("%.3f ms, %.3f of them credit", m.MS, m.Credit)
}

// ShowFrame writes the position s.Game.Frames[i], with its faults, the next move and the events of that move.
func (s *Screen) ShowFrame(i int) {
	fr := &s.Game.Frames[i]
	if s.Plain {
		s.plainFrame(fr)
		return
	}
	p := s.Game.Position(i, s.Seat, s.All)
	title := s.Bold("end")
	if m := fr.Move; m != nil {
		title = s.Bold(fmt.Sprintf("%d", fr.Ply)) + " " + s.playerText(m) + " plays " + s.Bold(s.Move(m.Move))
		if m.ByBot() {
			title += s.Dim(" in " + moveTimeText(m))
		}
		p.Move = m.Move
	}
	fmt.Fprintf(s, "\n%s\n", s.Rule(title))
	fmt.Fprint(s, s.Position(p))
	for _, f := range fr.Faults {
		s.say(" ", s.Alert(s.faultText(f)))
	}
	s.thoughts(fr)
	s.events(fr.Events, fr.Move)
	if fr.Move == nil {
		if ending := s.Game.Replay.Ending(); ending != "" {
			s.say(" ", s.Bold(draw.Clean(ending)))
		}
		fmt.Fprint(s, "\n"+Ranking(s.Style, s.Game.Replay))
	}
}

func (s *Screen) playerText(m *referee.ReplayMove) string {
	who := fmt.Sprintf("%s (seat %d)", draw.Clean(s.Game.Replay.Seats[m.Seat].Name), m.Seat)
	switch {
	case m.Given:
		return "the opening for " + who
	case m.StandIn:
		return "the stand-in for " + who
	}
	return who
}

func (s *Screen) faultText(f referee.Fault) string {
	credit := ""
	if f.Credit > 0 {
		credit = fmt.Sprintf(" (after %.3f ms of credit)", f.Credit)
	}
	return fmt.Sprintf("! %s (seat %d) forfeits: %s: %s%s", draw.Name(s.Game.names(), f.Seat), f.Seat, f.Code, draw.Clean(f.Text), credit)
}

// thoughts writes the info lines that the bot wrote about the move after the position fr. If the position is
// shown as another seat sees it, it writes none.
func (s *Screen) thoughts(fr *ReplayPosition) {
	if fr.Move == nil || s.Seat >= 0 && fr.Move.Seat != s.Seat {
		return
	}
	for _, info := range fr.Move.Info {
		s.say("   ", s.Dim("thought: "+draw.Clean(info)))
	}
}

// events writes the events of the move m, as far as the seat whose view is shown may see them. For the events of
// the deal, m is nil.
func (s *Screen) events(e SeatEvents, m *referee.ReplayMove) {
	events := e.All
	if s.Seat >= 0 && len(e.BySeat) > 0 {
		events = e.BySeat[s.Seat]
	}
	for _, e := range events {
		if s.Plain {
			fmt.Fprintf(s, "    %s\n", e)
			continue
		}
		if m != nil && e == fmt.Sprintf("play %d %s", m.Seat, m.Move) {
			continue // the title shows it
		}
		event, whose := e, ""
		if i := strings.Index(e, " (seat "); i >= 0 {
			event, whose = e[:i], e[i:]
		}
		s.say("   ", s.Event(event, s.Game.names())+whose)
	}
}

// Ranking returns lines with the rank, name and points of each seat of a replay, the best first.
func Ranking(style draw.Style, r *referee.Replay) string {
	var out strings.Builder
	for rank := 1; rank <= len(r.Seats); rank++ {
		for seat := range r.Seats {
			if seat < len(r.Points) && seat < len(r.Ranks) && r.Ranks[seat] == rank {
				mark, name := fmt.Sprintf(" %2d.  ", rank), draw.Clean(r.Seats[seat].Name)
				line := fmt.Sprintf("%s%s (seat %d)  %s", mark, name, seat, referee.PointsText(r.Points[seat]))
				if text.Width(line) > style.Columns() {
					line = style.Wrap(mark, line[len(mark):])
				}
				fmt.Fprintln(&out, line)
			}
		}
	}
	return out.String()
}

func (s *Screen) plainFrame(fr *ReplayPosition) {
	for _, f := range fr.Faults {
		fmt.Fprintf(s, "  %s\n", s.faultText(f))
	}
	m := fr.Move
	if m == nil {
		if ending := s.Game.Replay.Ending(); ending != "" {
			fmt.Fprintf(s, "\n%s\n", draw.Clean(ending))
		}
		fmt.Fprintf(s, "\nranks %v, points %v\n", s.Game.Replay.Ranks, s.Game.Replay.Points)
		return
	}
	if s.Seat < 0 || s.Seat == m.Seat {
		fmt.Fprintf(s, "  %s\n", fr.Views[m.Seat])
	}
	if s.All {
		for seat, view := range fr.Views {
			if seat != m.Seat {
				fmt.Fprintf(s, "  (seat %d) %s\n", seat, view)
			}
		}
	}
	by := draw.Clean(s.Game.Replay.Seats[m.Seat].Name)
	if m.StandIn {
		by = "the stand-in"
	} else if m.Given {
		by = "the opening"
	}
	fmt.Fprintf(s, "%3d seat %d (%s) %s", fr.Ply, m.Seat, by, m.Move)
	if m.ByBot() {
		fmt.Fprintf(s, "  %s", moveTimeText(m))
	}
	fmt.Fprintln(s)
	for _, info := range m.Info {
		if s.Seat < 0 || s.Seat == m.Seat {
			fmt.Fprintf(s, "    thought: %s\n", draw.Clean(info))
		}
	}
	s.events(fr.Events, fr.Move)
}
