package site_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/web/browsertest"
	"github.com/timba-arena/timba/web/site/sitetest"
)

// looks are the windows in which each page is looked at.
var looks = []struct {
	name          string
	width, height int64
	dark          bool
}{
	{"desk-light", 1280, 900, false}, {"desk-dark", 1280, 900, true}, {"phone-light", 390, 844, false}, {"phone-dark", 390, 844, true},
}

// examine looks at a page in all windows: its console is quiet, axe-core finds nothing, and no
// page is wider than its window.
func examine(b *browsertest.Tab, url, name string) {
	b.T.Helper()
	for _, l := range looks {
		b.Look(l.width, l.height, l.dark)
		b.Go(url)
		b.Accessible()
		if wide := browsertest.Eval[int64](b, "document.documentElement.scrollWidth"); wide > l.width {
			b.T.Errorf("%s: the page is %d wide", l.name, wide)
		}
		b.Picture(*screens, name+"-"+l.name)
	}
}

// Every page is quiet and accessible, light and dark, on a desk and on a phone.
func TestPages(t *testing.T) {
	in := browsertest.Start(t)
	w := sitetest.New(t, "", 3)
	for _, p := range []struct{ name, path string }{
		{"home", "/"},
		{"standings", "/ladders/brisca"},
		{"standings-sorted", "/ladders/teams?sort=bot&order=desc&q=gre"},
		{"standings-empty", "/ladders/brisca?q=nobody"},
		{"pairs", "/ladders/brisca/pairs"},
		{"live", "/live"},
		{"signin", "/sign-in"},
		{"join", "/join"},
		{"submit-visitor", "/submit"},
		{"docs", "/docs"},
		{"protocol", "/protocol"},
		{"ratings", "/ratings"},
		{"docs-submitting", "/docs/submitting"},
		{"api", "/api"},
	} {
		t.Run(p.name, func(t *testing.T) {
			b := browsertest.Open(t, in, w.URL+p.path)
			b.Home = w.URL
			examine(b, w.URL+p.path, p.name)
			b.Quiet()
		})
	}
	t.Run("problem", func(t *testing.T) {
		b := browsertest.Open(t, in, w.URL+"/nothing")
		b.Home = w.URL
		examine(b, w.URL+"/nothing", "problem")
		b.Hush() // of the status 404
		b.Quiet()
	})
}

// The standings are sorted by a click on a head, and the address is that of the table as sorted.
func TestSortByClick(t *testing.T) {
	in := browsertest.Start(t)
	w := sitetest.New(t, "", 1)
	b := browsertest.Open(t, in, w.URL+"/ladders/brisca")
	b.Home = w.URL
	b.Click(`th:nth-child(2) a`)
	b.Wait(`th:nth-child(2)[aria-sort="ascending"]`)
	b.Click(`th:nth-child(2) a`)
	b.Wait(`th:nth-child(2)[aria-sort="descending"]`)
	names := browsertest.Eval[[]string](b, `[...document.querySelectorAll('tbody .bot')].map((e) => e.textContent)`)
	if fmt.Sprint(names) != "[@random @greedy @first]" {
		t.Errorf("the bots are %q", names)
	}
	if at := browsertest.Eval[string](b, "location.search"); !strings.Contains(at, "sort=bot") || !strings.Contains(at, "order=desc") {
		t.Errorf("the address has %q", at)
	}
	b.Quiet()
}

// The switches of language and colours work and stay.
func TestSwitches(t *testing.T) {
	in := browsertest.Start(t)
	w := sitetest.New(t, "", 0)
	b := browsertest.Open(t, in, w.URL+"/sign-in")
	b.Home = w.URL
	b.Click(`a[hreflang="ca"]`)
	b.Wait(`html[lang="ca"]`)
	b.Click(`.bottom a[href*="theme=dark"]`)
	b.Wait(`html[data-theme="dark"]`)
	if back := browsertest.Eval[string](b, "getComputedStyle(document.documentElement).backgroundColor"); back != "rgb(22, 23, 26)" {
		t.Errorf("the dark page has the colour %s", back)
	}
	b.Go(w.URL + "/")
	b.Wait(`html[lang="ca"][data-theme="dark"]`)
	b.Quiet()
}
