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

// decorateHTML makes headings links to themselves, and what can be wider than the page scroll by keyboard, too.
func decorateHTML(page string) string {
	page = headingTags.ReplaceAllString(page, `<$1 id="$2"><a class="anchor" href="#$2">$3</a></$1>`)
	return strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table class="cards">`, "</table>", "</table></div>").Replace(page)
}

// labeller notes in the cells of tables with more than two columns what their columns are called, which small
// windows show.
type labeller struct{}

// plainText returns the text of a heading or a cell.
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
	Name     string // of the game
	HasTexts bool   // see visit.knows
	Text     template.HTML
}

// getRules shows the rules of a game for people.
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

// rulesText returns the rules of a game in the language of a visitor, or else in English, as HTML. With settings, the
// items about options that they have are marked.
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
		if m[2] == "" && value != "" { // one that says what any value does
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
