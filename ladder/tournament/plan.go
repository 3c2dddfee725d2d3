package tournament

import (
	"fmt"
	"strings"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Plan is all that the games of a tournament follow from.
type Plan struct {
	Game    string            `json:"game"`
	Options map[string]string `json:"options"`
	Format  Format            `json:"format"`
	Rounds  int               `json:"rounds,omitempty"`
	Deals   int               `json:"deals"`
	Seed    referee.Hex       `json:"seed"`
	Clock   referee.ClockMS   `json:"clock"`
	SPRT    string            `json:"sprt,omitempty"`
	Draw    string            `json:"draw,omitempty"`   // rules of adjudication
	Resign  string            `json:"resign,omitempty"` // likewise
	Sandbox Sandbox           `json:"sandbox"`
	Bots    []PlanBot         `json:"bots"`
}

// Sandbox is how the bots of a plan are sandboxed, in the words of the flags.
type Sandbox struct {
	Mode      string `json:"mode"`
	Level     string `json:"level,omitempty"` // that the mode gave; "" if all are house bots
	Memory    string `json:"memory"`
	Processes int    `json:"processes"`
	Ponder    string `json:"ponder"`
}

// PlanBot is a bot as the user named it, what that was, and what the user gave it of its own.
type PlanBot struct {
	Bot    string `json:"bot"`
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	program.Own
}

// Specs returns the bots, those of a tournament that has begun with the names that they had.
func (p *Plan) Specs() (specs []program.Spec) {
	for _, b := range p.Bots {
		specs = append(specs, program.Spec{Bot: b.Bot, Name: b.Name, Own: b.Own})
	}
	return specs
}

// Extend sets the number of deals of a tournament that has begun.
func (p *Plan) Extend(deals int) error {
	switch {
	case deals < p.Deals:
		return fmt.Errorf("resume: --deals was %d and is now %d: a tournament can be extended, not shortened", p.Deals, deals)
	case deals > p.Deals && (p.Format == Swiss || p.Format == Knockout):
		return fmt.Errorf("resume: --deals was %d and is now %d: a %s cannot be extended, because its results decide who meets whom; start a new one",
			p.Deals, deals, p.Format)
	}
	p.Deals = deals
	return nil
}

// Tournament returns the tournament between the programs of the plan's bots. It notes their names and
// hashes in the plan, and the rules in their usual form. A bot that has a hash must be the same program.
func (p *Plan) Tournament(programs []program.Program) (*Tournament, error) {
	g, err := games.Find(p.Game)
	if err != nil {
		return nil, err
	}
	v, err := g.Resolve(p.Options)
	if err != nil {
		return nil, err
	}
	t := &Tournament{Variant: v, Format: p.Format, Rounds: p.Rounds, Deals: p.Deals, Seed: rules.Seed(p.Seed), Clock: p.Clock.Clock()}
	if err := t.Clock.Check(); err != nil {
		return nil, err
	}
	for i, b := range programs {
		if !b.Plays(p.Game) {
			return nil, fmt.Errorf("bot %s does not play %s: its manifest claims %s", b.Name, p.Game, strings.Join(b.Games, ", "))
		}
		if was := p.Bots[i]; was.SHA256 != "" && was.SHA256 != b.Hash {
			return nil, fmt.Errorf("resume: bot %d, %q, is not the program that it was: its hash was %.12s and is now %.12s; start a new tournament with it",
				i, was.Bot, was.SHA256, b.Hash)
		}
		p.Bots[i].Name, p.Bots[i].SHA256 = b.Name, b.Hash
		b.Clock = b.Own.Clock(t.Clock)
		t.Bots = append(t.Bots, b.Bot)
	}
	if p.SPRT != "" {
		test, err := rating.ParseSPRT(p.SPRT)
		if err != nil {
			return nil, err
		}
		t.SPRT, p.SPRT = &test, test.String()
	}
	for _, of := range []struct {
		flag string
		text *string
		rule **referee.ScoreRule
	}{{"--draw", &p.Draw, &t.Adjudication.Draw}, {"--resign", &p.Resign, &t.Adjudication.Resign}} {
		if *of.text == "" {
			continue
		}
		rule, err := referee.ParseScoreRule(of.flag, *of.text)
		if err != nil {
			return nil, err
		}
		*of.rule, *of.text = &rule, rule.String()
	}
	return t, t.Check()
}
