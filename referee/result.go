package referee

import (
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
)

// GameResult is the result of a finished game, with the logs of its bots.
type GameResult struct {
	Replay
	Bots []int         // by seat, the index of the bot in the match
	Logs [][]byte      // by seat, the bot's stderr and comments, at most about match.MaxLog bytes
	Took time.Duration // duration of the game
}

// PlayedGame says which game of a match was played before the match was interrupted, and which bots failed in it.
type PlayedGame struct {
	Deal, Rotation int
	FaultyBots     []int // indices of the bots with faults, one entry for each fault
}

// PlayedGame returns the part of the result that a match needs when it is resumed.
func (g *GameResult) PlayedGame() PlayedGame {
	p := PlayedGame{Deal: g.Match.Deal, Rotation: g.Match.Rotation}
	for _, f := range g.Faults {
		p.FaultyBots = append(p.FaultyBots, g.Bots[f.Seat])
	}
	return p
}

// Score adds up the results of one bot in all games of a match.
type Score struct {
	Name, Version, Hash string
	rules.Record
	Points float64 // sum over all its seats
	Faults int
	Credit time.Duration // sum over all its turns; see MoveTime
}

// GameFault is a failure of a bot, with the game in which it happened.
type GameFault struct {
	Deal, Rotation int
	Bot            int    // index in the match
	Name           string // of the bot
	Fault
}

// String describes the fault with its bot, seat and game, in English.
func (f GameFault) String() string {
	return f.Phrase().String()
}

// Phrase returns the same description as String, in a form that can be translated.
func (f GameFault) Phrase() phrase.Text {
	return phrase.New("%s (seat %d, deal %d, rotation %d, ply %d): %s: %s", f.Name, f.Seat, f.Deal, f.Rotation, f.Ply, f.Code, f.TextIn(fault.Circumstances{}))
}

// MatchTally sums up the results of the games of a match.
type MatchTally struct {
	variant *rules.Variant
	Scores  []Score // by bot
	Faults  []GameFault
	Games   int
	Plies   int
	// AdjudicatedDraws and AdjudicatedResignations count the games that the bots' scores ended early, as a draw or by
	// a resignation.
	AdjudicatedDraws, AdjudicatedResignations int
}

// NewTally returns the tally of a match of the variant v before the first game. bots has the bots of the match. The
// numbers in GameResult.Bots are indexes into bots.
func NewTally(v *rules.Variant, bots []ReplaySeat) *MatchTally {
	t := &MatchTally{variant: v}
	for _, b := range bots {
		t.Scores = append(t.Scores, Score{Name: b.Name, Version: b.Version, Hash: b.SHA256})
	}
	return t
}

// Add adds a finished game to the sums.
func (t *MatchTally) Add(g *GameResult) {
	t.Games++
	t.Plies += len(g.Moves)
	if a := g.AdjudicationResult; a != nil && a.Kind == AdjudicatedDraw {
		t.AdjudicatedDraws++
	} else if a != nil {
		t.AdjudicatedResignations++
	}
	for _, m := range g.Moves {
		t.Scores[g.Bots[m.Seat]].Credit += creditDuration(m.Credit)
	}
	for seat, bot := range g.Bots {
		s := &t.Scores[bot]
		s.Points += g.Points[seat]
		if s.Version == "" {
			s.Version = g.Seats[seat].Version
		}
	}
	for bot, record := range rules.Records(t.variant, g.Bots, g.Ranks) {
		t.Scores[bot].Record.Add(record)
	}
	for _, f := range g.Faults {
		bot := g.Bots[f.Seat]
		t.Scores[bot].Faults++
		t.Scores[bot].Credit += creditDuration(f.Credit)
		t.Faults = append(t.Faults, GameFault{g.Match.Deal, g.Match.Rotation, bot, g.Seats[f.Seat].Name, f})
	}
}
