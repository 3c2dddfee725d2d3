package report

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/tournament"
)

// Document is what `timba match --json` prints, and result.json in the directory of
// a tournament: result.schema.json is its schema. Its fields stay.
type Document struct {
	documentPlan
	documentCounts
	Bots     []documentBot   `json:"bots"`            // the best first
	Teams    [][]string      `json:"teams,omitempty"` // that are partners in every game: an Elo is that of a team
	Pairs    []documentPair  `json:"pairs"`
	Rounds   []documentRound `json:"rounds,omitempty"`   // of a Swiss or knockout tournament
	Champion string          `json:"champion,omitempty"` // of one that is over
	SPRT     *documentSPRT   `json:"sprt,omitempty"`
	// AdjudicatedGames is only there where the match has rules of adjudication.
	AdjudicatedGames *documentAdjudicated `json:"adjudicated,omitempty"`
	Faults           []documentFault      `json:"faults"`
	Voids            []string             `json:"voids"` // games played again, each with the reason
	// StarvedVoids is how many of Voids were so because other programs used the core while a bot
	// thought; the others are failures of timba's own.
	StarvedVoids int `json:"starved"`
	// EarlyEnd is only there where the match ended before all of its games were played.
	EarlyEnd *EarlyEnd `json:"ended_early,omitempty"`
}

// documentPlan is what is to be played.
type documentPlan struct {
	Program    string            `json:"program"` // version of timba
	Game       string            `json:"game"`
	Options    map[string]string `json:"options"`
	Format     string            `json:"format"`
	Seed       referee.Hex       `json:"seed"`
	Commitment referee.Hex       `json:"commitment"`
	Deals      int               `json:"deals"` // of each match
}

// documentCounts is how much has been played, in all matches.
type documentCounts struct {
	PlayedDeals int     `json:"played"`   // deals finished
	Distinct    int     `json:"distinct"` // of them, those that count: the others repeat games of the same bots
	Games       int     `json:"games"`
	Moves       int     `json:"moves"`
	Seconds     float64 `json:"seconds"`
}

type documentBot struct {
	Name   string         `json:"name"`
	SHA256 string         `json:"sha256"`
	Clock  *referee.Clock `json:"clock,omitempty"` // its own, where it is not that of the match
	Games  int            `json:"games"`
	Wins   int            `json:"wins"`
	Draws  int            `json:"draws"`
	Losses int            `json:"losses"`
	Points float64        `json:"points"`
	Faults int            `json:"faults"`
	// Credit is the time, in milliseconds, in which other programs held the cores while it wanted them.
	Credit      float64         `json:"credit_ms,omitempty"`
	Elo         *stats.Estimate `json:"elo,omitempty"`          // with more than two bots; mean 0
	MatchPoints *float64        `json:"match_points,omitempty"` // in a Swiss or knockout tournament
}

// documentRound is a match of a round, counted from 1; a bot alone has a bye.
type documentRound struct {
	Round  int       `json:"round"`
	Match  int       `json:"match"`
	Bots   []string  `json:"bots"`
	Points []float64 `json:"match_points"`     // by bot
	Winner string    `json:"winner,omitempty"` // who goes on in a knockout
	// TieBreak says what decided where the match points did not.
	TieBreak string `json:"tie_break,omitempty"`
}

// documentPair is what the deals say of two bots, seen by the first.
type documentPair struct {
	A string `json:"a"`
	B string `json:"b"`
	stats.Summary
}

type documentSPRT struct {
	stats.SPRT
	stats.Progress
	// RepeatedDeals is how many deals in a row were repeated when the test ended
	// without a verdict, for want of new ones; 0 where it did not.
	RepeatedDeals int `json:"exhausted"`
}

type documentFault struct {
	Bot      string       `json:"bot"`
	Match    int          `json:"match"`
	Deal     int          `json:"deal"`
	Rotation int          `json:"rotation"`
	Seat     int          `json:"seat"`
	Ply      int          `json:"ply"`
	Code     string       `json:"code"`
	Reason   fault.Reason `json:"reason"`
	Text     string       `json:"text"`             // with what the replay and the log tell of the cause
	Change   string       `json:"change,omitempty"` // the most likely advice
	Replay   string       `json:"replay"`           // path
}

// Document returns the result so far.
func (r *Run) Document() Document {
	results := r.Results()
	doc := Document{
		documentPlan: documentPlan{
			Program:    referee.Version(),
			Game:       r.Variant.Game.Name,
			Options:    r.Variant.Settings.Map(),
			Format:     string(r.Format),
			Seed:       r.Seed,
			Commitment: referee.Commitment(rules.Seed(r.Seed)),
			Deals:      r.Deals,
		},
		documentCounts: documentCounts{PlayedDeals: results.Deals, Distinct: results.Distinct, Seconds: r.Took.Seconds()},
		Bots:           []documentBot{},
		Pairs:          []documentPair{},
		Teams:          r.teams(),
		Faults:         []documentFault{},
		Voids:          append([]string{}, r.Voids...),
		StarvedVoids:   r.StarvedVoids,
		EarlyEnd:       r.EarlyEnd,
	}
	matches := r.Matches()
	for _, m := range matches {
		doc.Games += m.Tally.Games
		doc.Moves += m.Tally.Plies
	}
	rounds := r.Format.InRounds()
	if rounds {
		doc.addRounds(r, results)
	}
	for _, s := range results.Standings {
		b := documentBot{s.Name, s.Hash, r.Programs[s.Bot].Clock, s.Games, s.Wins, s.Draws, s.Losses, s.Points, s.Faults, float64(s.Credit.Microseconds()) / 1e3, nil, nil}
		if len(r.Bots) > 2 {
			b.Elo = &s.Rating
		}
		if rounds {
			b.MatchPoints = &s.MatchPoints
		}
		doc.Bots = append(doc.Bots, b)
	}
	for a := range r.Bots {
		for b := a + 1; b < len(r.Bots); b++ {
			if s := results.Pairs[a][b]; s.Deals > 0 {
				doc.Pairs = append(doc.Pairs, documentPair{r.Bots[a].Name, r.Bots[b].Name, s})
			}
		}
	}
	if r.SPRT != nil && len(matches) > 0 && matches[0].Progress != nil {
		doc.SPRT = &documentSPRT{*r.SPRT, *matches[0].Progress, matches[0].RepeatedDeals()}
	}
	if r.Adjudication.String() != "" {
		n := r.countAdjudicated()
		doc.AdjudicatedGames = &n
	}
	for _, f := range r.Faults {
		text, change := r.faultCause(f, r.Programs[matches[f.Match].Bots[f.Bot]])
		doc.Faults = append(doc.Faults, documentFault{
			f.Name, f.Match, f.Deal, f.Rotation, f.Seat, f.Ply, string(f.Code), f.Reason, text, change,
			r.Dir.ReplayPath(f.Match, f.Deal, f.Rotation),
		})
	}
	return doc
}

func (d *Document) addRounds(r *Run, results tournament.Results) {
	for _, m := range r.Matches() {
		round := documentRound{Round: m.Round + 1, Match: m.Number, Bots: r.names(m.Bots), Points: m.Points()}
		if r.Format == tournament.Knockout && r.IsFinished(m) {
			round.Winner, round.TieBreak = r.Bots[m.Winner()].Name, m.TieBreak()
		}
		d.Rounds = append(d.Rounds, round)
	}
	if results.Champion >= 0 {
		d.Champion = r.Bots[results.Champion].Name
	}
}

// EarlyEnd tells that a tournament ended before all of its games were played.
type EarlyEnd struct {
	Cause   string `json:"why"` // Interrupted or Failed
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

// countMissing counts the games that have not been played.
func (r *Run) countMissing() int {
	_, n := r.Total()
	for _, m := range r.Matches() {
		if len(m.Bots) > 1 || len(r.Bots) == 1 {
			n -= m.GameCount(r.Deals) - r.MissingGames(m)
		}
	}
	return n
}

// shownMatches is how many unfinished matches are named.
const shownMatches = 5

// missingText says which games have not been played.
func (r *Run) missingText() string {
	n := r.countMissing()
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
		lacks := r.MissingGames(m)
		if lacks == 0 {
			continue
		}
		if unfinished++; unfinished > shownMatches {
			continue
		}
		parts = append(parts, fmt.Sprintf("%d of match %d (%s)", lacks, m.Number, strings.Join(r.names(m.Bots), ", ")))
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
	r.EarlyEnd = &EarlyEnd{Cause: why, Text: said, Missing: r.countMissing(), Games: all, Resume: resume}
}
