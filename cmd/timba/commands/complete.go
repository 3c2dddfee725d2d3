package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/sample-bots/starters"
	"github.com/timba-arena/timba/web/client"
)

// completeTime is how long a completion waits for the server.
const completeTime = 2 * time.Second

// complete completes the placeholders of timba. Ladders and the user's own bots come from the server to which the user
// has logged in; without a server, or if it does not answer in completeTime, there are none.
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
		return fromServerNames(cmd, func(ctx context.Context, c *client.Client) (names []string, err error) {
			for bot, err := range c.MyBots(ctx) {
				if err != nil {
					return nil, err
				}
				names = append(names, bot.Name)
			}
			return names, nil
		}), cobra.ShellCompDirectiveNoFileComp
	case "LADDER":
		words = fromServerNames(cmd, func(ctx context.Context, c *client.Client) (names []string, err error) {
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

// fromServerNames returns the names that list gets from the user's server, or none if it gets an error.
func fromServerNames(cmd *cobra.Command, list func(context.Context, *client.Client) ([]string, error)) []string {
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
