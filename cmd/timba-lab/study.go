package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/experiment"
	"github.com/timba-arena/timba/rules/text"
)

// runStudy tests the claims (conclusions) of the study that --study names, in their order and as many as --hours
// allows. It prints the results and, with --out, stores them. After Ctrl-C it prints the results of the tests that have
// ended, and returns cli.ErrNoVerdict.
func (f *experimentFlags) runStudy(cmd *cobra.Command) error {
	for _, name := range []string{"scale", "time-scale", "train-scale", "nodes-per-second"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is not for --study, because the sample of a claim is fixed: leave it out, or try --hours", name)
		}
	}
	e, err := experiment.FindStudy(f.study)
	if err != nil {
		return err
	}
	o, err := f.options(cmd, e)
	if err != nil {
		return err
	}
	list, err := e.NewEvidence()
	if err != nil {
		return err
	}
	shown := progress{cmd: cmd, knownModels: map[string]bool{}}
	o.Progress = shown.set
	var stopped error
	chosen := list[:e.ClaimsWithin(f.hours)]
	for i := range chosen {
		shown.announce(chosen[i:])
		stopped = e.TestClaim(cmd.Context(), o, &chosen[i])
		shown.end()
		if stopped != nil {
			break
		}
	}
	if stopped != nil && cmd.Context().Err() == nil {
		return stopped
	}
	if err := experiment.Judge(list); err != nil {
		return err
	}
	if err := f.writeEvidence(cmd, e, list); err != nil || stopped == nil {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "interrupted: the same command goes on")
	return cli.ErrNoVerdict
}

// announce prints to standard error the first claim in list, which is tested next, and the estimated hours for all
// claims in list. list must not be empty.
func (p *progress) announce(list []experiment.Evidence) {
	hours := 0.0
	for i := range list {
		hours += list[i].Hours
	}
	fmt.Fprintf(p.cmd.ErrOrStderr(), "claim %s, %s left, about %.1f hours: %s\n", list[0].ID, text.Count(len(list), "claim"), hours, list[0].Quote)
}

// writeEvidence prints list, the results of testing the claims of e: as JSON with --json, otherwise as a table. With
// --out it also writes them to a CSV file.
func (f *experimentFlags) writeEvidence(cmd *cobra.Command, e *experiment.Experiment, list []experiment.Evidence) error {
	if f.json {
		if err := cli.WriteJSON(cmd.OutOrStdout(), list); err != nil {
			return err
		}
	} else {
		experiment.WriteEvidence(cmd.OutOrStdout(), list)
	}
	if f.out == "" {
		return nil
	}
	command := "timba-lab experiment --study " + f.study
	if cmd.Flags().Changed("hours") {
		command += fmt.Sprintf(" --hours %g", f.hours)
	}
	path, err := e.SaveEvidence(f.out, command+" --seed "+f.seed, list)
	if err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", text.Quote(path))
	}
	return err
}
