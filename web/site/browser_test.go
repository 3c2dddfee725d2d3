package site_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/webtest"
)

// window is a browser window in which pages are examined.
type window struct {
	name          string
	width, height int64
	dark          bool
}

// windows returns windows of each width and each color scheme; with kit.Soak, each width in each scheme.
func windows() []window {
	list := []window{{"desk-light", 1280, 900, false}, {"phone-dark", 360, 800, true}}
	if kit.Soak {
		list = append(list, window{"desk-dark", 1280, 900, true}, window{"phone-light", 390, 844, false})
	}
	return list
}

// twins matches the names of pages that show less of a template than another page does.
var twins = regexp.MustCompile(`-(empty|waiting|running|interrupted|cancelled|own)$`)

// wideTables is a script that returns the tables that are wider than the page.
const wideTables = `[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText.slice(0, 60)).join('; ')`

// examine loads a page in all windows. It fails if axe-core finds a problem, if the page is wider than the window,
// or if a table is wider than a phone. Without kit.Soak, twins and long documents are examined in one window only.
func examine(b *webtest.Tab, url, name string) {
	b.T.Helper()
	list := windows()
	if !kit.Soak && (twins.MatchString(name) || name == "api" || name == "protocol") {
		list = list[1:]
	}
	for i, l := range list {
		b.Look(l.width, l.height, l.dark)
		if i == 0 {
			b.Go(url)
		}
		b.RequireAccessible()
		if wide := webtest.Eval[int64](b, "document.documentElement.scrollWidth"); wide > l.width {
			b.T.Errorf("%s: the page is %d wide", l.name, wide)
		}
		if wide := webtest.Eval[string](b, wideTables); wide != "" && l.width < 600 {
			b.T.Errorf("%s: %d wide is not enough for %q", l.name, l.width, wide)
		}
		b.Picture(*screens, name+"-"+l.name)
	}
}

// Every page has no errors and is accessible, light and dark, on a desk and on a phone, and its buttons and
// keys work. TestLivePages, TestMemberPages and TestBotPagesInBrowser examine the other pages.
func TestPages(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, withMachines)
	s.PlayEach(3)
	cards, of := s.LastFinished("brisca")
	_, boards := s.LastFinished("tebes-4")
	_, teams := s.LastFinished("teams")
	states := matchStates(s)
	addAdasGames(s)
	b := webtest.Open(t, webtest.Start(t), "about:blank")
	b.Home = s.URL
	for _, p := range []struct{ name, path string }{
		{"api", "/api"},
		{"protocol", "/protocol"},
		{"home", "/"},
		{"standings", "/ladders/brisca"},
		{"standings-sorted", "/ladders/teams?sort=bot&order=desc&q=gre"},
		{"standings-empty", "/ladders/brisca?q=nobody"},
		{"pairs", "/ladders/brisca/pairs"},
		{"live-empty", "/live"},
		{"signin", "/sign-in"},
		{"join", "/join"},
		{"submit-visitor", "/submit"},
		{"download", "/download"},
		{"write-visitor", "/write?game=teeko&language=c"},
		{"docs", "/docs"},
		{"ratings", "/ratings"},
		{"docs-competing", "/docs/competing"},
		{"data", "/data"},
		{"search", "/search?q=brisca"},
		{"rules", "/rules/brisca"},
		{"machines", "/machines"},
		{"people", "/people?game=teeko"},
		{"person", "/people/ada"},
		{"matches", "/matches"},
		{"matches-empty", "/matches?bot=nobody&rated=no"},
		{"match", fmt.Sprintf("/matches/%d", cards.ID)},
		{"match-waiting", states["waiting"]},
		{"match-running", states["running"]},
		{"match-interrupted", states["interrupted"]},
		{"match-cancelled", states["cancelled"]},
		{"game-cards", fmt.Sprintf("/games/%d?ply=9", of[0].ID)},
		{"game-board", fmt.Sprintf("/games/%d?ply=5", boards[0].ID)},
		{"game-teams", fmt.Sprintf("/games/%d?ply=3&seat=1", teams[0].ID)},
		{"embed", fmt.Sprintf("/games/%d/embed?ply=4", of[0].ID)},
		{"problem", "/nothing"},
	} {
		t.Run(p.name, func(t *testing.T) {
			b.T = t
			examine(b, s.URL+p.path, p.name)
			if state, ok := strings.CutPrefix(p.name, "match-"); ok && states[state] != "" && b.Text(".figures .tag") != state {
				t.Errorf("the match is %q, want %q", b.Text(".figures .tag"), state)
			}
			if p.name == "rules" {
				b.Wait(`.deck li:nth-child(10) svg use`)
			}
			if p.name == "problem" {
				b.ClearConsole() // of the status 404
			}
			b.RequireQuiet()
		})
	}
	for name, part := range map[string]func(*testing.T, *webtest.StaticWorld){
		"sort": checkSortByClick, "switches": checkPreferences, "keyboard": checkGameByKeyboard, "verify": checkVerifyMatch, "rows": checkRowsOfFields,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			part(t, s)
		})
	}
}

// matchStates creates a match in each state except for finished, and returns the paths of their pages.
func matchStates(s *webtest.StaticWorld) map[string]string {
	ctx, paths := s.T.Context(), map[string]string{}
	for _, state := range []string{"waiting", "running", "interrupted", "cancelled"} {
		m, err := s.Store.Matches.Add(ctx, store.NewMatch{Ladder: "brisca", Versions: []int64{s.Version("@first"), s.Version("@greedy")}})
		s.Must(err)
		paths[state] = fmt.Sprintf("/matches/%d", m.ID)
		if state == "waiting" {
			continue
		}
		seed := referee.NewSeed()
		err = s.Store.Matches.Start(ctx, []store.MatchStart{{Match: m.ID, Seed: seed}})[0].Err
		s.Must(err)
		switch state {
		case "interrupted":
			_, err = s.Store.Matches.InterruptAttempt(ctx, m.ID, 1, phrase.New("the server stopped"), false)
		case "cancelled":
			err = s.Store.Matches.Cancel(ctx, m.ID, 0, phrase.New("cancelled: %s is blocked", "ada"))
		}
		s.Must(err)
	}
	return paths
}

// checkSortByClick checks that a click on a head sorts the standings, and that the address has the order.
func checkSortByClick(t *testing.T, s *webtest.StaticWorld) {
	b := webtest.Open(t, webtest.Start(t), s.URL+"/ladders/brisca")
	b.Click(`th:nth-child(2) a`)
	b.Wait(`th:nth-child(2)[aria-sort="ascending"]`)
	b.Click(`th:nth-child(2) a`)
	b.Wait(`body:has(.bottom) th:nth-child(2)[aria-sort="descending"]`) // the rows are there, too
	names := webtest.Eval[[]string](b, `[...document.querySelectorAll('tbody .bot')].map((e) => e.textContent)`)
	if fmt.Sprint(names) != "[random greedy first]" {
		t.Errorf("the bots are %q", names)
	}
	if at := webtest.Eval[string](b, "location.search"); !strings.Contains(at, "sort=bot") || !strings.Contains(at, "order=desc") {
		t.Errorf("the address has %q", at)
	}
	b.RequireQuiet()
}

// checkRowsOfFields checks that links and buttons in a row of a form have the same baseline.
func checkRowsOfFields(t *testing.T, s *webtest.StaticWorld) {
	b := webtest.Open(t, webtest.Start(t), "about:blank")
	b.Home = s.URL
	b.Look(1280, 800, false)
	for path, of := range map[string][2]string{"/write": {"#again", "#rules"}} {
		b.Go(s.URL + path)
		const bottom = `(s) => { const r = new Range(); r.selectNodeContents(document.querySelector(s)); return r.getBoundingClientRect().bottom }`
		off := webtest.Eval[float64](b, fmt.Sprintf(`(%s)(%q) - (%[1]s)(%[3]q)`, bottom, of[0], of[1]))
		if off < -1 || off > 1 {
			t.Errorf("%s: the text of %s is %v px below that of %s", path, of[0], off, of[1])
		}
	}
	b.RequireQuiet()
}

// checkPreferences checks that a choice of language, colors and cards takes effect and stays.
func checkPreferences(t *testing.T, s *webtest.StaticWorld) {
	b := webtest.Open(t, webtest.Start(t), s.URL+"/sign-in")
	b.Click(`a[hreflang="ca"]`)
	b.Wait(`html[lang="ca"]`)
	b.Click(`.bottom a[href*="theme=dark"]`)
	b.Wait(`html[data-theme="dark"]`)
	if back := webtest.Eval[string](b, "getComputedStyle(document.documentElement).backgroundColor"); back != "rgb(23, 20, 15)" {
		t.Errorf("the dark page has the colour %s", back)
	}
	b.Click(`.bottom a[href*="deck=french"]`)
	b.Wait(`html[data-deck="french"]`)
	b.Go(s.URL + "/")
	b.Wait(`html[lang="ca"][data-theme="dark"][data-deck="french"]`)
	b.Click(`.bottom a[href*="deck=auto"]`)
	b.Wait(`html:not([data-deck])`)
	b.RequireQuiet()
}
