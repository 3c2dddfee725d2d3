package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/timba-arena/timba/referee/rules"
)

// Game writes a game's rules and its options: in lines of at most this many columns, or as
// they are with a table of the options where columns is 0.
func Game(w io.Writer, g *rules.Game, columns int) {
	if columns > 0 {
		narrow(w, g, columns)
		return
	}
	fmt.Fprintf(w, "%s\n\n%s\n\n", g.Name, strings.TrimSpace(g.Text))
	t := Table(w)
	t.AppendHeader(table.Row{"option", "default", "allowed", "meaning"})
	for _, o := range g.Options {
		t.AppendRow(table.Row{o.Name, o.DefaultText(), o.Allowed(), o.Help})
	}
	t.Render()
}

func narrow(w io.Writer, g *rules.Game, columns int) {
	fmt.Fprintf(w, "%s\n", g.Name)
	for _, paragraph := range strings.Split(strings.TrimSpace(g.Text), "\n\n") {
		fmt.Fprintf(w, "\n%s\n", Paragraph("", paragraph, columns))
	}
	fmt.Fprintln(w)
	for _, o := range g.Options {
		fmt.Fprintln(w, Paragraph(fmt.Sprintf("  %-*s  ", longestOption(g), o.Name), fmt.Sprintf("%s (%s; default %s)", o.Help, o.Allowed(), o.DefaultText()), columns))
	}
}

func longestOption(g *rules.Game) (n int) {
	for _, o := range g.Options {
		n = max(n, len(o.Name))
	}
	return n
}
