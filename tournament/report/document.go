package report

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/stats"
	"github.com/timba-arena/timba/tournament"
)

// Document is the result of a tournament as a JSON document. `timba match --json` prints it, and result.json contains
// it. result.schema.json is its schema. Later versions of timba may add fields but never remove any.
type Document struct {
	documentPlan
	documentCounts
	Bots     []documentBot   `json:"bots"`            // the best bot first
	Teams    [][]string      `json:"teams,omitempty"` // bots that are partners in every game and share one Elo
	Pairs    []documentPair  `json:"pairs"`
	Rounds   []documentRound `json:"rounds,omitempty"`   // of a Swiss or knockout tournament
	Champion string          `json:"champion,omitempty"` // of a finished Swiss or knockout tournament
	SPRT     *documentSPRT   `json:"sprt,omitempty"`     // the test of a tournament of two bots
	// AdjudicatedGames counts the games that the bots' own scores ended early. It is nil if the tournament has no
	// rules for that.
	AdjudicatedGames *documentAdjudicated `json:"adjudicated,omitempty"`
	Faults           []documentFault      `json:"faults"`
	Voids            []string             `json:"voids"` // a text for each game that was void and played again, with the reason
	// StarvedVoids is the number of games that did not count because other programs used the cores. Other games that
	// did not count were failures of timba.
	StarvedVoids int `json:"starved"`
	// EarlyEnd says why not all games were played. It is nil if all were played.
	EarlyEnd *EarlyEnd `json:"ended_early,omitempty"`
}

// documentPlan is the part of a Document that says what the tournament plays.
type documentPlan struct {
	Program    string            `json:"program"` // version of timba
	Game       string            `json:"game"`
	Options    map[string]string `json:"options"`
	Format     string            `json:"format"`
	Seed       referee.Hex       `json:"seed"`
	Commitment referee.Hex       `json:"commitment"`
	Deals      int               `json:"deals"`              // of each match
	Shuffled   bool              `json:"shuffled,omitempty"` // whether its openings from a file are in a random order
	Machine    documentMachine   `json:"machine"`
}

// documentMachine is the machine that played the tournament, or the rest of it after it was resumed.
type documentMachine struct {
	System  string `json:"system"`  // its operating system and architecture, such as "linux/amd64"
	Cores   int    `json:"cores"`   // number of cores
	Workers int    `json:"workers"` // number of games at the same time
}

// documentCounts is the part of a Document that says how much has been played, as sums over all matches.
type documentCounts struct {
	PlayedDeals int     `json:"played"`   // number of finished deals
	Distinct    int     `json:"distinct"` // number of finished deals that count; the others only repeat games of the same bots
	Games       int     `json:"games"`
	Moves       int     `json:"moves"`
	Seconds     float64 `json:"seconds"`

	EndedAt time.Time `json:"ended_at"` // in UTC, to the second
}

type documentBot struct {
	Name   string         `json:"name"`
	SHA256 string         `json:"sha256"`
	Clock  *referee.Clock `json:"clock,omitempty"` // its own clock; nil means that of the match
	Games  int            `json:"games"`
	Wins   int            `json:"wins"`
	Draws  int            `json:"draws"`
	Losses int            `json:"losses"`
	Points float64        `json:"points"`
	Faults int            `json:"faults"`
	// Credit is the time in milliseconds that other programs took from the bot. It did not count on the bot's clock.
	Credit      float64         `json:"credit_ms,omitempty"`
	Elo         *stats.Estimate `json:"elo,omitempty"`          // the mean of all bots is 0; nil unless there are more than two bots
	MatchPoints *float64        `json:"match_points,omitempty"` // nil unless this is a Swiss or knockout tournament
}

// documentRound is one match of a Swiss or knockout tournament. Rounds are counted from 1. If the match has only one
// bot, that bot does not play in this round.
type documentRound struct {
	Round  int       `json:"round"`
	Match  int       `json:"match"`
	Bots   []string  `json:"bots"`
	Points []float64 `json:"match_points"`     // by bot
	Winner string    `json:"winner,omitempty"` // the bot that advances in a knockout
	// TieBreak says in English what decided between several bots with the most match points. It is "" if only one bot
	// had the most.
	TieBreak string `json:"tie_break,omitempty"`
}

// documentPair is the score of bot A against bot B.
type documentPair struct {
	A string `json:"a"`
	B string `json:"b"`
	stats.Summary
	SPRT *documentSPRT `json:"sprt,omitempty"` // the test of the match between A and B in a gauntlet
}

type documentSPRT struct {
	stats.SPRT
	stats.Progress
	// RepeatedDeals is the number of the last deals in a row in which all games repeat earlier games. It is 0 unless
	// the test ended because of such repetitions.
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
	Text     string       `json:"text"`             // the fault, with the cause that the replay and the log reveal
	Change   string       `json:"change,omitempty"` // what to change in the bot, most likely
	Replay   string       `json:"replay"`           // path of the replay
}

// Document returns the results so far in the form that is printed as JSON.
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
			Shuffled:   r.Shuffled,
			Machine:    documentMachine{runtime.GOOS + "/" + runtime.GOARCH, runtime.NumCPU(), max(1, len(r.Workers))},
		},
		documentCounts: documentCounts{
			PlayedDeals: results.Deals, Distinct: results.Distinct, Seconds: r.Took.Seconds(),
			EndedAt: r.startedAt.Add(r.Took).UTC().Truncate(time.Second),
		},
		Bots:         []documentBot{},
		Pairs:        []documentPair{},
		Teams:        r.teams(),
		Faults:       []documentFault{},
		Voids:        append([]string{}, r.Voids...),
		StarvedVoids: r.StarvedVoids,
		EarlyEnd:     r.EarlyEnd,
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
				doc.Pairs = append(doc.Pairs, documentPair{r.Bots[a].Name, r.Bots[b].Name, s, r.opponentTest(a, b)})
			}
		}
	}
	if len(r.Bots) == 2 && len(matches) > 0 {
		doc.SPRT = r.testOf(matches[0])
	}
	if r.Adjudication.String() != "" {
		n := r.countAdjudicated()
		doc.AdjudicatedGames = &n
	}
	for _, f := range r.Faults {
		text, change := r.faultCause(f, matches[f.Match].Bots[f.Bot])
		doc.Faults = append(doc.Faults, documentFault{
			f.Name, f.Match, f.Deal, f.Rotation, f.Seat, f.Ply, string(f.Code), f.Reason, text, change,
			r.Dir.ReplayPath(f.Match, f.Deal, f.Rotation),
		})
	}
	return doc
}

// testOf returns the state of the sequential test of a match, or nil if there is no test or it has not counted a deal
// yet.
func (r *Run) testOf(m *tournament.Match) *documentSPRT {
	if m.Progress == nil {
		return nil
	}
	return &documentSPRT{*r.SPRT, *m.Progress, m.RepeatedDeals()}
}

// opponentTest returns the state of the sequential test between bots a and b. It returns nil if they have none, and
// in every tournament that is not a gauntlet of more than two bots.
func (r *Run) opponentTest(a, b int) *documentSPRT {
	if len(r.Bots) == 2 || a != 0 || r.SPRT == nil {
		return nil
	}
	return r.testOf(r.Matches()[b-1])
}

func (d *Document) addRounds(r *Run, results tournament.Results) {
	for _, m := range r.Matches() {
		round := documentRound{Round: m.Round + 1, Match: m.Number, Bots: r.names(m.Bots), Points: r.pointsOf(m)}
		if r.Format == tournament.Knockout && r.IsFinished(m) {
			round.Winner, round.TieBreak = r.Bots[m.Winner()].Name, m.TieBreak()
		}
		d.Rounds = append(d.Rounds, round)
	}
	if results.Champion >= 0 {
		d.Champion = r.Bots[results.Champion].Name
	}
}

// EarlyEnd says why a tournament ended before all of its games were played, and how the user can resume it.
type EarlyEnd struct {
	Cause   string `json:"why"` // Interrupted or Failed
	Text    string `json:"text"`
	Missing int    `json:"missing_games"` // number of games not played; an upper bound if there is a sequential test
	Games   int    `json:"all_games"`
	Resume  string `json:"resume"` // the command that plays the missing games; "" if the tournament has no directory
}

// The values of EarlyEnd.Cause.
const (
	Interrupted = "interrupted" // by a signal
	Failed      = "failed"      // by an error, which is in EarlyEnd.Text
)

func (r *Run) countMissing() int {
	_, n := r.Total()
	for _, m := range r.Matches() {
		if len(m.Bots) > 1 || len(r.Bots) == 1 {
			n -= m.GameCount(r.Deals) - r.MissingGames(m)
		}
	}
	return n
}

// shownMatches is the largest number of unfinished matches that the line about missing games lists.
const shownMatches = 5

func (r *Run) missingText() string {
	n := r.countMissing()
	_, all := r.Total()
	switch {
	case n == 0:
		return "no game"
	case r.SPRT != nil:
		tests, over := r.countTests()
		return fmt.Sprintf("at most %d of %s: %d of %s without a verdict", n, text.Count(all, "game"), tests-over, text.Count(tests, "test"))
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
	switch first, end := last+2, r.LastRound(); { // rounds counted from 1
	case first == end:
		parts = append(parts, fmt.Sprintf("all of round %d", end))
	case first < end:
		parts = append(parts, fmt.Sprintf("all of rounds %d to %d", first, end))
	}
	return fmt.Sprintf("%d of %s: %s", n, text.Count(all, "game"), strings.Join(parts, ", "))
}

// EndEarly sets r.EarlyEnd because the tournament ends before all its games were played. cause is Interrupted or
// Failed, and text explains the cause to people. resume is the command that resumes the tournament, or "" if the
// tournament has no directory.
func (r *Run) EndEarly(cause, text, resume string) {
	_, all := r.Total()
	r.EarlyEnd = &EarlyEnd{Cause: cause, Text: text, Missing: r.countMissing(), Games: all, Resume: resume}
}
