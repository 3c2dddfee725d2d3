package replaypage

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/timba-arena/timba/web/board"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// icon is a coin.
const icon = "data:image/svg+xml," +
	"%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E" +
	"%3Ccircle cx='16' cy='16' r='15' fill='%23f2bf2c' stroke='%232a2129' stroke-width='2'/%3E" +
	"%3Ccircle cx='16' cy='16' r='8' fill='%23cf2e2e'/%3E%3C/svg%3E"

// entry is the script of the page.
const entry = `
import { startPlayer } from './player.js';
const data = document.getElementById('replay');
startPlayer(document.getElementById('player'), JSON.parse(data.textContent));
`

// assets is the script and the style sheet of every page.
type assets struct{ script, style string }

var bundle = sync.OnceValues(func() (a assets, err error) {
	if a.script, err = board.Bundle(entry); err == nil {
		a.style, err = board.Style("board.css", "player.css")
	}
	// The parser must not find an end in the middle.
	a.script = strings.ReplaceAll(a.script, "</script", `<\/script`)
	return a, err
})

// WritePage writes one HTML document that plays the game back. It needs nothing
// else and asks no network for anything: its policy allows its own script and
// style sheet by their hashes, and no others.
func (g *Game) WritePage(w io.Writer) error {
	a, err := bundle()
	if err != nil {
		return err
	}
	data, err := json.Marshal(g) // which writes <, > and & as escapes
	if err != nil {
		return err
	}
	policy := "default-src 'none'; script-src " + hash(a.script) + "; style-src " + hash(a.style) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
	return page.Execute(w, map[string]any{
		"Policy": policy,
		"Title":  g.Name,
		"Icon":   template.URL(icon),
		"Style":  template.CSS(a.style),
		"Data":   template.JS(data),
		"Script": template.JS(a.script),
	})
}

// hash is a source of a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
