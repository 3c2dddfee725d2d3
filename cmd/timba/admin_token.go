package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

// newToken returns the command for a person who has lost all tokens. It needs access to the
// data directory.
func (f *adminFlags) newToken() *cobra.Command {
	var scope, label, expires string
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Make a token for a person and print its key, which is shown only once",
		Long: "Makes a token for a person who has lost theirs. It runs on the server's machine. The first start\n" +
			"creates an admin whose name is admin. timba tokens lists and revokes tokens.",
		Example: "  timba admin token --data /var/lib/timba admin",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.data == "" {
				return errors.New("data: name the server's data directory with --data DIR: a server makes tokens only for people who already have one")
			}
			until, err := untilTime(expires)
			if err != nil {
				return err
			}
			s, err := store.Open(f.data, store.Options{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			p, err := s.PersonByName(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			key, t, err := s.AddToken(cmd.Context(), p.ID, label, ladder.Scope(scope), until)
			if err != nil {
				return err
			}
			if f.json {
				return cli.WriteJSON(cmd.OutOrStdout(), struct {
					ID  int64  `json:"id"`
					Key string `json:"key"`
				}{t.ID, key})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&scope, "scope", string(ladder.ScopeAll), "what it allows: read|submit|all")
	flags.StringVar(&label, "label", "made on the server", "a note on what it is for")
	flags.StringVar(&expires, "expires", "", "how long it is valid, such as 12h or 90d (default: until it is revoked)")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}
