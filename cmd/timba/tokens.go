package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/web/api/wire"
)

func newTokens() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tokens",
		Short: "List, make and revoke your tokens",
		Long: "Lists your tokens, without their keys. A token has a scope: read (your logs and messages),\n" +
			"submit (also versions and unrated matches) or all (also tokens).",
		Example: "  timba tokens\n  timba tokens add --scope submit --label ci --expires 90d\n  timba tokens revoke 3",
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := connect(cmd, true)
			if err != nil {
				return err
			}
			tokens, err := c.Tokens(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), tokens)
			}
			t := text.Table(cmd.OutOrStdout())
			t.AppendHeader(table.Row{"id", "scope", "label", "made", "used", "expires"})
			for _, k := range tokens {
				state := since(k.Expires)
				if !k.Revoked.IsZero() {
					state = "revoked " + since(k.Revoked)
				}
				t.AppendRow(table.Row{k.ID, k.Scope, cli.OrDash(k.Label), since(k.Created), since(k.Used), state})
			}
			t.Render()
			return nil
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	cmd.AddCommand(newTokensAdd(), newTokensRevoke())
	return cmd
}

func newTokensAdd() *cobra.Command {
	var scope, label, expires string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "add",
		Short:   "Make a token and print its key, which is shown only once",
		Example: "  timba tokens add --scope submit --label ci --expires 90d",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			until, err := untilTime(expires)
			if err != nil {
				return err
			}
			c, err := connect(cmd, true)
			if err != nil {
				return err
			}
			t, err := c.AddToken(cmd.Context(), wire.NewToken{Label: label, Scope: scope, Expires: until})
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), t)
			}
			fmt.Fprintln(cmd.OutOrStdout(), t.Key)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&scope, "scope", "submit", "what it allows: read|submit|all")
	flags.StringVar(&label, "label", "", "a note on what it is for")
	flags.StringVar(&expires, "expires", "", "how long it is valid, such as 12h or 90d (default: until it is revoked)")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

func newTokensRevoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID...",
		Short:   "Revoke tokens",
		Example: "  timba tokens revoke 3",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := idArgs("token", args)
			if err != nil {
				return err
			}
			c, err := connect(cmd, true)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := c.RevokeToken(cmd.Context(), id); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "revoked token %d\n", id)
			}
			return nil
		},
	}
}

// untilTime returns the time after a span such as 12h or 90d from now; zero for "".
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

// idArgs parses IDs; what names their kind in errors.
func idArgs(what string, args []string) ([]int64, error) {
	var ids []int64
	for _, arg := range args {
		id, err := idOf(what, arg)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func idOf(what, arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 1 {
		return 0, fmt.Errorf("%s %q is not an ID: give its number", what, arg)
	}
	return id, nil
}
