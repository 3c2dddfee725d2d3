package site_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/timba-arena/timba"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/webtest"
)

var (
	ids      = regexp.MustCompile(` id="([^"]*)"`)
	allLinks = regexp.MustCompile(` (?:href|src)="([^"]*)"`)
	fences   = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
)

// The documents are those of the project, whole, and their links lead somewhere.
func TestDocuments(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	c := w.Client()
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
		if strings.HasPrefix(m[1], "/docs/") || m[1] == "/protocol" || m[1] == "/ratings" || m[1] == "/api" {
			list = append(list, m[1])
		}
	}
	if len(list) < 10 {
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
	for old, want := range map[string]string{"/docs/check": "/docs/writing-a-bot", "/docs/statistics": "/ratings"} {
		c.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
			if r.URL.Path != want {
				t.Errorf("%s leads to %s, want %s", old, r.URL.Path, want)
			}
			return nil
		}
		fetch(old)
	}
	reference(t, html.UnescapeString(fetch("/api")))
}

var operations = regexp.MustCompile(`"operationId":\s*"([^"]*)"`)

// reference checks that the page of the API has all its operations.
func reference(t *testing.T, page string) {
	all := operations.FindAllStringSubmatch(string(api.Document), -1)
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

// The page on ratings has the constants of the program.
func TestRatingConstants(t *testing.T) {
	t.Parallel()
	w := webtest.NewStill(t, nil)
	page := w.Get(w.Client(), "/ratings").Body
	for _, want := range []string{"<dd>@random</dd>", "<dd>1000</dd>", "<dd>30</dd>", "<dd>100</dd>", `<a href="/ladders/tebes-4">`} {
		if !strings.Contains(page, want) {
			t.Errorf("/ratings does not have %q", want)
		}
	}
}
