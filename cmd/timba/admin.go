package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/text"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/client"
)

// office serves an admin's requests: a server, or the data directory itself.
type office interface {
	AddInvite(context.Context, wire.NewInvite) (wire.MadeInvite, error)
	Invites(context.Context) ([]wire.Invite, error)
	RevokeInvite(ctx context.Context, id int64) error
	Everybody(context.Context) ([]wire.Person, error)
	Block(ctx context.Context, name string, out bool) (wire.Person, error)
}

type adminFlags struct {
	data string
	json bool
}

func newAdmin() *cobra.Command {
	f := new(adminFlags)
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Run a competition: invites, people, backups",
		Long: "Commands for the operator of a competition. They use the server's API with an admin's token\n" +
			"(timba login), or with --data the data directory itself, even while the server runs.",
		Args: cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&f.data, "data", "", "use this data `DIR` instead of a server")
	cmd.AddCommand(f.newInvite(), f.newInvites(), f.newPeople(), f.newBlock(true), f.newBlock(false), f.newToken(), f.newAdminWorker(), f.newWorkers(), f.newBackup(), f.newVerify(), f.newRerate(), f.newStorage())
	return cmd
}

// at calls do with the data directory if --data is set, else with the server.
func (f *adminFlags) at(cmd *cobra.Command, do func(office) error) error {
	if f.data == "" {
		c, err := adminClient(cmd)
		if err != nil {
			return err
		}
		return do(remoteOffice{c})
	}
	s, err := store.Open(f.data, store.Options{})
	if err != nil {
		return err
	}
	return errors.Join(do(localOffice{s}), s.Close())
}

// adminClient connects to the server, where --data names no directory.
func adminClient(cmd *cobra.Command) (*client.Client, error) {
	c, err := connect(cmd, true)
	if err != nil {
		return nil, fmt.Errorf("%w: or name the data directory with --data DIR", err)
	}
	return c, nil
}

func (f *adminFlags) newInvite() *cobra.Command {
	var name, expires string
	cmd := &cobra.Command{
		Use:     "invite",
		Short:   "Make an invite and print its code, which is shown only once",
		Long:    "Makes an invite for one person, who joins with timba login URL --invite CODE --name NAME.",
		Example: "  timba admin invite --name ada\n  timba admin invite --data /var/lib/timba --expires 7d",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			until, err := untilTime(expires)
			if err != nil {
				return err
			}
			return f.at(cmd, func(o office) error {
				i, err := o.AddInvite(cmd.Context(), wire.NewInvite{Name: name, Expires: until})
				if err != nil {
					return err
				}
				if f.json {
					return cli.WriteJSON(cmd.OutOrStdout(), i)
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), i.Code)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "the `NAME` for which it is valid (default: any)")
	cmd.Flags().StringVar(&expires, "expires", "", "how long it is valid, such as 12h or 7d (default: for ever)")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *adminFlags) newInvites() *cobra.Command {
	var revoke int64
	cmd := &cobra.Command{
		Use:     "invites",
		Short:   "List the unused invites, or revoke one",
		Example: "  timba admin invites\n  timba admin invites --revoke 3",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.at(cmd, func(o office) error {
				if revoke != 0 {
					if err := o.RevokeInvite(cmd.Context(), revoke); err != nil {
						return err
					}
					if f.json {
						return cli.WriteJSON(cmd.OutOrStdout(), struct {
							Revoked int64 `json:"revoked"`
						}{revoke})
					}
					_, err := fmt.Fprintf(cmd.OutOrStdout(), "revoked invite %d\n", revoke)
					return err
				}
				invites, err := o.Invites(cmd.Context())
				if err != nil {
					return err
				}
				if f.json {
					return cli.WriteJSON(cmd.OutOrStdout(), invites)
				}
				t := text.Table(cmd.OutOrStdout())
				t.AppendHeader(table.Row{"id", "for", "by", "made", "expires"})
				for _, i := range invites {
					t.AppendRow(table.Row{i.ID, cli.OrDash(i.Name), cli.OrDash(i.By), since(i.Created), since(i.Expires)})
				}
				t.Render()
				return nil
			})
		},
	}
	cli.CountFlag(cmd, &revoke, "revoke", 0, "revoke the invite with this `ID`")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *adminFlags) newPeople() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "people",
		Short: "List the people who have joined",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.at(cmd, func(o office) error {
				people, err := o.Everybody(cmd.Context())
				if err != nil {
					return err
				}
				if f.json {
					return cli.WriteJSON(cmd.OutOrStdout(), people)
				}
				t := text.Table(cmd.OutOrStdout())
				t.AppendHeader(table.Row{"name", "", "joined", "blocked"})
				for _, p := range people {
					admin := ""
					if p.Admin {
						admin = "admin"
					}
					t.AppendRow(table.Row{p.Name, admin, since(p.Created), since(p.Blocked)})
				}
				t.Render()
				return nil
			})
		},
	}
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *adminFlags) newBlock(out bool) *cobra.Command {
	use, short, done := "block NAME", "Block a person: their tokens stop working, their bots stop playing", "blocked"
	if !out {
		use, short, done = "unblock NAME", "Unblock a person", "unblocked"
	}
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.at(cmd, func(o office) error {
				p, err := o.Block(cmd.Context(), args[0], out)
				if err != nil {
					return err
				}
				if f.json {
					return cli.WriteJSON(cmd.OutOrStdout(), p)
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", done, p.Name)
				return err
			})
		},
	}
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

// remoteOffice asks a server.
type remoteOffice struct{ *client.Client }

func (o remoteOffice) Everybody(ctx context.Context) ([]wire.Person, error) {
	return client.Collect(o.People(ctx), 0)
}

// localOffice works on the data directory.
type localOffice struct{ *store.Store }

func (o localOffice) AddInvite(ctx context.Context, n wire.NewInvite) (wire.MadeInvite, error) {
	code, i, err := o.Store.AddInvite(ctx, 0, n.Name, n.Expires)
	return wire.MadeInvite{Invite: wire.Invite{ID: i.ID, Name: i.Name, Created: i.Created, Expires: i.Expires}, Code: code}, err
}

func (o localOffice) Invites(ctx context.Context) ([]wire.Invite, error) {
	people, err := o.Store.People(ctx)
	if err != nil {
		return nil, err
	}
	names := map[int64]string{}
	for _, p := range people {
		names[p.ID] = p.Name
	}
	all, err := o.Store.Invites(ctx)
	open := []wire.Invite{}
	for _, i := range all {
		if i.PersonID == 0 {
			open = append(open, wire.Invite{ID: i.ID, Name: i.Name, By: names[i.By], Created: i.Created, Expires: i.Expires})
		}
	}
	return open, err
}

func (o localOffice) Everybody(ctx context.Context) ([]wire.Person, error) {
	all, err := o.Store.People(ctx)
	people := []wire.Person{}
	for _, p := range all {
		people = append(people, personDoc(p))
	}
	return people, err
}

func (o localOffice) Block(ctx context.Context, name string, out bool) (wire.Person, error) {
	p, err := o.PersonByName(ctx, name)
	if err != nil {
		return wire.Person{}, err
	}
	if err := o.BlockPerson(ctx, p.ID, out); err != nil {
		return wire.Person{}, err
	}
	p, err = o.Person(ctx, p.ID)
	return personDoc(p), err
}

func personDoc(p ladder.Person) wire.Person {
	return wire.Person{Name: p.Name, Admin: p.Admin, Created: p.Created, Blocked: p.Blocked}
}
