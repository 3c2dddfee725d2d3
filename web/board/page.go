package board

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"sync"

	"github.com/timba-arena/timba/web/messages"
)

//go:embed page/page.html
var pageText string

var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

const icon = "data:image/svg+xml," +
	"%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E" +
	"%3Ccircle cx='16' cy='16' r='15' fill='%23f2bf2c' stroke='%232a2129' stroke-width='2'/%3E" +
	"%3Ccircle cx='16' cy='16' r='8' fill='%23cf2e2e'/%3E%3C/svg%3E"

//go:embed page/page.min.js
var script string

//go:embed page/page.min.css
var style string

// Page is an HTML document in one file, whose script plays games back. Its content security policy allows only its own
// script and style sheet, by their hashes, and no network.
type Page struct {
	Title template.HTML
	Class string        // class of the body
	Style string        // a style sheet that comes before that of the player
	Body  template.HTML // "" for a document that is only the player of one game
	Games any           // the games that Body has links to, as page/report.js describes them; or the Recording of the only game
}

// Write writes the document.
func (p Page) Write(w io.Writer) error {
	data, err := json.Marshal(p.Games) // escapes <, > and &
	if err != nil {
		return err
	}
	languages, err := messages.All()
	if err != nil {
		return err
	}
	texts, err := messages.TextsJSON([]string{"board."}, languages...)
	if err != nil {
		return err
	}
	id, sheet := "replay", p.Style+style
	if p.Body != "" {
		id = "games"
	}
	policy := "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(sheet) +
		"; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
	return page().Execute(w, map[string]any{
		"Policy": policy,
		"Title":  p.Title,
		"Icon":   template.URL(icon),
		"Style":  template.CSS(sheet),
		"Class":  p.Class,
		"Body":   p.Body,
		"ID":     id,
		"Data":   template.JS(data),
		"Texts":  template.JS(texts),
		"Script": template.JS(script),
	})
}

// WritePage writes a document in one file that plays the game back.
func (g *Recording) WritePage(w io.Writer) error {
	return Page{Title: template.HTML(template.HTMLEscapeString(g.Name)), Games: g}.Write(w)
}

// hash returns the hash of a script or style sheet in the form in which a content security policy allows it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
