package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

type submitFlags struct {
	bot         string
	watch, json bool
}

func newSubmit() *cobra.Command {
	var f submitFlags
	cmd := &cobra.Command{
		Use:   "submit DIR|FILE",
		Short: "Submit a bot to the competition",
		Long: "Packs a bot's directory, sends it, and reports its stages: it is unpacked, built and checked in\n" +
			"the sandbox, plays a trial match, and is then live. If a version fails, the previous version\n" +
			"stays live. A FILE is a bot of one file, such as bot.py, whose name tells the language, or a\n" +
			".zip or .tar.gz that you have packed.\n\n" +
			"Files that match " + bundle.IgnoreFile + " are left out; its syntax is that of .gitignore. Try timba check DIR\n" +
			"first.\n\n" +
			"Exit status: 0 it is live, 1 a stage failed, 2 it could not be sent, 3 interrupted.",
		Example: "  timba submit mybot\n  timba submit bot.py --bot mybot\n  timba submit mybot.zip --bot mybot\n  timba submit mybot --watch=false",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.bot, "bot", "", "the name of the `BOT` in the competition (default: the name in its manifest)")
	flags.BoolVar(&f.watch, "watch", true, "report the stages until the end")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *submitFlags) run(cmd *cobra.Command, path string) error {
	c, err := connect(cmd, true)
	if err != nil {
		return err
	}
	data, file, err := f.archive(cmd, path)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "bytes")
	s, err := c.Submit(cmd.Context(), f.bot, file, func() (io.Reader, int64) {
		return io.TeeReader(bytes.NewReader(data), &uploadProgress{bar: bar, all: len(data)}), int64(len(data))
	})
	bar.Clear()
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	w := cmd.OutOrStdout()
	if !f.json {
		fmt.Fprintf(w, "sent %s as %s@%d, %s\n", path, s.Version.Bot, s.Version.Version, bundle.FormatSize(int64(len(data))))
	}
	if f.watch {
		progress := w
		if f.json {
			progress = io.Discard
		}
		s, err = follow(cmd.Context(), progress, c, s)
	}
	if f.json {
		err = errors.Join(err, cli.WriteJSON(w, s))
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(cmd.ErrOrStderr(), "interrupted; the server continues: timba logs %s@%d shows the stages\n", s.Version.Bot, s.Version.Version)
		return cli.ErrNoVerdict
	case err != nil:
		return err
	case s.Version.State == "failed" || s.Version.State == "cancelled":
		return cli.ErrFault
	}
	return nil
}

// uploadProgress is a writer that counts the bytes of an upload and shows the progress.
type uploadProgress struct {
	bar            *cli.ProgressLine
	bytesSent, all int
}

func (s *uploadProgress) Write(p []byte) (int, error) {
	s.bytesSent += len(p)
	s.bar.Set(s.bytesSent, s.all)
	return len(p), nil
}

// archive returns the data to upload. If path is a directory, data is an archive of it, and file is "". If path is a
// file, data is its content, whether or not that is an archive, and file is its name. archive does not check the
// limits of the server.
func (f *submitFlags) archive(cmd *cobra.Command, path string) (data []byte, file string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", fmt.Errorf("submit: %w", err)
	}
	if !info.IsDir() {
		if data, err = os.ReadFile(path); err != nil {
			return nil, "", fmt.Errorf("submit: %w", err)
		}
		return data, filepath.Base(path), nil
	}
	m, err := program.ReadManifest(path)
	if err != nil {
		return nil, "", fmt.Errorf("submit: %w", err)
	}
	if f.bot == "" {
		f.bot = m.Name
	}
	limits := bundle.Default
	limits.UploadSize, limits.UnpackedSize, limits.Files = 1<<30, 4<<30, 100_000
	p, err := bundle.Pack(path, limits)
	if err != nil {
		return nil, "", fmt.Errorf("submit: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "packed %s, %s\n", text.Count(len(p.Files), "file"), bundle.FormatSize(p.Bytes))
	return p.Data, "", nil
}

// follow prints each stage of a submission (unpack, build, check, trial) when it ends, and the log of a failed
// stage. It returns the submission when all stages have ended.
func follow(ctx context.Context, w io.Writer, c *client.Client, s wire.Submission) (wire.Submission, error) {
	printed, place := 0, 1
	for next, err := range c.Follow(ctx, s.ID) {
		if err != nil {
			return s, err
		}
		s = next
		if s.Place > 0 && s.Place != place {
			fmt.Fprintf(w, "%-7s place %d in the queue\n", "waiting", s.Place)
			place = s.Place
		}
		if printed > len(s.Stages) {
			printed = 0 // the server was restarted, and began again
		}
		for ; printed < len(s.Stages) && !s.Stages[printed].EndedAt.IsZero(); printed++ {
			printStage(w, s.Stages[printed])
		}
	}
	name := fmt.Sprintf("%s@%d", s.Version.Bot, s.Version.Version)
	switch s.Version.State {
	case "live":
		fmt.Fprintf(w, "%s is live: timba bots %s\n", name, s.Version.Bot)
	case "failed":
		stage := printFailure(w, s.Stages) // which says the reason
		fmt.Fprintf(w, "%s failed: %s\n", name, cli.OrDash(cmp.Or(stage, s.Version.Reason)))
	default:
		fmt.Fprintf(w, "%s is %s\n", name, s.Version.State)
	}
	return s, nil
}

func printStage(w io.Writer, s wire.Stage) {
	verdict, summary := "ok", s.Summary
	if !s.OK {
		verdict = "failed"
	}
	if !s.OK && s.Log != "" {
		summary = "" // printFailure shows it
	}
	line := fmt.Sprintf("%-7s %-6s %7s  %s", s.Name, verdict, s.EndedAt.Sub(s.StartedAt).Round(10*time.Millisecond), summary)
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

// printFailure prints the log of the stage that failed, such as the build, and returns the name of the stage. If the
// stage has no log, it returns "".
func printFailure(w io.Writer, stages []wire.Stage) (stage string) {
	for _, s := range stages {
		if !s.OK && !s.EndedAt.IsZero() && s.Log != "" {
			fmt.Fprintf(w, "\n%s\n\n", strings.TrimSpace(withoutRepeatedSummary(s)))
			stage = s.Name
		}
	}
	return stage
}

// withoutRepeatedSummary returns the log of a failed stage. If the last line of the log only repeats the summary of
// the stage, that line is left out.
func withoutRepeatedSummary(s wire.Stage) string {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	i := strings.LastIndex(s.Log, "\nfailed: ")
	_, what, _ := strings.Cut(s.Summary, ": ") // after the place
	what, _, _ = strings.Cut(what, "; ")       // and before the advice
	if i >= 0 && what != "" && strings.Contains(words(s.Log[:i]), words(what)) {
		return s.Log[:i]
	}
	return s.Log
}
