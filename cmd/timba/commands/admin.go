package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/cluster"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/server"
	"github.com/timba-arena/timba/web/wire"
)

// adminService answers the requests of admin commands. It is a client of a server, or works on the data directory
// of a server on this machine.
type adminService interface {
	AddInvite(context.Context, wire.NewInvite) (wire.MadeInvite, error)
	Invites(context.Context) ([]wire.Invite, error)
	RevokeInvite(ctx context.Context, id int64) error
	AllPeople(context.Context) ([]wire.Person, error)
	Block(ctx context.Context, name string, out bool) (wire.Person, error)
	AddSignInLink(ctx context.Context, name string) (wire.SignInLink, error)
	Ban(ctx context.Context, bot, reason string) (wire.Bot, error)
	Unban(ctx context.Context, bot string) (wire.Bot, error)
	PauseLadder(ctx context.Context, name string, paused bool) (wire.Ladder, error)
}

type adminFlags struct{ data string }

func newAdmin() *cobra.Command {
	f := new(adminFlags)
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Run a competition: invites, people, backups",
		Long: "Commands for the operator of a competition. They use the server's API with an admin's token\n" +
			"(timba login), or with --data the data directory itself, even while the server runs.",
	}
	cmd.PersistentFlags().StringVar(&f.data, "data", "", "use this data `DIR` instead of a server")
	return cli.Group(cmd, newInvite(f), newInvites(f), newPeople(f), newBlock(f, true), newBlock(f, false), newBan(f), newUnban(f), newAdminLadder(f), newSignIn(f), newToken(f), newAdminWorker(f), newWorkers(f), newBackup(f), newVerify(f), newRerate(f), newStorage(f))
}

// fromAdminService makes cmd call get and print the answer, as text with show or, with the flag --json, as JSON. It
// returns cmd. If the flag --data is set, the service that get receives works on that data directory, otherwise on
// the user's server.
func fromAdminService[T any](f *adminFlags, cmd *cobra.Command, get func(ctx context.Context, o adminService, args []string) (T, error), show func(w io.Writer, answer T)) *cobra.Command {
	return cli.Result(cmd, func(cmd *cobra.Command, args []string) (answer T, err error) {
		if f.data == "" {
			c, err := adminClient(cmd)
			if err != nil {
				return answer, err
			}
			return get(cmd.Context(), remoteAdmin{c}, args)
		}
		err = f.withStore(store.Options{}, func(s *store.Store) error {
			answer, err = get(cmd.Context(), localAdmin{s.People, s}, args)
			return err
		})
		return answer, err
	}, show)
}

// withStore opens the database in the data directory, calls do with it, and closes it. It returns an error if the
// flag --data is not set.
func (f *adminFlags) withStore(o store.Options, do func(*store.Store) error) error {
	if f.data == "" {
		return errors.New("data: name the server's data directory with --data DIR")
	}
	s, err := store.Open(f.data, o)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

// adminClient returns a client of the user's server, with a token. Its error also suggests the flag --data.
func adminClient(cmd *cobra.Command) (*client.Client, error) {
	c, err := connect(cmd, true)
	if err != nil {
		return nil, fmt.Errorf("%w: or name the data directory with --data DIR", err)
	}
	return c, nil
}

func newInvite(f *adminFlags) *cobra.Command {
	var name, expires string
	cmd := &cobra.Command{
		Use:     "invite",
		Short:   "Make an invite and print its code, which is shown only once",
		Long:    "Makes an invite for one person, who joins with timba login URL --invite CODE --name NAME.",
		Example: "  timba admin invite --name ada\n  timba admin invite --data /var/lib/timba --expires 7d",
		Args:    cobra.NoArgs,
	}
	cmd.Flags().StringVar(&name, "name", "", "the `NAME` for which it is valid (default: any)")
	cmd.Flags().StringVar(&expires, "expires", "", "how long it is valid, such as 12h or 7d (default: for ever)")
	return fromAdminService(f, cmd, func(ctx context.Context, o adminService, _ []string) (wire.MadeInvite, error) {
		until, err := untilTime(expires)
		if err != nil {
			return wire.MadeInvite{}, err
		}
		made, err := o.AddInvite(ctx, wire.NewInvite{Name: name, ExpiresAt: until})
		if err == nil { // on stderr, as a script reads the code from stdout
			site, page := made.Site, "the page /join of the site"
			if server, ok := o.(remoteAdmin); ok {
				site = cmp.Or(site, server.URL)
			}
			if site != "" {
				page = made.Link(site)
			}
			site = cmp.Or(site, "URL")
			fmt.Fprintf(cmd.ErrOrStderr(), "to join: %s, or timba login %s --invite CODE --name NAME\n", page, site)
		}
		return made, err
	}, func(w io.Writer, i wire.MadeInvite) { fmt.Fprintln(w, i.Code) })
}

// revokedInvite is the JSON document of `timba admin invites --revoke ID --json`.
type revokedInvite struct {
	ID int64 `json:"revoked"`
}

func newInvites(f *adminFlags) *cobra.Command {
	var revoke int64
	cmd := &cobra.Command{
		Use:     "invites",
		Short:   "List the unused invites, or revoke one",
		Example: "  timba admin invites\n  timba admin invites --revoke 3",
		Args:    cobra.NoArgs,
	}
	cli.CountFlag(cmd, &revoke, "revoke", 0, "revoke the invite with this `ID`")
	return fromAdminService(f, cmd, func(ctx context.Context, o adminService, _ []string) (any, error) {
		if revoke != 0 {
			return revokedInvite{revoke}, o.RevokeInvite(ctx, revoke)
		}
		return o.Invites(ctx)
	}, func(w io.Writer, answer any) {
		switch answer := answer.(type) {
		case revokedInvite:
			fmt.Fprintf(w, "revoked invite %d\n", answer.ID)
		case []wire.Invite:
			text.Rows(w, "id|for|by|made|expires", answer, func(i wire.Invite) []any {
				return []any{i.ID, cli.OrDash(i.Name), cli.OrDash(i.CreatedBy), since(i.CreatedAt), since(i.ExpiresAt)}
			})
		}
	})
}

func newPeople(f *adminFlags) *cobra.Command {
	return fromAdminService(f, &cobra.Command{
		Use:   "people",
		Short: "List the people who have joined",
		Args:  cobra.NoArgs,
	}, func(ctx context.Context, o adminService, _ []string) ([]wire.Person, error) { return o.AllPeople(ctx) }, func(w io.Writer, people []wire.Person) {
		text.Rows(w, "name||joined|blocked", people, func(p wire.Person) []any {
			admin := ""
			if p.Admin {
				admin = "admin"
			}
			return []any{p.Name, admin, since(p.CreatedAt), since(p.BlockedAt)}
		})
	})
}

func newBlock(f *adminFlags, out bool) *cobra.Command {
	use, short, done := "block NAME", "Block a person: their tokens stop working, their bots stop playing", "blocked"
	if !out {
		use, short, done = "unblock NAME", "Unblock a person", "unblocked"
	}
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	return fromAdminService(f, cmd, func(ctx context.Context, o adminService, args []string) (wire.Person, error) {
		return o.Block(ctx, args[0], out)
	}, func(w io.Writer, p wire.Person) { fmt.Fprintln(w, done, p.Name) })
}

func newBan(f *adminFlags) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "ban BOT --reason TEXT",
		Short: "Take a bot off the ladders, so that its owner cannot bring it back",
		Long: "Takes a bot of a person off the ladders and ends its submission. Its owner cannot bring it back or submit\n" +
			"to it, and gets a message with the reason. Its games and ratings stay. timba admin block stops a person.",
		Example: "  timba admin ban mybot --reason 'It copies the bot of ada.'",
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "the `TEXT` for the owner, one line")
	cmd.MarkFlagRequired("reason")
	return fromAdminService(f, cmd, func(ctx context.Context, o adminService, args []string) (wire.Bot, error) {
		return o.Ban(ctx, args[0], reason)
	}, func(w io.Writer, b wire.Bot) { fmt.Fprintln(w, "banned", b.Name) })
}

func newUnban(f *adminFlags) *cobra.Command {
	return fromAdminService(f, &cobra.Command{
		Use:   "unban BOT",
		Short: "Let the owner of a banned bot bring it back",
		Args:  cobra.ExactArgs(1),
	}, func(ctx context.Context, o adminService, args []string) (wire.Bot, error) {
		return o.Unban(ctx, args[0])
	}, func(w io.Writer, b wire.Bot) {
		fmt.Fprintf(w, "unbanned %s: its owner can bring it back\n", b.Name)
	})
}

func newAdminLadder(f *adminFlags) *cobra.Command {
	change := func(use, short, done string, paused bool) *cobra.Command {
		return fromAdminService(f, &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}, func(ctx context.Context, o adminService, args []string) (wire.Ladder, error) {
			return o.PauseLadder(ctx, args[0], paused)
		}, func(w io.Writer, l wire.Ladder) { fmt.Fprintln(w, done, l.Name) })
	}
	return cli.Group(&cobra.Command{Use: "ladder", Short: "Pause a ladder, or resume it"},
		change("pause LADDER", "Start no new match of a ladder; matches that run go on", "paused", true),
		change("resume LADDER", "Start new matches of a paused ladder again", "resumed", false))
}

// remoteAdmin implements adminService by the API of a server.
type remoteAdmin struct{ *client.Client }

func (o remoteAdmin) AllPeople(ctx context.Context) ([]wire.Person, error) {
	return client.Collect(o.People(ctx), 0)
}

// localAdmin implements adminService by the database in the data directory.
type localAdmin struct {
	store.People
	store *store.Store
}

func (o localAdmin) AddInvite(ctx context.Context, n wire.NewInvite) (wire.MadeInvite, error) {
	code, i, err := o.People.AddInvite(ctx, 0, n.Name, n.ExpiresAt)
	made := wire.MadeInvite{Invite: api.InviteDoc(i), Code: code}
	made.Site = o.site()
	return made, err
}

// site returns the public address of the site, or "" if the configuration has none or is invalid.
func (o localAdmin) site() string {
	c, err := config.Read(o.store.Dir().Config())
	if err != nil {
		return ""
	}
	return c.Site.URL
}

func (o localAdmin) Invites(ctx context.Context) ([]wire.Invite, error) {
	all, err := o.People.Invites(ctx)
	return api.Docs(all, api.InviteDoc), err
}

func (o localAdmin) AllPeople(ctx context.Context) ([]wire.Person, error) {
	all, err := o.People.List(ctx)
	return api.Docs(all, api.PersonDoc), err
}

func (o localAdmin) Block(ctx context.Context, name string, out bool) (wire.Person, error) {
	p, err := o.People.FindByName(ctx, name)
	if err != nil {
		return wire.Person{}, err
	}
	if err := o.People.SetBlocked(ctx, p.ID, out); err != nil {
		return wire.Person{}, err
	}
	p, err = o.People.Find(ctx, p.ID)
	return api.PersonDoc(p), err
}

func (o localAdmin) AddSignInLink(ctx context.Context, name string) (wire.SignInLink, error) {
	p, err := o.People.FindByName(ctx, name)
	if err != nil {
		return wire.SignInLink{}, err
	}
	code, expires, err := o.store.Sessions.AddLink(ctx, p.ID, "link made on the server")
	return wire.SignInLink{Name: p.Name, Code: code, ExpiresAt: expires, Site: o.site()}, err
}

func newSignIn(f *adminFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sign-in NAME",
		Short: "Make a link with which a person signs in once, and print it",
		Long: "Makes a link with which a person who has lost all tokens signs in once, within 24 hours, and then makes\n" +
			"a new token. Send it to nobody else. A link that was made before and not used is no longer valid. With\n" +
			"--data the link has the address site.url of the configuration; without one only its code is printed.",
		Example: "  timba admin sign-in ada\n  timba admin sign-in ada --data /var/lib/timba",
		Args:    cobra.ExactArgs(1),
	}
	return fromAdminService(f, cmd, func(ctx context.Context, o adminService, args []string) (wire.SignInLink, error) {
		made, err := o.AddSignInLink(ctx, args[0])
		if server, ok := o.(remoteAdmin); ok {
			made.Site = cmp.Or(made.Site, server.URL)
		}
		if err == nil && made.Site == "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "to sign in: paste this code on the page /sign-in of the site")
		}
		return made, err
	}, func(w io.Writer, made wire.SignInLink) {
		if made.Site == "" {
			fmt.Fprintln(w, made.Code)
			return
		}
		fmt.Fprintln(w, made.Link())
	})
}

func (o localAdmin) Ban(ctx context.Context, bot, reason string) (wire.Bot, error) {
	return o.changeBot(ctx, bot, func(id int64) error { return o.store.Bots.Ban(ctx, id, reason) })
}

func (o localAdmin) Unban(ctx context.Context, bot string) (wire.Bot, error) {
	return o.changeBot(ctx, bot, func(id int64) error { return o.store.Bots.Unban(ctx, id) })
}

func (o localAdmin) PauseLadder(ctx context.Context, name string, paused bool) (wire.Ladder, error) {
	if err := o.store.Ladders.SetPaused(ctx, name, paused); err != nil {
		return wire.Ladder{}, err
	}
	l, err := o.store.Ladders.Find(ctx, name)
	return api.LadderDoc(l), err
}

// changeBot looks up the ID of the bot called name and calls change with it. It returns the changed bot, without its
// owner and its versions.
func (o localAdmin) changeBot(ctx context.Context, name string, change func(id int64) error) (wire.Bot, error) {
	b, err := o.store.Bots.Find(ctx, name)
	if err == nil {
		err = change(b.ID)
	}
	if err != nil {
		return wire.Bot{}, err
	}
	b, err = o.store.Bots.Find(ctx, name)
	return api.BotDoc(b), err
}

// tokenKey is the JSON document of `timba admin token NAME --json`.
type tokenKey struct {
	ID  int64  `json:"id"`
	Key string `json:"key"`
}

// newToken returns the command that makes a token for a person who has lost all tokens. It needs --data.
func newToken(f *adminFlags) *cobra.Command {
	var t newTokenFlags
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Make a token for a person and print its key, which is shown only once",
		Long: "Makes a token for a person who has lost theirs. It runs on the server's machine. The first start\n" +
			"creates an admin whose name is admin. timba tokens lists and revokes tokens.",
		Example: "  timba admin token --data /var/lib/timba admin",
		Args:    cobra.ExactArgs(1),
	}
	t.add(cmd, ladder.ScopeAll, "made on the server")
	return cli.SecretFlag(cli.Result(cmd, func(cmd *cobra.Command, args []string) (made tokenKey, err error) {
		until, err := untilTime(t.expires)
		if err != nil {
			return made, err
		}
		err = f.withStore(store.Options{}, func(s *store.Store) error {
			p, err := s.People.FindByName(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			key, token, err := s.Sessions.AddToken(cmd.Context(), p.ID, t.label, ladder.Scope(t.scope), until)
			made = tokenKey{token.ID, key}
			return err
		})
		return made, err
	}, func(w io.Writer, made tokenKey) { fmt.Fprintln(w, made.Key) }))
}

func newAdminWorker(f *adminFlags) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "worker",
		Short: "Give other machines credentials to play matches",
		Long: "Commands for the credentials with which timba worker plays matches of this competition on other\n" +
			"machines. They run on the server's machine, even while the server runs. Credentials allow a\n" +
			"worker to take the jobs that it is given, to fetch bots and to hand in results, and nothing else.",
	}, newWorkerAdd(f), newWorkerRemove(f), newWorkerList(f))
}

// fleet returns the directory, in the data directory, that has the credentials of workers. It returns an error if
// --data is not set or is not the data directory of a competition.
func (f *adminFlags) fleet() (dir string, err error) {
	err = f.withStore(store.Options{ReadOnly: true}, func(*store.Store) error { return nil })
	return datadir.Dir(f.data).Fleet(), err
}

// serverTime is how long a command waits for a running server to apply a change of the list of workers. The server
// looks for changes twice a second.
const serverTime = 10 * time.Second

// removeWorker makes the credential of the worker called name invalid, and waits until a running server has
// disconnected the worker. After serverTime it returns an error.
func (f *adminFlags) removeWorker(ctx context.Context, name string) error {
	k, err := f.openKeys()
	if err != nil {
		return err
	}
	if err := k.Remove(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	if err := k.AwaitServer(ctx); err != nil {
		return fmt.Errorf("worker %q: %w", name, err)
	}
	return nil
}

// openKeys opens the keys in the data directory, and creates missing ones. They are used to make the credentials of
// workers.
func (f *adminFlags) openKeys() (*cluster.Keys, error) {
	dir, err := f.fleet()
	if err != nil {
		return nil, err
	}
	return cluster.OpenKeys(dir)
}

// credential is the JSON document of `timba admin worker add NAME --json`.
type credential struct {
	Name  string `json:"name"`
	Creds string `json:"creds"`
	User  string `json:"user,omitempty"` // public key of the worker, in an existing NATS cluster
}

func newWorkerAdd(f *adminFlags) *cobra.Command {
	var creds, key string
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make credentials for a worker and print their file, which is shown only once",
		Long: "Makes credentials for a worker and prints their file, which is shown only once. The credentials are for\n" +
			"the server with the data directory --data or, with --creds and --account-key, for the NATS cluster that\n" +
			"timba serve --nats uses.",
		Example: "  timba admin worker add lab-1 --data /var/lib/timba --out lab-1.creds\n" +
			"  timba admin worker add lab-2 --creds server.creds --account-key ACCOUNT.nk --out lab-2.creds",
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().StringVar(&creds, "creds", "", "the `FILE` with the credentials of the server for its NATS cluster")
	cmd.Flags().StringVar(&key, "account-key", "", "the `FILE` with the key of the server's account in that cluster")
	cmd.MarkFlagsRequiredTogether("creds", "account-key")
	return cli.SecretFlag(cli.Result(cmd, func(cmd *cobra.Command, args []string) (made credential, err error) {
		switch {
		case creds != "" && f.data != "":
			return made, errors.New("worker add: --creds is for a cluster that exists, and --data for the server of a data directory: choose one")
		case creds != "":
			return addGuest(creds, key, args[0])
		}
		k, err := f.openKeys()
		if err != nil {
			return made, err
		}
		file, err := k.Add(args[0])
		return credential{Name: args[0], Creds: string(file)}, err
	}, func(w io.Writer, made credential) {
		if made.User != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "the public key of the user of %s is %s\n", text.Quote(made.Name), made.User)
		}
		io.WriteString(w, made.Creds)
	}))
}

// addGuest makes a credential for a worker called name, which connects to an existing NATS cluster. creds is the path
// of the file with the server's credentials for that cluster. key is the path of the file with the key of the
// server's account.
func addGuest(creds, key, name string) (made credential, err error) {
	server, err := os.ReadFile(creds)
	if err != nil {
		return made, fmt.Errorf("creds: %w", err)
	}
	seed, err := os.ReadFile(key)
	if err != nil {
		return made, fmt.Errorf("account-key: %w", err)
	}
	file, user, err := cluster.NewGuestCredential(server, seed, name)
	return credential{name, string(file), user}, err
}

// removedWorker is the JSON document of `timba admin worker remove NAME --json`.
type removedWorker struct {
	Name string `json:"name"`
}

func newWorkerRemove(f *adminFlags) *cobra.Command {
	return cli.Result(&cobra.Command{
		Use:     "remove NAME",
		Short:   "Make the credentials of a worker invalid, and wait until a running server has cut it off",
		Example: "  timba admin worker remove lab-3 --data /var/lib/timba",
		Args:    cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string) (removedWorker, error) {
		return removedWorker{args[0]}, f.removeWorker(cmd.Context(), args[0])
	}, func(w io.Writer, r removedWorker) { fmt.Fprintf(w, "removed %s\n", text.Quote(r.Name)) })
}

func newWorkerList(f *adminFlags) *cobra.Command {
	return cli.Result(&cobra.Command{
		Use:     "list",
		Short:   "List the workers that have credentials, or had them",
		Example: "  timba admin worker list --data /var/lib/timba",
		Args:    cobra.NoArgs,
	}, func(*cobra.Command, []string) ([]cluster.Credential, error) {
		dir, err := f.fleet()
		if err != nil {
			return nil, err
		}
		list, err := cluster.ReadWorkers(dir)
		return append([]cluster.Credential{}, list...), err // [] in JSON
	}, func(w io.Writer, list []cluster.Credential) {
		text.Rows(w, "name|added|removed", list, func(c cluster.Credential) []any {
			return []any{c.Name, c.AddedAt.Format(time.DateTime), since(c.RemovedAt)}
		})
	})
}

func newWorkers(f *adminFlags) *cobra.Command {
	return cli.Result(&cobra.Command{
		Use:   "workers",
		Short: "Show the machines that play matches, what they play, and why one gets none",
		Long: "Shows the server's own machine and all workers: whether they get matches and why not, their version of\n" +
			"timba, what they play, and what they have finished since the server started. A worker that has\n" +
			"credentials and is not connected is away. With --data the command shows what a running server wrote\n" +
			"to the directory in the last seconds; if no server runs, all workers are away.",
		Example: "  timba admin workers\n  timba admin workers --data /var/lib/timba",
		Args:    cobra.NoArgs,
	}, f.workers, showWorkers)
}

// workers returns the machines that play matches, from the data directory or, without --data, from the server.
func (f *adminFlags) workers(cmd *cobra.Command, _ []string) (list []wire.Machine, err error) {
	if f.data == "" {
		c, err := adminClient(cmd)
		if err != nil {
			return nil, err
		}
		return client.Collect(c.Machines(cmd.Context()), 0)
	}
	runs := false
	err = f.withStore(store.Options{ReadOnly: true}, func(*store.Store) (err error) { // requires that it is the directory of a competition
		list, runs, err = server.ReadMachines(datadir.Dir(f.data), time.Now())
		return err
	})
	if err == nil && !runs {
		fmt.Fprintln(cmd.ErrOrStderr(), "no server runs with this data directory: nothing is played")
	}
	return list, err
}

// showWorkers prints a table of machines, the matches that each plays, and why some get no matches.
func showWorkers(w io.Writer, list []wire.Machine) {
	text.Rows(w, "name|state|cores|playing|last hour|matches|void|starved|broken|timba|system|sandbox|seen", list, func(m wire.Machine) []any {
		o := m.Operator
		if o == nil {
			o = &wire.MachineOperator{}
		}
		system := cli.OrDash(m.Arch)
		if o.OS != "" {
			system = o.OS + "/" + m.Arch
		}
		return []any{m.Name, m.State, m.Cores, len(m.Playing), m.FinishedLastHour, m.FinishedMatches, m.VoidGames, m.StarvedGames, o.BrokenAttempts, cli.OrDash(m.Version), system, cli.OrDash(m.Sandbox), since(m.SeenAt)}
	})
	var playing [][]any
	for _, m := range list {
		for _, p := range m.Playing {
			playing = append(playing, []any{m.Name, p.Match, p.Attempt, cli.OrDash(p.Ladder), strings.Join(p.Bots, ", "), since(p.StartedAt)})
		}
	}
	if len(playing) > 0 {
		fmt.Fprintln(w)
		text.Rows(w, "machine|match|attempt|ladder|bots|began", playing, func(row []any) []any { return row })
	}
	for _, m := range list {
		if m.Reason == "" {
			continue
		}
		until := ""
		if m.State == string(ladder.MachinePaused) {
			until = ", until " + m.PausedUntil.Local().Format(time.TimeOnly)
		}
		fmt.Fprintf(w, "\n%s %s: %s%s\n", m.Name, m.State, m.Reason, until)
	}
}
