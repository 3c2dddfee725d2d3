package site_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/webtest"
)

var (
	ids      = regexp.MustCompile(` id="([^"]*)"`)
	allLinks = regexp.MustCompile(` (?:href|src)="([^"]*)"`)
	fences   = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
)

// The site shows the complete documents of the project, and all of their links lead somewhere.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, lang := range messages.Languages {
		t.Run(lang, func(t *testing.T) { documentsIn(t, lang) })
	}
}

func documentsIn(t *testing.T, lang string) {
	w := webtest.New(t, webtest.Calm, 0)
	c := w.Client()
	w.Get(c, "/?lang="+lang)
	pages := map[string]string{}
	fetch := func(path string) string {
		if _, ok := pages[path]; !ok {
			a := w.Get(c, path)
			if a.Status != http.StatusOK {
				t.Errorf("%s: status %d", path, a.Status)
			}
			pages[path] = a.Body
		}
		return pages[path]
	}
	shelf := allLinks.FindAllStringSubmatch(fetch("/docs"), -1)
	list := []string{}
	for _, m := range shelf {
		if strings.HasPrefix(m[1], "/docs/") || m[1] == "/protocol" || m[1] == "/ratings" || m[1] == "/data" || m[1] == "/api" {
			list = append(list, m[1])
		}
	}
	if len(list) < 11 {
		t.Fatalf("the documents are %q", list)
	}
	for _, path := range list {
		page := fetch(path)
		if strings.Contains(page, "style=") {
			t.Errorf("%s has styles in it", path)
		}
		seen := map[string]bool{}
		for _, m := range ids.FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("%s: %q is the ID of two elements", path, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range allLinks.FindAllStringSubmatch(page, -1) {
			link := html.UnescapeString(m[1])
			to, fragment, _ := strings.Cut(link, "#")
			switch {
			case strings.HasPrefix(link, "https://"), strings.Contains(link, "?"):
				continue
			case to == "":
				to = path
			case !strings.HasPrefix(to, "/"):
				t.Errorf("%s leads to %q", path, link)
				continue
			}
			if there := fetch(to); fragment != "" && !strings.Contains(there, ` id="`+fragment+`"`) {
				t.Errorf("%s leads to %q, which has no such part", path, link)
			}
		}
	}
	spec := kit.Get[[]byte](t)(timba.Documents.ReadFile("SPEC.md"))
	blocks := fences.FindAllStringSubmatch(string(spec), -1)
	page := html.UnescapeString(fetch("/protocol"))
	for _, m := range blocks {
		if !strings.Contains(page, m[1]) {
			t.Errorf("/protocol does not have\n%s", m[1])
		}
	}
	if len(blocks) < 9 {
		t.Errorf("SPEC.md has %d blocks", len(blocks))
	}
	for _, path := range []string{"/docs/nothing", "/docs/..%2fSPEC", "/docs/architecture"} {
		if a := w.Get(c, path); a.Status != http.StatusNotFound {
			t.Errorf("%s: status %d", path, a.Status)
		}
	}
	checkAPIPage(t, html.UnescapeString(fetch("/api")))
}

// A document is in the language of the page, or says that it is only in English.
func TestTranslatedDocuments(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	for _, x := range []struct{ lang, path, has, lacks string }{
		{"en", "/docs/competing", `<article lang="en">`, "in English only"},
		{"ca", "/docs/competing", `<article lang="ca">`, "només és en anglès"},
		{"ca", "/docs/competing", `<h2 id="remote-bots"><a class="anchor" href="#remote-bots">Bots remots</a>`, ""},
		{"ca", "/docs/competing", `href="/docs/writing-a-bot#the-manifest"`, `href="https://github.com/timba-arena/timba/blob/main/docs/ca`},
		{"es", "/docs/writing-a-bot", `<article lang="es">`, "solo está en inglés"},
		{"es", "/docs", `<a href="/docs/writing-a-bot" lang="es">Escribir un bot</a>`, ""},
		{"es", "/docs/sandbox", "Este documento solo está en inglés.", `<article lang="es">`},
		{"ca", "/data", "Aquest document només és en anglès.", ""},
		{"es", "/protocol", `<article lang="es">`, "solo está en inglés"},
		{"ca", "/protocol", `<article lang="ca">`, "només és en anglès"},
		{"ca", "/protocol", `href="/docs/writing-a-bot`, `href="https://github.com/timba-arena/timba/blob/main/docs/ca`},
		{"ca", "/ratings", "Aquest document només és en anglès.", ""},
		{"es", "/api", "Este documento solo está en inglés.", ""},
		{"en", "/ratings", `<article lang="en">`, "in English only"},
		{"en", "/api", "openapi.json", "in English only"},
	} {
		c := s.Client()
		s.Get(c, "/?lang="+x.lang)
		if body := s.Get(c, x.path).Body; !strings.Contains(body, x.has) || x.lacks != "" && strings.Contains(body, x.lacks) {
			t.Errorf("%s in %s lacks %q, or has %q", x.path, x.lang, x.has, x.lacks)
		}
	}
}

// A search finds text in documents, ladders by name and a match by its number. Pages that people share have a
// description.
func TestSearchAndDescriptions(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	addLola(s)
	m, games := s.LastFinished("brisca")
	for _, x := range []struct{ lang, path, has string }{
		{"en", "/search?q=SPRT", `<a href="/ratings#a-sequential-test-sprt">A sequential test (SPRT)</a>`},
		{"ca", "/search?q=tute", `<a href="/rules/tute">Com es juga al tute</a>`},
		{"ca", "/search?q=juga%20a%20la%20brisca", `<a href="/rules/brisca">Com es juga a la brisca</a>`},
		{"en", "/search?q=podrida", `<a href="/rules/podrida">How to play La Podrida</a>`},
		{"ca", "/rules/brisca", `<h1>Com es juga a la brisca</h1>`},
		{"en", "/search?q=small", `<a href="/ladders/tebes-4">`},
		{"en", fmt.Sprintf("/search?q=%d", m.ID), fmt.Sprintf(`<a href="/matches/%d">`, m.ID)},
		{"en", "/search?q=%23999999", "Nothing here has"},
		{"ca", "/search?q=manifest", `<a href="/docs/writing-a-bot#the-manifest">El manifest</a>`},
		{"ca", "/search?q=CC0", `<li lang="en"><a href="/data">`},
		{"es", "/", `<meta name="description" content="Brisca, tute, La Podrida`},
		{"en", fmt.Sprintf("/matches/%d", m.ID), ` · Brisca">`},
		{"ca", fmt.Sprintf("/games/%d", games[0].ID), fmt.Sprintf(`. Enfrontament %d, Repartiment 0, rotació 0">`, m.ID)},
		{"en", "/bots/lola", `<meta name="description" content="by ada · Python · Brisca `},
		{"es", "/ladders/brisca/pairs/lola@2/@random@1", `<meta name="description" content="lola contra random `},
		{"es", "/rules/tute", `<meta name="description" content="Bazas con cartas`},
		{"en", "/docs/competing", `<meta name="description" content="What happens to an upload`},
		{"en", "/ladders/brisca", `<meta property="og:url" content="` + s.URL + `/ladders/brisca">`},
	} {
		c := s.Client()
		s.Get(c, "/?lang="+x.lang)
		if a := s.Get(c, x.path); !strings.Contains(a.Body, x.has) {
			t.Errorf("%s in %s lacks %q: %.2000s", x.path, x.lang, x.has, a.Body)
		}
	}
	page := s.Get(s.Client(), "/").Body
	image := regexp.MustCompile(`<meta property="og:image" content="` + s.URL + `(/assets/[^"]*/layout/card.png)">`).FindStringSubmatch(page)
	if image == nil {
		t.Fatalf("the page names no picture: %s", page)
	}
	if a := s.Get(s.Client(), image[1]); a.Header.Get("Content-Type") != "image/png" || !strings.HasPrefix(a.Body, "\x89PNG") {
		t.Errorf("the picture is %s, %.20q", a.Header.Get("Content-Type"), a.Body)
	}
}

var operations = regexp.MustCompile(`"operationId":\s*"([^"]*)"`)

// checkAPIPage checks that the page of the API shows all of its operations.
func checkAPIPage(t *testing.T, page string) {
	all := operations.FindAllStringSubmatch(string(api.Document()), -1)
	for _, m := range all {
		if !strings.Contains(page, ` id="`+m[1]+`"`) {
			t.Errorf("/api does not have the operation %q", m[1])
		}
	}
	if len(all) < 30 {
		t.Errorf("the API has %d operations", len(all))
	}
	for _, text := range []string{
		`curl -X POST -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{`,
		`curl "$URL/api/v1/ladders/brisca-2/standings"`, "--data-binary @mybot.tar.gz", "one of read, submit, all", "scope submit",
	} {
		if !strings.Contains(page, text) {
			t.Errorf("/api does not have %q", text)
		}
	}
}

// The page about ratings shows the constants of the program.
func TestRatingConstants(t *testing.T) {
	t.Parallel()
	w := webtest.NewStaticWorld(t, nil)
	page := w.Get(w.Client(), "/ratings").Body
	requireTexts(t, "/ratings", page, "<dd>@random</dd>", "<dd>1000</dd>", "<dd>30</dd>", "<dd>100</dd>", `<a href="/ladders/tebes-4">`)
}
