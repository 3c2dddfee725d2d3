package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/sandbox"
)

// examination is the document of `timba doctor --json`.
type examination struct {
	Level  string        `json:"level"`
	Layers []layerResult `json:"layers"`
	Trials []trialResult `json:"attacks,omitempty"`
}

type layerResult struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	Fix   string `json:"fix,omitempty"`
}

type trialResult struct {
	Name    string `json:"name"`
	Blocked bool   `json:"blocked"`
	Text    string `json:"text"`
}

func newDoctor() *cobra.Command {
	var require string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show how well this machine can sandbox a bot",
		Long: "Makes a sandbox of each level and attacks the best one. The levels are NONE, WEAK,\n" +
			"REDUCED and FULL; docs/sandbox.md describes what each prevents.\n\n" +
			"Exit status: 0 the level is sufficient and every attack was blocked, 1 it is not, or\n" +
			"an attack got through, 2 wrong usage.",
		Example: "  timba doctor\n  timba doctor --require full",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			want, err := sandbox.ParseLevel(require)
			if err != nil {
				return err
			}
			report := sandbox.Probe()
			e := examine(cmd.Context(), report)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), e)
			} else {
				err = e.print(cmd.OutOrStdout())
			}
			if err == nil && (report.Level < want || !e.blocked()) {
				return cli.ErrFault
			}
			return err
		},
	}
	cmd.Flags().StringVar(&require, "require", "reduced", "the required `level`: none|weak|reduced|full; the exit status is 1 below it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	return cmd
}

func examine(ctx context.Context, r sandbox.Report) examination {
	e := examination{Level: r.Level.String()}
	for _, l := range r.Layers {
		result := layerResult{Name: l.Name, OK: l.OK, Fix: l.Fix}
		if l.Err != nil {
			result.Error = l.Err.Error()
		}
		e.Layers = append(e.Layers, result)
	}
	if r.Level > sandbox.None && ctx.Err() == nil {
		for _, t := range sandbox.SelfTest(r.Level) {
			e.Trials = append(e.Trials, trialResult(t))
		}
	}
	return e
}

// blocked reports whether every attack was blocked.
func (e examination) blocked() bool {
	for _, t := range e.Trials {
		if !t.Blocked {
			return false
		}
	}
	return true
}

func (e examination) print(w io.Writer) error {
	layers := text.Table(w)
	layers.AppendHeader(table.Row{"layer", "", "why"})
	for _, l := range e.Layers {
		layers.AppendRow(table.Row{l.Name, okText(l.OK), l.Error})
	}
	layers.Render()
	for _, l := range e.Layers {
		if !l.OK {
			fmt.Fprintf(w, "\n%s needs: %s\n", l.Name, l.Fix)
		}
	}
	fmt.Fprintf(w, "\nlevel: %s\n", e.Level)
	if len(e.Trials) == 0 {
		_, err := fmt.Fprintln(w, "bots run with all your rights: play only programs that you trust")
		return err
	}
	fmt.Fprintln(w)
	attacks := text.Table(w)
	attacks.AppendHeader(table.Row{"a program that", "", ""})
	for _, t := range e.Trials {
		attacks.AppendRow(table.Row{t.Name, blockedText(t.Blocked), t.Text})
	}
	attacks.Render()
	return nil
}

func okText(ok bool) string {
	if ok {
		return "ok"
	}
	return "missing"
}

func blockedText(blocked bool) string {
	if blocked {
		return "blocked"
	}
	return "GOT THROUGH"
}
