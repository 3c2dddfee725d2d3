package main

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/client"
)

type logsFlags struct {
	game int64
	seat int
	json bool
}

func newLogs() *cobra.Command {
	f := logsFlags{}
	cmd := &cobra.Command{
		Use:   "logs BOT[@N] [STAGE]",
		Short: "Show the logs of your bot's stages, or its log of a game",
		Long: "Shows the stages of a version of your bot (the last one, unless @N names another) and the log of\n" +
			"the stage that failed. With STAGE (unpack, build, check, trial) it shows only that stage's log.\n" +
			"With --game and --seat it shows what the bot wrote to standard error in that game.",
		Example: "  timba logs mybot\n  timba logs mybot@3 build\n  timba logs --game 1234 --seat 0",
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd, true)
			if err != nil {
				return err
			}
			inGame := cmd.Flags().Changed("game")
			switch {
			case inGame && (len(args) > 0 || !cmd.Flags().Changed("seat")):
				return errors.New("logs: --game needs --seat and excludes a bot's name, as in timba logs --game 1234 --seat 0")
			case inGame:
				return f.ofGame(cmd, c)
			case len(args) == 0:
				return errors.New("logs: name one of your bots, as in timba logs mybot; timba bots --mine lists them")
			}
			return f.ofVersion(cmd, c, args)
		},
	}
	cli.CountFlag(cmd, &f.game, "game", 0, "the ID of a `GAME`")
	cli.NumberFlag(cmd, &f.seat, "seat", 0, 0, math.MaxInt, "the `SEAT` in the game, from 0")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *logsFlags) ofGame(cmd *cobra.Command, c *client.Client) error {
	data, err := c.GameLog(cmd.Context(), f.game, f.seat)
	if err != nil {
		return err
	}
	if f.json {
		return cli.WriteJSON(cmd.OutOrStdout(), struct {
			Game int64  `json:"game"`
			Seat int    `json:"seat"`
			Log  string `json:"log"`
		}{f.game, f.seat, string(data)})
	}
	out := cmd.OutOrStdout()
	if screen, ok := out.(*os.File); ok && term.IsTerminal(int(screen.Fd())) {
		data = []byte(ladder.Plain(string(data))) // a bot's output must not control the terminal
	}
	_, err = out.Write(data)
	return err
}

func (f *logsFlags) ofVersion(cmd *cobra.Command, c *client.Client, args []string) error {
	ctx, w := cmd.Context(), cmd.OutOrStdout()
	bot, n, err := botRef(args[0])
	if err != nil {
		return err
	}
	if n == 0 {
		last, err := client.Collect(c.Versions(ctx, bot), 1)
		if err != nil {
			return err
		}
		if len(last) == 0 {
			return fmt.Errorf("logs: %s has no versions yet", bot)
		}
		n = last[0].Version
	}
	if len(args) > 1 {
		s, err := c.Stage(ctx, bot, n, args[1])
		if err != nil {
			return err
		}
		if f.json {
			return cli.WriteJSON(w, s)
		}
		_, err = fmt.Fprint(w, s.Log)
		return err
	}
	stages, err := c.Stages(ctx, bot, n)
	if err != nil {
		return err
	}
	for i, s := range stages {
		if !s.OK && !s.Ended.IsZero() {
			if stages[i], err = c.Stage(ctx, bot, n, s.Name); err != nil {
				return err
			}
		}
	}
	if f.json {
		return cli.WriteJSON(w, stages)
	}
	fmt.Fprintf(w, "%s@%d\n", bot, n)
	for _, s := range stages {
		if s.Ended.IsZero() {
			fmt.Fprintf(w, "%-7s began %s\n", s.Name, since(s.Began))
			continue
		}
		printStage(w, s)
	}
	printFailure(w, stages)
	if len(stages) == 0 {
		fmt.Fprintln(w, "no stage has begun yet")
	}
	return nil
}
