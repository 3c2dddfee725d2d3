package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

type submitFlags struct {
	bot         string
	watch, json bool
}

func newSubmit() *cobra.Command {
	var f submitFlags
	cmd := &cobra.Command{
		Use:   "submit DIR|FILE",
		Short: "Send a bot to the competition",
		Long: "Packs a bot's folder, sends it, and tells how it comes through its stages: it is unpacked,\n" +
			"built and checked in the sandbox, plays a match on trial, and is then live. A version that\n" +
			"fails leaves the one before it playing. A FILE is a .zip or .tar.gz that you have packed.\n\n" +
			"What " + bundle.IgnoreFile + " names is left out; it is written as a .gitignore. Try timba check DIR first.\n\n" +
			"Exit status: 0 it is live, 1 a stage failed, 2 it could not be sent, 3 broken off before the end.",
		Example: "  timba submit mybot\n  timba submit mybot.zip --bot mybot\n  timba submit mybot --watch=false",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.bot, "bot", "", "the bot's `NAME` in the competition (default: that of its manifest)")
	flags.BoolVar(&f.watch, "watch", true, "tell of the stages until the end")
	jsonFlag(cmd, &f.json)
	return cmd
}

func (f *submitFlags) run(cmd *cobra.Command, path string) error {
	c, err := connect(cmd, true)
	if err != nil {
		return err
	}
	data, kind, err := f.archive(cmd, path)
	if err != nil {
		return err
	}
	bar := newProgress(cmd.ErrOrStderr(), "bytes")
	bar.ChangeMax(len(data))
	s, err := c.Submit(cmd.Context(), f.bot, kind, func() (io.Reader, int64) {
		bar.Reset()
		return io.TeeReader(bytes.NewReader(data), bar), int64(len(data))
	})
	bar.Clear()
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	w := cmd.OutOrStdout()
	if !f.json {
		fmt.Fprintf(w, "sent %s as %s@%d, %s\n", path, s.Version.Bot, s.Version.Version, bundle.Size(int64(len(data))))
	}
	if f.watch {
		tell := w
		if f.json {
			tell = io.Discard
		}
		s, err = follow(cmd.Context(), tell, c, s)
	}
	if f.json {
		err = errors.Join(err, writeJSON(w, s))
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(cmd.ErrOrStderr(), "it goes on without you: timba logs %s@%d\n", s.Version.Bot, s.Version.Version)
		return errNoVerdict
	case err != nil:
		return err
	case s.Version.State == "failed":
		return errFault
	}
	return nil
}

// archive packs a folder, or reads an archive that somebody has packed. The
// server knows what it allows, and says so before the upload.
func (f *submitFlags) archive(cmd *cobra.Command, path string) (data []byte, kind string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", fmt.Errorf("submit: %w", err)
	}
	if !info.IsDir() {
		kind = "application/octet-stream"
		if strings.HasSuffix(strings.ToLower(path), ".zip") {
			kind = "application/zip"
		}
		if data, err = os.ReadFile(path); err != nil {
			err = fmt.Errorf("submit: %w", err)
		}
		return data, kind, err
	}
	m, err := program.ReadManifest(path)
	if err != nil {
		return nil, "", fmt.Errorf("submit: %w", err)
	}
	if f.bot == "" {
		f.bot = m.Name
	}
	limits := bundle.Default
	limits.Upload, limits.Unpacked, limits.Files = 1<<30, 4<<30, 100_000
	p, err := bundle.Pack(path, limits)
	if err != nil {
		return nil, "", fmt.Errorf("submit: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "packed %s, %s\n", count(len(p.Files), "file"), bundle.Size(p.Bytes))
	return p.Data, "application/gzip", nil
}

// follow tells of each stage as it ends, and of the log of the one that failed.
func follow(ctx context.Context, w io.Writer, c *client.Client, s wire.Submission) (wire.Submission, error) {
	told := 0
	for next, err := range c.Follow(ctx, s.ID) {
		if err != nil {
			return s, err
		}
		s = next
		if told > len(s.Stages) {
			told = 0 // the server was started anew, and began again
		}
		for ; told < len(s.Stages) && !s.Stages[told].Ended.IsZero(); told++ {
			printStage(w, s.Stages[told])
		}
	}
	name := fmt.Sprintf("%s@%d", s.Version.Bot, s.Version.Version)
	switch s.Version.State {
	case "live":
		fmt.Fprintf(w, "%s is live: timba bots %s\n", name, s.Version.Bot)
	case "failed":
		printFailure(w, s.Stages)
		fmt.Fprintf(w, "%s failed: %s\n", name, orDash(s.Version.Reason))
	default:
		fmt.Fprintf(w, "%s is %s\n", name, s.Version.State)
	}
	return s, nil
}

func printStage(w io.Writer, s wire.Stage) {
	verdict := "ok"
	if !s.OK {
		verdict = "failed"
	}
	line := fmt.Sprintf("%-7s %-6s %7s  %s", s.Name, verdict, s.Ended.Sub(s.Began).Round(10*time.Millisecond), s.Summary)
	fmt.Fprintln(w, strings.TrimRight(line, " "))
}

// printFailure shows the log of the stage that failed.
func printFailure(w io.Writer, stages []wire.Stage) {
	for _, s := range stages {
		if !s.OK && !s.Ended.IsZero() && s.Log != "" {
			fmt.Fprintf(w, "\n%s\n\n", strings.TrimRight(s.Log, "\n"))
		}
	}
}
