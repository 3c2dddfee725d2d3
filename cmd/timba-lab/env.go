package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/lab/env"
)

func newEnv() *cobra.Command {
	var (
		s      env.Server
		listen string
	)
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Serve the games to learners in any language",
		Long: "Plays many games at once for a client that trains agents. The client sends the actions of\n" +
			"all games in one frame and gets observations, legal actions and rewards as arrays, over\n" +
			"stdin and stdout or a Unix socket. `timba-lab env client` writes a client in Python;\n" +
			"lab/env.md describes the frames for other languages.",
		Example: "  timba-lab env client learner\n  timba-lab env --listen timba.sock",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.Log = cmd.ErrOrStderr()
			if listen == "" {
				return env.ServeClient(cmd.Context(), s.Workers)
			}
			if s.IdleTimeout <= 0 {
				return fmt.Errorf("env: --idle cannot be %v: try 10m", s.IdleTimeout)
			}
			return s.Listen(cmd.Context(), listen, func() {
				fmt.Fprintf(cmd.OutOrStdout(), "listening on %s\n", listen)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "", "serve on a new Unix socket at this `PATH`, not on stdin and stdout")
	cli.NumberFlag(cmd, &s.Workers, "workers", 0, 1, 1024, "cores for the games of a connection; all by default")
	cli.NumberFlag(cmd, &s.MaxConnections, "connections", 8, 1, 1024, "connections of the socket at once")
	f.DurationVar(&s.IdleTimeout, "idle", 10*time.Minute, "close a connection of the socket that is silent for so long")
	cmd.AddCommand(newEnvClient())
	return cmd
}

func newEnvClient() *cobra.Command {
	return &cobra.Command{
		Use:   "client DIR",
		Short: "Write the client in Python, with an example",
		Long: "Writes timba_env.py, the client of timba-lab env for Python, and an example that trains an agent\n" +
			"for Brisca into a directory. They need no library; with numpy they are much faster.",
		Example: "  timba-lab env client learner",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := env.WriteClient(args[0])
			if err != nil {
				return err
			}
			for _, name := range files {
				fmt.Fprintln(cmd.OutOrStdout(), name)
			}
			return nil
		},
	}
}
