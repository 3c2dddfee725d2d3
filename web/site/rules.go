package site

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

var headingTags = regexp.MustCompile(`<(h[2-6]) id="([^"]*)">(.*?)</h[2-6]>`)

// decorateHTML makes each heading a link to itself, and makes code blocks and tables scrollable by keyboard.
func decorateHTML(page string) string {
	page = headingTags.ReplaceAllString(page, `<$1 id="$2"><a class="anchor" href="#$2">$3</a></$1>`)
	return strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table class="cards">`, "</table>", "</table></div>").Replace(page)
}

// labeller is a goldmark transformer for tables with more than two columns. To each cell but the first of a
// row, it adds the name of the cell's column. Pages show these names in small windows.
type labeller struct{}

// plainText returns the text of a heading or a table cell.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

type rulesPage struct {
	Title    string
	Name     string // the name of the game
	HasTexts bool   // see visit.hasTexts
	Text     template.HTML
}

func (s *Site) getRules(v *visit) error {
	g, err := games.Find(v.r.PathValue("game"))
	if err != nil {
		return ladder.Errorf(ladder.NotFound, "", "%w", err)
	}
	text, err := rulesText(v, g, nil)
	if err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "rules", rulesPage{g.Display.Title, g.Name, v.hasTexts(g.Name), text})
}

var (
	markdown   = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Typographer), goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(labeller{}, 0))))
	optionItem = regexp.MustCompile(`<li><code>([a-z0-9]+)(?:=([a-z0-9]+))?</code>`)
)

// rulesText returns the rules of a game as HTML, in the visitor's language or otherwise in English. If
// settings is not nil, it marks the list items that describe the options and values in settings.
func rulesText(v *visit, g *rules.Game, settings rules.Settings) (template.HTML, error) {
	var b bytes.Buffer
	source, english := g.Text(v.language.Tag), false
	if source == "" {
		source, english = g.Text("en"), true
	}
	if err := markdown.Convert([]byte(source), &b); err != nil {
		return "", fmt.Errorf("the rules of %s: %w", g.Name, err)
	}
	text := optionItem.ReplaceAllStringFunc(decorateHTML(b.String()), func(item string) string {
		m := optionItem.FindStringSubmatch(item)
		name, value := m[1], settings.Get(m[1])
		used := value != "" && value == m[2]
		if m[2] == "" && value != "" { // the item describes all values of the option
			used = value != "0"
			item = "<li><code>" + name + "=" + value + "</code>"
		}
		if !used {
			return item
		}
		return `<li class="used">` + item[len("<li>"):] + ` <b class="tag">` + template.HTMLEscapeString(v.t("rules.used")) + `</b>`
	})
	if english {
		text = `<div lang="en">` + text + `</div>`
	}
	return template.HTML(text), nil
}
