package tournament

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
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
	Draw    string            `json:"draw,omitempty"`    // rules of adjudication
	Resign  string            `json:"resign,omitempty"`  // likewise
	Sandbox *PlanSandbox      `json:"sandbox,omitempty"` // nil in plans of earlier versions
	Bots    []PlanBot         `json:"bots"`
}

// PlanSandbox is how the bots are sandboxed, in the words of the flags.
type PlanSandbox struct {
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

// Spec returns the bot with the name that it had at the start.
func (b PlanBot) Spec() program.Spec { return program.Spec{Bot: b.Bot, Name: b.Name, Own: b.Own} }

// Plan returns what the tournament follows from. bots are its bots as the user
// wrote them, in the order of t.Bots.
func (t *Tournament) Plan(bots []program.Spec) Plan {
	p := Plan{
		Game:    t.Variant.Game().Name(),
		Options: t.Variant.Settings().Map(),
		Format:  t.Format,
		Rounds:  t.Rounds,
		Deals:   t.Deals,
		Seed:    referee.Hex(t.Seed),
		Clock:   t.Clock.Milliseconds(),
	}
	if t.SPRT != nil {
		p.SPRT = t.SPRT.String()
	}
	if r := t.Adjudication.Draw; r != nil {
		p.Draw = r.String()
	}
	if r := t.Adjudication.Resign; r != nil {
		p.Resign = r.String()
	}
	for i, b := range t.Bots {
		p.Bots = append(p.Bots, PlanBot{Bot: bots[i].Bot, Name: b.Name, SHA256: b.Hash, Own: bots[i].Own})
	}
	return p
}

// Flag is a flag of timba match that a plan keeps.
type Flag struct {
	Name   string // without dashes
	Option string // of the game, for --set; else ""
	Value  any    // a string or a whole number
}

// String returns the flag without its value.
func (f Flag) String() string { return strings.TrimSpace("--" + f.Name + " " + f.Option) }

// Text returns the value as a user writes it.
func (f Flag) Text() string {
	if f.Option != "" {
		return fmt.Sprintf("%s=%v", f.Option, f.Value)
	}
	return fmt.Sprint(f.Value)
}

// Flags returns the flags that a plan keeps, except those that an older plan lacks.
func (p Plan) Flags() []Flag {
	var flags []Flag
	add := func(name string, value any) { flags = append(flags, Flag{Name: name, Value: value}) }
	for _, name := range slices.Sorted(maps.Keys(p.Options)) {
		flags = append(flags, Flag{Name: "set", Option: name, Value: p.Options[name]})
	}
	add("format", string(p.Format))
	add("rounds", p.Rounds)
	add("deals", p.Deals)
	add("seed", p.Seed.String())
	add("movetime", p.Clock.Movetime)
	add("bank", p.Clock.Bank)
	add("inc", p.Clock.Clock().Inc.Milliseconds())
	add("margin", p.Clock.Margin)
	add("startup", p.Clock.Startup)
	add("sprt", p.SPRT)
	add("draw", p.Draw)
	add("resign", p.Resign)
	if s := p.Sandbox; s != nil {
		add("sandbox", s.Mode)
		add("memory", s.Memory)
		add("processes", s.Processes)
		add("ponder", s.Ponder)
	}
	return flags
}

// Differs returns an error that names what is not the same in the plan that a tournament
// is resumed with. More deals are no difference where the format can be extended.
func (p Plan) Differs(q Plan) error {
	if p.Game != q.Game {
		return fmt.Errorf("resume: game was %q and is now %q: give the same as at the start, or nothing but --resume", p.Game, q.Game)
	}
	if differences := p.differences(q); differences != nil {
		return fmt.Errorf("resume: %s: give the same as at the start, or nothing but --resume", strings.Join(differences, ", "))
	}
	if err := p.extended(q.Deals); err != nil {
		return err
	}
	if err := p.otherBots(q); err != nil {
		return err
	}
	if a, b := p.Sandbox, q.Sandbox; a != nil && b != nil && a.Level != b.Level {
		return fmt.Errorf("resume: the sandbox had level %s and has now %s: resume where it has the same level, or start a new tournament", a.Level, b.Level)
	}
	return nil
}

// differences returns the flags that differ, with both values.
func (p Plan) differences(q Plan) (all []string) {
	was, is := p.Flags(), q.Flags()
	for _, f := range was {
		i := slices.IndexFunc(is, func(g Flag) bool { return f.String() == g.String() })
		switch {
		case f.Name == "deals": // see extended
		case i < 0:
			all = append(all, fmt.Sprintf("%s was %#v and is now not set", f, f.Value))
		case f.Value != is[i].Value:
			all = append(all, fmt.Sprintf("%s was %#v and is now %#v", f, f.Value, is[i].Value))
		}
	}
	for _, f := range is {
		if _, ok := p.Options[f.Option]; f.Option != "" && !ok {
			all = append(all, fmt.Sprintf("%s was not set and is now %#v", f, f.Value))
		}
	}
	return all
}

// extended returns an error unless the tournament can go on with this number of deals.
func (p Plan) extended(deals int) error {
	switch {
	case deals < p.Deals:
		return fmt.Errorf("resume: --deals was %d and is now %d: a tournament can be extended, not shortened", p.Deals, deals)
	case deals > p.Deals && (p.Format == Swiss || p.Format == Knockout):
		return fmt.Errorf("resume: --deals was %d and is now %d: a %s cannot be extended, because its results decide who meets whom; start a new one",
			p.Deals, deals, p.Format)
	}
	return nil
}

// otherBots returns an error that names the first bot that is not the same.
func (p Plan) otherBots(q Plan) error {
	for i := range max(len(p.Bots), len(q.Bots)) {
		if i >= len(p.Bots) || i >= len(q.Bots) {
			return fmt.Errorf("resume: there were %d bots and are now %d", len(p.Bots), len(q.Bots))
		}
		if p.Bots[i].Bot != q.Bots[i].Bot {
			return fmt.Errorf("resume: bot %d was %q and is now %q", i, p.Bots[i].Bot, q.Bots[i].Bot)
		}
		if differences := p.Bots[i].Differs(q.Bots[i].Own); differences != nil {
			return fmt.Errorf("resume: bot %d, %q: %s: give the same as at the start, or nothing but --resume", i, p.Bots[i].Name, strings.Join(differences, ", "))
		}
		if p.Bots[i].Name != q.Bots[i].Name {
			return fmt.Errorf("resume: the name of bot %d was %q and is now %q: give the same as at the start, or nothing but --resume", i, p.Bots[i].Name, q.Bots[i].Name)
		}
		if p.Bots[i].SHA256 != q.Bots[i].SHA256 {
			return fmt.Errorf("resume: bot %d, %q, is not the program that it was: its hash was %.12s and is now %.12s; start a new tournament with it",
				i, p.Bots[i].Bot, p.Bots[i].SHA256, q.Bots[i].SHA256)
		}
	}
	return nil
}
