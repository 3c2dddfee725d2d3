package site

import (
	"html/template"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/jba/templatecheck"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/live"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/site/apidocs"
)

// content is what a template is executed with: the frame of every page, and the data of one.
type content[T any] struct {
	frame
	Data T
}

// pageContents are values of the types with which the templates are executed, by name of the page; after a slash is
// the name of a template that is executed by itself, to renew a part of the page.
var pageContents = map[string]any{
	"account": content[accountPage]{}, "apidocs": content[*apidocs.Page]{}, "bot": content[botPage]{}, "bots": content[botsPage]{},
	"docs": content[[]*document]{}, "document": content[*document]{}, "download": content[downloadPage]{}, "files": content[filesPage]{},
	"game": content[gamePage]{}, "game/bare": content[gamePage]{}, "home": content[homePage]{}, "invites": content[invitesPage]{},
	"join": content[joinPage]{}, "ladders": content[laddersPage]{}, "live": content[livePage]{}, "lost": content[lostPage]{},
	"machines": content[machinesPage]{}, "match": content[matchPage]{}, "matches": content[matchesPage]{}, "members": content[membersPage]{},
	"newmatch": content[newMatchPage]{}, "pair": content[pairPage]{}, "pairs": content[pairsPage]{}, "people": content[peoplePage]{},
	"person": content[personPage]{}, "play": content[playPage]{}, "played": content[playedPage]{}, "problem": content[problemPage]{},
	"ratings": content[ratingsPage]{}, "rules": content[rulesPage]{}, "search": content[searchPage]{}, "signin": content[signInPage]{},
	"standings": content[standingsPage]{}, "submission": content[submissionPage]{}, "submission/progress": content[submissionPage]{},
	"submit": content[submitPage]{}, "table": content[tablePage]{}, "tokens": content[tokensPage]{}, "version": content[versionPage]{},
	"versions": content[versionsPage]{}, "waiting": content[waitingPage]{}, "watch": content[watchPage]{}, "write": content[writePage]{},
	"write/tryout": content[tryoutPart]{}, "write/tryoutgame": content[tryoutGamePart]{},
}

// TestTemplatesFitTheirData: every branch of every template uses fields and methods that its data has.
func TestTemplatesFitTheirData(t *testing.T) {
	t.Parallel()
	languages := kit.Get[[]*messages.Language](t)(messages.All())
	s := &Site{assets: kit.Get[*assets](t)(newAssets())}
	s.Live = new(live.Hub)
	layout := template.Must(template.New("layout").Funcs(s.funcs(languages[0])).ParseFS(pageFiles, layoutDir+"/*.html"))
	for _, file := range kit.Get[[]string](t)(fs.Glob(pageFiles, "pages/*/*.html")) {
		page := strings.TrimSuffix(path.Base(file), ".html")
		if path.Dir(file) != layoutDir && pageContents[page] == nil {
			t.Errorf("%s is not in pageContents", file)
		}
	}
	for name, data := range pageContents {
		page, part, found := strings.Cut(name, "/")
		if !found {
			part = "layout"
		}
		parsed := template.Must(template.Must(layout.Clone()).ParseFS(pageFiles, "pages/"+page+"/"+page+".html"))
		if err := templatecheck.CheckHTML(parsed.Lookup(part), data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
