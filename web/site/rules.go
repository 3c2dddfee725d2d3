package site

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/messages"
)

var headingTags = regexp.MustCompile(`<(h[2-6]) id="([^"]*)">(.*?)</h[2-6]>`)

// decorateHTML makes each heading a link to itself, and makes code blocks and tables scrollable by keyboard.
func decorateHTML(page string) string {
	page = headingTags.ReplaceAllString(page, `<$1 id="$2"><a class="anchor" href="#$2">$3</a></$1>`)
	return strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table class="cards">`, "</table>", "</table></div>").Replace(page)
}

// labeller is a goldmark transformer for tables with more than two columns. It labels each cell, except the first of
// a row, with the name of the cell's column. Pages show the labels in small windows.
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

// rulesTitle returns the title of the page with the rules of a game.
func rulesTitle(l *messages.Language, game string) string {
	if key := "rules.how." + game; l.Texts[key] != nil {
		return l.Text(key)
	}
	return l.Text("rules.title", "Game", titleOf(game)) // of a game that another Go module adds
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
	optionItem = regexp.MustCompile(`<li><code>([a-z0-9]+)(?:=([a-z0-9]+))?</code>(: )?`)
	ruleTable  = regexp.MustCompile(`(?s)<div class="scroll"[^>]*><table.*?</table></div>`)
	ruleRow    = regexp.MustCompile(`(?s)<tr>.*?</tr>`)
	ruleCell   = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
)

// rulesText returns the rules of a game for people, as HTML, in the visitor's language or, without a translation, in
// English. They have lists of cards and short descriptions of options. If settings is not nil, the list items about
// the options and values in settings are marked.
func rulesText(v *visit, g *rules.Game, settings rules.Settings) (template.HTML, error) {
	var b bytes.Buffer
	source, english := g.Text(v.language.Tag), false
	if source == "" {
		source, english = g.Text("en"), true
	}
	if err := markdown.Convert([]byte(source), &b); err != nil {
		return "", fmt.Errorf("the rules of %s: %w", g.Name, err)
	}
	text := decorateHTML(b.String())
	if g.Display.Cards != nil {
		text = ruleTable.ReplaceAllStringFunc(text, func(table string) string { return cardList(v.language, table) })
	}
	text = optionItem.ReplaceAllStringFunc(text, func(item string) string {
		m := optionItem.FindStringSubmatch(item)
		name, value := m[1], settings.Get(m[1])
		used := value != "" && value == m[2]
		if m[2] == "" && value != "" { // the item describes all values of the option
			used = value != "0"
		}
		head := optionHead(v.language, name, cmp.Or(m[2], value), m[3])
		if !used {
			return "<li>" + head
		}
		return `<li class="used"><b class="tag">` + template.HTMLEscapeString(v.t("rules.used")) + "</b> " + head
	})
	if english {
		text = `<div lang="en">` + text + `</div>`
	}
	return template.HTML(text), nil
}

// optionHead returns HTML for the beginning of the description of an option in the rules. It is the short description
// of the option in the language l or, if l has none, name=value as code; the HTML mark follows. value is "" if any
// number is meant; if l then has a short description, the result is "".
func optionHead(l *messages.Language, name, value, mark string) string {
	short := optionName(l, name, value)
	switch {
	case value == "" && l.Texts["board.option."+name] != nil:
		return ""
	case short == name+" "+value:
		return "<code>" + strings.TrimSuffix(name+"="+value, "=") + "</code>" + mark
	}
	return "<b>" + template.HTMLEscapeString(short) + "</b>" + mark
}

// cardList returns an HTML list of cards that replaces table, the HTML of a table with a row of the ranks of the
// cards and perhaps a row of their points. Any other table is returned unchanged. The module deck.js draws the cards.
func cardList(l *messages.Language, table string) string {
	var rows [][]string
	for _, row := range ruleRow.FindAllString(table, -1) {
		var cells []string
		for _, m := range ruleCell.FindAllStringSubmatch(row, -1) {
			cells = append(cells, m[1])
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 || len(rows) > 2 {
		return table
	}
	var b strings.Builder
	b.WriteString(`<ol class="deck">`)
	for i, rank := range rows[0] {
		if i == 0 { // the head of the row
			continue
		}
		fmt.Fprintf(&b, `<li><b data-card="%so">%[1]s</b>`, rank)
		if len(rows) == 2 && i < len(rows[1]) {
			if points, err := strconv.Atoi(rows[1][i]); err == nil {
				fmt.Fprintf(&b, ` <span>%s</span>`, template.HTMLEscapeString(l.Text("rules.points", "Count", points)))
			}
		}
		b.WriteString("</li>")
	}
	b.WriteString("</ol>")
	return b.String()
}
