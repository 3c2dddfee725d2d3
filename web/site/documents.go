package site

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/timba-arena/timba"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/messages"
)

// publication is a document that the site shows.
type publication struct {
	file string // of timba.Documents
	path string // of the page
	key  string // of the message that says what it is about
}

// published are all of them, in the order of the index.
var published = []publication{
	{"docs/writing-a-bot.md", "/docs/writing-a-bot", "docs.writing-a-bot"},
	{"SPEC.md", "/protocol", "docs.protocol"},
	{"docs/competing.md", "/docs/competing", "docs.competing"},
	{"docs/ratings.md", "/ratings", "docs.ratings"},
	{"docs/matches.md", "/docs/matches", "docs.matches"},
	{"docs/house-bots.md", "/docs/house-bots", "docs.house-bots"},
	{"docs/sandbox.md", "/docs/sandbox", "docs.sandbox"},
	{"docs/data.md", "/data", "docs.data"},
	{"docs/api.md", "/docs/api", "docs.api"},
	{"docs/operating.md", "/docs/operating", "docs.operating"},
}

// repository is where files are that the site does not show.
const repository = "https://github.com/timba-arena/timba/blob/main/"

// document is a rendered document.
type document struct {
	URL   string
	Key   string // of the message that says what it is about
	Lang  string // in which it is
	Title string
	Parts []heading // its contents
	Body  template.HTML
}

// heading is a heading of a document.
type heading struct {
	Level    int // 2 or 3
	ID, Text string
}

// newDocuments renders each document when it is asked for the first time. One without a translation
// is the English one.
func (s *Site) newDocuments() map[string]func() (*document, error) {
	all := map[string]func() (*document, error){}
	for _, p := range published {
		english := sync.OnceValues(func() (*document, error) { return s.render(p, p.file, messages.Languages[0], nil) })
		for _, lang := range messages.Languages {
			all[lang+p.path] = english
			dir, name := path.Split(p.file)
			file := dir + lang + "/" + name
			if _, err := fs.Stat(timba.Documents, file); err == nil {
				all[lang+p.path] = sync.OnceValues(func() (*document, error) {
					first, err := english()
					if err != nil {
						return nil, err
					}
					return s.render(p, file, lang, first)
				})
			}
		}
	}
	return all
}

// documentOf returns the document of a page in the visitor's language, or else in English.
func (v *visit) documentOf(path string) (*document, error) {
	render := v.site.documents[v.words.Tag+path]
	if render == nil {
		return nil, ladder.Errorf(ladder.NotFound, "/docs lists the documents", "document %q does not exist", ladder.Clip(path))
	}
	return render()
}

// render returns a document as HTML. What is in it is the project's own, but no HTML in it is kept.
// A translation has the names of the headings of the English document, so that links lead to them.
func (s *Site) render(p publication, file, lang string, english *document) (*document, error) {
	source, err := timba.Documents.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d := &document{URL: p.path, Key: p.key, Lang: lang}
	links := linker{s, file, d, english}
	m := goldmark.New(
		// Cells are aligned by attributes: the content security policy forbids styles.
		goldmark.WithExtensions(extension.Typographer, extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(&links, 0), util.Prioritized(labeller{}, 0))),
	)
	var b bytes.Buffer
	if err := m.Convert(source, &b); err != nil {
		return nil, fmt.Errorf("site: %s: %w", file, err)
	}
	d.Body = template.HTML(dress(b.String()))
	return d, nil
}

var headingTags = regexp.MustCompile(`<(h[2-6]) id="([^"]*)">(.*?)</h[2-6]>`)

// dress makes headings links to themselves, and what can be wider than the page scroll by keyboard, too.
func dress(page string) string {
	page = headingTags.ReplaceAllString(page, `<$1 id="$2"><a class="anchor" href="#$2">$3</a></$1>`)
	return strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<div class="scroll" tabindex="0"><table class="cards">`, "</table>", "</table></div>").Replace(page)
}

// linker turns the addresses of a document into those of the site, and notes its headings.
type linker struct {
	site    *Site
	file    string
	doc     *document
	english *document // of which it is a translation, nil for none
}

// Transform implements parser.ASTTransformer.
func (l *linker) Transform(tree *ast.Document, r text.Reader, _ parser.Context) {
	ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(l.address(string(n.Destination)))
		case *ast.Heading:
			title := plainText(n, r.Source())
			id, _ := n.AttributeString("id")
			switch name, _ := id.([]byte); {
			case n.Level == 1:
				l.doc.Title = title
			case n.Level <= 3:
				if i := len(l.doc.Parts); l.english != nil && i < len(l.english.Parts) {
					name = []byte(l.english.Parts[i].ID)
					n.SetAttributeString("id", name)
				}
				l.doc.Parts = append(l.doc.Parts, heading{n.Level, string(name), title})
			}
		}
		return ast.WalkContinue, nil
	})
}

// labeller notes in the cells of tables with more than two columns what their columns are called, which small
// windows show.
type labeller struct{}

// Transform implements parser.ASTTransformer.
func (labeller) Transform(tree *ast.Document, r text.Reader, _ parser.Context) {
	ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		row, ok := n.(*tables.TableRow)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		head := row.Parent().FirstChild()
		if head.ChildCount() == 2 {
			return ast.WalkSkipChildren, nil
		}
		cell, name := row.FirstChild().NextSibling(), head.FirstChild().NextSibling()
		for ; cell != nil && name != nil; cell, name = cell.NextSibling(), name.NextSibling() {
			cell.SetAttributeString("data-label", plainText(name, r.Source()))
		}
		return ast.WalkSkipChildren, nil
	})
}

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

// address returns where a link of the document leads on the site.
func (l *linker) address(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.IsAbs() || u.Path == "" {
		return link
	}
	file := path.Join(path.Dir(l.file), u.Path)
	if l.english != nil { // the page of another translation is that of its document
		file = strings.Replace(file, "/"+l.doc.Lang+"/", "/", 1)
	}
	if asset, err := l.site.assets.url(file); err == nil {
		return asset
	}
	fragment := ""
	if u.Fragment != "" {
		fragment = "#" + u.Fragment
	}
	for _, p := range published {
		if p.file == file {
			return p.path + fragment
		}
	}
	return repository + file + fragment
}

// getDocs lists the documents.
func (s *Site) getDocs(v *visit) error {
	var list []*document
	for _, p := range published {
		d, err := v.documentOf(p.path)
		if err != nil {
			return err
		}
		list = append(list, d)
	}
	return v.page(http.StatusOK, "docs", list)
}

// getDocument shows a document.
func (s *Site) getDocument(v *visit) error {
	d, err := v.documentOf(v.r.URL.Path)
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "document", d)
}

// found is a document with the parts of it that have a text.
type found struct {
	URL, Title, Lang string
	Parts            []heading
}

// findDocuments returns the documents that have a text, each with the first parts that do.
func (v *visit) findDocuments(text string) (list []found, err error) {
	text = strings.ToLower(text)
	for _, p := range published {
		d, err := v.documentOf(p.path)
		if err != nil {
			return nil, err
		}
		f := found{URL: p.path, Title: d.Title, Lang: d.Lang}
		in := strings.Contains(strings.ToLower(d.Title), text)
		for part := range strings.SplitSeq(string(d.Body), "<h") { // each begins with its heading
			if !strings.Contains(strings.ToLower(html.UnescapeString(tags.ReplaceAllString("<h"+part, ""))), text) {
				continue
			}
			in = true
			if m := headingID.FindStringSubmatch(part); m != nil && len(f.Parts) < foundParts {
				i := slices.IndexFunc(d.Parts, func(h heading) bool { return h.ID == m[1] })
				if i >= 0 {
					f.Parts = append(f.Parts, d.Parts[i])
				}
			}
		}
		if in {
			list = append(list, f)
		}
	}
	return list, nil
}

const foundParts = 3 // of a document

var (
	tags      = regexp.MustCompile(`<[^>]*>`)
	headingID = regexp.MustCompile(`^[23] id="([^"]*)"`)
)

// getAPIDocs shows the documentation of the API.
func (s *Site) getAPIDocs(v *visit) error {
	page, err := s.reference()
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "apidocs", page)
}

type rulesPage struct {
	Title string
	Name  string // of the game
	Known bool   // see visit.knows
	Text  template.HTML
}

// knows reports whether the site has texts about a game. It has none about games of other modules.
func (v *visit) knows(game string) bool { return v.words.Texts["play.games."+game] != nil }

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
	return v.page(http.StatusOK, "rules", rulesPage{g.Display.Title, g.Name, v.knows(g.Name), text})
}

var (
	markdown   = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Typographer), goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(labeller{}, 0))))
	optionItem = regexp.MustCompile(`<li><code>([a-z0-9]+)(?:=([a-z0-9]+))?</code>`)
)

// rulesText returns the rules of a game in the language of a visitor, or else in English, as HTML. With settings, the
// items about options that they have are marked.
func rulesText(v *visit, g *rules.Game, settings rules.Settings) (template.HTML, error) {
	var b bytes.Buffer
	source, english := g.Text(v.words.Tag), false
	if source == "" {
		source, english = g.Text("en"), true
	}
	if err := markdown.Convert([]byte(source), &b); err != nil {
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
	if english {
		text = `<div lang="en">` + text + `</div>`
	}
	return template.HTML(text), nil
}
