package text

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// Game writes the rules and the options of a game as text for people. columns is the maximum width of a line. If
// columns is 0, each paragraph is one line, and the options are written as a table.
func Game(w io.Writer, g *rules.Game, columns int) {
	if columns > 0 {
		narrow(w, g, columns)
		return
	}
	fmt.Fprintf(w, "%s\n\n%s\n\n", g.Name, rulesOf(g))
	Rows(w, "option|default|allowed|meaning", g.Options, func(o rules.Option) []any {
		return []any{o.Name, o.DefaultText(), o.AllowedText(), o.Help}
	})
}

var (
	plain  = strings.NewReplacer("**", "", "*", "", "`", "")
	ruling = regexp.MustCompile(`(?m)^\|[-|]+\n?`) // the line below the head of a Markdown table
	item   = regexp.MustCompile(`^(?:- |\d+\. |\|)`)
)

func rulesOf(g *rules.Game) string {
	return strings.TrimSpace(plain.Replace(ruling.ReplaceAllString(g.Text("en"), "")))
}

// itemsOf divides a paragraph into the items of its list or the rows of its table. Any other paragraph is a
// single item.
func itemsOf(paragraph string) (list []string) {
	for line := range strings.SplitSeq(paragraph, "\n") {
		if len(list) == 0 || item.MatchString(line) {
			list = append(list, line)
		} else {
			list[len(list)-1] += " " + line
		}
	}
	return list
}

func narrow(w io.Writer, g *rules.Game, columns int) {
	fmt.Fprintf(w, "%s\n", g.Name)
	for paragraph := range strings.SplitSeq(rulesOf(g), "\n\n") {
		fmt.Fprintln(w)
		for _, item := range itemsOf(paragraph) {
			fmt.Fprintln(w, Paragraph("", item, columns))
		}
	}
	fmt.Fprintln(w)
	longest := 0
	for _, o := range g.Options {
		longest = max(longest, len(o.Name))
	}
	for _, o := range g.Options {
		meaning := fmt.Sprintf("%s (%s; default %s)", o.Help, o.AllowedText(), o.DefaultText())
		fmt.Fprintln(w, Paragraph(fmt.Sprintf("  %-*s  ", longest, o.Name), meaning, columns))
	}
}
