package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// Completer returns the completions of a placeholder such as GAME in "play GAME [BOT...]", each as "word" or
// "word<TAB>description". args are the arguments before the placeholder. The directive is ShellCompDirectiveDefault if
// the names of files are completions, too.
type Completer func(cmd *cobra.Command, args []string, placeholder string) (words []string, directive cobra.ShellCompDirective)

// Complete makes shells complete the arguments and flags of cmd and its subcommands. Usage lines and help texts name
// their placeholders: for DIR and FILE the shell completes paths, a choice such as on|off is completed by its words,
// and any other placeholder by find.
func Complete(cmd *cobra.Command, find Completer) {
	for _, sub := range cmd.Commands() {
		Complete(sub, find)
	}
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completions(cmd, args, placeholderAt(cmd.Use, len(args)), find)
		}
	}
	register := func(f *pflag.Flag) {
		if placeholder, _ := pflag.UnquoteUsage(f); placeholder != "" {
			// It does nothing for a flag that has its own completion.
			cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				return completions(cmd, args, placeholder, find)
			})
		}
	}
	cmd.Flags().VisitAll(register)
	cmd.PersistentFlags().VisitAll(register)
}

// placeholderAt returns the placeholder of argument n, counted from 0, in a usage line such as "feed FILE --seat N".
// Flags and their values are not arguments. It returns "" if the command has no argument n.
func placeholderAt(use string, n int) string {
	var words []string
	isValue := false // the word is the value of a flag
	for _, word := range strings.Fields(use)[1:] {
		if isFlag := strings.HasPrefix(word, "--"); !isFlag && !isValue {
			words = append(words, word)
		} else {
			isValue = isFlag && word != "--"
		}
	}
	if last := len(words) - 1; n > last && last >= 0 && strings.Contains(words[last], "...") {
		n = last
	}
	if n >= len(words) {
		return ""
	}
	word := strings.Replace(strings.TrimSuffix(words[n], "]"), "...", "", 1)
	name, _, _ := strings.Cut(strings.TrimPrefix(word, "["), "[")
	return name
}

// completions returns the completions of placeholder, which may be several placeholders separated by "|". It calls
// find for a placeholder that is neither a path nor a fixed word.
func completions(cmd *cobra.Command, args []string, placeholder string, find Completer) (words []string, directive cobra.ShellCompDirective) {
	directive = cobra.ShellCompDirectiveNoFileComp
	for part := range strings.SplitSeq(placeholder, "|") {
		switch {
		case slices.Contains([]string{"FILE", "DIRECTORY", "COMMAND", "ARG"}, part), part == "DIR" && part != placeholder:
			directive = cobra.ShellCompDirectiveDefault
		case part == "DIR":
			return nil, cobra.ShellCompDirectiveFilterDirs
		case part != placeholder && part == strings.ToLower(part):
			words = append(words, part)
		default:
			found, d := find(cmd, args, part)
			if words = append(words, found...); d == cobra.ShellCompDirectiveDefault {
				directive = d
			}
		}
	}
	return words, directive
}

// CompleteShared returns the completions of a placeholder that has the same meaning in timba and timba-lab:
//
//   - GAME, games: the games;
//   - name=value: the options of the game args[0], or of all games;
//   - NAME of the command bot: the house bots, which are part of timba.
func CompleteShared(cmd *cobra.Command, args []string, placeholder string) (words []string) {
	if cmd.Name() == "bot" && placeholder == "NAME" {
		return HouseBots("")
	}
	list := games.All()
	if placeholder == "name=value" && len(args) > 0 {
		if g, err := games.Find(args[0]); err == nil {
			list = games.List{g}
		}
	}
	for _, g := range list {
		switch placeholder {
		case "GAME", "games":
			words = append(words, g.Name)
		case "name=value":
			words = append(words, optionWords(g)...)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// optionWords returns completions for the options of g: "name=value<TAB>help" for each value of each option. For a
// number with more than 12 possible values it returns only "name=<TAB>help".
func optionWords(g *rules.Game) (words []string) {
	for _, o := range g.Options {
		values := o.Values
		for n := o.Min; o.Values == nil && n <= o.Max && o.Max-o.Min < 12; n++ {
			values = append(values, strconv.Itoa(n))
		}
		if values == nil {
			values = []string{""}
		}
		for _, value := range values {
			words = append(words, o.Name+"="+value+"\t"+o.Help)
		}
	}
	return words
}
