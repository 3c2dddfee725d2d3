package match

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// scorer returns a talker that makes the first move. words has its score by ply: "-" for no score, "!" for an
// illegal move, "1;2" for two scores, "~1" for a score after the move. Later plies have no score.
func scorer(words []string) func() BotConn {
	return func() BotConn {
		return &talker{answer: func(l protocol.RefLine) string {
			if l.Ply >= len(words) || words[l.Ply] == "-" {
				return "info depth=1\n" + firstMove(l)
			}
			if words[l.Ply] == "!" {
				return "move 0x"
			}
			if after, ok := strings.CutPrefix(words[l.Ply], "~"); ok {
				return firstMove(l) + "\ninfo score=" + after
			}
			return "info score=" + strings.ReplaceAll(words[l.Ply], ";", "\ninfo score=") + "\n" + firstMove(l)
		}}
	}
}

// scored returns a match whose bots report the given scores, by ply and separated by spaces.
func scored(t testing.TB, game, options, rule, scores string) *Match {
	t.Helper()
	v := variant(t, game, options)
	m := &Match{Variant: v, Bots: named(v.Players), Seed: rules.Seed{8}, Clock: patient, Adjudication: ruled(t, rule)}
	bots := starter{}
	for _, b := range m.Bots {
		bots[b.Name] = scorer(strings.Fields(scores))
	}
	m.start = bots.start
	return m
}

// ruled parses rules such as "draw plies=4 score=10, resign plies=3 score=600".
func ruled(t testing.TB, text string) (a referee.Adjudication) {
	t.Helper()
	for part := range strings.SplitSeq(text, ", ") {
		name, rule, _ := strings.Cut(part, " ")
		if part == "" {
			continue
		}
		r := kit.Get[referee.ScoreRule](t)(referee.ParseScoreRule(name, rule))
		if name == "draw" {
			a.Draw = &r
		} else {
			a.Resign = &r
		}
	}
	return a
}

// SPEC.md, "Adjudication". want is how the game ended, at which ply, and the ranks; "" is a game played to its end.
func TestAdjudication(t *testing.T) {
	const three, teams = "brisca players=3", "brisca players=4 teams=yes"
	for _, c := range []struct{ name, game, rule, scores, want string }{
		{"example", "", "resign plies=3 score=600", "40 -610 640 -600 700", "resign [1] 4 [1 2]"},
		{"draw", "", "draw plies=4 score=10", "5 -10 10 0 99", "draw [] 4 [1 1]"},
		{"draw not before from", "", "draw plies=2 score=10 from=5", "0 0 0 0 0 0", "draw [] 5 [1 1]"},
		{"draw interrupted by a score", "", "draw plies=3 score=10", "0 0 11 0 0 0", "draw [] 6 [1 1]"},
		{"draw interrupted by silence", "", "draw plies=3 score=10", "0 0 - 0 0 0", "draw [] 6 [1 1]"},
		{"draw by one side only", "", "draw plies=2 score=10", "0 90 0 90 0 90 0 90", ""},
		{"both sides even with fewer plies than sides", "", "draw plies=1 score=10", "0 0", "draw [] 2 [1 1]"},
		{"no scores", "", "draw plies=1 score=1e9, resign plies=1 score=2e9", "", ""},
		{"resignation of the first", "", "resign plies=2 score=6", "-6 6.0", "resign [0] 2 [2 1]"},
		{"both are losing", "", "resign plies=2 score=6", "-7 -7 -7 -7 -7 -7", ""},
		{"both are winning", "", "resign plies=2 score=6", "7 7 7 7 7 7", ""},
		{"only one knows it", "", "resign plies=2 score=6", "-7 5 -7 5 -7 5", ""},
		{"they change sides", "", "resign plies=3 score=6", "-7 7 7 -7 7", "resign [1] 5 [1 2]"},
		{"either rule", "", "draw plies=2 score=1, resign plies=2 score=9", "0 -9 9 0 0", "resign [1] 3 [1 2]"},
		{"not a number", "", "draw plies=2 score=1", "0 inf 0 0x0 0 NaN 0 1e400 0", ""},
		{"the last score of a move", "", "resign plies=3 score=50", "-50 1;70 -50", "resign [0] 3 [2 1]"},
		{"a score after a move is of the next one", "", "resign plies=3 score=50", "-50 ~70 -50 ~70 -50", "resign [0] 5 [2 1]"},
		{"a fault first", "", "draw plies=3 score=1", "0 0 ! 0", ""},
		{"three, one resigns", three, "resign plies=3 score=5", "9 9 -9", "resign [2] 3"},
		{"three, two resign", three, "resign plies=3 score=5", "9 -9 -9 9 -9 -9", ""},
		{"three, one is silent", three, "draw plies=2 score=5", "0 0 - 0 0 -", ""},
		{"three, draw", three, "draw plies=2 score=5", "0 0 0", "draw [] 3 [1 1 1]"},
		{"three, one forfeits", three, "draw plies=2 score=5", "0 ! 0 0", "draw [] 3 [1 3 1]"},
		{"a team resigns", teams, "resign plies=4 score=5", "9 -9 9 -9", "resign [1 3] 4 [1 2 1 2]"},
		{"a team disagrees", teams, "resign plies=2 score=5", "9 -9 9 9", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			name, options, _ := strings.Cut(c.game, " ")
			if name == "" {
				name, options = "teeko", "limit=30"
			}
			scores := c.scores
			if name == "brisca" { // by ply; seats follow each other in the first trick only
				scores = bySeat(t, options, strings.Fields(scores))
			}
			g := oneGame(t, scored(t, name, options, c.rule, scores))
			got := ""
			if a := g.AdjudicationResult; a != nil {
				got = fmt.Sprintf("%s %v %d %v", a.Kind, a.Seats, len(g.Moves), g.Ranks)
			}
			if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want+" ")) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			valid(t, &g.Replay)
		})
	}
	if spec, err := os.ReadFile("../../SPEC.md"); err != nil || !bytes.Contains(spec, []byte("`--resign plies=3,score=600`, with the scores of plies 0, 1, 2 and so on: `40 -610 640 -600 700`.\nPlies 1 to 3 agree: seat 1 resigns when 4 moves")) {
		t.Errorf("SPEC.md does not have the example: %v", err)
	}
}

// bySeat converts scores by seat to the order of the plies.
func bySeat(t testing.TB, options string, scores []string) string {
	g := oneGame(t, scored(t, "brisca", options, "", ""))
	n := len(g.Seats)
	next := make([]int, n)
	var words []string
	for _, m := range g.Moves {
		word := "-"
		if i := next[m.Seat]*n + m.Seat; i < len(scores) {
			word = scores[i]
		}
		next[m.Seat]++
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// The points of an adjudicated game are those made so far, and rank whoever does not resign; a draw shares
// them. In Teeko they are those of a win or a draw.
func TestAdjudicationPoints(t *testing.T) {
	plain := oneGame(t, scored(t, "brisca", "players=3", "", ""))
	for _, rule := range []string{"draw plies=3 score=5 from=20", "resign plies=3 score=5 from=20"} {
		var words []string
		for _, m := range plain.Moves {
			word := "0"
			if strings.HasPrefix(rule, "resign") {
				word = []string{"9", "-9", "9"}[m.Seat]
			}
			words = append(words, word)
		}
		g := oneGame(t, scored(t, "brisca", "players=3", rule, strings.Join(words, " ")))
		if len(g.Moves) != 20 {
			t.Fatalf("%s: %d moves, want 20", rule, len(g.Moves))
		}
		var then []float64
		for s, err := range plain.Walk(variant(t, "brisca", "players=3"), nil) {
			kit.Must(t, err)
			if s.State.Ply() == 20 {
				then = s.State.Points()
			}
		}
		points := slices.Clone(then)
		if strings.HasPrefix(rule, "draw") {
			share := (then[0] + then[1] + then[2]) / 3
			points = []float64{share, share, share}
		}
		if !slices.Equal(g.Points, points) {
			t.Errorf("%s: points %v, want %v", rule, g.Points, points)
		}
		want := []int{1, 1, 1}
		if strings.HasPrefix(rule, "resign") {
			want = []int{1, 3, 2}
			if then[2] > then[0] {
				want = []int{2, 3, 1}
			}
		}
		if !slices.Equal(g.Ranks, want) {
			t.Errorf("%s: ranks %v, want %v with the points %v", rule, g.Ranks, want, g.Points)
		}
	}
	const rules = "draw plies=4 score=10, resign plies=3 score=600"
	for scores, want := range map[string][]float64{"700 5 6 7 8 9": {0.5, 0.5}, "0 -610 640 -600": {1, 0}} {
		if g := oneGame(t, scored(t, "teeko", "limit=30", rules, scores)); g.AdjudicationResult == nil || !slices.Equal(g.Points, want) {
			t.Errorf("%s: %s with points %v, want %v", scores, g.AdjudicationResult, g.Points, want)
		}
	}
}

// agreed restates SPEC.md, "Adjudication", for a game of two seats without forfeits: it returns how a game
// ends after these moves, or "" if it goes on.
func agreed(a referee.Adjudication, moves []referee.ReplayMove) string {
	holds := func(r *referee.ScoreRule, ok func(seat int, score float64) bool) bool {
		if r == nil || len(moves) < r.From {
			return false
		}
		for k := r.Plies; k <= len(moves); k++ {
			var sat [2]bool
			all := true
			for _, m := range moves[len(moves)-k:] {
				score, found := m.Score()
				all = all && found && ok(m.Seat, score)
				sat[m.Seat] = true
			}
			if all && sat[0] && sat[1] {
				return true
			}
		}
		return false
	}
	if holds(a.Draw, func(_ int, s float64) bool { return math.Abs(s) <= a.Draw.Score }) {
		return "draw []"
	}
	for loser := range 2 {
		if holds(a.Resign, func(seat int, s float64) bool {
			return seat == loser && s <= -a.Resign.Score || seat != loser && s >= a.Resign.Score
		}) {
			return fmt.Sprintf("resign [%d]", loser)
		}
	}
	return ""
}

// For any scores, a game is adjudicated at the first position at which they agree and nowhere else. Its
// replay verifies and says how it ended.
func TestAdjudicationFollowsFromScores(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rule := func(name string, scores ...float64) *referee.ScoreRule {
			if !rapid.Bool().Draw(r, name) {
				return nil
			}
			return &referee.ScoreRule{Plies: rapid.IntRange(1, 6).Draw(r, "plies"), Score: rapid.SampledFrom(scores).Draw(r, "score"), From: rapid.SampledFrom([]int{0, 3, 12}).Draw(r, "from")}
		}
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"0", "1", "-1", "3", "-3", "3", "-3", "-"}), 0, 40).Draw(r, "scores")
		game := rapid.SampledFrom([]string{"brisca", "teeko", "tebes"}).Draw(r, "game")
		m := scored(t, game, map[string]string{"teeko": "limit=50", "tebes": "size=4 limit=50"}[game], "", strings.Join(words, " "))
		m.Adjudication = referee.Adjudication{Draw: rule("draw", 0, 1), Resign: rule("resign", 2, 3)}
		g := oneGame(t, m)
		if !follows(t, m, &g.Replay) {
			t.Fatalf("%s, %s: %v does not follow from %v", game, m.Adjudication, g.AdjudicationResult, words)
		}
		valid(t, &g.Replay)

		// With another score the replay verifies if, and only if, it could still be true.
		changed := rapid.IntRange(0, len(g.Moves)-1).Draw(r, "changed")
		g.Moves[changed].Info = []string{"score=" + rapid.SampledFrom([]string{"0", "1", "3", "-3", "x"}).Draw(r, "to")}
		differences := g.Verify(m.Variant.Game)
		if got, want := len(differences) == 0, follows(t, m, &g.Replay); got != want {
			t.Fatalf("%s, %s: move %d has %v: verified is %v, want %v: %v, %v", game, m.Adjudication, changed, g.Moves[changed].Info, got, want, words, differences)
		}
	})
}

// follows restates whether the end of a game of two seats follows from its scores or, if they did not end it,
// from its rules.
func follows(t testing.TB, m *Match, r *referee.Replay) bool {
	t.Helper()
	for ply := 1; ply < len(r.Moves); ply++ {
		if agreed(m.Adjudication, r.Moves[:ply]) != "" {
			return false
		}
	}
	if r.AdjudicationResult == nil {
		return over(t, r, m.Variant)
	}
	return agreed(m.Adjudication, r.Moves) == fmt.Sprintf("%s %v", r.AdjudicationResult.Kind, r.AdjudicationResult.Seats)
}

// over reports whether a game is over by its rules.
func over(t testing.TB, r *referee.Replay, v *rules.Variant) bool {
	turn := 0
	for s, err := range r.Walk(v, nil) {
		kit.Must(t, err)
		turn = s.State.Turn()
	}
	return turn == rules.Over
}

// A replay does not verify if its adjudication does not follow from the scores.
func TestAdjudicationForged(t *testing.T) {
	const rule = "draw plies=4 score=10, resign plies=3 score=600"
	drawn := oneGame(t, scored(t, "teeko", "limit=30", rule, "700 5 6 7 8 9"))
	lost := oneGame(t, scored(t, "teeko", "limit=30", rule, "0 -610 640 -600"))
	whole := oneGame(t, scored(t, "teeko", "limit=30", rule, "0 -610 640 -599"))
	for _, c := range []struct {
		name  string
		game  *referee.GameResult
		forge func(*referee.Replay)
		want  string
	}{
		{"another ending", drawn, func(r *referee.Replay) {
			r.AdjudicationResult = &referee.AdjudicationResult{Kind: referee.AdjudicatedResignation, Seats: []int{0}}
		}, "the game is adjudicated: resign by seats [0] where the scores and rules give adjudicated: draw by scores"},
		{"another seat resigns", lost, func(r *referee.Replay) { r.AdjudicationResult.Seats = []int{0} }, "resign by seats [0] where the scores and rules give adjudicated: resign by seats [1]"},
		{"an unknown ending", lost, func(r *referee.Replay) { r.AdjudicationResult.Kind = "peace" }, "the game is adjudicated: peace by seats [1] where"},
		{"no ending", lost, func(r *referee.Replay) { r.AdjudicationResult = nil }, "the game is not adjudicated where"},
		{"no rules", lost, func(r *referee.Replay) { r.Adjudication = nil }, "the game is not over after the last move"},
		{"a harder rule", lost, func(r *referee.Replay) { r.Adjudication.Resign.Plies = 5 }, "the game is not over after the last move"},
		{"an easier rule", lost, func(r *referee.Replay) { r.Adjudication.Resign.Plies = 2 }, `move 3, "`},
		{"a rule that cannot be kept", lost, func(r *referee.Replay) { r.Adjudication.Draw.Score = 600 }, "the adjudication: resign: score=600 must be more than the score=600 of draw"},
		{"another score", lost, func(r *referee.Replay) { r.Moves[1].Info = []string{"score=-599"} }, "the game is not over after the last move"},
		{"no score", lost, func(r *referee.Replay) { r.Moves[2].Info = nil }, "the game is not over after the last move"},
		{"other ranks", lost, func(r *referee.Replay) { r.Ranks = []int{2, 1} }, "ranks are [2 1] where the rules give [1 2]"},
		{"a drawn game that is won", drawn, func(r *referee.Replay) { r.Ranks = []int{1, 2} }, "ranks are [1 2] where the rules give [1 1]"},
		{"a move too few", drawn, func(r *referee.Replay) { r.Moves = r.Moves[:4] }, "the game is not over after the last move"},
		{"a fault after it", lost, func(r *referee.Replay) {
			r.Faults = append(r.Faults, referee.Fault{Seat: 0, Ply: 4, Code: protocol.Exit, Text: "x"})
		}, "fault 0: the game was adjudicated before it"},
		{"a score that ends it early", whole, func(r *referee.Replay) { r.Moves[3].Info = []string{"score=-600"} }, `move 4, "`},
		{"a game that was played out", whole, func(r *referee.Replay) {
			r.AdjudicationResult = &referee.AdjudicationResult{Kind: referee.AdjudicatedDraw}
		}, "the game is adjudicated: draw by scores where the scores and rules give not adjudicated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := kit.Get[*referee.Replay](t)(referee.DecodeReplay(c.game.Encode()))
			c.forge(r)
			for _, err := range r.Verify(variant(t, "teeko", "").Game) {
				if strings.Contains(err.Error(), c.want) {
					return
				}
				t.Log(err)
			}
			t.Errorf("verify does not say %q", c.want)
		})
	}
}
