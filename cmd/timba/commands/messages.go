package commands

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

func newMessages() *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use:     "messages",
		Short:   "Read what the competition has to tell you: failed stages, suspended bots",
		Example: "  timba messages\n  timba messages --last 100 --json",
		Args:    cobra.NoArgs,
	}
	cli.CountFlag(cmd, &last, "last", 20, "the largest number of messages, the newest")
	return fromServer(cmd, true, func(ctx context.Context, c *client.Client, _ []string) ([]wire.Message, error) {
		all, err := client.Collect(c.Messages(ctx), 0)
		shown := all[max(0, len(all)-last):]
		if err == nil && len(shown) > 0 {
			err = c.MarkMessagesSeen(ctx, shown[0].ID, shown[len(shown)-1].ID)
		}
		return shown, err
	}, showMessages)
}

func showMessages(w io.Writer, messages []wire.Message) {
	if len(messages) == 0 {
		fmt.Fprintln(w, "there are no messages for you")
	}
	for _, m := range messages {
		fmt.Fprintf(w, "%s  %s\n", since(m.CreatedAt), ladder.Plain(m.Text))
	}
}
