package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/timba-arena/timba/referee"
)

// report is the document of `timba match --json`; its fields stay.
type report struct {
	Game       string            `json:"game"`
	Options    map[string]string `json:"options"`
	Seed       referee.Hex       `json:"seed"`
	Commitment referee.Hex       `json:"commitment"`
	Deals      int               `json:"deals"`
	Rotations  int               `json:"rotations"`
	Games      int               `json:"games"`
	Moves      int               `json:"moves"`
	Seconds    float64           `json:"seconds"`
	Bots       []reportBot       `json:"bots"`
	Faults     []reportFault     `json:"faults"`
	Voids      []string          `json:"voids"` // games played again for a failure of timba's own
}

type reportBot struct {
	Name    string  `json:"name"`
	Version string  `json:"version"`
	SHA256  string  `json:"sha256"`
	Games   int     `json:"games"`
	Wins    int     `json:"wins"`
	Draws   int     `json:"draws"`
	Losses  int     `json:"losses"`
	Points  float64 `json:"points"`
	Faults  int     `json:"faults"`
}

type reportFault struct {
	Bot      string `json:"bot"`
	Deal     int    `json:"deal"`
	Rotation int    `json:"rotation"`
	Seat     int    `json:"seat"`
	Ply      int    `json:"ply"`
	Code     string `json:"code"`
	Text     string `json:"text"`
	Replay   string `json:"replay"` // path
}

func (r *matchRun) report() report {
	m := r.match
	doc := report{
		Game:       m.Variant.Game().Name(),
		Options:    map[string]string{},
		Seed:       referee.Hex(m.Seed),
		Commitment: referee.Commitment(m.Seed),
		Deals:      m.Deals,
		Rotations:  m.Rotations(),
		Games:      r.tally.Games,
		Moves:      r.tally.Plies,
		Seconds:    r.took.Seconds(),
		Bots:       []reportBot{},
		Faults:     []reportFault{},
		Voids:      append([]string{}, r.voids...),
	}
	for _, s := range m.Variant.Settings() {
		doc.Options[s.Name] = s.Value
	}
	for _, s := range r.tally.Scores {
		doc.Bots = append(doc.Bots, reportBot{s.Name, s.Version, s.Hash, s.Games, s.Wins, s.Draws, s.Losses, s.Points, s.Faults})
	}
	for _, f := range r.tally.Faults {
		doc.Faults = append(doc.Faults, reportFault{f.Name, f.Deal, f.Rotation, f.Seat, f.Ply, string(f.Code), f.Text, r.folder.replay(f.Deal, f.Rotation)})
	}
	return doc
}

// logTraffic shows both sides of every pipe: when, which game, which seat, and
// "<" for what a bot was sent, ">" for what it wrote.
func logTraffic(w io.Writer, m *referee.Match) func(referee.Traffic) {
	out := &lockedWriter{w: w}
	return func(t referee.Traffic) {
		name := m.Bots[(t.Seat+t.Rotation)%len(m.Bots)].Name
		arrow := "<"
		if t.FromBot {
			arrow = ">"
		}
		var b strings.Builder
		for line := range strings.Lines(string(t.Lines)) {
			fmt.Fprintf(&b, "%12.3f ms %d.%d seat %d %s %s %s\n", float64(t.At.Nanoseconds())/1e6, t.Deal, t.Rotation, t.Seat, name, arrow, strings.TrimSuffix(line, "\n"))
		}
		io.WriteString(out, b.String())
	}
}
