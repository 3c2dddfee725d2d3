package report

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/tournament"
)

// WriteTables writes the results as tables for people: standings, duels or pairs, faults, and where the replays are.
func (r *Run) WriteTables(w io.Writer) {
	results := r.Results()
	r.writeStandings(w, results)
	r.writeTeams(w)
	if r.Format.InRounds() {
		r.writeRounds(w, results)
	}
	if r.Format == tournament.Gauntlet {
		r.writeOpponents(w, results)
	}
	if len(r.Bots) > 2 && (r.Format != tournament.Gauntlet || r.Variant.Sides > 2) {
		r.writePairs(w, results)
	} else if len(r.Bots) == 2 && r.Rotation == nil {
		r.writeDuel(w, results)
	}
	if results.Distinct < results.Deals {
		r.writeRepeats(w, results)
	}
	speed := ""
	switch {
	case r.Games == 0 && r.EarlyEnd == nil:
		speed = ": there were none left to play"
	case r.Games > 0:
		speed = fmt.Sprintf(", %.1f games a second", float64(r.Games)/r.Took.Seconds())
	}
	fmt.Fprintf(w, "\n%s in %.1f s%s\n", text.Count(r.Games, "game"), r.Took.Seconds(), speed)
	if r.EarlyEnd != nil {
		fmt.Fprintf(w, "missing: %s\n", r.missingText())
	}
	r.writeCredit(w, results)
	r.writeAdjudicated(w)
	r.writeFaults(w)
	if r.Dir.FaultsOnly {
		fmt.Fprintln(w, "to keep the replays: --out DIR")
	} else {
		fmt.Fprintf(w, "replays: %s\n", r.Dir.Path)
	}
	if n := len(r.Voids) - r.StarvedVoids; n > 0 {
		fmt.Fprintf(w, "%s void for a failure of timba's own, and played again\n", text.Count(n, "game"))
	}
	if r.StarvedVoids > 0 {
		fmt.Fprintf(w, "%s void because other programs used the cores while a bot thought, and played again\n", text.Count(r.StarvedVoids, "game"))
	}
}

func (r *Run) writeCredit(w io.Writer, results tournament.Results) {
	var bots []string
	for _, s := range results.Standings {
		if s.Credit >= 50*time.Millisecond { // otherwise the table would show 0.0 s
			bots = append(bots, fmt.Sprintf("%s %.1f s", s.Name, s.Credit.Seconds()))
		}
	}
	if len(bots) > 0 {
		fmt.Fprintf(w, "credit, for time in which other programs held the cores: %s\n", strings.Join(bots, ", "))
	}
}

// writeOpponents writes the score of the first bot, which plays a gauntlet, against each of the others.
func (r *Run) writeOpponents(w io.Writer, results tournament.Results) {
	fmt.Fprintf(w, "\n%s against each opponent:\n", r.Bots[0].Name)
	head := "Elo|95 %|opponent|share|LOS|deals|games"
	if r.SPRT != nil {
		head += "|LLR|test"
	}
	text.Rows(w, head, results.Standings, func(other tournament.Standing) []any {
		s := results.Pairs[0][other.Bot]
		if other.Bot == 0 || s.Deals == 0 {
			return nil
		}
		row := []any{eloText(s), boundText(s.Elo.Low) + " to " + boundText(s.Elo.High), other.Name,
			fmt.Sprintf("%.0f%%", 100*s.Score.Value), fmt.Sprintf("%.1f %%", 100*s.LOS), s.Deals, s.Games}
		if m := r.Matches()[other.Bot-1]; m.Progress != nil {
			row = append(row, fmt.Sprintf("%.2f", m.Progress.LLR), verdictText(m))
		}
		return row
	})
	if r.SPRT != nil {
		lower, upper := r.SPRT.Bounds()
		fmt.Fprintf(w, "each opponent has its own test: SPRT %s, LLR from %.2f to %.2f\n", r.SPRT, lower, upper)
	}
}

// maxPairsBots is the largest number of bots for which the table of all pairs is written.
const maxPairsBots = 12

func (r *Run) writePairs(w io.Writer, results tournament.Results) {
	if len(results.Standings) > maxPairsBots {
		return
	}
	fmt.Fprintf(w, "\nshare of the duels, by deals:\n")
	head, place := "", 0
	for i := range results.Standings {
		head += fmt.Sprintf("|%d", i+1)
	}
	text.Rows(w, head, results.Standings, func(a tournament.Standing) []any {
		place++
		row := []any{fmt.Sprintf("%d %s", place, a.Name)}
		for _, b := range results.Standings {
			s := results.Pairs[a.Bot][b.Bot]
			switch {
			case a.Bot == b.Bot:
				row = append(row, "")
			case s.Deals == 0:
				row = append(row, "-")
			default:
				row = append(row, fmt.Sprintf("%.0f%%", 100*s.Score.Value))
			}
		}
		return row
	})
}

// shownFaults is the largest number of kinds of faults that writeFaults describes in full.
const shownFaults = 5

// faultKind identifies faults of one bot that have one reason, so that only the first is described.
type faultKind struct {
	bot            string
	kind           fault.Kind
	status, signal int
}

func kindOf(bot string, r fault.Reason) faultKind {
	return faultKind{bot, r.Kind, r.Status, r.Signal}
}

// writeFaults describes the faults of each bot. It describes the first fault of each kind, with advice, and says how
// many more of that kind there were.
func (r *Run) writeFaults(w io.Writer) {
	if len(r.Faults) == 0 {
		return
	}
	var first []MatchFault
	times := map[faultKind]int{}
	for _, f := range r.Faults {
		k := kindOf(f.Name, f.Reason)
		if times[k]++; times[k] == 1 {
			first = append(first, f)
		}
	}
	fmt.Fprintf(w, "\nfaults:\n")
	dir, matches := r.Dir, r.Matches()
	shown := 0
	for _, f := range first[:min(len(first), shownFaults)] {
		n := times[kindOf(f.Name, f.Reason)]
		shown += n
		replay := text.Quote(dir.ReplayPath(f.Match, f.Deal, f.Rotation))
		number := matches[f.Match].Bots[f.Bot]
		bot := r.Programs[number]
		told, change := f.GameFault, ""
		told.Text, change = r.faultCause(f, number)
		fmt.Fprintf(w, "- %s\n", told)
		if n > 1 {
			fmt.Fprintf(w, "  and %s more of this kind\n", text.Count(n-1, "fault"))
		}
		if change != "" {
			fmt.Fprintf(w, "  change: %s\n", change)
		}
		fmt.Fprintf(w, "  look: %s replay show %s\n  why: %s explain %s\n", r.Self, replay, r.Self, replay)
		if line := r.checkCommand(bot); line != "" && !f.IsDisqualified() {
			fmt.Fprintf(w, "  check: %s\n", line)
		}
		if log := dir.ExistingLog(f.Match, f.Deal, f.Rotation, f.Seat); log != "" {
			fmt.Fprintf(w, "  its log: %s\n", log)
		}
	}
	if more := len(r.Faults) - shown; more > 0 {
		fmt.Fprintf(w, "... and %d more; all of them: %s explain %s\n", more, r.Self, text.Quote(dir.Path))
	}
}

// faultCause returns two texts about a bot's fault: the fault with the cause that its replay and its log reveal, and
// what to change in the bot. bot is the bot's number in the tournament. change is "" if the replay cannot be read.
func (r *Run) faultCause(f MatchFault, bot int) (text, change string) {
	data, err := os.ReadFile(r.Dir.ReplayPath(f.Match, f.Deal, f.Rotation))
	if err != nil {
		return f.Text, ""
	}
	replay, err := referee.DecodeReplay(data)
	if err != nil {
		return f.Text, ""
	}
	log, _ := os.ReadFile(r.Dir.ExistingLog(f.Match, f.Deal, f.Rotation, f.Seat)) // most bots have no log
	c, err := replay.Circumstances(r.Variant.Game, f.Fault, log)
	c = r.Programs[bot].Describe(c, true)
	r.Bots[bot].DescribeLimits(&c.Sandbox)
	if err == nil {
		change = f.Reason.Advice(c)[0].String()
	}
	return f.TextIn(c).String(), change
}

// checkCommand returns the command by which the user can check a bot under the conditions of this tournament, or
// "" for a bot that is part of timba.
func (r *Run) checkCommand(b match.Contestant) string {
	if b.Line == "" || strings.HasPrefix(b.Line, "@") {
		return ""
	}
	var limit sandbox.Limit
	if b.Sandbox != nil {
		limit = b.Sandbox.Limit
	}
	line := []string{r.Self}
	for _, word := range check.CommandArgs(b.Line, r.Variant.Game.Name, r.Clock, limit) {
		line = append(line, text.Quote(word))
	}
	return strings.Join(line, " ")
}

// faultsOf returns a text about a bot's faults: how many it had of each code, and how many games it did not play
// because it was disqualified. bot is the bot's number in the tournament.
func (r *Run) faultsOf(bot int) string {
	n := map[protocol.Code]int{}
	unplayed := 0
	matches := r.Matches()
	for _, f := range r.Faults {
		switch {
		case matches[f.Match].Bots[f.Bot] != bot:
		case f.IsDisqualified():
			unplayed++
		default:
			n[f.Code]++
		}
	}
	var words []string
	for _, c := range protocol.Codes {
		if n[c] > 0 {
			words = append(words, fmt.Sprintf("%d %s", n[c], c))
		}
	}
	if unplayed > 0 {
		words = append(words, fmt.Sprintf("%d unplayed", unplayed))
	}
	if words == nil {
		return "0"
	}
	return strings.Join(words, ", ")
}

func perGame(s referee.Score) string {
	if s.Games == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", s.Points/float64(s.Games))
}

// writeStandings writes a row for each bot, the best first. The first columns show what decides the order: match
// points in a Swiss tournament, the round of the defeat in a knockout, otherwise the rating.
func (r *Run) writeStandings(w io.Writer, results tournament.Results) {
	head := "bot|games|wins|draws|losses|points|points a game|faults"
	switch r.Format {
	case tournament.Swiss:
		head = "place|match points|" + head
	case tournament.Knockout:
		head = "place|out in|" + head
	}
	rated := len(r.Bots) > 2
	switch {
	case rated && r.Format.InRounds():
		head += "|Elo|± 95 %"
	case rated:
		head = "Elo|± 95 %|" + head
	}
	place := 0
	text.Rows(w, head, results.Standings, func(s tournament.Standing) []any {
		place++
		row := []any{s.Name, s.Games, s.Wins, s.Draws, s.Losses, fmt.Sprintf("%g", s.Points), perGame(s.Score), r.faultsOf(s.Bot)}
		elo := []any{fmt.Sprintf("%+.0f", math.Round(s.Rating.Value)+0), halfWidthText(s.Rating.PlusMinus(), 0)}
		switch {
		case r.Format == tournament.Swiss:
			row = append([]any{place, fmt.Sprintf("%.2f", s.MatchPoints)}, row...)
		case r.Format == tournament.Knockout:
			row = append([]any{place, r.knockoutResult(s, results)}, row...)
		case rated:
			return append(elo, row...)
		}
		if rated {
			row = append(row, elo...)
		}
		return row
	})
}

// writeTeams writes which bots are partners in all games and therefore have a common rating.
func (r *Run) writeTeams(w io.Writer) {
	teams := r.teams()
	if teams == nil {
		return
	}
	var all []string
	for _, team := range teams {
		all = append(all, strings.Join(team, " with "))
	}
	fmt.Fprintf(w, "\nthe Elo is that of a pair: %s, in all games\n", strings.Join(all, ", and "))
}

func (r *Run) teams() (teams [][]string) {
	for _, team := range r.Teams() {
		teams = append(teams, r.names(team))
	}
	return teams
}

func (r *Run) names(bots []int) (names []string) {
	for _, bot := range bots {
		names = append(names, r.Bots[bot].Name)
	}
	return names
}

// knockoutResult returns what became of a bot in a knockout: the name of the round in which it lost, "champion", or
// "-" if it has not lost yet.
func (r *Run) knockoutResult(s tournament.Standing, results tournament.Results) string {
	switch {
	case s.Bot == results.Champion:
		return "champion"
	case s.LostRound < 0:
		return "-"
	}
	return r.roundName(s.LostRound, results)
}

// roundName returns "final" for the last round of a finished knockout, otherwise "round" and its number from 1.
// round is counted from 0.
func (r *Run) roundName(round int, results tournament.Results) string {
	matches := r.Matches()
	if r.Format == tournament.Knockout && results.Champion >= 0 && round == matches[len(matches)-1].Round {
		return "final"
	}
	return fmt.Sprintf("round %d", round+1)
}

// writeRounds writes the matches of each round with the bots' match points, and the champion.
func (r *Run) writeRounds(w io.Writer, results tournament.Results) {
	fmt.Fprintln(w)
	head := "round|match points"
	if r.Format == tournament.Knockout {
		head += "|goes on"
	}
	last := -1
	text.Rows(w, head, r.Matches(), func(m *tournament.Match) []any {
		name := ""
		if m.Round != last {
			name, last = r.roundName(m.Round, results), m.Round
		}
		row := []any{name, r.matchPoints(m)}
		if r.Format == tournament.Knockout {
			winner := "-"
			if r.IsFinished(m) {
				winner = r.Bots[m.Winner()].Name
				if by := m.TieBreak(); by != "" {
					winner += " (after a tie: " + by + ")"
				}
			}
			row = append(row, winner)
		}
		return row
	})
	if results.Champion >= 0 {
		fmt.Fprintf(w, "\nchampion: %s\n", r.Bots[results.Champion].Name)
	}
}

// matchPoints returns the names of the bots of a match, each with its match points so far, as text.
func (r *Run) matchPoints(m *tournament.Match) string {
	points := r.pointsOf(m)
	if len(m.Bots) == 1 {
		bye := r.Bots[m.Bots[0]].Name + " has a bye"
		if r.Format == tournament.Swiss {
			bye += fmt.Sprintf(", %.2f", points[0])
		}
		return bye
	}
	var bots []string
	for i, p := range points {
		bots = append(bots, fmt.Sprintf("%s %.2f", r.Bots[m.Bots[i]].Name, p))
	}
	return strings.Join(bots, " - ")
}

// pointsOf returns the match points of m, in the order of m.Bots. If m is a bye (its only bot does not play), it
// returns what the bye is worth; see State.ByePoints.
func (r *Run) pointsOf(m *tournament.Match) []float64 {
	if len(m.Bots) == 1 {
		return []float64{r.ByePoints()[m.Bots[0]]}
	}
	return m.Points()
}

// writeDuel writes the statistics of a tournament of two bots; docs/ratings.md explains the terms.
func (r *Run) writeDuel(w io.Writer, results tournament.Results) {
	s, first := results.Pairs[0][1], results.Standings[0]
	if s.Deals == 0 {
		return
	}
	a, b := r.Bots[0].Name, r.Bots[1].Name
	fmt.Fprintf(w, "\n%s against %s, in %s:\n", a, b, text.Count(s.Deals, "deal"))
	fmt.Fprintf(w, "  Elo              %s  (95 %%: %s to %s)\n", eloText(s), boundText(s.Elo.Low), boundText(s.Elo.High))
	fmt.Fprintf(w, "  LOS              %.1f %%\n", 100*s.LOS)
	fmt.Fprintf(w, "  draw ratio       %.1f %%\n", 100*float64(first.Draws)/float64(first.Games))
	fmt.Fprintf(w, "  points a game    %+.2f ± %s\n", s.Points.Value, halfWidthText(s.Points.PlusMinus(), 2))
	if five, ok := s.Pentanomial(); ok {
		fmt.Fprintf(w, "  pentanomial      %v\n", five)
	} else {
		var classes []string
		for _, c := range s.Classes {
			classes = append(classes, fmt.Sprintf("%.4g: %d", c.Score, c.Deals))
		}
		fmt.Fprintf(w, "  deals by score   %s\n", strings.Join(classes, ", "))
	}
	m := r.Matches()[0]
	if p := m.Progress; p != nil {
		fmt.Fprintf(w, "  SPRT             %s\n  LLR              %s: %s\n", r.SPRT, llrText(p), verdictText(m))
	}
}

func eloText(s stats.Summary) string {
	bound := ""
	if s.Swept {
		bound = " or more"
		if s.Score.Value < 0.5 {
			bound = " or less"
		}
	}
	return fmt.Sprintf("%+.1f%s", s.Elo.Value, bound)
}

func llrText(p *stats.Progress) string {
	return fmt.Sprintf("%.2f (%.2f, %.2f)", p.LLR, p.Lower, p.Upper)
}

func verdictText(m *tournament.Match) string {
	switch m.Progress.Verdict {
	case stats.AcceptH0:
		return "H0 accepted: the first bot is not that much stronger"
	case stats.AcceptH1:
		return "H1 accepted: the first bot is stronger"
	}
	if n := m.RepeatedDeals(); n > 0 {
		return fmt.Sprintf("no verdict: none of the last %d deals was new", n)
	}
	return "no verdict yet"
}

// writeRepeats writes how many of the deals count. A deal does not count if it only repeats games that the same bots
// have played before. If an option of the game would avoid repeats, writeRepeats names that option.
func (r *Run) writeRepeats(w io.Writer, results tournament.Results) {
	fmt.Fprintf(w, "\n%s among %d: the others repeat games that these bots have played, and count only once\n", text.Count(results.Distinct, "distinct deal"), results.Deals)
	switch opening := rules.OpeningOption.Name; {
	case len(r.Openings) > 0:
		fmt.Fprintf(w, "for games that differ: more openings than the %d of the file, one for each deal\n", len(r.Openings))
	case r.Variant.Settings.Map()[opening] == "0":
		fmt.Fprintf(w, "for games that differ: --set %s=%d\n", opening, max(1, r.Variant.StandardOpening()))
	}
}

func boundText(x float64) string {
	if math.Abs(x) > 1e6 {
		return "unbounded"
	}
	return fmt.Sprintf("%+.1f", x)
}

func halfWidthText(x float64, digits int) string {
	if math.IsNaN(x) || x > 1e6 {
		return "unbounded"
	}
	return fmt.Sprintf("%.*f", digits, x)
}

// documentAdjudicated counts the games that the bots' own scores ended early.
type documentAdjudicated struct {
	Draws        int `json:"draws"`
	Resignations int `json:"resignations"`
}

// countAdjudicated counts the games that the bots' own scores ended early. It includes games that were played before
// the tournament was resumed.
func (r *Run) countAdjudicated() (n documentAdjudicated) {
	for _, m := range r.Matches() {
		n.Draws += m.Tally.AdjudicatedDraws
		n.Resignations += m.Tally.AdjudicatedResignations
	}
	return n
}

// writeAdjudicated writes how many games the bots' own scores ended early. It writes nothing if the tournament has no
// rules for that.
func (r *Run) writeAdjudicated(w io.Writer) {
	if r.Adjudication.String() == "" {
		return
	}
	games := 0
	for _, m := range r.Matches() {
		games += m.Tally.Games
	}
	n := r.countAdjudicated()
	fmt.Fprintf(w, "adjudicated: %d of %s (%s, %s)\n", n.Draws+n.Resignations, text.Count(games, "game"),
		text.Count(n.Draws, "draw"), text.Count(n.Resignations, "resignation"))
}
