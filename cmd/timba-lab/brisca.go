package main

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/house"
)

//go:embed brisca-cases.toml
var briscaCases string

// newTrainBrisca returns the command "timba-lab train brisca-cases". It computes the coefficients of the bot
// @brisca-weighted from tricks with known best answers. Unlike the trainings in train.Methods, it is no run.Method,
// because it ends at once and never needs to be resumed.
func newTrainBrisca() *cobra.Command {
	file := ""
	cmd := &cobra.Command{
		Use:   "brisca-cases",
		Short: "Compute the coefficients of @brisca-weighted from cases with known answers",
		Long: "Reads tricks of Brisca with the best answer to each, and prints the coefficients with which\n" +
			"@brisca-weighted gives these answers. If there are none, the error names two cases that contradict\n" +
			"each other. Without --cases there is one case, the one that the study of the bot prints.",
		Example: "  timba-lab train brisca-cases",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return fitBriscaCases(cmd, file) },
	}
	cmd.Flags().StringVar(&file, "cases", "", "a TOML `FILE` of cases, [[case]] with name, trump, led, hand and best; see lab/experiments.md")
	return cmd
}

// fitBriscaCases reads tricks with their best answers from a TOML file, and prints the coefficients of @brisca-weighted
// that give these answers. If file is "", it uses the embedded case from the study. It returns an error if the file is
// not valid or if no coefficients give all answers.
func fitBriscaCases(cmd *cobra.Command, file string) error {
	source, data := "the study's cases", briscaCases
	if file != "" {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		source, data = file, string(content)
	}
	var cases struct {
		List []house.BriscaCase `toml:"case"`
	}
	meta, err := toml.Decode(data, &cases)
	if err == nil && len(meta.Undecoded()) > 0 {
		err = fmt.Errorf("key %q does not exist: try name, trump, led, hand or best of a [[case]]", meta.Undecoded()[0])
	}
	if err == nil && len(cases.List) == 0 {
		err = fmt.Errorf("there is no [[case]]: write at least one")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	gain, low, high, err := house.FitBriscaCases(cases.List)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: with cost 2 every gain above %.4g and below %.4g gives all answers\n"+
		"play with the middle: @brisca-weighted:gain=%.4g,cost=2\n", text.Count(len(cases.List), "case"), low, high, gain)
	return nil
}
