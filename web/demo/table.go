package demo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// legend explains the marks in a table.
const legend = "? is provisional: its 95 % interval is still ±100 or wider"

// table is the rating of each bot on each ladder.
type table struct {
	ladders []string
	bots    []string // the strongest first
	elo     map[place]float64
	known   map[place]bool // whose Elo is given, or not provisional
}

// table returns the standings of all ladders.
func (d *screen) table(ctx context.Context) (*table, error) {
	t := &table{ladders: d.ladders, elo: map[place]float64{}, known: map[place]bool{}}
	sums, on := map[string]float64{}, map[string]float64{}
	for _, l := range d.ladders {
		places, err := d.store.Standings(ctx, l)
		if err != nil {
			return nil, err
		}
		for _, s := range places {
			t.elo[place{l, s.Bot}] = s.Rating()
			t.known[place{l, s.Bot}] = s.Anchor() || !s.Provisional()
			sums[s.Bot] += s.Rating()
			on[s.Bot]++
		}
	}
	t.bots = slices.SortedFunc(maps.Keys(on), func(a, b string) int {
		return cmp.Or(cmp.Compare(sums[b]/on[b], sums[a]/on[a]), strings.Compare(a, b))
	})
	return t, nil
}

// leastName is how many columns of a bot's name a narrow terminal shows.
const leastName = 8

// nameWidth returns how wide the column of the bots is on a terminal.
func (t *table) nameWidth(width int) int {
	widest := len("Elo")
	for _, b := range t.bots {
		widest = max(widest, len(b))
	}
	return min(widest, max(leastName, width/3))
}

// columnWidth returns how wide the column of a ladder is, with the space before it and the mark
// behind each Elo.
func columnWidth(ladder string) int {
	widest := 4
	for word := range strings.SplitSeq(ladder, "-") {
		widest = max(widest, len(word))
	}
	return 1 + widest + 1
}

// pages divides the ladders into tables that are no wider than a terminal. Each has a ladder.
func (t *table) pages(width int) (pages [][]string) {
	left := 0
	for _, l := range t.ladders {
		if column := columnWidth(l); len(pages) == 0 || column > left {
			pages, left = append(pages, nil), width-t.nameWidth(width)
		}
		pages[len(pages)-1] = append(pages[len(pages)-1], l)
		left -= columnWidth(l)
	}
	return pages
}

// lines returns the lines of a table with some of the ladders and the bots on them. In the header the words of a
// ladder's name stand below each other.
func (t *table) lines(ladders []string, width int) (lines []string) {
	first := t.nameWidth(width)
	tall := 0
	for _, l := range ladders {
		tall = max(tall, 1+strings.Count(l, "-"))
	}
	row := func(name string, cell func(ladder string) string) {
		line := fmt.Sprintf("%-*s", first, fit(name, first))
		for _, l := range ladders {
			line += fmt.Sprintf("%*s", columnWidth(l), cell(l))
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	for n := range tall {
		name := ""
		if n == tall-1 {
			name = "Elo"
		}
		row(name, func(l string) string {
			if words := strings.Split(l, "-"); n < len(words) {
				return words[n] + " "
			}
			return ""
		})
	}
	for _, b := range t.bots {
		if !slices.ContainsFunc(ladders, func(l string) bool { _, on := t.elo[place{l, b}]; return on }) {
			continue
		}
		row(b, func(l string) string { return t.cell(place{l, b}) })
	}
	return lines
}

// cell returns a bot's Elo on a ladder, with the mark behind it.
func (t *table) cell(at place) string {
	elo, ok := t.elo[at]
	switch {
	case !ok:
		return "- "
	case t.known[at]:
		return fmt.Sprintf("%.0f ", elo)
	}
	return fmt.Sprintf("%.0f?", elo)
}
