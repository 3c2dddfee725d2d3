package games

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

var (
	optionCode = regexp.MustCompile("`([a-z0-9]+)(?:=([a-z0-9]+))?`")
	tableRow   = regexp.MustCompile(`(?m)^\|[^|]*\|(.*)$`)
	listItem   = regexp.MustCompile(`(?m)^(?:- |\d+\. |\*\*)`)
)

// TestRulesTexts checks that the rules for people have the same content in every language: the same number of
// paragraphs and items, the same options and values of cards. They describe every value of an option that is
// not the default.
func TestRulesTexts(t *testing.T) {
	for _, g := range All() {
		english := g.Text("en")
		if g.Text("xx") != "" || new(rules.Game).Text("xx") != "" {
			t.Errorf("%s: there are rules in the language xx", g.Name)
		}
		described := map[string]bool{}
		for _, m := range optionCode.FindAllStringSubmatch(english, -1) {
			described[m[1]+"="+m[2]] = true
			described[m[1]] = true
		}
		for _, o := range g.Options {
			for i, value := range o.Values {
				if i > 0 && !described[o.Name+"="+value] {
					t.Errorf("%s: the rules do not describe %s=%s", g.Name, o.Name, value)
				}
			}
		}
		for name := range described {
			option, value, _ := strings.Cut(name, "=")
			i := slices.IndexFunc(g.Options, func(o rules.Option) bool { return o.Name == option })
			if i < 0 || value != "" && len(g.Options[i].Values) > 0 && !slices.Contains(g.Options[i].Values, value) {
				t.Errorf("%s: the rules describe %q, which is no option", g.Name, name)
			}
		}
		for _, language := range []string{"ca", "es"} {
			text := g.Text(language)
			if len(text) < len(english)*3/4 {
				t.Errorf("%s: the rules in %s have %d bytes, in en %d", g.Name, language, len(text), len(english))
			}
			for _, same := range []*regexp.Regexp{optionCode, tableRow} {
				var want, got []string
				for i, list := range []*[]string{&want, &got} {
					for _, m := range same.FindAllStringSubmatch([]string{english, text}[i], -1) {
						*list = append(*list, strings.Join(m[1:], "="))
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: the rules in %s differ from en (-en +%s): %s", g.Name, language, language, diff)
				}
			}
			if want, got := len(listItem.FindAllString(english, -1)), len(listItem.FindAllString(text, -1)); want != got {
				t.Errorf("%s: the rules in %s have %d heads and items, in en %d", g.Name, language, got, want)
			}
		}
	}
}

// TestRulesCardValues checks that the rules for people give the points of cards that the game uses.
func TestRulesCardValues(t *testing.T) {
	for _, name := range []string{"brisca", "tute"} {
		g := kit.Get[*rules.Game](t)(Find(name))
		rows := tableRow.FindAllStringSubmatch(g.Text("en"), -1)
		ranks, points := strings.Split(rows[0][1], "|"), strings.Split(rows[2][1], "|")
		strongest := slices.Clone(g.Display.Cards.Ranks)
		slices.Reverse(strongest)
		for i, rank := range strongest {
			card, err := baraja.Parse(strings.TrimSpace(ranks[i]) + "o")
			if err != nil || card != baraja.CardOf(rank, 0) || strings.TrimSpace(points[i]) != strconv.Itoa(baraja.Value(card)) {
				t.Errorf("%s: card %d is %s with %s points, want %d with %d", name, i+1, ranks[i], points[i], rank, baraja.Value(baraja.CardOf(rank, 0)))
			}
		}
	}
}
