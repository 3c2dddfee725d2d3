package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/timba-arena/timba/referee/rules"
)

// Game writes a game's rules and a table of its options.
func Game(w io.Writer, g rules.Game) {
	fmt.Fprintf(w, "%s\n\n%s\n\n", g.Name(), strings.TrimSpace(g.Rules()))
	t := Table(w)
	t.AppendHeader(table.Row{"option", "default", "allowed", "meaning"})
	for _, o := range g.Options() {
		t.AppendRow(table.Row{o.Name, o.DefaultText(), o.Allowed(), o.Help})
	}
	t.Render()
}
