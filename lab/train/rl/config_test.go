//go:build !race || slowrace

package rl

import (
	"testing"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// allKeys has all valid Keys, the ways to distinguish states.
var allKeys = []policy.Keys{
	{Variant: policy.OneState}, {Variant: policy.ManyStates}, {Variant: policy.Abstract, Abstraction: policy.Hand}, {Variant: policy.Abstract, Abstraction: policy.Kinds},
	{Variant: policy.OneState, Alike: true}, {Variant: policy.ManyStates, Alike: true}, {Variant: policy.Abstract, Abstraction: policy.Hand, Alike: true},
}

// walk plays a random game and calls show for each position with its legal moves.
func walk(m cards.Mode, o baraja.TableRules, seed uint64, show func(*cards.Position, []rules.Move)) {
	p, r := new(cards.Position), rules.NewRand(seed)
	src := rules.FastStream(r)
	p.Deal(m, o, &src)
	for p.Turn() != rules.Over {
		legal := p.Legal(nil)
		show(p, legal)
		p.Play(legal[r.Below(len(legal))])
	}
}

func TestConfigCheck(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"":                            func(*Config) {},
		`variant "xs" does not exist`: func(c *Config) { c.Variant = "xs" },
		`abstraction "" does not exist: try kinds, hand`:                      func(c *Config) { c.Variant = policy.Abstract },
		`abstraction "hand" is not for variant ms`:                            func(c *Config) { c.Abstraction = policy.Hand },
		`rules "11" do not exist in mode brisca2: try all, none, or 4 digits`: func(c *Config) { c.Rules = "11" },
		`as-published: defect "index" is not for abstraction kinds`:           func(c *Config) { c.Keys, c.Defects = allKeys[3], []string{DefectIndex} },
	} {
		c := Default("brisca2")
		change(&c)
		err := c.Check()
		if want == "" && err != nil || want != "" && (err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}
