package referee

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

// ruled parses rules such as "draw plies=4 score=10, resign plies=3 score=600".
func ruled(t testing.TB, text string) (a Adjudication) {
	t.Helper()
	for part := range strings.SplitSeq(text, ", ") {
		name, rule, _ := strings.Cut(part, " ")
		if part == "" {
			continue
		}
		r := kit.Get[ScoreRule](t)(ParseScoreRule(name, rule))
		if name == "draw" {
			a.Draw = &r
		} else {
			a.Resign = &r
		}
	}
	return a
}

func TestScoreRules(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plies=8 score=10 from=40", "plies=8,score=10,from=40"},
		{"score=0.25,plies=1", "plies=1,score=0.25"},
		{" plies=3  score=1e3 from=0 ", "plies=3,score=1000"},
		{"", `--draw: plies is missing in "": try --draw plies=8,score=10,from=40`},
		{"plies=8", `--draw: score is missing in "plies=8": try --draw plies=8,score=10,from=40`},
		{"8", `--draw: "8" is not key=value: try --draw plies=8,score=10,from=40`},
		{"plies=8 plies=9", "--draw: plies is given twice: leave one out"},
		{"movecount=8", `--draw: unknown key "movecount": try plies, score or from`},
		{"plies=x score=1", `--draw: plies="x" is not a whole number of plies: try --draw plies=8,score=10,from=40`},
		{"plies=0 score=1", "--draw: plies=0 is out of range: try 1 to 65535"},
		{"plies=1 score=1 from=-1", "--draw: from=-1 is out of range: try 0 to 65535"},
		{"plies=1 score=-1", "--draw: score=-1 is out of range: try 0 or more"},
		{"plies=1 score=inf", `--draw: score="inf" is not a number: try one like 10 or 0.5`},
	} {
		r, err := ParseScoreRule("--draw", c.text)
		got := r.String()
		if err != nil {
			got = err.Error()
		} else if again, err := ParseScoreRule("--draw", got); err != nil || again != r {
			t.Errorf("%q: %q gives %v, %v", c.text, got, again, err)
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

// An error about a rule for resignation shows one as an example.
func TestResignRuleExample(t *testing.T) {
	_, err := ParseScoreRule("--resign", "3")
	if want := `--resign: "3" is not key=value: try --resign plies=3,score=600`; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// A replay names the bots that resigned, and a tally counts how games ended.
func TestAdjudicatedEnding(t *testing.T) {
	ending := func(a *AdjudicationResult) string {
		var r Replay
		r.AdjudicationResult, r.Seats = a, []ReplaySeat{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
		return r.Ending()
	}
	resigned, drawn := &AdjudicationResult{Kind: AdjudicatedResignation, Seats: []int{0, 2}}, &AdjudicationResult{Kind: AdjudicatedDraw}
	for _, c := range []struct {
		a    *AdjudicationResult
		want string
	}{
		{nil, ""}, {drawn, drawn.String()},
		{resigned, "adjudicated: a (seat 0) and c (seat 2) resign, by the scores of all"},
		{&AdjudicationResult{Kind: AdjudicatedResignation, Seats: []int{3}}, "adjudicated: d (seat 3) resigns, by the scores of all"},
	} {
		if got := ending(c.a); got != c.want {
			t.Errorf("the ending is %q, want %q", got, c.want)
		}
	}
	tally := NewTally(alone(2), identities(2))
	for _, a := range []*AdjudicationResult{nil, drawn, resigned, resigned} {
		g := &GameResult{Bots: []int{0, 1}}
		g.Seats = make([]ReplaySeat, 2)
		g.AdjudicationResult, g.Ranks, g.Points = a, []int{1, 2}, []float64{1, 0}
		tally.Add(g)
	}
	if tally.AdjudicatedDraws != 1 || tally.AdjudicatedResignations != 2 {
		t.Errorf("%d drawn and %d resigned, want 1 and 2", tally.AdjudicatedDraws, tally.AdjudicatedResignations)
	}
}

// Following the scores allocates nothing.
func TestAdjudicationAllocates(t *testing.T) {
	if raced() { // which allocates: script/test runs this again without it
		return
	}
	v := variant(t, "brisca", "players=4")
	stream := rules.NewStream(rules.Seed{1})
	state := v.Deal(&stream)
	j := newAdjudicator(ruled(t, "draw plies=4 score=10, resign plies=3 score=600"), v)
	f := &forfeits{variant: v}
	moves := []ReplayMove{{Seat: 0, Info: []string{"depth=1", "score=12345.25 pv=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v"}}, {Seat: 1, Info: []string{"score=x score=2"}}, {Seat: 2}}
	if n := testing.AllocsPerRun(100, func() {
		for i := range moves {
			j.recordMove(&moves[i], f, state)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
