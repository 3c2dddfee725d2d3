package site

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/messages"
)

var (
	keyInPage = regexp.MustCompile(`\bt "([^"]+)"`)
	prefixes  = regexp.MustCompile(`\bt \(print "([^"]+)"`)
	keyInGo   = regexp.MustCompile(`"([a-z]+(?:\.[a-z-]+)+)"`)
)

// The templates of all pages can be parsed. A site parses a template only when its page is first requested.
func TestTemplates(t *testing.T) {
	for _, parse := range kit.Get[*pages](t)(newPages(new(Site))).templates {
		parse() // it panics otherwise
	}
}

// Pages use every text, and every text that they use exists.
func TestMessagesUsed(t *testing.T) {
	known := kit.Get[[]*messages.Language](t)(messages.All())[0].Texts
	used, begins := map[string]bool{}, []string{}
	kit.Must(t, fs.WalkDir(pageFiles, "pages", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		text, err := fs.ReadFile(pageFiles, name)
		for _, m := range keyInPage.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
		for _, m := range prefixes.FindAllStringSubmatch(string(text), -1) {
			begins = append(begins, m[1])
		}
		return err
	}))
	for name, values := range preferences {
		if name == "lang" { // the names of languages are not translated
			continue
		}
		used["site."+name], used["site."+name+"-auto"] = true, true
		for _, value := range values {
			used["site."+name+"-"+value] = true
		}
	}
	for _, g := range games.All() { // rulesTitle composes their keys
		used["rules.how."+g.Name] = true
	}
	for key := range used {
		if known[key] == nil {
			t.Errorf("%q is used and does not exist", key)
		}
	}
	files := kit.Get[[]string](t)(filepath.Glob("*.go"))
	for _, f := range files {
		text := kit.Get[[]byte](t)(os.ReadFile(f))
		for _, m := range keyInGo.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
	}
	for name, values := range preferences { // the layout composes their keys
		used["site."+name] = true
		for _, value := range append(values, "auto") {
			used["site."+name+"-"+value] = true
		}
	}
	for key := range known {
		if _, name, ok := strings.Cut(key, ".js."); ok && known["board."+name] != nil {
			t.Errorf("%q has the name of a text of boards, which the same page may have", key)
		}
		if strings.HasPrefix(key, "board.") || strings.HasPrefix(key, "play.option.") {
			continue // tests of packages board and messages look at these
		}
		built := slices.ContainsFunc(begins, func(head string) bool { return strings.HasPrefix(key, head) })
		if !used[key] && !built && !strings.Contains(key, ".js.") && !strings.Contains(key, ".column.") {
			t.Errorf("%q is used nowhere", key)
		}
	}
	if len(used) < 30 || len(known) < 30 {
		t.Errorf("only %d of %d messages are seen", len(used), len(known))
	}
}
