package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/referee/tournament"
	"github.com/timba-arena/timba/referee/tournament/report"
)

// noteEarly notes in a run why its match ended early.
func (f *matchFlags) noteEarly(cmd *cobra.Command, r *report.Run, why error) {
	kind, said := report.Failed, cli.Message(why)
	if cause := context.Cause(cmd.Context()); cause != nil && referee.IsCancelled(why) {
		kind, said = report.Interrupted, cause.Error() // which signal it was
	}
	r.EndEarly(kind, said, f.resumeLine(cmd, r.Dir))
}

// ended tells on stderr that a match has ended early, or that its result could not be written, and
// what to do. It returns the error for the exit status.
func (f *matchFlags) ended(cmd *cobra.Command, r *report.Run, unwritten error) error {
	w, status := cmd.ErrOrStderr(), cli.ErrTold
	games := text.Count(r.Games, "game")
	switch {
	case r.Early == nil:
	case r.Early.Why == report.Failed:
		fmt.Fprintf(w, "timba: %s\nended after %s\n", r.Early.Text, games)
	default:
		fmt.Fprintf(w, "interrupted after %s\n", games)
		if unwritten == nil {
			status = cli.ErrNoVerdict
		}
	}
	if unwritten != nil {
		fmt.Fprintf(w, "timba: the result is not written: %s\n", cli.Message(unwritten))
	}
	if line := f.resumeLine(cmd, r.Dir); line != "" {
		fmt.Fprintf(w, "resume: %s\n", line)
	} else {
		fmt.Fprintf(w, "not kept: %s: only a match with --out DIR can be resumed\n", games)
	}
	return status
}

// resumeLine returns the command that resumes the match of a directory, with the flags that were
// given and are not in its plan; "" where nothing can be resumed.
func (f *matchFlags) resumeLine(cmd *cobra.Command, dir *tournament.Dir) string {
	if dir.FaultsOnly {
		return ""
	}
	words := []string{"match", "--resume", dir.Path}
	for _, name := range shownFlags {
		switch flag := cmd.Flags().Lookup(name); {
		case !flag.Changed || flag.Value.String() == "false":
		case flag.Value.Type() == "bool":
			words = append(words, "--"+name)
		default:
			words = append(words, "--"+name, flag.Value.String())
		}
	}
	return cli.CommandLine(words...)
}
