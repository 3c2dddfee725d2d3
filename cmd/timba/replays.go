package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

type replaysFlags struct {
	match, game   int64
	after, ladder string
	out           string
	json          bool
}

func newReplays() *cobra.Command {
	var f replaysFlags
	cmd := &cobra.Command{
		Use:   "replays",
		Short: "Fetch replays from the competition: of a game, of a match, or all",
		Long: "Fetches the replay of a game, those of a match, or all that there are, the oldest first.\n\n" +
			"--out FOLDER gets a file for each game, game-ID.json, as timba replay reads them. --out FILE\n" +
			"(.ndjson or .jsonl) gets one line for each, with the cursor behind it. Without --out the lines\n" +
			"go to standard output. Where FOLDER or FILE has replays already, what came after them is\n" +
			"fetched, so that the same command goes on after a break and keeps up with the competition.",
		Example: "  timba replays --game 1234 | timba replay show -\n  timba replays --match 77 --out match77\n  timba replays --ladder brisca-2 --out brisca.ndjson",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			c, err := connect(cmd, false)
			if err != nil {
				return err
			}
			return f.run(cmd, c)
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&f.match, "match", 0, "those of the match with this `ID`")
	flags.Int64Var(&f.game, "game", 0, "that of the game with this `ID`")
	flags.StringVar(&f.after, "after", "", "those after this `CURSOR`")
	flags.StringVar(&f.ladder, "ladder", "", "only those of this ladder")
	flags.StringVar(&f.out, "out", "", "a folder, or a file ending in .ndjson or .jsonl")
	jsonFlag(cmd, &f.json)
	return cmd
}

func (f *replaysFlags) check(cmd *cobra.Command) error {
	chosen := 0
	for _, name := range []string{"match", "game", "after"} {
		if cmd.Flags().Changed(name) {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return errors.New("replays: --match, --game and --after choose different things: give one")
	case f.ladder != "" && (f.match != 0 || f.game != 0):
		return errors.New("replays: --ladder goes with neither --match nor --game")
	case f.json && f.out == "":
		return errors.New("replays: --json tells what came, and goes with --out")
	}
	return nil
}

func (f *replaysFlags) run(cmd *cobra.Command, c *client.Client) error {
	if f.game != 0 {
		return f.one(cmd, c)
	}
	sink, err := f.sink(cmd)
	if err != nil {
		return err
	}
	lines := f.lines(cmd.Context(), c, sink.cursor)
	bar := newProgress(cmd.ErrOrStderr(), "games")
	n, err := fetch(lines, sink, bar)
	bar.Clear()
	if err = errors.Join(err, sink.close()); err != nil {
		if f.out != "" {
			err = fmt.Errorf("replays: %w: %s are kept: the same command goes on", err, count(n, "replay"))
		}
		return err
	}
	switch {
	case f.json:
		return writeJSON(cmd.OutOrStdout(), struct {
			Replays int    `json:"replays"`
			Cursor  string `json:"cursor,omitempty"`
			Out     string `json:"out"`
		}{n, sink.cursor, f.out})
	case f.out != "":
		fmt.Fprintf(cmd.OutOrStdout(), "fetched %s into %s\n", count(n, "replay"), f.out)
	}
	return nil
}

// lines is what was asked for; kept is the cursor of what there is already.
func (f *replaysFlags) lines(ctx context.Context, c *client.Client, kept string) iter.Seq2[wire.ReplayLine, error] {
	if f.match != 0 {
		return c.MatchReplays(ctx, f.match)
	}
	after := f.after
	if kept != "" {
		after = kept
	}
	return c.ReplaysAfter(ctx, after, f.ladder)
}

func fetch(lines iter.Seq2[wire.ReplayLine, error], to *sink, bar *progressbar.ProgressBar) (n int, err error) {
	for line, err := range lines {
		if err != nil {
			return n, err
		}
		if err := to.add(line); err != nil {
			return n, err
		}
		n++
		bar.ChangeMax(n + 1)
		bar.Add(1)
	}
	return n, nil
}

// one fetches the document of one game, byte for byte.
func (f *replaysFlags) one(cmd *cobra.Command, c *client.Client) error {
	data, err := c.Replay(cmd.Context(), f.game)
	if err != nil {
		return err
	}
	path := f.out
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, gameFile(f.game))
	}
	if err := writeOut(cmd, path, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return err
	}
	if path != "" && !f.json {
		fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", path)
	}
	if f.json {
		return writeJSON(cmd.OutOrStdout(), struct {
			Game int64  `json:"game"`
			Out  string `json:"out"`
		}{f.game, path})
	}
	return nil
}

func gameFile(id int64) string { return fmt.Sprintf("game-%d.json", id) }

// cursorFile is where a folder of replays keeps the cursor behind its last one.
const cursorFile = ".cursor"

// sink takes replays: a folder, a file of lines, or standard output.
type sink struct {
	folder string
	ladder string   // that the folder is for, "" for all
	whole  bool     // the folder gets no cursor
	file   *os.File // nil for standard output
	w      *bufio.Writer
	cursor string // behind what is kept
}

func (f *replaysFlags) sink(cmd *cobra.Command) (*sink, error) {
	ext := strings.ToLower(filepath.Ext(f.out))
	switch {
	case f.out == "":
		return &sink{w: bufio.NewWriter(cmd.OutOrStdout())}, nil
	case ext != ".ndjson" && ext != ".jsonl":
		return f.openFolder()
	case f.match != 0:
		file, err := os.Create(f.out)
		if err != nil {
			return nil, fmt.Errorf("out: %w", err)
		}
		return &sink{file: file, w: bufio.NewWriter(file)}, nil
	}
	return openLines(f.out, f.ladder)
}

// openFolder opens a folder behind what it has. A match is fetched whole, and says
// nothing of what else there is.
func (f *replaysFlags) openFolder() (*sink, error) {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return nil, fmt.Errorf("out: %w: name a folder, or a file ending in .ndjson or .jsonl", err)
	}
	s := &sink{folder: f.out, ladder: f.ladder, whole: f.match != 0}
	data, err := os.ReadFile(filepath.Join(f.out, cursorFile))
	if errors.Is(err, fs.ErrNotExist) || s.whole {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	cursor, ladder, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	if ladder != f.ladder {
		return nil, fmt.Errorf("out: %s has replays of %s, not of %s: name another folder", f.out, ladderNamed(ladder), ladderNamed(f.ladder))
	}
	s.cursor = cursor
	return s, nil
}

func ladderNamed(name string) string {
	if name == "" {
		return "all ladders"
	}
	return "ladder " + name
}

// openLines opens a file of lines behind its last whole one.
func openLines(path, ladder string) (*sink, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	s := &sink{file: f, w: bufio.NewWriterSize(f, 1<<16)}
	end := int64(0)
	in := bufio.NewReaderSize(f, 1<<16)
	var last []byte
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			break // what is not a whole line was broken off
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("out: %w", err)
		}
		end += int64(len(line))
		last = line
	}
	if last != nil {
		var line wire.ReplayLine
		if err := json.Unmarshal(last, &line); err != nil || line.Cursor == "" {
			f.Close()
			return nil, fmt.Errorf("out: the last line of %s is not a replay: name another file", path)
		}
		if ladder != "" && line.Ladder != ladder {
			f.Close()
			return nil, fmt.Errorf("out: the last replay of %s is not of ladder %s: name another file", path, ladder)
		}
		s.cursor = line.Cursor
	}
	_, err = f.Seek(end, io.SeekStart)
	if err = errors.Join(f.Truncate(end), err); err != nil {
		f.Close()
		return nil, fmt.Errorf("out: %w", err)
	}
	return s, nil
}

func (s *sink) add(line wire.ReplayLine) error {
	if s.folder == "" {
		data, err := compactLine(line)
		if err != nil {
			return err
		}
		if _, err := s.w.Write(data); err != nil {
			return fmt.Errorf("out: %w", err)
		}
		s.cursor = line.Cursor
		return nil
	}
	r, err := referee.DecodeReplay(line.Replay)
	if err != nil {
		return fmt.Errorf("game %d: %w", line.Game, err)
	}
	if err := writeWhole(filepath.Join(s.folder, gameFile(line.Game)), r.Encode()); err != nil {
		return err
	}
	s.cursor = line.Cursor
	return nil
}

// compactLine is a line as the server writes it.
func compactLine(line wire.ReplayLine) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(line)
	return b.Bytes(), err
}

// writeWhole writes a file that is there whole or not at all.
func writeWhole(path string, data []byte) error {
	tmp := path + ".tmp"
	err := os.WriteFile(tmp, data, 0o644)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("out: %w", err)
	}
	return nil
}

// close keeps the cursor, also after an error: what came before it is whole.
func (s *sink) close() error {
	var errs []error
	if s.w != nil {
		errs = append(errs, s.w.Flush())
	}
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	if s.folder != "" && s.cursor != "" && !s.whole {
		errs = append(errs, writeWhole(filepath.Join(s.folder, cursorFile), []byte(strings.TrimSpace(s.cursor+" "+s.ladder)+"\n")))
	}
	return errors.Join(errs...)
}
