package report

import (
	"fmt"
	"io"

	"github.com/timba-arena/timba/referee/text"
)

// documentAdjudicated counts the games that the bots' own scores have ended.
type documentAdjudicated struct {
	Draws        int `json:"draws"`
	Resignations int `json:"resignations"`
}

// adjudicated counts the adjudicated games of all runs.
func (r *Run) adjudicated() (n documentAdjudicated) {
	for _, m := range r.Matches() {
		n.Draws += m.Tally.Drawn
		n.Resignations += m.Tally.Resigned
	}
	return n
}

// writeAdjudicated tells how many games were adjudicated, where they could be.
func (r *Run) writeAdjudicated(w io.Writer) {
	if r.Adjudication.String() == "" {
		return
	}
	games := 0
	for _, m := range r.Matches() {
		games += m.Tally.Games
	}
	n := r.adjudicated()
	fmt.Fprintf(w, "adjudicated: %d of %s (%s, %s)\n", n.Draws+n.Resignations, text.Count(games, "game"),
		text.Count(n.Draws, "draw"), text.Count(n.Resignations, "resignation"))
}
