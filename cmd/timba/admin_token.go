package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

// newToken is the way back in for somebody who has lost all tokens: it takes the
// rights of whoever owns the data folder.
func (f *adminFlags) newToken() *cobra.Command {
	var scope, label, expires string
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Make a token for somebody and print its key, which is shown this once",
		Long: "Makes a token for a person on the server's own machine, for who has lost theirs: the admin of the\n" +
			"first start is called admin. timba tokens shows and revokes tokens.",
		Example: "  timba admin token --data /var/lib/timba admin",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.data == "" {
				return errors.New("data: name the server's data folder with --data DIR: a server makes tokens for who has one already")
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
				return writeJSON(cmd.OutOrStdout(), struct {
					ID  int64  `json:"id"`
					Key string `json:"key"`
				}{t.ID, key})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&scope, "scope", string(ladder.ScopeAll), "what it is good for: read|submit|all")
	flags.StringVar(&label, "label", "made on the server", "what it is for, in your words")
	flags.StringVar(&expires, "expires", "", "for how long it works, as in 12h or 90d (default: until it is revoked)")
	jsonFlag(cmd, &f.json)
	return cmd
}
