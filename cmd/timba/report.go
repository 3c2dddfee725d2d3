package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/tournament"
	"github.com/timba-arena/timba/referee"
)

// report is the document of `timba match --json`; its fields stay.
type report struct {
	Game       string            `json:"game"`
	Options    map[string]string `json:"options"`
	Format     string            `json:"format"`
	Seed       referee.Hex       `json:"seed"`
	Commitment referee.Hex       `json:"commitment"`
	Deals      int               `json:"deals"` // of each match
	Games      int               `json:"games"`
	Moves      int               `json:"moves"`
	Seconds    float64           `json:"seconds"`
	Bots       []reportBot       `json:"bots"` // the best first
	Pairs      []reportPair      `json:"pairs"`
	SPRT       *reportSPRT       `json:"sprt,omitempty"`
	Faults     []reportFault     `json:"faults"`
	Voids      []string          `json:"voids"` // games played again for a failure of timba's own
}

type reportBot struct {
	Name   string           `json:"name"`
	SHA256 string           `json:"sha256"`
	Games  int              `json:"games"`
	Wins   int              `json:"wins"`
	Draws  int              `json:"draws"`
	Losses int              `json:"losses"`
	Points float64          `json:"points"`
	Faults int              `json:"faults"`
	Elo    *rating.Estimate `json:"elo,omitempty"` // with more than two bots; mean 0
}

// reportPair is what the deals say of two bots, seen by the first.
type reportPair struct {
	A string `json:"a"`
	B string `json:"b"`
	rating.Summary
}

type reportSPRT struct {
	rating.SPRT
	rating.Progress
}

type reportFault struct {
	Bot      string `json:"bot"`
	Match    int    `json:"match"`
	Deal     int    `json:"deal"`
	Rotation int    `json:"rotation"`
	Seat     int    `json:"seat"`
	Ply      int    `json:"ply"`
	Code     string `json:"code"`
	Text     string `json:"text"`
	Replay   string `json:"replay"` // path
}

func (r *contest) report() (report, error) {
	t := r.tournament
	results, err := t.Results()
	if err != nil {
		return report{}, err
	}
	doc := report{
		Game:       t.Variant.Game().Name(),
		Options:    map[string]string{},
		Format:     string(t.Format),
		Seed:       referee.Hex(t.Seed),
		Commitment: referee.Commitment(t.Seed),
		Deals:      t.Deals,
		Seconds:    r.took.Seconds(),
		Bots:       []reportBot{},
		Pairs:      []reportPair{},
		Faults:     []reportFault{},
		Voids:      append([]string{}, r.voids...),
	}
	for _, s := range t.Variant.Settings() {
		doc.Options[s.Name] = s.Value
	}
	matches := t.Matches()
	for _, m := range matches {
		doc.Games += m.Tally.Games
		doc.Moves += m.Tally.Plies
	}
	for _, s := range results.Standings {
		b := reportBot{s.Name, s.Hash, s.Games, s.Wins, s.Draws, s.Losses, s.Points, s.Faults, nil}
		if len(t.Bots) > 2 {
			b.Elo = &s.Rating
		}
		doc.Bots = append(doc.Bots, b)
	}
	for a := range t.Bots {
		for b := a + 1; b < len(t.Bots); b++ {
			if s := results.Pairs[a][b]; s.Deals > 0 {
				doc.Pairs = append(doc.Pairs, reportPair{t.Bots[a].Name, t.Bots[b].Name, s})
			}
		}
	}
	if t.SPRT != nil && matches[0].Progress != nil {
		doc.SPRT = &reportSPRT{*t.SPRT, *matches[0].Progress}
	}
	for _, f := range r.faults {
		doc.Faults = append(doc.Faults, reportFault{f.Name, f.match, f.Deal, f.Rotation, f.Seat, f.Ply, string(f.Code), f.Text, t.Folder.Replay(f.match, f.Deal, f.Rotation)})
	}
	return doc, nil
}

// logTraffic shows both sides of every pipe: when, which game, which seat, and
// "<" for what a bot was sent, ">" for what it wrote.
func logTraffic(w io.Writer, t *tournament.Tournament) func(*tournament.Match, referee.Traffic) {
	var mu sync.Mutex // the lanes write whole blocks
	return func(m *tournament.Match, p referee.Traffic) {
		name := t.Bots[m.Bots[(p.Seat+p.Rotation)%len(m.Bots)]].Name
		arrow := "<"
		if p.FromBot {
			arrow = ">"
		}
		mu.Lock()
		defer mu.Unlock()
		for line := range strings.Lines(string(p.Lines)) {
			fmt.Fprintf(w, "%12.3f ms %d.%d.%d seat %d %s %s %s\n", float64(p.At.Nanoseconds())/1e6, m.Number, p.Deal, p.Rotation, p.Seat, name, arrow, strings.TrimSuffix(line, "\n"))
		}
	}
}
