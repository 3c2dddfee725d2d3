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

// Completer returns the words that may stand for a placeholder such as GAME in "play GAME [BOT...]", each as "word" or
// "word<TAB>description". args are the arguments before it. The directive is ShellCompDirectiveDefault if files may
// stand there, too.
type Completer func(cmd *cobra.Command, args []string, placeholder string) (words []string, directive cobra.ShellCompDirective)

// Complete lets shells complete the arguments and flags of cmd and its subcommands. The placeholders are those of
// their usage lines and help texts: words in capitals are completed by find, DIR and FILE by the shell, and a choice
// such as on|off by its parts.
func Complete(cmd *cobra.Command, find Completer) {
	for _, sub := range cmd.Commands() {
		Complete(sub, find)
	}
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completions(cmd, args, placeholderAt(cmd.Use, len(args)), find)
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		placeholder, _ := pflag.UnquoteUsage(f)
		if _, known := cmd.GetFlagCompletionFunc(f.Name); known || placeholder == "" {
			return
		}
		cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completions(cmd, args, placeholder, find)
		})
	})
}

// placeholderAt returns the placeholder of argument n, counted from 0, in a usage line such as "feed FILE --seat N".
// The flags in it are no arguments. It is "" if the command has no such argument.
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

// completions returns the completions of a placeholder, which may be several that are separated by "|".
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

// CompleteShared is the part of a Completer that timba and timba-lab share: the games for GAME and games, their options
// for name=value, and the house bots for the command bot. If the first argument is a game, the options are those of
// this game.
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

// optionWords returns name=value for each value of each option of g, and name= for a number with more than 12 values.
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
