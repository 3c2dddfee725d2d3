package site

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"regexp"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// rulesPage is the data of the page "rules".
type rulesPage struct {
	Title string
	Name  string // of the game
	Text  template.HTML
}

// rules shows the rules of a game for people.
func (s *Site) rules(v *visit) error {
	g, err := games.Find(v.r.PathValue("game"))
	if err != nil {
		return ladder.Errorf(ladder.NotFound, "", "%w", err)
	}
	text, err := rulesText(v, g, nil)
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "rules", rulesPage{g.Display.Title, g.Name, text})
}

var (
	markdown   = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(labeller{}, 0))))
	optionItem = regexp.MustCompile(`<li><code>([a-z0-9]+)(?:=([a-z0-9]+))?</code>`)
)

// rulesText returns the rules of a game in the language of a visitor, as HTML. With settings, the items
// about options that they have are marked.
func rulesText(v *visit, g *rules.Game, settings rules.Settings) (template.HTML, error) {
	var b bytes.Buffer
	if err := markdown.Convert([]byte(g.Text(v.words.Tag)), &b); err != nil {
		return "", fmt.Errorf("the rules of %s: %w", g.Name, err)
	}
	text := optionItem.ReplaceAllStringFunc(dress(b.String()), func(item string) string {
		m := optionItem.FindStringSubmatch(item)
		name, value := m[1], settings.Get(m[1])
		used := value != "" && value == m[2]
		if m[2] == "" && value != "" { // one that says what any value does
			used = value != "0"
			item = "<li><code>" + name + "=" + value + "</code>"
		}
		if !used {
			return item
		}
		return `<li class="used">` + item[len("<li>"):] + ` <b class="tag">` + template.HTMLEscapeString(v.t("rules.used")) + `</b>`
	})
	return template.HTML(text), nil
}
