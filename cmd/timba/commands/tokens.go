package commands

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

func newTokens() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "List, make and revoke your tokens",
		Long: "Lists your tokens, without their keys. A token has a scope: read (your logs and messages),\n" +
			"submit (also versions and unrated matches) or all (also tokens).",
		Example: "  timba tokens\n  timba tokens add --scope submit --label ci --expires 90d\n  timba tokens revoke 3",
		Args:    cli.UnknownCommand,
	}
	cmd.AddCommand(newTokensAdd(), newTokensRevoke())
	return fromServer(cmd, true, func(ctx context.Context, c *client.Client, _ []string) ([]wire.Token, error) { return c.Tokens(ctx) }, showTokens)
}

func showTokens(w io.Writer, tokens []wire.Token) {
	text.Rows(w, "id|scope|label|made|used|expires", tokens, func(t wire.Token) []any {
		expires := since(t.ExpiresAt)
		if !t.RevokedAt.IsZero() {
			expires = "revoked " + since(t.RevokedAt)
		}
		return []any{t.ID, t.Scope, cli.OrDash(t.Label), since(t.CreatedAt), since(t.UsedAt), expires}
	})
}

// newTokenFlags are the flags of a command that makes a token.
type newTokenFlags struct{ scope, label, expires string }

func (f *newTokenFlags) add(cmd *cobra.Command, scope ladder.Scope, label string) {
	flags := cmd.Flags()
	flags.StringVar(&f.scope, "scope", string(scope), "what it allows: read|submit|all")
	flags.StringVar(&f.label, "label", label, "a note on what it is for")
	flags.StringVar(&f.expires, "expires", "", "how long it is valid, such as 12h or 90d (default: until it is revoked)")
}

func newTokensAdd() *cobra.Command {
	var f newTokenFlags
	cmd := &cobra.Command{
		Use:     "add",
		Short:   "Make a token and print its key, which is shown only once",
		Example: "  timba tokens add --scope submit --label ci --expires 90d",
		Args:    cobra.NoArgs,
	}
	f.add(cmd, ladder.ScopeSubmit, "")
	return cli.SecretFlag(fromServer(cmd, true, func(ctx context.Context, c *client.Client, _ []string) (wire.MadeToken, error) {
		until, err := untilTime(f.expires)
		if err != nil {
			return wire.MadeToken{}, err
		}
		return c.AddToken(ctx, wire.NewToken{Label: f.label, Scope: f.scope, ExpiresAt: until})
	}, func(w io.Writer, t wire.MadeToken) { fmt.Fprintln(w, t.Key) }))
}

func newTokensRevoke() *cobra.Command {
	return onServer(&cobra.Command{
		Use:     "revoke ID...",
		Short:   "Revoke tokens",
		Example: "  timba tokens revoke 3",
		Args:    cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		var ids []int64
		for _, arg := range args {
			id, err := idOf("token", arg)
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			if err := c.RevokeToken(cmd.Context(), id); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "revoked token %d\n", id)
		}
		return nil
	})
}

// untilTime returns the time after span, such as 12h or 90d, from now. If span is "", it returns the zero time.
func untilTime(span string) (time.Time, error) {
	if span == "" {
		return time.Time{}, nil
	}
	d, err := time.ParseDuration(span)
	if days, ok := strings.CutSuffix(span, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(min(n, 100_000)) * 24 * time.Hour
	}
	if err != nil || d <= 0 {
		return time.Time{}, fmt.Errorf("expires cannot be %q: try 12h or 90d", span)
	}
	return time.Now().Add(d).UTC().Truncate(time.Second), nil
}

// idOf parses arg as an ID, which is a number of at least 1. what names the kind of ID in the error message.
func idOf(what, arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, fmt.Errorf("%s %q is not an ID: give its number", what, arg)
	}
	return id, nil
}
