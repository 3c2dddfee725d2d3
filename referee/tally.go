package referee

import (
	"fmt"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
)

// Score is what a bot has made of the games so far. A game counts once for each
// side that the bot plays for in it.
type Score struct {
	Name, Version, Hash string
	Games               int
	Wins, Draws, Losses int     // a win is the first rank alone, a draw the first rank shared
	Points              float64 // of all its seats
	Faults              int
}

// FaultAt is a fault and the game that it happened in.
type FaultAt struct {
	Deal, Rotation int
	Bot            int
	Name           string // of the bot
	Fault
}

// String names the culprit, the place and what was seen.
func (f FaultAt) String() string {
	return fmt.Sprintf("%s (seat %d, deal %d, rotation %d, ply %d): %s: %s", f.Name, f.Seat, f.Deal, f.Rotation, f.Ply, f.Code, f.Text)
}

// Tally adds up the games of a match.
type Tally struct {
	variant rules.Variant
	Scores  []Score // by bot
	Faults  []FaultAt
	Games   int
	Plies   int
}

// NewTally starts at nothing.
func NewTally(v rules.Variant, bots []Bot) *Tally {
	t := &Tally{variant: v}
	for _, b := range bots {
		t.Scores = append(t.Scores, Score{Name: b.Name, Version: b.Version, Hash: b.Hash})
	}
	return t
}

// Add takes a finished game.
func (t *Tally) Add(g *Game) {
	t.Games++
	t.Plies += len(g.Moves)
	firsts := map[int]bool{} // the sides on the first rank
	for seat, rank := range g.Ranks {
		if rank == 1 {
			firsts[t.variant.Side(seat)] = true
		}
	}
	type entry struct{ bot, side int }
	counted := map[entry]bool{}
	for seat, bot := range g.Bots {
		s := &t.Scores[bot]
		s.Points += g.Points[seat]
		if s.Version == "" {
			s.Version = g.Seats[seat].Version
		}
		e := entry{bot, t.variant.Side(seat)}
		if counted[e] {
			continue
		}
		counted[e] = true
		s.Games++
		switch {
		case g.Ranks[seat] > 1:
			s.Losses++
		case len(firsts) > 1:
			s.Draws++
		default:
			s.Wins++
		}
	}
	for _, f := range g.Faults {
		bot := g.Bots[f.Seat]
		t.Scores[bot].Faults++
		t.Faults = append(t.Faults, FaultAt{g.Match.Deal, g.Match.Rotation, bot, g.Seats[f.Seat].Name, f})
	}
}

// FaultsByCode counts the faults of one bot.
func (t *Tally) FaultsByCode(bot int) map[protocol.Code]int {
	n := map[protocol.Code]int{}
	for _, f := range t.Faults {
		if f.Bot == bot {
			n[f.Code]++
		}
	}
	return n
}
