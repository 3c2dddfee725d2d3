// Package report writes the results of a tournament: as tables for people, and as a JSON document. Begin with Run.
package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/tournament"
)

// Run is a tournament that this process plays or resumes, with everything that the report on it needs.
type Run struct {
	*tournament.State
	Programs []match.Contestant // in the order of Config.Bots
	Dir      *tournament.Dir
	Workers  []int // core of each worker thread, as in tournament.Play

	Self     string        // the command by which the user starts this program, for suggested commands
	Games    int           // number of games that this process has played
	Took     time.Duration // duration of Play in this process
	Faults   []MatchFault  // of all games, including those of earlier processes, in the order of the games; set by Play
	EarlyEnd *EarlyEnd     // why games are missing; nil if all have been played

	trace     func(*tournament.Match, referee.Traffic) // see TraceTo; may be nil
	startedAt time.Time
}

// MatchFault is a fault of a bot, with the number of the match in which it happened.
type MatchFault struct {
	Match int
	referee.GameFault
}

// Play plays the games of the tournament that are missing. It calls done with each finished game, and say with each
// notice for the user, such as that a game did not count. It never makes two of these calls at the same time.
func (r *Run) Play(ctx context.Context, done func(*tournament.Match, *referee.GameResult), say func(text string)) error {
	r.startedAt = time.Now()
	err := tournament.Play(ctx, r.State, r.Dir, r.Programs, r.Workers, tournament.Hooks{
		Trace: r.trace,
		OnGame: func(m *tournament.Match, g *referee.GameResult) {
			r.Games++
			done(m, g)
		},
		Notice: say,
	})
	r.Took = time.Since(r.startedAt)
	for _, m := range r.Matches() {
		for _, f := range m.Tally.Faults {
			r.Faults = append(r.Faults, MatchFault{m.Number, f})
		}
	}
	slices.SortStableFunc(r.Faults, func(a, b MatchFault) int {
		return cmp.Or(a.Match-b.Match, a.Deal-b.Deal, a.Rotation-b.Rotation)
	})
	return err
}

// WriteHead writes a summary of what will be played: game, bots, format, deals, clock and seed.
func (r *Run) WriteHead(w io.Writer) {
	fmt.Fprintf(w, "%s %s\n", r.Variant.Game.Name, r.Variant.Settings)
	if plies := r.Variant.Settings.Int(rules.OpeningOption.Name); plies > 0 {
		leave := ""
		if plies == r.Variant.StandardOpening() { // otherwise the user has set the option
			leave = "; --set opening=0 leaves it out"
		}
		fmt.Fprintf(w, "each deal begins with an opening of %s%s\n", text.Count(plies, "random ply"), leave)
	}
	for i, b := range r.Bots {
		own := ""
		if clock := r.Programs[i].Clock; clock != nil {
			own = ", " + clock.String()
		}
		fmt.Fprintf(w, "bot %d: %s%s\n", i, b.Name, own)
	}
	if len(r.Bots) == 1 {
		fmt.Fprintln(w, "it plays against itself, at every seat")
	}
	if r.Format != tournament.Single {
		fmt.Fprintf(w, "%s, ", r.Format)
	}
	deals, rotations := text.Count(r.Deals, "deal")+" a match", "all rotations"
	if r.FirstDeal > 0 {
		deals = fmt.Sprintf("deal %d alone", r.FirstDeal)
	}
	if r.Rotation != nil {
		rotations = fmt.Sprintf("rotation %d alone", *r.Rotation)
	}
	fmt.Fprintf(w, "%s, in %s, %s\n", deals, rotations, r.Clock)
	switch n := len(r.Openings); {
	case n == 1:
		fmt.Fprintf(w, "each deal begins with the same opening of %s\n", text.Count(len(r.Openings[0].Moves), "move"))
	case n > 1:
		order := "one after the other"
		if r.Shuffled {
			order = "in a random order that the seed determines"
		}
		fmt.Fprintf(w, "the deals begin with %d openings, %s\n", n, order)
	}
	if rules := r.Adjudication.String(); rules != "" {
		fmt.Fprintf(w, "games are adjudicated by the bots' own scores: %s\n", rules)
	}
	fmt.Fprintf(w, "seed %s\n\n", r.Seed)
}

// TraceTo makes Play write all lines to and from the bots to w, each with its time, game and seat. "<" marks a line
// to a bot, and ">" a line from a bot.
func (r *Run) TraceTo(w io.Writer) {
	var mu sync.Mutex // blocks of lines of different workers must not mix
	r.trace = func(m *tournament.Match, p referee.Traffic) {
		name := r.Bots[m.Bots[rules.BotAt(p.Seat, p.Rotation, len(m.Bots))]].Name
		arrow := "<"
		if p.FromBot {
			arrow = ">"
		}
		mu.Lock()
		defer mu.Unlock()
		for line := range strings.Lines(string(p.Lines)) {
			fmt.Fprintf(w, "%12.3f ms %d.%d.%d seat %d %s %s %s\n", float64(p.Offset.Nanoseconds())/1e6, m.Number, p.Deal, p.Rotation, p.Seat, name, arrow, strings.TrimSuffix(line, "\n"))
		}
	}
}
