package board_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/webtest"
)

// adjudicated returns a replay that the bots' scores ended after twelve moves.
func adjudicated(t testing.TB, a *referee.Adjudication, end referee.AdjudicationResult, ranks []int, scores [2]string) *board.Recording {
	t.Helper()
	c := find(t, "teeko")
	r := play(t, c)
	r.Adjudication, r.AdjudicationResult, r.Ranks, r.Points = a, &end, ranks, []float64{1, 0}
	if end.Kind == referee.AdjudicatedDraw {
		r.Points = []float64{0.5, 0.5}
	}
	r.Moves = r.Moves[:12]
	for i, m := range r.Moves {
		r.Moves[i].Info = []string{"score=" + scores[m.Seat]}
	}
	g := rebuilt(t, c, r)
	if len(g.Differences) > 0 {
		t.Fatal(g.Differences)
	}
	return g
}

// The page says that the bots' scores ended a game, and by which rules.
func TestReplaysPageAdjudication(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	rule := func(score float64) *referee.ScoreRule { return &referee.ScoreRule{Plies: 4, Score: score, From: 12} }
	for name, c := range map[string]struct {
		game             *board.Recording
		now, line, facts string
	}{
		"draw": {
			adjudicated(t, &referee.Adjudication{Draw: rule(10)}, referee.AdjudicationResult{Kind: referee.AdjudicatedDraw}, []int{1, 1}, [2]string{"0", "-10"}),
			"The game is drawn. It was adjudicated: a draw by the scores.", "It was adjudicated: a draw by the scores.", "draw plies=4,score=10,from=12",
		},
		"resignation": {
			adjudicated(t, &referee.Adjudication{Resign: rule(9)}, referee.AdjudicationResult{Kind: referee.AdjudicatedResignation, Seats: []int{1}}, []int{1, 2}, [2]string{"9", "-9.5"}),
			"alfil wins. It was adjudicated: bruna resigns, by the scores of all.", "It was adjudicated: bruna resigns, by the scores of all.", "resign plies=4,score=9,from=12",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, in, c.game)
			b.Press(kb.ArrowRight)
			b.at(1, c.game)
			if got := b.Text(".now"); strings.Contains(got, "adjudicated") {
				t.Errorf("after one move the page says %q", got)
			}
			b.Press(kb.End)
			b.at(12, c.game)
			if got := b.Text(".now"); got != c.now {
				t.Errorf("at the end the page says %q, want %q", got, c.now)
			}
			if got := b.Text(".endline"); got != c.line {
				t.Errorf("the list of moves ends with %q, want %q", got, c.line)
			}
			if got := webtest.Eval[string](b.Tab, `document.querySelector('.facts').textContent`); !strings.Contains(got, c.facts) {
				t.Errorf("the details do not have %q: %q", c.facts, got)
			}
			webtest.Eval[bool](b.Tab, `(() => { const box = document.querySelector('select.language'); box.value = 'ca'; return box.dispatchEvent(new Event('change')); })()`)
			if got := b.Text(".endline"); !strings.HasPrefix(got, "Adjudicada: ") {
				t.Errorf("in Catalan the list of moves ends with %q", got)
			}
			b.RequireQuiet()
		})
	}
}
