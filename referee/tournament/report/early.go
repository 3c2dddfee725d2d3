package report

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/referee/tournament"
)

// Early tells that a tournament ended before all of its games were played.
type Early struct {
	Why     string `json:"why"` // Interrupted or Failed
	Text    string `json:"text"`
	Missing int    `json:"missing_games"` // at most, with a sequential test
	Games   int    `json:"all_games"`
	Resume  string `json:"resume"` // the command that plays the missing games; "" where none can
}

// Why a tournament ended early.
const (
	Interrupted = "interrupted" // by a signal
	Failed      = "failed"      // the text says what
)

// missing counts the games that have not been played.
func (r *Run) missing() int {
	_, n := r.Total()
	for _, m := range r.Matches() {
		if len(m.Bots) > 1 || len(r.Bots) == 1 {
			n -= r.Deals*len(m.Bots) - r.Lacks(m)
		}
	}
	return n
}

// shownMatches is how many unfinished matches are named.
const shownMatches = 5

// missingText says which games have not been played.
func (r *Run) missingText() string {
	n := r.missing()
	_, all := r.Total()
	switch {
	case n == 0:
		return "no game"
	case r.SPRT != nil:
		return fmt.Sprintf("at most %d of %s: the test has no verdict yet", n, text.Count(all, "game"))
	case r.Format == tournament.Single:
		return fmt.Sprintf("%d of %s", n, text.Count(all, "game"))
	}
	var parts []string
	unfinished, last := 0, -1
	for _, m := range r.Matches() {
		last = m.Round
		lacks := r.Lacks(m)
		if lacks == 0 {
			continue
		}
		if unfinished++; unfinished > shownMatches {
			continue
		}
		var names []string
		for _, b := range m.Bots {
			names = append(names, r.Bots[b].Name)
		}
		parts = append(parts, fmt.Sprintf("%d of match %d (%s)", lacks, m.Number, strings.Join(names, ", ")))
	}
	if more := unfinished - shownMatches; more > 0 {
		parts = append(parts, "those of "+text.Count(more, "more match"))
	}
	switch first, end := last+2, r.LastRound(); { // rounds as people count them
	case first == end:
		parts = append(parts, fmt.Sprintf("all of round %d", end))
	case first < end:
		parts = append(parts, fmt.Sprintf("all of rounds %d to %d", first, end))
	}
	return fmt.Sprintf("%d of %s: %s", n, text.Count(all, "game"), strings.Join(parts, ", "))
}

// EndEarly notes that the tournament ended early. A run that has no directory has no command that
// resumes it.
func (r *Run) EndEarly(why, said, resume string) {
	_, all := r.Total()
	r.Early = &Early{Why: why, Text: said, Missing: r.missing(), Games: all, Resume: resume}
}
