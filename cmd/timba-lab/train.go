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
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
	"github.com/timba-arena/timba/sandbox"
)

func newTrain() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train bots that learn",
	}
	cmd.AddCommand(newTrainTeeko(), newTrainTebes())
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

// newTrainTeeko returns the command that computes the weights of @teeko-lms, a bot for the game Teeko, by least mean
// squares. The command does not implement run.Method, as other trainings do, because it has no run directory and
// cannot be resumed.
func newTrainTeeko() *cobra.Command {
	const random, self = "random", "self"
	t := lms.Training{Games: 5000, Mu: 0.01, Seed: 1, Start: teekolms.InitialWeights}
	opponent, out, from := random, "", ""
	cmd := &cobra.Command{
		Use:   "teeko-lms",
		Short: "Learn the weights of @teeko-lms by least mean squares",
		Long: "Plays Teeko against an opponent, learns after each game, and prints the weights. The first line shows\n" +
			"the bot that plays with these weights: @teeko-lms:weights=...",
		Example: "  timba-lab train teeko-lms --games 5000 --mu 0.01 --opponent random --out teeko.txt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t.Self = opponent == self
			if from != "" {
				text, err := os.ReadFile(from)
				if err != nil {
					return err
				}
				if t.Start, err = teekolms.ParseText(string(text)); err != nil {
					return fmt.Errorf("%s: %w", from, err)
				}
			}
			report, err := lms.Train(cmd.Context(), t)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%d games against %s: %d won, %d lost, %d drawn\n",
				report.Games(), opponent, report.Wins, report.Losses, report.Draws)
			return cli.WriteFile(cmd, out, func(w io.Writer) error {
				_, err := io.WriteString(w, report.Weights.Text())
				return err
			})
		},
	}
	addParams(cmd, []run.Param{
		{Name: "games", Target: &t.Games, Min: 1, Max: 1_000_000_000, Help: "number of games"},
		{Name: "mu", Target: &t.Mu, Max: 1, ExcludeMin: true, Help: "the learning rate"},
		run.ChoiceParam("opponent", &opponent, []string{random, self}, "the opponent"),
		{Name: "seed", Target: &t.Seed, Help: "the seed of everything random"},
		{Name: "out", Target: &out, Help: "write the weights to this `FILE`"},
		{Name: "from", Target: &from, Help: "begin with the weights of this `FILE`"},
	})
	return cmd
}
