package house

import (
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

var lmsOption = BotOption{rules.Option{Name: "weights", Values: []string{"trained"}, Help: "the weights of the features"},
	&valueKind{allowedText: "trained, initial, published, published-4, or those that timba-lab train teeko-lms prints, joined by /", canonical: func(text string) (string, bool) {
		if _, ok := teekolms.Named[text]; ok {
			return text, true
		}
		w, err := teekolms.Parse(text)
		for name, named := range teekolms.Named {
			if w == named {
				return name, err == nil
			}
		}
		return w.String(), err == nil
	}}}

type lmsThinker struct{ weights teekolms.Weights }

func newTeekoLMS(p *params) Player {
	text := p.readOption(lmsOption)
	w, ok := teekolms.Named[text]
	if !ok {
		w, _ = teekolms.Parse(text) // checked by Resolve
	}
	return &thinkerBot{thinkers: map[string]thinker{"teeko": lmsThinker{w}}}
}

func (lmsThinker) startGame(*rules.Variant, rules.State, int) error { return nil }

func (l lmsThinker) think(_ *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	m, v := l.weights.Choose(s.(*teeko.State), r, false)
	return m, appendScore(info, v)
}
