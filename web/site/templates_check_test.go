package site

import (
	"html/template"
	"strings"
	"testing"

	"github.com/jba/templatecheck"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/live"
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
	"machines": content[machinesPage]{}, "match": content[matchPage]{}, "matches": content[matchesPage]{}, "operation": content[operationPage]{}, "members": content[membersPage]{},
	"newmatch": content[newMatchPage]{}, "pair": content[pairPage]{}, "pairs": content[pairsPage]{}, "people": content[peoplePage]{},
	"person": content[personPage]{}, "play": content[playPage]{}, "played": content[playedPage]{}, "problem": content[problemPage]{},
	"ratings": content[ratingsPage]{}, "removal": content[removalPage]{}, "report": content[*reportPage]{}, "report/report": content[*reportPage]{}, "report/sheet": content[[]template.HTML]{}, "rules": content[rulesPage]{}, "search": content[searchPage]{}, "signin": content[signInPage]{},
	"standings": content[standingsPage]{}, "submission": content[submissionPage]{}, "submission/progress": content[submissionPage]{},
	"submit": content[submitPage]{}, "table": content[tablePage]{}, "tokens": content[tokensPage]{}, "version": content[versionPage]{},
	"versions": content[versionsPage]{}, "waiting": content[waitingPage]{}, "watch": content[watchPage]{}, "write": content[writePage]{},
	"write/tryout": content[tryoutPart]{}, "write/tryoutgame": content[tryoutGamePart]{},
}

// TestTemplatesFitTheirData: every branch of every template uses fields and methods that its data has.
func TestTemplatesFitTheirData(t *testing.T) {
	t.Parallel()
	s := &Site{assets: kit.Get[*assets](t)(newAssets())}
	s.Live = new(live.Hub)
	templates := kit.Get[*pages](t)(newPages(s)).templates
	for name := range templates {
		if language, page, _ := strings.Cut(name, "/"); language == "en" && pageContents[page] == nil {
			t.Errorf("the page %s is not in pageContents", page)
		}
	}
	for name, data := range pageContents {
		page, part, found := strings.Cut(name, "/")
		if !found {
			part = "layout"
		}
		if err := templatecheck.CheckHTML(templates["en/"+page]().Lookup(part), data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
