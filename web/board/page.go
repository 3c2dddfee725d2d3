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

// WritePage writes a self-contained HTML document that plays the game back. Its content security policy
// allows only its own script and style sheet, by their hashes, and no network.
func (g *Recording) WritePage(w io.Writer) error {
	data, err := json.Marshal(g) // escapes <, > and &
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
	policy := "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
	return page().Execute(w, map[string]any{
		"Policy": policy,
		"Title":  g.Name,
		"Icon":   template.URL(icon),
		"Style":  template.CSS(style),
		"Data":   template.JS(data),
		"Texts":  template.JS(texts),
		"Script": template.JS(script),
	})
}

// hash returns the hash of a script or style sheet in the form in which a content security policy allows it.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
