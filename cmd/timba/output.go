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

// untilInterrupt calls do, which does not look at the command's context, and returns its error, or
// that of the context if that ends first; do then goes on beside the rest of the program. The
// terminal at stdin is as before when it returns.
func untilInterrupt(cmd *cobra.Command, do func() error) error {
	ctx := cmd.Context()
	if err := ctx.Err(); err != nil {
		return err
	}
	if tty, ok := cmd.InOrStdin().(*os.File); ok {
		if before, err := term.GetState(int(tty.Fd())); err == nil {
			defer term.Restore(int(tty.Fd()), before)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- do() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readInput returns the first bytes of a file, or of stdin for "-", unless the command is
// interrupted.
func readInput(cmd *cobra.Command, path string, most int64) (data []byte, err error) {
	in := cmd.InOrStdin()
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	got := make(chan []byte, 1)
	if err := untilInterrupt(cmd, func() error {
		data, err := io.ReadAll(io.LimitReader(in, most))
		got <- data
		return err
	}); err != nil {
		return nil, err
	}
	return <-got, nil
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
