package main

import (
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
)

// adjudicateFlags are the flags on games that the bots' own scores end, as users write them.
type adjudicateFlags struct{ draw, resign string }

func (f *adjudicateFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.draw, "draw", "", "end a game as drawn when the scores of all bots agree, as `plies=8,score=10,from=40`")
	flags.StringVar(&f.resign, "resign", "", "end a game as lost when the scores of all bots agree, as `plies=3,score=600`")
}

// rules returns what the flags say; none of them is no rule.
func (f *adjudicateFlags) rules() (a referee.Adjudication, err error) {
	for _, flag := range []struct {
		name, text string
		rule       **referee.ScoreRule
	}{{"draw", f.draw, &a.Draw}, {"resign", f.resign, &a.Resign}} {
		if flag.text == "" {
			continue
		}
		r, err := referee.ParseScoreRule("--"+flag.name, flag.text)
		if err != nil {
			return a, err
		}
		*flag.rule = &r
	}
	return a, a.Check()
}
