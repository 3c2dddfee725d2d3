package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/fleet"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/text"
)

// newAdminWorker returns the commands for the credentials of workers. They need access to the data
// directory.
func (f *adminFlags) newAdminWorker() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Give other machines credentials to play matches",
		Long: "Commands for the credentials with which timba worker plays matches of this competition on other\n" +
			"machines. They run on the server's machine, even while the server runs. Credentials allow a\n" +
			"worker to take the jobs that it is given, to fetch bots and to hand in results, and nothing else.",
		Args: cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(f.newWorkerAdd(), f.newWorkerRemove(), f.newWorkerList())
	return cmd
}

// keys calls do with the keys of the data directory, which --data must name.
func (f *adminFlags) keys(do func(*fleet.Keys) error) error {
	if f.data == "" {
		return errors.New("data: name the data directory of the server with --data DIR")
	}
	s, err := store.Open(f.data, store.Options{ReadOnly: true}) // it is the directory of a competition
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	k, err := fleet.OpenKeys(datadir.Dir(f.data).Fleet())
	if err != nil {
		return err
	}
	return do(k)
}

// made is a credential as --json prints it.
type made struct {
	Name  string `json:"name"`
	Creds string `json:"creds"`
	User  string `json:"user,omitempty"` // its public key, in a NATS cluster that exists
}

func (f *adminFlags) newWorkerAdd() *cobra.Command {
	var creds, key string
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make credentials for a worker and print their file, which is shown only once",
		Long: "Makes credentials for a worker and prints their file, which is shown only once: of the server with the\n" +
			"data directory, or, with --creds and --account-key, of the NATS cluster that timba serve --nats uses.",
		Example: "  timba admin worker add lab-1 --data /var/lib/timba > lab-1.creds\n" +
			"  timba admin worker add lab-2 --creds server.creds --account-key ACCOUNT.nk > lab-2.creds",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m := made{Name: args[0]}
			if creds != "" || key != "" {
				if err := m.addGuest(creds, key); err != nil {
					return err
				}
			} else if err := f.keys(func(k *fleet.Keys) error {
				text, err := k.Add(m.Name)
				m.Creds = string(text)
				return err
			}); err != nil {
				return err
			}
			if f.json {
				return cli.WriteJSON(cmd.OutOrStdout(), m)
			}
			if m.User != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "the public key of the user of %s is %s\n", text.Quote(m.Name), m.User)
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), m.Creds)
			return err
		},
	}
	cmd.Flags().StringVar(&creds, "creds", "", "the `FILE` with the credentials of the server for a NATS cluster that exists")
	cmd.Flags().StringVar(&key, "account-key", "", "the `FILE` with the key of the server's account in that cluster")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

// addGuest makes the credential in the NATS cluster of a server, whose credentials are in a file, with the
// key of its account.
func (m *made) addGuest(creds, key string) error {
	if creds == "" || key == "" {
		return errors.New("creds: --creds FILE and --account-key FILE go together: name both")
	}
	server, err := os.ReadFile(creds)
	if err != nil {
		return fmt.Errorf("creds: %w", err)
	}
	seed, err := os.ReadFile(key)
	if err != nil {
		return fmt.Errorf("account-key: %w", err)
	}
	text, user, err := fleet.AddGuest(server, seed, m.Name)
	m.Creds, m.User = string(text), user
	return err
}

func (f *adminFlags) newWorkerRemove() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Make the credentials of a worker invalid: a running server cuts it off at once",
		Example: "  timba admin worker remove lab-3 --data /var/lib/timba",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.keys(func(k *fleet.Keys) error {
				if err := k.Remove(args[0]); err != nil {
					return err
				}
				if f.json {
					return cli.WriteJSON(cmd.OutOrStdout(), struct {
						Name string `json:"name"`
					}{args[0]})
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", text.Quote(args[0]))
				return err
			})
		},
	}
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *adminFlags) newWorkerList() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the workers that have credentials, or had them",
		Example: "  timba admin worker list --data /var/lib/timba",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.keys(func(k *fleet.Keys) error {
				list, err := k.Workers()
				if err != nil {
					return err
				}
				if f.json {
					return cli.WriteJSON(cmd.OutOrStdout(), append([]fleet.Credential{}, list...))
				}
				t := text.Table(cmd.OutOrStdout())
				t.AppendHeader(table.Row{"name", "added", "removed"})
				for _, c := range list {
					t.AppendRow(table.Row{c.Name, c.Added.Format(time.DateTime), since(c.Removed)})
				}
				t.Render()
				return nil
			})
		},
	}
	cli.JSONFlag(cmd, &f.json)
	return cmd
}
