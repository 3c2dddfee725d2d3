package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/client"
)

// completeTime is how long a completion in the shell waits for the server.
const completeTime = 2 * time.Second

// complete returns the shell completions for a placeholder of a usage line, such as BOT. It asks the user's server
// for the names of ladders and of the user's bots. They are missing if the server does not answer within
// completeTime.
func complete(cmd *cobra.Command, args []string, placeholder string) (words []string, directive cobra.ShellCompDirective) {
	switch placeholder {
	case "LANGUAGE":
		for _, l := range starters.Languages {
			words = append(words, l.Name+"\t"+l.Title)
		}
	case "BOT":
		switch cmd.CommandPath() {
		case "timba match", "timba play", "timba check":
			return cli.HouseBots("@"), cobra.ShellCompDirectiveDefault
		}
		return namesFromServer(cmd, func(ctx context.Context, c *client.Client) (names []string, err error) {
			for bot, err := range c.MyBots(ctx) {
				if err != nil {
					return nil, err
				}
				names = append(names, bot.Name)
			}
			return names, nil
		}), cobra.ShellCompDirectiveNoFileComp
	case "LADDER":
		words = namesFromServer(cmd, func(ctx context.Context, c *client.Client) (names []string, err error) {
			ladders, err := c.Ladders(ctx)
			for _, l := range ladders {
				names = append(names, l.Name)
			}
			return names, err
		})
	default:
		words = cli.CompleteShared(cmd, args, placeholder)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// namesFromServer returns the names that list gets from the user's server, or nil if there is no server or an error.
func namesFromServer(cmd *cobra.Command, list func(context.Context, *client.Client) ([]string, error)) []string {
	c, err := connect(cmd, false)
	if err != nil {
		return nil
	}
	c.OnWait = func(error, time.Duration) {} // a message would be taken for a completion
	ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
	defer cancel()
	names, err := list(ctx, c)
	if err != nil {
		return nil
	}
	return names
}
