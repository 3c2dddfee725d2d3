package commands

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/terminal/explain"
)

// resignTrial counts what a rule of resignation would have done to games that were played to their ends.
type resignTrial struct {
	rule         referee.ScoreRule
	resignations int // games
	wrong        int // games in which a side that resigned has the first rank
	savings      int // moves
}

// scoredGames are games that were played to their ends by bots that report scores.
type scoredGames struct {
	games, moves int
	otherGames   int // number of games without a score, or ended early by scores
	trials       []resignTrial
}

func newReplayScores() *cobra.Command {
	plies := 3
	var scores []float64
	cmd := &cobra.Command{
		Use:   "scores FILE|DIRECTORY...",
		Short: "Show from which scores on games never turn, to choose --resign",
		Long: "Tries timba match --resign plies=N,score=S on games that were played to their ends, for several S:\n" +
			"in how many of them a side would have resigned, in how many wrongly, because it has the first rank\n" +
			"in the end, and how many moves that saves. In the bars # stands for right and ! for wrong\n" +
			"resignations, among all games. Games without scores, and games that scores ended, are left out.\n" +
			"A directory of timba match or timba replays stands for all its replays.",
		Example: "  timba replay scores replays\n  timba replay scores replays --plies 5 --scores 0.9,0.95,0.99",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := explain.Open(args, func(path string) (*referee.Replay, *rules.Game, error) { return readReplay(cmd, path) })
			if err != nil {
				return err
			}
			g, err := tryResigning(files, plies, scores)
			if err == nil {
				g.write(cmd.OutOrStdout())
			}
			return err
		},
	}
	cli.NumberFlag(cmd, &plies, "plies", 3, 1, 1000, "moves in a row whose scores agree, as in --resign")
	cmd.Flags().Float64SliceVar(&scores, "scores", nil, "the scores to try, such as 300,600 (default: those that change the number of resignations)")
	return cmd
}

// maxTrials is the largest number of scores that are tried unless the user names them.
const maxTrials = 12

// tryResigning tries rules of resignation with these scores on games. If there are no scores, it chooses them so that
// each gives another number of resignations.
func tryResigning(files []*explain.ReplayFile, plies int, scores []float64) (g scoredGames, err error) {
	var ended []*explain.ReplayFile
	var limits []float64
	for _, f := range files {
		if f.Replay.AdjudicationResult != nil || !slices.ContainsFunc(f.Replay.Moves, hasScore) {
			g.otherGames++
			continue
		}
		ended = append(ended, f)
		g.moves += len(f.Replay.Moves)
		if limit := resignLimit(f, plies); limit > 0 {
			limits = append(limits, limit)
		}
	}
	if g.games = len(ended); g.games == 0 {
		return g, errors.New("scores: no game has scores and was played to its end: play without --draw and --resign, with bots that write info score=S")
	}
	slices.Sort(limits)
	for i := 0; len(scores) == 0 && i < min(maxTrials, len(limits)); i++ {
		g.trials = append(g.trials, resignTrial{rule: referee.ScoreRule{Plies: plies, Score: roundDown(limits[i*len(limits)/min(maxTrials, len(limits))])}})
	}
	for _, score := range slices.Sorted(slices.Values(scores)) {
		g.trials = append(g.trials, resignTrial{rule: referee.ScoreRule{Plies: plies, Score: score}})
	}
	g.trials = slices.Compact(g.trials)
	for i := range g.trials {
		if err := g.trials[i].play(ended); err != nil {
			return g, err
		}
	}
	return g, nil
}

func hasScore(m referee.ReplayMove) bool {
	_, ok := m.Score()
	return ok
}

// resignLimit returns the largest score of a rule by which a side could resign in a game, 0 or less if there is none.
func resignLimit(f *explain.ReplayFile, plies int) float64 {
	v, err := f.Replay.Resolve(f.Rules)
	if err != nil {
		return 0 // explain.Open has checked it
	}
	limit := 0.0
	for side := range v.Sides {
		var agreement []float64 // by move, the score by which it says that the side loses
		for i := range f.Replay.Moves {
			m := &f.Replay.Moves[i]
			score, ok := m.Score()
			if v.Side(m.Seat) == side {
				score = -score
			}
			if !ok {
				score = 0
			}
			if m.ByBot() {
				agreement = append(agreement, score)
			}
			if len(agreement) >= plies {
				limit = max(limit, slices.Min(agreement[len(agreement)-plies:]))
			}
		}
	}
	return limit
}

// roundDown returns a positive number with its first two digits.
func roundDown(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	digits, _ := strconv.ParseFloat(fmt.Sprintf("%.2g", math.Floor(x/unit)*unit), 64) // without the errors of the product
	return digits
}

// play tries the rule of t on games.
func (t *resignTrial) play(games []*explain.ReplayFile) error {
	if err := (referee.Adjudication{Resign: &t.rule}).Check(); err != nil {
		return err
	}
	for _, f := range games {
		v, err := f.Replay.Resolve(f.Rules)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		seats, ply, err := f.Replay.TryResignation(v, t.rule)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		if len(seats) > 0 {
			t.resignations, t.savings = t.resignations+1, t.savings+len(f.Replay.Moves)-ply
			if f.Replay.Ranks[seats[0]] == 1 {
				t.wrong++
			}
		}
	}
	return nil
}

// barWidth is the width of a bar in columns.
const barWidth = 40

func (g *scoredGames) write(w io.Writer) {
	fmt.Fprintf(w, "%s with scores", text.Count(g.games, "game"))
	if g.otherGames > 0 {
		fmt.Fprintf(w, ", and %d left out", g.otherGames)
	}
	if len(g.trials) == 0 {
		fmt.Fprintln(w, ": in none of them the scores of all bots agree for so many moves in a row that one side loses: try fewer --plies")
		return
	}
	fmt.Fprintf(w, "; with --resign plies=%d,score=S:\n\n", g.trials[0].rule.Plies)
	text.Rows(w, "S|resigned|wrongly|moves saved|of all games", g.trials, func(t resignTrial) []any {
		wrong := (t.wrong*barWidth + g.games - 1) / g.games // rounded up, so that one wrong game is seen
		right := max(0, t.resignations*barWidth/g.games-wrong)
		return []any{fmt.Sprintf("%g", t.rule.Score), t.resignations, t.wrong, fmt.Sprintf("%.0f %%", g.savedShare(t)), strings.Repeat("#", right) + strings.Repeat("!", wrong)}
	})
	best := len(g.trials) // the lowest score at and above which no resignation was wrong
	for best > 0 && g.trials[best-1].wrong == 0 {
		best--
	}
	if best == len(g.trials) || g.trials[best].resignations == 0 {
		fmt.Fprintln(w, "\nat none of these scores games end early and never turn: try higher ones with --scores, or more --plies")
		return
	}
	t := g.trials[best]
	unlucky := 100 * (1 - math.Pow(0.05, 1/float64(t.resignations)))
	fmt.Fprintf(w, "\nfrom %g on no game turned: --resign %s\nof %s none was wrong: in other games up to %.1f %% may be (95 %% confidence)\n",
		t.rule.Score, t.rule, text.Count(t.resignations, "resignation"), unlucky)
}

// savedShare returns how many moves would not have been played if bots had resigned by the rule of t, in percent of
// all moves of the games.
func (g *scoredGames) savedShare(t resignTrial) float64 {
	return 100 * float64(t.savings) / float64(g.moves)
}
