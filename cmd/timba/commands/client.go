package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/wire"
)

// connect returns a client of the server to which the user has logged in. If mine is true, the user must have a
// token; otherwise connect returns an error.
func connect(cmd *cobra.Command, mine bool) (*client.Client, error) {
	a, err := client.CurrentAccount()
	if err != nil {
		return nil, err
	}
	switch {
	case a.URL == "":
		return nil, fmt.Errorf("no server: run timba login URL, or set %s", client.EnvURL)
	case a.Token == "" && mine:
		return nil, fmt.Errorf("no token for %s: run timba login %s, or set %s", a.URL, a.URL, client.EnvToken)
	}
	return dial(cmd, a)
}

// fromServer makes cmd call get with a client of the user's server and print the answer, as text with show or, with
// the flag --json, as JSON. It returns cmd. If mine is true, the command fails unless the user has a token.
func fromServer[T any](cmd *cobra.Command, mine bool, get func(ctx context.Context, c *client.Client, args []string) (T, error), show func(w io.Writer, answer T)) *cobra.Command {
	return cli.Result(cmd, func(cmd *cobra.Command, args []string) (answer T, err error) {
		c, err := connect(cmd, mine)
		if err != nil {
			return answer, err
		}
		answer, err = get(cmd.Context(), c, args)
		return answer, namingToken(err)
	}, show)
}

// namingToken adds to err, if a server has refused the token of the variable client.EnvToken, that the variable has it.
func namingToken(err error) error {
	if p, ok := errors.AsType[*wire.Problem](err); ok && p.Status == http.StatusUnauthorized && os.Getenv(client.EnvToken) != "" {
		p.Hint = "it is in the variable " + client.EnvToken + ": change or unset that"
	}
	return err
}

// listOrOne returns a check of arguments for a command that prints a list without an argument, and one item
// with an argument. The named flags are rejected if there is an argument.
func listOrOne(flags ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for _, name := range flags {
			if len(args) > 0 && cmd.Flags().Changed(name) {
				return fmt.Errorf("%s: --%s is for the list: leave it out, or %q", cmd.Name(), name, args[0])
			}
		}
		return cobra.MaximumNArgs(1)(cmd, args)
	}
}

// onServer makes cmd call do with a client of the user's server, and returns cmd. The command fails unless the user
// has a token.
func onServer(cmd *cobra.Command, do func(cmd *cobra.Command, c *client.Client, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := connect(cmd, true)
		if err != nil {
			return err
		}
		return namingToken(do(cmd, c, args))
	}
	return cmd
}

func dial(cmd *cobra.Command, a client.Account) (*client.Client, error) {
	c, err := client.New(a.URL, a.Token)
	if err != nil {
		return nil, err
	}
	c.Agent = "timba/" + strings.Fields(cli.Version())[0]
	errs := cmd.ErrOrStderr()
	c.OnWait = func(why error, wait time.Duration) {
		fmt.Fprintf(errs, "%v: retrying in %s\n", why, wait.Round(100*time.Millisecond))
	}
	return c, nil
}

// since describes t relative to now, such as "5 min ago" or "in 5 min". If the difference is two days or
// more, it returns the date. For the zero time it returns "-".
func since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	form, d := "%d %s ago", time.Since(t)
	if d < 0 {
		form, d = "in %d %s", -d
	}
	switch {
	case d < time.Minute:
		return fmt.Sprintf(form, int(d.Seconds()), "s")
	case d < time.Hour:
		return fmt.Sprintf(form, int(d.Minutes()), "min")
	case d < 48*time.Hour:
		return fmt.Sprintf(form, int(d.Hours()), "h")
	}
	return t.Local().Format("2006-01-02")
}

// readSecret returns the token in a file, or of stdin if path is "-". An empty input is an error.
func readSecret(cmd *cobra.Command, path string) (string, error) {
	data, err := cli.ReadInput(cmd, path, 4096)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return "", errors.New("token: the input is empty: a token begins with timba_")
	}
	return client.ParseToken("token", string(data))
}
