package commands

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sample-bots/starters"
)

func newInit() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "init LANGUAGE DIR",
		Short: "Write a bot to start from",
		Long: "Writes a complete bot, which plays all games, into a new directory. The bot has the name\n" +
			"of the directory.",
		Example: "  timba init python mybot\n  timba init --list",
		Args: func(cmd *cobra.Command, args []string) error {
			if list && len(args) > 0 {
				return errors.New("init: --list takes no arguments")
			}
			if !list && len(args) != 2 {
				return errors.New("init: name a language and a new directory, as in: timba init python mybot (timba init --list shows the languages)")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				listLanguages(cmd.OutOrStdout())
				return nil
			}
			return initBot(cmd.OutOrStdout(), args[0], args[1])
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the languages")
	return cmd
}

func initBot(w io.Writer, language, dir string) error {
	l, err := starters.Find(language)
	if err != nil {
		return err
	}
	name, err := l.Write(dir)
	if err == nil {
		err = addSchema(dir)
	}
	if err != nil {
		return err
	}
	bot := text.Quote(botPath(dir))
	fmt.Fprintf(w, "%s: a bot in %s that plays all games. Its README.md explains where your ideas go.\n", name, l.Title)
	if missing := l.MissingPrograms(); missing != nil {
		fmt.Fprintf(w, "Install %s first: the bot needs it.\n", strings.Join(missing, " and "))
	}
	fmt.Fprintf(w, "\nNext:\n  %[1]s check %[2]s\n  %[1]s match brisca %[2]s @random\n", cli.Self(), bot)
	return nil
}

// schemaFile is the name of the file with the schema of a manifest, which editors read without a network.
const schemaFile = "bot.schema.json"

// addSchema writes the schema of the manifest into the bot's directory dir, and its name into the first line of the
// manifest, where editors look for it.
func addSchema(dir string) error {
	path := filepath.Join(dir, program.ManifestFile)
	manifest, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append([]byte("#:schema ./"+schemaFile+"\n"), manifest...), 0o644)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, schemaFile), program.BotSchema, 0o644)
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}

// botPath returns the directory dir in the form in which a user names a bot. It adds ./ to a name that would
// otherwise mean a house bot (part of timba) or a flag.
func botPath(dir string) string {
	if strings.HasPrefix(dir, "@") || strings.HasPrefix(dir, "-") {
		return "./" + dir
	}
	return dir
}

func listLanguages(w io.Writer) {
	text.Rows(w, "language|also|needs|installed", starters.Languages, func(l starters.Language) []any {
		installed := "yes"
		if l.MissingPrograms() != nil {
			installed = "no"
		}
		return []any{l.Name, strings.Join(l.Aliases, ", "), strings.Join(l.Programs, ", "), installed}
	})
}
