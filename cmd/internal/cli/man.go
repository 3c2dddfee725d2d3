package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/timba-arena/timba/referee"
)

// newMan returns the hidden command man, which writes a manual page for each command of a program.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages of all commands into a directory",
		Example: "  timba man ~/.local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			useMarkdown(root)
			header := &doc.GenManHeader{Section: "1", Source: root.Name() + " " + referee.Version(), Manual: root.Name()}
			if date := programBuild().time; !date.IsZero() { // else the date of today
				header.Date = &date
			}
			return doc.GenManTree(root, header, args[0])
		},
	}
}

// useMarkdown changes the help texts (Long) of cmd and its subcommands into Markdown, with indented lines as code
// blocks.
func useMarkdown(cmd *cobra.Command) {
	lines := strings.SplitAfter(cmd.Long, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "  ") {
			lines[i] = "    " + line
			if i > 0 && !strings.HasPrefix(lines[i-1], "  ") { // a code block begins after an empty line
				lines[i] = "\n" + lines[i]
			}
		}
	}
	cmd.Long = strings.Join(lines, "")
	for _, sub := range cmd.Commands() {
		useMarkdown(sub)
	}
}
