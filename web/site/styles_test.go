package site

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/board"
)

var (
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	ownValue  = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|light-dark\(|rgba?\(|(?:font-size|font|margin[a-z-]*|padding[a-z-]*|gap): [^;}]*\b(?:[2-9]|[1-9][0-9.]+)px`)
	token     = regexp.MustCompile(`var\(--([a-z0-9-]+)`)
	tokenSet  = regexp.MustCompile(`--([a-z0-9-]+):`)
	mediaHead = regexp.MustCompile(`@media [^{]*`)
)

// The site's style sheet takes its colors, fonts and sizes from tokens.css, and every variable that a style
// sheet uses is defined.
func TestTokens(t *testing.T) {
	read := func(files fs.FS, name string) string {
		data := kit.Get[[]byte](t)(fs.ReadFile(files, name))
		return mediaHead.ReplaceAllString(comment.ReplaceAllString(string(data), ""), "")
	}
	site := read(pageFiles, "pages/layout/site.css")
	for _, found := range ownValue.FindAllString(site, -1) {
		t.Errorf("site.css has %q: name a value of tokens.css", found)
	}
	tokens := read(board.Files, "tokens.css")
	known := map[string]bool{"c": true, "from-x": true, "from-y": true, "to-x": true, "to-y": true} // set by drawings
	inks := regexp.MustCompile(`--(?:ink(?:-[a-z])?|frame):`)                                       // set by the chosen deck
	for _, m := range tokenSet.FindAllStringSubmatch(tokens+strings.Join(inks.FindAllString(read(board.Files, "board.css"), -1), " "), -1) {
		known[m[1]] = true
	}
	for name, sheet := range map[string]string{
		"site.css": site, "tokens.css": tokens, "board.css": read(board.Files, "board.css"), "table.css": read(board.Files, "table.css"), "player.css": read(board.Files, "player.css"),
	} {
		for _, m := range token.FindAllStringSubmatch(sheet, -1) {
			if !known[m[1]] {
				t.Errorf("%s names --%s, which tokens.css does not have", name, m[1])
			}
		}
		if name != "tokens.css" && strings.Contains(sheet, ":root") {
			t.Errorf("%s sets values for all pages: tokens.css is the place for that", name)
		}
	}
}
