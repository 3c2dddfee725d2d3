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

// CheckStatus is the result of a check.
type CheckStatus string

// The results.
const (
	OK      CheckStatus = "ok"
	Warning CheckStatus = "warning"
	Failed  CheckStatus = "fail"
	Skipped CheckStatus = "skipped" // because an earlier check failed
)

// Check is one check and its result.
type Check struct {
	Name     string      `json:"name"`
	Status   CheckStatus `json:"status"`
	Note     string      `json:"note"` // what was observed, in a few words
	Warnings []string    `json:"warnings"`
	Failure  *Failure    `json:"failure,omitempty"`
}

// Failure is what a bot did wrong, with all that its author needs to fix it.
type Failure struct {
	Text   phrase.Text `json:"text"`   // what happened
	Place  string      `json:"where"`  // the game, "" before the first one
	Lines  []Line      `json:"lines"`  // the last lines of both sides, in order
	Stderr []string    `json:"stderr"` // its last lines
	Change phrase.Text `json:"change"` // what to do about it

	Reason        fault.Reason `json:"reason,omitzero"` // as a match would give it; zero if a match has no such fault
	circumstances fault.Circumstances
}

// Error returns what happened.
func (f *Failure) Error() string { return f.Text.String() }

// MarshalJSON returns the document, whose texts are English.
func (f *Failure) MarshalJSON() ([]byte, error) {
	type document Failure
	return json.Marshal(struct {
		Text string `json:"text"`
		*document
		Change string `json:"change"`
	}{f.Text.String(), (*document)(f), f.Change.String()})
}

// Phrase returns what happened.
func (f *Failure) Phrase() phrase.Text { return f.Text }

// Line is a line that went through a pipe.
type Line struct {
	FromBot bool   `json:"from_bot"`
	Text    string `json:"text"` // printable ASCII; other bytes as in Go's strings
}

// CheckedBot is what was checked.
type CheckedBot struct {
	Name     string   `json:"name"`
	Version  string   `json:"version"` // from its manifest or its "ready"
	Language string   `json:"language"`
	Command  []string `json:"command"`
	SHA256   string   `json:"sha256"`
}

// Report is the document of `timba check --json`; its fields are stable.
type Report struct {
	Bot     CheckedBot      `json:"bot"`
	Clock   referee.ClockMS `json:"clock"`
	Sandbox string          `json:"sandbox"` // the level of the bot's sandbox: NONE, WEAK, REDUCED or FULL
	Seed    referee.Hex     `json:"seed"`
	Verdict CheckStatus     `json:"verdict"` // the worst of the checks: ok, warning or fail
	Checks  []Check         `json:"checks"`
	StartMS float64         `json:"start_ms"` // the slowest start
	Times   []Times         `json:"times"`
	Seconds float64         `json:"seconds"`
}

// Times is how long the moves of a game took.
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

// add adds a finished check.
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

// Find returns the check with a name, or nil.
func (r *Report) Find(name string) *Check {
	for i := range r.Checks {
		if r.Checks[i].Name == name {
			return &r.Checks[i]
		}
	}
	return nil
}

// milliseconds returns a time in milliseconds, rounded to microseconds.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond).Microseconds()) / 1e3
}
