package commands

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
)

// examination is the JSON document of `timba doctor --json`.
type examination struct {
	Level  string          `json:"level"`
	Layers []sandbox.Layer `json:"layers"`
	Trials []sandbox.Trial `json:"attacks,omitempty"`
}

// newDoctor returns the command doctor. selfTest is sandbox.SelfTest, except in tests.
func newDoctor(selfTest func(sandbox.Level) []sandbox.Trial) *cobra.Command {
	var require string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show how well this machine can sandbox a bot",
		Long: "Makes a sandbox of each level and attacks the best one. The levels are NONE, WEAK,\n" +
			"REDUCED and FULL; docs/sandbox.md describes what each prevents.\n\n" +
			"Exit status: 0 the level is sufficient and every attack was blocked, 1 it is not, or\n" +
			"an attack got through, 2 wrong usage.",
		Example: "  timba doctor\n  timba doctor --require full",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&require, "require", "reduced", "the required `level`: none|weak|reduced|full; the exit status is 1 below it")
	return cli.Result(cmd, func(cmd *cobra.Command, _ []string) (e examination, err error) {
		want, err := sandbox.ParseLevel(require)
		if err != nil {
			return e, err
		}
		return cli.UntilInterrupt(cmd, func() (examination, error) {
			report := sandbox.Probe()
			e := examination{Level: report.Level.String(), Layers: report.Layers}
			if report.Level > sandbox.LevelNone {
				e.Trials = selfTest(report.Level)
			}
			through := slices.ContainsFunc(e.Trials, func(t sandbox.Trial) bool { return !t.Blocked })
			if report.Level < want || through {
				return e, cli.ErrFault
			}
			return e, nil
		})
	}, showExamination)
}

func showExamination(w io.Writer, e examination) {
	text.Rows(w, "layer||why", e.Layers, func(l sandbox.Layer) []any {
		return []any{l.Name, map[bool]string{true: "ok", false: "missing"}[l.OK], l.Error}
	})
	for _, l := range e.Layers {
		if !l.OK {
			fmt.Fprintf(w, "\n%s needs: %s\n", l.Name, l.Fix)
		}
	}
	fmt.Fprintf(w, "\nlevel: %s\n", e.Level)
	if len(e.Trials) == 0 {
		fmt.Fprintln(w, "bots run with all your rights: play only programs that you trust")
		return
	}
	fmt.Fprintln(w)
	text.Rows(w, "a program that||", e.Trials, func(t sandbox.Trial) []any {
		return []any{t.Name, map[bool]string{true: "blocked", false: "GOT THROUGH"}[t.Blocked], t.Text}
	})
}
