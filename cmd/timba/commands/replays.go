package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/client/mirror"
	"github.com/timba-arena/timba/web/wire"
)

type replaysFlags struct {
	match, game int64
	after       string
	ladder, bot string
	out         string
	json        bool
}

func newReplays() *cobra.Command {
	var f replaysFlags
	cmd := &cobra.Command{
		Use:   "replays",
		Short: "Download replays from the competition: of a game, of a match, or all",
		Long: "Downloads the replay of a game, the replays of a match, or all replays, the oldest first.\n\n" +
			"--out DIR writes one file for each game, game-ID.json, for timba replay. --out FILE (.ndjson or\n" +
			".jsonl) writes one line for each game, with the cursor after it. Without --out the lines go to\n" +
			"standard output. If DIR or FILE already has replays, only newer ones are downloaded: the same\n" +
			"command resumes an interrupted download, and later fetches the new replays.",
		Example: "  timba replays --game 1234 | timba replay show -\n  timba replays --match 77 --out match77\n  timba replays --ladder brisca-2 --out brisca.ndjson\n  timba replays --bot mybot --out mybot",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.json && cli.IsStdout(f.out) {
				return errors.New("replays: --json needs --out: without it the replays go to stdout")
			}
			c, err := connect(cmd, false)
			if err != nil {
				return err
			}
			return f.run(cmd, c)
		},
	}
	flags := cmd.Flags()
	cli.CountFlag(cmd, &f.match, "match", 0, "the replays of the match with this `ID`")
	cli.CountFlag(cmd, &f.game, "game", 0, "the replay of the game with this `ID`")
	flags.StringVar(&f.after, "after", "", "the replays after this `CURSOR`")
	flags.StringVar(&f.ladder, "ladder", "", "only replays of this ladder")
	flags.StringVar(&f.bot, "bot", "", "only replays of games in which the bot with this `NAME` played")
	flags.StringVar(&f.out, "out", "", "a directory, or a file ending in .ndjson or .jsonl")
	cli.JSONFlag(cmd, &f.json)
	cmd.MarkFlagsMutuallyExclusive("match", "game", "after")
	cmd.MarkFlagsMutuallyExclusive("match", "ladder")
	cmd.MarkFlagsMutuallyExclusive("game", "ladder")
	cmd.MarkFlagsMutuallyExclusive("match", "bot")
	cmd.MarkFlagsMutuallyExclusive("game", "bot")
	return cmd
}

func (f *replaysFlags) run(cmd *cobra.Command, c *client.Client) error {
	if f.game != 0 {
		return f.downloadGame(cmd, c)
	}
	if err := f.checkBot(cmd.Context(), c); err != nil {
		return err
	}
	to, err := f.mirror(cmd)
	if err != nil {
		return err
	}
	lines := f.lines(cmd.Context(), c, to.Cursor)
	bar := cli.NewProgress(cmd.ErrOrStderr(), "games")
	n, err := fetch(lines, to, bar)
	bar.Clear()
	if err = errors.Join(err, to.Close()); err != nil {
		if !cli.IsStdout(f.out) {
			err = fmt.Errorf("replays: %w: %s saved: run the same command to resume", err, text.Count(n, "replay"))
		}
		return err
	}
	switch {
	case f.json:
		return cli.WriteJSON(cmd.OutOrStdout(), struct {
			Replays int    `json:"replays"`
			Cursor  string `json:"cursor,omitempty"`
			Out     string `json:"out"`
		}{n, to.Cursor, f.out})
	case !cli.IsStdout(f.out):
		fmt.Fprintf(cmd.OutOrStdout(), "saved %s in %s\n", text.Count(n, "replay"), f.out)
	}
	return nil
}

// maxListedBots is the largest number of bots that an error lists.
const maxListedBots = 50

// checkBot returns an error if the bot that --bot names does not exist. The error lists bots of the competition.
func (f *replaysFlags) checkBot(ctx context.Context, c *client.Client) error {
	if f.bot == "" {
		return nil
	}
	_, err := c.Bot(ctx, f.bot)
	if client.Status(err) != http.StatusNotFound {
		return err
	}
	bots, err := client.Collect(c.Bots(ctx, ""), maxListedBots+1)
	if err != nil {
		return err
	}
	var names []string
	for _, b := range bots[:min(len(bots), maxListedBots)] {
		names = append(names, b.Name)
	}
	if len(bots) > maxListedBots {
		names = append(names, "and more, on the page /bots")
	}
	return fmt.Errorf("replays: bot %q does not exist: try %s", f.bot, strings.Join(names, ", "))
}

// lines yields the replays on the server that the flags select. If earlier replays were saved before, saved is the
// cursor of the last one, and only later replays follow; otherwise it is "".
func (f *replaysFlags) lines(ctx context.Context, c *client.Client, saved string) iter.Seq2[wire.ReplayLine, error] {
	if f.match != 0 {
		return c.MatchReplays(ctx, f.match)
	}
	after := f.after
	if saved != "" {
		after = saved
	}
	return c.ReplaysAfter(ctx, after, f.ladder, f.bot)
}

func fetch(lines iter.Seq2[wire.ReplayLine, error], to *mirror.Mirror, bar *cli.ProgressLine) (n int, err error) {
	for line, err := range lines {
		if err != nil {
			return n, err
		}
		if err := to.Add(line); err != nil {
			return n, err
		}
		n++
		bar.Set(n, 0)
	}
	return n, nil
}

// downloadGame writes the replay of the game that --game names, byte for byte, to the file or directory of
// --out.
func (f *replaysFlags) downloadGame(cmd *cobra.Command, c *client.Client) error {
	data, err := c.Replay(cmd.Context(), f.game)
	if err != nil {
		return err
	}
	path := f.out
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, mirror.GameFile(f.game))
	}
	if err := cli.WriteFile(cmd, path, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
		return err
	}
	if f.json {
		return cli.WriteJSON(cmd.OutOrStdout(), struct {
			Game int64  `json:"game"`
			Out  string `json:"out"`
		}{f.game, path})
	}
	return nil
}

func (f *replaysFlags) mirror(cmd *cobra.Command) (*mirror.Mirror, error) {
	if cli.IsStdout(f.out) {
		return mirror.NewStream(cmd.OutOrStdout()), nil
	}
	return mirror.Open(f.out, mirror.Select(f.ladder, f.bot), f.match != 0)
}
