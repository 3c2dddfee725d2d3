package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/terminal/screen"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

// gameLog is the JSON document of `timba logs --game ID --seat N --json`.
type gameLog struct {
	Game int64  `json:"game"`
	Seat int    `json:"seat"`
	Log  string `json:"log"`
}

func newLogs() *cobra.Command {
	var g gameLog
	cmd := &cobra.Command{
		Use:   "logs BOT[@N] [STAGE]",
		Short: "Show the logs of your bot's stages, or its log of a game",
		Long: "Shows the stages of a version of your bot (the last one, unless @N names another) and the log of\n" +
			"the stage that failed. With STAGE (unpack, build, check, trial) it shows only that stage's log.\n" +
			"With --game and --seat it shows what the bot wrote to standard error in that game.",
		Example: "  timba logs mybot\n  timba logs mybot@3 build\n  timba logs --game 1234 --seat 0",
		Args:    cobra.MaximumNArgs(2),
	}
	cli.CountFlag(cmd, &g.Game, "game", 0, "the ID of a `GAME`")
	cli.NumberFlag(cmd, &g.Seat, "seat", 0, 0, math.MaxInt, "the `SEAT` in the game, from 0")
	cmd.MarkFlagsRequiredTogether("game", "seat")
	var version string // whose stages are shown
	cancelled := false // the version was cancelled before its first stage
	return fromServer(cmd, true, func(ctx context.Context, c *client.Client, args []string) (any, error) {
		switch {
		case g.Game != 0 && len(args) > 0:
			return nil, errors.New("logs: --game excludes a bot's name, as in timba logs --game 1234 --seat 0")
		case g.Game != 0:
			data, err := c.GameLog(ctx, g.Game, g.Seat)
			g.Log = string(data)
			return g, err
		case len(args) == 0:
			return nil, errors.New("logs: name one of your bots, as in timba logs mybot; timba bots --mine lists them")
		}
		bot, n, err := versionArg(ctx, c, args[0])
		if err != nil {
			return nil, err
		}
		if len(args) > 1 {
			return c.Stage(ctx, bot, n, args[1])
		}
		version = fmt.Sprintf("%s@%d", bot, n)
		stages, err := stagesOf(ctx, c, bot, n)
		if err == nil && len(stages) == 0 {
			cancelled, err = isCancelled(ctx, c, bot, n)
		}
		return stages, err
	}, func(w io.Writer, answer any) {
		switch answer := answer.(type) {
		case gameLog:
			if screen.Terminal(cmd.OutOrStdout()) != nil {
				answer.Log = ladder.Plain(answer.Log) // a bot's output must not control the terminal
			}
			io.WriteString(w, answer.Log)
		case wire.Stage:
			io.WriteString(w, answer.Log)
		case []wire.Stage:
			fmt.Fprintln(w, version)
			if cancelled {
				fmt.Fprintln(w, "cancelled before its first stage")
				return
			}
			showStages(w, answer)
		}
	})
}

// versionArg returns the bot and the number of the version that an argument such as BOT@2 names. If arg has
// no number, it asks the server for the bot's last version.
func versionArg(ctx context.Context, c *client.Client, arg string) (bot string, n int, err error) {
	bot, n, err = service.SplitRef(arg)
	if err != nil || n > 0 {
		return bot, n, err
	}
	last, err := client.Collect(c.Versions(ctx, bot), 1)
	if err != nil {
		return "", 0, err
	}
	if len(last) == 0 {
		return "", 0, fmt.Errorf("logs: %s has no versions yet", bot)
	}
	return bot, last[0].Version, nil
}

// isCancelled reports whether the submission of version n of a bot was cancelled. It is false if there is no such
// version.
func isCancelled(ctx context.Context, c *client.Client, bot string, n int) (bool, error) {
	for v, err := range c.Versions(ctx, bot) {
		if err != nil || v.Version == n {
			return v.State == "cancelled", err
		}
	}
	return false, nil
}

// stagesOf returns the stages through which version n of a bot has passed after its upload (unpack, build, check,
// trial). Only failed stages have their logs.
func stagesOf(ctx context.Context, c *client.Client, bot string, n int) ([]wire.Stage, error) {
	stages, err := c.Stages(ctx, bot, n)
	if err != nil {
		return nil, err
	}
	for i, s := range stages {
		if !s.OK && !s.EndedAt.IsZero() {
			if stages[i], err = c.Stage(ctx, bot, n, s.Name); err != nil {
				return nil, err
			}
		}
	}
	return stages, nil
}

func showStages(w io.Writer, stages []wire.Stage) {
	for _, s := range stages {
		if s.EndedAt.IsZero() {
			fmt.Fprintf(w, "%-7s began %s\n", s.Name, since(s.StartedAt))
			continue
		}
		printStage(w, s)
	}
	printFailure(w, stages)
	if len(stages) == 0 {
		fmt.Fprintln(w, "no stage has begun yet")
	}
}
