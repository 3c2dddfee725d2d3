package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/train"
	"github.com/timba-arena/timba/lab/train/lms"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
	"github.com/timba-arena/timba/sandbox"
)

func newTrain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train bots that learn",
	}
	cmd.AddCommand(newTrainTeeko(), newTrainTebes(), newTrainBrisca())
	for _, m := range train.Methods {
		cmd.AddCommand(newTrainMethod(m))
	}
	return cmd
}

// training has the flags of a command that runs a training method.
type training struct {
	method   *run.Method
	settings run.TrainingSettings // flags that are settings of the method
	out      string
	resume   bool
	dry      bool // only estimate the time, memory and disk space
	workers  int
}

func newTrainMethod(m *run.Method) *cobra.Command {
	t := training{method: m, settings: m.Settings()}
	cmd := &cobra.Command{
		Use: m.Name, Short: m.Short, Example: m.Example, Args: cobra.NoArgs,
		Long: m.Long + "\n\nExit status: 0 good, 2 wrong usage or an error of timba, 3 interrupted.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := t.settings.Complete(cmd.Flags().Changed); err != nil {
				return err
			}
			in := run.Input{Workers: t.workers, Resolver: cli.Resolver(cmd, sandbox.LevelNone)}
			if t.workers == 0 {
				in.Workers = runtime.GOMAXPROCS(0)
			}
			if t.dry {
				cost, err := run.Estimate(cmd.Context(), m.Unit, t.settings, in)
				if err == nil {
					cost.Write(cmd.OutOrStdout())
				}
				return err
			}
			return t.run(cmd, in)
		},
	}
	addParams(cmd, t.settings.Params())
	flags := cmd.Flags()
	flags.StringVar(&t.out, "out", "", "the `DIR` of the run (default: named after the command and the mode)")
	flags.BoolVar(&t.resume, "resume", false, "resume the run in --out; the other flags must be those of its start")
	flags.BoolVar(&t.dry, "dry-run", false, "print the time, memory and disk space that the run would need, and stop")
	cli.NumberFlag(cmd, &t.workers, "workers", 0, 1, 256, "number of goroutines (default: one for each core); the result does not depend on it")
	return cmd
}

// addParams adds a flag to cmd for each parameter of a training method. The flag checks the bounds of its value, and
// shells can complete its choices.
func addParams(cmd *cobra.Command, params []run.Param) {
	for _, p := range params {
		flag := cmd.Flags().VarPF(&p, p.Name, "", p.Help)
		if flag.NoOptDefVal = p.NoValueDefault; p.Type() == "bool" {
			flag.NoOptDefVal = "true"
		}
		if p.Choices != nil {
			cmd.RegisterFlagCompletionFunc(p.Name, cobra.FixedCompletions(p.Choices, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// run trains a bot with the settings in t and prints the result. The argument in has the number of workers, and finds
// the bots to play against.
func (t *training) run(cmd *cobra.Command, in run.Input) error {
	if t.out == "" {
		t.out = cmd.Name() + "-" + cmd.Flags().Lookup("mode").Value.String()
	}
	progress := cli.NewProgress(cmd.ErrOrStderr(), t.method.Unit)
	began := time.Now()
	result, err := run.Run(cmd.Context(), t.out, t.settings, in, t.resume, progress.Set)
	progress.Clear()
	if err != nil && errors.Is(err, cmd.Context().Err()) {
		fmt.Fprintf(cmd.ErrOrStderr(), "interrupted; this goes on: %s\n", t.resumeCommand(cmd))
		return cli.ErrNoVerdict
	}
	if err != nil {
		return err
	}
	fmt.Fprint(cmd.OutOrStdout(), result)
	fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s in %s\n", text.Quote(filepath.Join(t.out, t.method.File)), run.FormatDuration(time.Since(began)))
	return nil
}

// resumeCommand returns the shell command that resumes the run, with all flags that the user has set.
func (t *training) resumeCommand(cmd *cobra.Command) string {
	words := []string{cmd.CommandPath(), "--resume"}
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if p, ok := flag.Value.(*run.Param); ok {
			values = p.Texts()
		}
		for _, value := range values {
			if flag.Name != "resume" && flag.Name != "out" {
				words = append(words, "--"+flag.Name+"="+text.Quote(value))
			}
		}
	})
	return strings.Join(append(words, "--out="+text.Quote(t.out)), " ")
}

// teekoTraining has the values of the flags of "timba-lab train teeko-lms", the command that trains @teeko-lms, a bot
// for the game Teeko.
type teekoTraining struct {
	lms.Training
	opponent         string // --opponent: a name such as opponentSelf, a bot that begins with @, or a file of weights
	from             string // file of the first weights; "" for the default weights
	out, opponentOut string // files for the weights of the bot and of its opponent
}

// newTrainTeeko returns the command "timba-lab train teeko-lms". It computes the weights of the bot @teeko-lms by least
// mean squares. Unlike the trainings in train.Methods, it is no run.Method, because it has no run directory and cannot
// be resumed.
func newTrainTeeko() *cobra.Command {
	t := teekoTraining{opponent: opponentRandom, Training: lms.Training{
		Games: 5000, Limit: 500, RateSchedule: lms.RateSchedule{Mu: 0.01}, MoveStyle: lms.MoveStyle{Period: 5}, Seed: 1, Start: teekolms.InitialWeights,
	}}
	cmd := &cobra.Command{
		Use:   "teeko-lms",
		Short: "Learn the weights of @teeko-lms by least mean squares",
		Long: "Plays Teeko against an opponent, learns after each game, and prints the weights. The first line shows\n" +
			"the bot that plays with these weights: @teeko-lms:weights=...",
		Example: "  timba-lab train teeko-lms --games 5000 --mu 0.01 --opponent random --out teeko.txt\n" +
			"  timba-lab train teeko-lms --opponent @champion:level=2 --out better.txt",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd) },
	}
	addParams(cmd, t.params())
	return cmd
}

// Values of the flag --opponent of "timba-lab train teeko-lms" that name neither a bot nor a file of weights.
const (
	opponentRandom  = "random"  // makes random moves
	opponentSelf    = "self"    // plays with the present weights of the bot
	opponentEarlier = "earlier" // plays with the first weights of the bot
)

func (t *teekoTraining) params() []run.Param {
	const maxGames = 1_000_000_000
	return []run.Param{
		{Name: "games", Target: &t.Games, Min: 1, Max: maxGames, Help: "number of games"},
		{Name: "limit", Target: &t.Limit, Min: 1, Max: 1000, Help: "moves of both players after which a game is drawn"},
		{Name: "mu", Target: &t.Mu, Max: 1, ExcludeMin: true, Help: "the learning rate"},
		{Name: "fall", Target: &t.Fall, Max: maxGames, Help: "games after which the rate is half as high, and after twice as many more a third; 0: it does not fall"},
		{Name: "cycle", Target: &t.Cycle, Max: maxGames, Help: "games in which the rate falls to 0 and rises again; 0: it does not"},
		{Name: "period", Target: &t.Period, Max: 1000, Help: "one in this number of the learner's moves is random: in each game the last of so many; 0: none"},
		{Name: "chance", Target: &t.Chance, Help: "instead, each of its moves is random with this probability, 1 in --period"},
		{Name: "blind", Target: &t.Blind, Help: "do not check whether a move wins at once"},
		{Name: "replace", Target: &t.Replace, Help: "forget the old weights at each step of learning"},
		{Name: "normalized", Target: &t.ScalesFeatures, Help: "scale all features to 0 to 1 for learning"},
		{Name: "moves", Target: &t.Moves, Help: "also learn the weights of the features that count moves, to fewer groups and to a longer line"},
		{Name: "opponent", Target: &t.opponent, Help: "the `OPPONENT`: random; self, with the present weights; earlier, with the first weights; the file of other weights; or a house bot, as @champion:level=2"},
		{Name: "opponent-learns", Target: &t.LearnsBoth, Help: "an opponent with weights of its own (earlier, or of a file) learns, too"},
		{Name: "seed", Target: &t.Seed, Help: "the seed of everything random"},
		{Name: "out", Target: &t.out, Help: "write the weights to this `FILE`"},
		{Name: "opponent-out", Target: &t.opponentOut, Help: "write the opponent's weights to this `FILE`"},
		{Name: "from", Target: &t.from, Help: "begin with the weights of this `FILE`"},
	}
}

// run trains @teeko-lms as the flags say. It prints the number of wins, losses and draws to standard error. It writes
// the learned weights to the file of --out or, without it, to standard output. It writes the opponent's weights only
// with --opponent-out.
func (t *teekoTraining) run(cmd *cobra.Command) error {
	if t.from != "" {
		var err error
		if t.Start, err = readTeekoWeights(t.from); err != nil {
			return err
		}
	}
	if err := t.setOpponent(); err != nil {
		return err
	}
	report, err := lms.Train(cmd.Context(), t.Training)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d games against %s: %d won, of which %d by a square, %d lost, %d drawn\n",
		report.Games(), t.opponent, report.Wins, report.SquareWins, report.Losses, report.Draws)
	if t.opponentOut != "" {
		if err := writeTeekoWeights(cmd, t.opponentOut, report.RivalWeights); err != nil {
			return err
		}
	}
	return writeTeekoWeights(cmd, t.out, report.Weights)
}

// setOpponent sets the opponent of the training from the flag --opponent. It returns an error if the bot or the file of
// weights cannot be used, or if another flag needs an opponent with weights and this one has none.
func (t *teekoTraining) setOpponent() error {
	name, isBot := strings.CutPrefix(t.opponent, "@")
	t.Self = t.opponent == opponentSelf
	switch {
	case isBot:
		bot, err := house.NewSeat(name)
		if err != nil {
			return fmt.Errorf("--opponent: %w", err)
		}
		t.RivalBot = bot
	case t.opponent == opponentEarlier:
		t.Rival = &t.Start
	case t.opponent != opponentRandom && !t.Self:
		w, err := readTeekoWeights(t.opponent)
		if err != nil {
			return fmt.Errorf("--opponent cannot be %q: try random, self, earlier, a house bot as @greedy or a file of weights: %w", t.opponent, err)
		}
		t.Rival = &w
	}
	if t.Rival == nil && (t.LearnsBoth || t.opponentOut != "") {
		return fmt.Errorf("--opponent %s has no weights of its own: try earlier or a file of weights", t.opponent)
	}
	return nil
}

func readTeekoWeights(file string) (w teekolms.Weights, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return w, err
	}
	if w, err = teekolms.ParseText(string(data)); err != nil {
		return w, fmt.Errorf("%s: %w", file, err)
	}
	return w, nil
}

func writeTeekoWeights(cmd *cobra.Command, file string, w teekolms.Weights) error {
	return cli.WriteFile(cmd, file, func(out io.Writer) error {
		_, err := io.WriteString(out, w.Text())
		return err
	})
}
