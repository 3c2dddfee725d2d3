package check

import (
	"encoding/json"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
)

// CheckStatus is the result of a single check or of all checks together: ok, warning, fail or skipped.
type CheckStatus string

// The values of CheckStatus.
const (
	OK      CheckStatus = "ok"
	Warning CheckStatus = "warning"
	Failed  CheckStatus = "fail"
	Skipped CheckStatus = "skipped" // not made, because an earlier check failed
)

// Check is one named check of a bot, with its result.
type Check struct {
	Name     string      `json:"name"`
	Status   CheckStatus `json:"status"`
	Note     string      `json:"note"` // a few words on what was observed
	Warnings []string    `json:"warnings"`
	Failure  *Failure    `json:"failure,omitempty"`
}

// Failure describes what a bot did wrong in a check, and what its author needs to know to correct the bot. It
// is an error.
type Failure struct {
	Text     phrase.Text `json:"text"`            // what happened
	Place    string      `json:"where"`           // the game, the seat, and the number of the game in its process; "" before the first game
	Lines    []Line      `json:"lines"`           // the last lines to and from the bot, in order
	Stderr   []string    `json:"stderr"`          // the last lines of the bot's stderr
	Change   phrase.Text `json:"change"`          // what the author can change
	Process  int         `json:"process"`         // number of the bot's process in the check, from 1
	Game     int         `json:"game,omitempty"`  // number of the game in the check, from 1; 0 before the first game
	Commands []string    `json:"again,omitempty"` // commands that show it again, if the caller of Run has stored lines and games

	Reason        fault.Reason `json:"reason,omitzero"` // the fault that a match would record; zero if a match would not notice the failure
	circumstances fault.Circumstances
}

// Error returns, in English, what the bot did wrong.
func (f *Failure) Error() string { return f.Text.String() }

// MarshalJSON encodes the failure with its texts in English.
func (f *Failure) MarshalJSON() ([]byte, error) {
	type document Failure
	return json.Marshal(struct {
		Text string `json:"text"`
		*document
		Change string `json:"change"`
	}{f.Text.String(), (*document)(f), f.Change.String()})
}

// Phrase returns what the bot did wrong, as a text that can be translated.
func (f *Failure) Phrase() phrase.Text { return f.Text }

// Line is a protocol line between the referee and the bot that is checked.
type Line struct {
	FromBot bool   `json:"from_bot"`
	Text    string `json:"text"` // printable ASCII; other bytes are escaped as in a Go string
}

// CheckedBot identifies the bot that was checked.
type CheckedBot struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"` // from the manifest, else from the bot's "ready"
	Language string   `json:"language"`
	Command  []string `json:"command"`
	SHA256   string   `json:"sha256"`
}

// Report is the result of a check. `timba check --json` prints it as a JSON document, in which no field is renamed or
// removed later.
type Report struct {
	Bot     CheckedBot      `json:"bot"`
	Clock   referee.ClockMS `json:"clock"`
	Sandbox string          `json:"sandbox"` // the level of the bot's sandbox: NONE, WEAK, REDUCED or FULL
	Seed    referee.Hex     `json:"seed"`
	Verdict CheckStatus     `json:"verdict"` // the worst status of a check: ok, warning or fail
	Checks  []Check         `json:"checks"`
	StartMS float64         `json:"start_ms"` // time for the slowest start of a process, without that of other programs
	Times   []Times         `json:"times"`
	Seconds float64         `json:"seconds"`
}

// Times says how long the bot's moves took in one kind of game, such as Brisca.
type Times struct {
	Game     string  `json:"game"`
	Games    int     `json:"games"`
	Moves    int     `json:"moves"`
	MedianMS float64 `json:"median_ms"`
	WorstMS  float64 `json:"worst_ms"`
}

func newReport(p program.Program, o Options) *Report {
	level := sandbox.LevelNone
	if p.Sandbox != nil {
		level = p.Sandbox.Level
	}
	return &Report{
		Bot:     CheckedBot{Name: p.Name, Version: p.Version, Language: p.Language, Command: p.Command, SHA256: p.Hash},
		Clock:   o.Clock.Milliseconds(),
		Sandbox: level.String(),
		Seed:    referee.Hex(o.Seed),
		Verdict: OK,
		Checks:  []Check{},
		Times:   []Times{},
	}
}

// add adds a check to the report. A check that is ok but has warnings gets the status warning. The verdict of the
// report becomes that of the worst check.
func (r *Report) add(c Check) {
	if c.Warnings == nil {
		c.Warnings = []string{}
	}
	if c.Status == OK && len(c.Warnings) > 0 {
		c.Status = Warning
	}
	if c.Status == Failed || c.Status == Warning && r.Verdict == OK {
		r.Verdict = c.Status
	}
	r.Checks = append(r.Checks, c)
}

// Find returns the check called name, or nil if the report has none.
func (r *Report) Find(name string) *Check {
	for i := range r.Checks {
		if r.Checks[i].Name == name {
			return &r.Checks[i]
		}
	}
	return nil
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond).Microseconds()) / 1e3
}
