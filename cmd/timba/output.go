package main

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sandbox"
)

// newProgress returns a progress bar with the remaining time. It is visible only on a terminal.
func newProgress(w io.Writer, unit string) *progressbar.ProgressBar {
	file, ok := w.(*os.File)
	visible := ok && term.IsTerminal(int(file.Fd()))
	return progressbar.NewOptions(1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(visible),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "write the result as JSON")
}

// orDash returns the text, or a dash if it is empty.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// resolver returns a resolver of BOT arguments that runs builds at a sandbox level.
func resolver(cmd *cobra.Command, level sandbox.Level) program.Resolver {
	return program.Resolver{Builtins: house.Registry{}, Log: cmd.ErrOrStderr(), Level: level}
}
