package commands

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/terminal/screen"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

type loginFlags struct {
	tokenFile, invite, name string
	unencrypted             bool
}

func newLogin() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:   "login [URL]",
		Short: "Join a competition, or log in with a token",
		Long: "Asks for your token, verifies it, and saves it with the server's address for the other\n" +
			"commands. With --name you join; most competitions require the code of an invite.\n\n" +
			"The variables TIMBA_URL and TIMBA_TOKEN override the saved values.",
		Example: "  timba login https://timba.example.org --invite CODE --name ada\n" +
			"  timba login https://timba.example.org\n" +
			"  timba login http://localhost:8080 --token-file token.txt",
		Args: cobra.MaximumNArgs(1),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.tokenFile, "token-file", "", "read the token from this `FILE`; - is stdin")
	flags.StringVar(&f.invite, "invite", "", "join with the `CODE` of an invite")
	flags.StringVar(&f.name, "name", "", "join under this `NAME`")
	flags.BoolVar(&f.unencrypted, "unencrypted", false, "log in by http to another machine without asking: others on the way can read the token")
	cmd.MarkFlagsMutuallyExclusive("name", "token-file")
	var url, path string // of the server, and of the file that has the token
	return cli.Result(cmd, func(cmd *cobra.Command, args []string) (me wire.Me, err error) {
		me, url, path, err = f.login(cmd, strings.Join(args, ""))
		return me, err
	}, func(w io.Writer, me wire.Me) {
		fmt.Fprintf(w, "logged in to %s as %s, with a token of scope %s; saved in %s\n", url, me.Name, me.Token.Scope, path)
	})
}

// login logs in to a server. It saves the server's address and the token in a file, whose path it returns. to is the
// server's address. If to is "", login uses the address in the environment variable or, without one, the address of
// the last login.
func (f *loginFlags) login(cmd *cobra.Command, to string) (me wire.Me, url, path string, err error) {
	if f.invite != "" && f.name == "" {
		return me, "", "", errors.New("login: an invite needs a name: add --name NAME")
	}
	saved, err := client.ReadAccount()
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "%v\n", err) // the login overwrites it
	}
	if to = cmp.Or(to, os.Getenv(client.EnvURL), saved.URL); to == "" {
		return me, "", "", errors.New("no server: name one, as in timba login https://HOST")
	}
	c, err := dial(cmd, client.Account{URL: to})
	if err != nil {
		return me, "", "", err
	}
	if c.IsUnencrypted() && !f.unencrypted {
		if err := confirmUnencrypted(cmd, c.URL); err != nil {
			return me, "", "", err
		}
	}
	if c.Token, err = f.obtainToken(cmd, c); err != nil {
		return me, "", "", err
	}
	if me, err = c.Me(cmd.Context()); err != nil {
		return me, "", "", fmt.Errorf("login: %w", err)
	}
	if path, err = (client.Account{URL: c.URL, Token: c.Token}).Save(); err != nil {
		return me, "", "", fmt.Errorf("%w: write down your token %s: it is not shown again", err, c.Token)
	}
	if t := os.Getenv(client.EnvToken); t != "" && t != c.Token {
		fmt.Fprintf(cmd.ErrOrStderr(), "the variable %s is set and overrides the saved token\n", client.EnvToken)
	}
	return me, c.URL, path, nil
}

// confirmUnencrypted asks the user whether the token may be sent to the server at url without encryption. It
// returns an error unless the user agrees, or if there is no terminal to ask.
func confirmUnencrypted(cmd *cobra.Command, url string) error {
	why := fmt.Errorf("login: %s is not encrypted: others on the way can read the token: use https, or add --unencrypted", url)
	tty := screen.Terminal(cmd.InOrStdin())
	if tty == nil {
		return why
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s is not encrypted: others on the way can read the token. Log in all the same? [y/N] ", url)
	line, err := cli.UntilInterrupt(cmd, func() (string, error) { return bufio.NewReader(tty).ReadString('\n') })
	if err != nil {
		return err
	}
	if line = strings.ToLower(strings.TrimSpace(line)); line != "y" && line != "yes" {
		return why
	}
	return nil
}

// obtainToken returns the token to log in with. It registers a person if --name is set, and otherwise reads the
// token from a file, stdin or a prompt.
func (f *loginFlags) obtainToken(cmd *cobra.Command, c *client.Client) (string, error) {
	if f.name != "" {
		p, err := c.Register(cmd.Context(), f.name, f.invite)
		if err != nil {
			return "", fmt.Errorf("login: %w", err)
		}
		return p.Key, nil
	}
	if f.tokenFile != "" {
		return readSecret(cmd, f.tokenFile)
	}
	tty := screen.Terminal(cmd.InOrStdin())
	if tty == nil {
		return readSecret(cmd, "-")
	}
	token, err := askSecret(cmd, tty, fmt.Sprintf("token of %s: ", c.URL))
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	if token == "" {
		return "", errors.New("token: the input is empty: to join with an invite, add --invite CODE --name NAME")
	}
	return client.ParseToken("token", token)
}

func askSecret(cmd *cobra.Command, tty *os.File, prompt string) (string, error) {
	fmt.Fprint(cmd.ErrOrStderr(), prompt)
	defer fmt.Fprintln(cmd.ErrOrStderr())
	line, err := cli.UntilInterrupt(cmd, func() ([]byte, error) { return term.ReadPassword(int(tty.Fd())) })
	return strings.TrimSpace(string(line)), err
}

func newLogout() *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:   "logout",
		Short: "Forget the server and the token",
		Long:  "Forgets the server and the token. With --revoke the token stops working everywhere.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := client.ReadAccount()
			if err != nil && revoke {
				return err
			}
			if revoke && a.Token != "" {
				c, err := dial(cmd, a)
				if err != nil {
					return err
				}
				if err := c.RevokeOwnToken(cmd.Context()); err != nil && client.Status(err) != 401 {
					return fmt.Errorf("logout: %w: try again without --revoke to forget the token only on this machine", err)
				}
			}
			path, err := client.AccountFile()
			if err != nil {
				return err
			}
			if err := os.Remove(path); errors.Is(err, os.ErrNotExist) {
				fmt.Fprintln(cmd.OutOrStdout(), "not logged in: nothing to forget")
				return nil
			} else if err != nil {
				return fmt.Errorf("logout: %w", err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "forgot %s\n", cli.OrDash(a.URL))
			return nil
		},
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "also revoke the token on the server")
	return cmd
}
