package site

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
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
	"github.com/timba-arena/timba/web/messages"
)

// publication is a Markdown document that the site shows as a page.
type publication struct {
	file string // the file in timba.Documents
	path string // the path of the page
	key  string // the key of the text that describes the document
}

// translation returns the file that has the document in a language, if there is one.
func (p publication) translation(lang string) string {
	return path.Join("docs", lang, path.Base(p.file))
}

// publications are all documents that the site shows, in the order of the index.
var publications = []publication{
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

// repository is the prefix of links to files of the project that are not pages of the site.
const repository = "https://github.com/timba-arena/timba/blob/main/"

// document is a document rendered as HTML.
type document struct {
	URL      string
	Key      string // the key of the text that describes the document
	Lang     string // the language of the document
	Title    string
	Headings []heading // the table of contents
	Body     template.HTML
}

// heading is a heading of level 2 or 3 in a document.
type heading struct {
	Level    int // 2 or 3
	ID, Text string
}

// newDocuments returns a function for each language and document that renders the document. The key is the
// tag of the language and the path, such as "en/ratings". Each document is rendered once, at the first call.
// A document without a translation is in English.
func (s *Site) newDocuments() map[string]func() (*document, error) {
	all := map[string]func() (*document, error){}
	for _, p := range publications {
		english := sync.OnceValues(func() (*document, error) { return s.render(p, p.file, messages.Languages[0], nil) })
		for _, lang := range messages.Languages {
			all[lang+p.path] = english
			file := p.translation(lang)
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

// documentOf returns the document whose page has the given path. It is in the visitor's language or, without a
// translation, in English.
func (v *visit) documentOf(path string) (*document, error) {
	render := v.site.documents[v.language.Tag+path]
	if render == nil {
		return nil, ladder.Errorf(ladder.NotFound, "/docs lists the documents", "document %q does not exist", ladder.Clip(path))
	}
	return render()
}

// render converts file, the Markdown file of the document p in the language lang, to HTML. HTML in the file is
// dropped. In a translation, english is the rendered English document: the headings get the same IDs as in it, so
// that links to them work in all languages. For the English document itself, english is nil.
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
	d.Body = template.HTML(decorateHTML(b.String()))
	return d, nil
}

// linker changes a Markdown document: it replaces the targets of links by addresses of the site. It also collects the
// document's headings.
type linker struct {
	site    *Site
	file    string
	doc     *document
	english *document // the document of which doc is a translation; nil if doc is in English
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
				if i := len(l.doc.Headings); l.english != nil && i < len(l.english.Headings) {
					name = []byte(l.english.Headings[i].ID)
					n.SetAttributeString("id", name)
				}
				l.doc.Headings = append(l.doc.Headings, heading{n.Level, string(name), title})
			}
		}
		return ast.WalkContinue, nil
	})
}

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

// address returns the address on the site to which a link in the document leads. link is the target of the link in
// the Markdown file.
func (l *linker) address(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.IsAbs() || u.Path == "" {
		return link
	}
	file := path.Join(path.Dir(l.file), u.Path)
	if asset, err := l.site.assets.url(file); err == nil {
		return asset
	}
	fragment := ""
	if u.Fragment != "" {
		fragment = "#" + u.Fragment
	}
	for _, p := range publications {
		if p.file == file || p.translation(l.doc.Lang) == file { // the page is in all languages
			return p.path + fragment
		}
	}
	return repository + file + fragment
}

func (s *Site) getDocs(v *visit) error {
	var list []*document
	for _, p := range publications {
		d, err := v.documentOf(p.path)
		if err != nil {
			return err
		}
		list = append(list, d)
	}
	return v.showPage(http.StatusOK, "docs", list)
}

func (s *Site) getDocument(v *visit) error {
	d, err := v.documentOf(v.r.URL.Path)
	if err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "document", d)
}

func (s *Site) getAPIDocs(v *visit) error {
	page, err := s.apiPage()
	if err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "apidocs", page)
}

// hasTexts reports whether the site has texts about a game. It has none about games that other Go modules add.
func (v *visit) hasTexts(game string) bool { return v.language.Texts["play.games."+game] != nil }
