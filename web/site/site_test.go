package site_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/web/webtest"
)

var botNames = regexp.MustCompile(`<a class="bot[^"]*" href="[^"]*">([^<]*)</a>`)

func bots(page string) (names []string) {
	for _, m := range botNames.FindAllStringSubmatch(page, -1) {
		names = append(names, m[1])
	}
	return names
}

// What pages answer without a browser, on one server.
func TestSite(t *testing.T) {
	t.Parallel()
	w := webtest.NewStill(t, nil)
	w.PlayEach(2)
	t.Run("standings", func(t *testing.T) { standings(t, w) })
	t.Run("problems", func(t *testing.T) { problems(t, w) })
	t.Run("headers", func(t *testing.T) { headers(t, w) })
	t.Run("languages", func(t *testing.T) { languages(t, w) })
	t.Run("sessions", func(t *testing.T) { sessions(t, w) })
}

// Sorting and filters need no script, and an address says what it shows.
func standings(t *testing.T, w *webtest.Still) {
	c := w.Client()
	for _, x := range []struct {
		query string
		want  []string
	}{
		{"?sort=bot", []string{"@first", "@greedy", "@random"}},
		{"?sort=bot&order=desc", []string{"@random", "@greedy", "@first"}},
		{"?sort=bot&q=R", []string{"@first", "@greedy", "@random"}},
		{"?q=gree", []string{"@greedy"}},
		{"?who=people", nil},
		{"?show=past", nil},
		{"?page=99&sort=bot&utm=x", []string{"@first", "@greedy", "@random"}},
	} {
		a := w.Get(c, "/ladders/brisca"+x.query)
		if a.Status != http.StatusOK || !slices.Equal(bots(a.Body), x.want) {
			t.Errorf("%s: status %d, %q, want %q", x.query, a.Status, bots(a.Body), x.want)
		}
	}
}

// What does not exist or cannot be has a page with the API's text.
func problems(t *testing.T, w *webtest.Still) {
	c := w.Client()
	for _, x := range []struct {
		path   string
		status int
		text   string
	}{
		{"/nothing", 404, `&#34;/nothing&#34; does not exist`},
		{"/ladders/chess", 404, `ladder &#34;chess&#34; does not exist`},
		{"//ladders/brisca", 404, "This page does not exist"},
		{"/ladders/brisca?sort=size", 400, `sort cannot be &#34;size&#34;`},
		{"/ladders/brisca?page=0", 400, `page cannot be &#34;0&#34;`},
		{"/sign-out", 405, "try POST"},
		{"/assets/0123/layout/site.css", 404, "load the page again"},
		{"/%3Cscript%3Ealert(1)%3C/script%3E", 404, `&lt;script&gt;`},
	} {
		a := w.Get(c, x.path)
		if a.Status != x.status || !strings.Contains(a.Body, x.text) {
			t.Errorf("%s: status %d, want %d with %q: %s", x.path, a.Status, x.status, x.text, a.Body)
		}
	}
	if a := w.Get(c, "/api/v1/nothing"); a.Status != 404 || a.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("the API answers %d with %q", a.Status, a.Header.Get("Content-Type"))
	}
}

var assetLinks = regexp.MustCompile(`(?:href|src)="(/assets/[^"]*)"`)

func headers(t *testing.T, w *webtest.Still) {
	c := w.Client()
	a := w.Get(c, "/", "Accept-Encoding", "zstd")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Content-Encoding": "zstd", "Cache-Control": "private, no-cache",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
			"form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	page := w.Get(c, "/").Body
	if strings.Contains(page, "style=") || strings.Contains(page, "<script>") {
		t.Error("the page has styles or scripts in it")
	}
	links := assetLinks.FindAllStringSubmatch(page, -1)
	if len(links) < 3 {
		t.Fatalf("the page has the files %q", links)
	}
	board := regexp.MustCompile(`^/assets/\w+/`).FindString(links[0][1]) + "board/scene.js"
	for _, link := range append(links, []string{"", board}) {
		for _, encoding := range []string{"", "gzip", "zstd"} {
			a := w.Get(c, link[1], "Accept-Encoding", encoding)
			if a.Status != http.StatusOK || a.Header.Get("Content-Encoding") != encoding || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s in %q: %d %v", link[1], encoding, a.Status, a.Header)
			}
		}
	}
}

func languages(t *testing.T, w *webtest.Still) {
	c := w.Client()
	for _, x := range []struct{ accept, lang string }{
		{"", "en"}, {"de", "en"}, {"ca", "ca"}, {"es-AR, en;q=0.5", "es"}, {"fr, ca;q=0.9, es;q=0.8", "ca"}, {";;;", "en"},
	} {
		if a := w.Get(c, "/sign-in", "Accept-Language", x.accept); !strings.Contains(a.Body, `<html lang="`+x.lang+`"`) {
			t.Errorf("%q does not give %s", x.accept, x.lang)
		}
	}
	a := w.Get(c, "/ladders/brisca?q=x&lang=es")
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/ladders/brisca?q=x" {
		t.Errorf("the switch answers %d to %q", a.Status, a.Header.Get("Location"))
	}
	if a := w.Get(c, "/", "Accept-Language", "ca"); !strings.Contains(a.Body, `<html lang="es"`) {
		t.Error("the choice is not kept")
	}
	if a := w.Get(c, "//evil.example/?lang=es"); strings.HasPrefix(a.Header.Get("Location"), "//") {
		t.Errorf("the switch leads to %q", a.Header.Get("Location"))
	}
}

// Signing in needs a valid token and a form of this site in this session.
func sessions(t *testing.T, w *webtest.Still) {
	c := w.Client()
	csrf := w.CSRF(w.Get(c, "/sign-in?next=/ladders/brisca").Body)
	form := func(csrf, token, next string) string {
		return url.Values{"csrf": {csrf}, "token": {token}, "next": {next}}.Encode()
	}
	for _, x := range []struct {
		name, form string
		headers    []string
		status     int
	}{
		{"no token of a form", form("", w.AdaToken, "/"), nil, 403},
		{"that of another session", form(w.CSRF(w.Get(w.Client(), "/sign-in").Body), w.AdaToken, "/"), nil, 403},
		{"another site", form(csrf, w.AdaToken, "/"), []string{"Origin", "https://evil.example"}, 403},
		{"another site, as browsers say", form(csrf, w.AdaToken, "/"), []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"no token", form(csrf, "", "/"), nil, 401},
		{"a wrong token", form(csrf, "timba_wrong", "/"), nil, 401},
		{"too large", form(csrf, strings.Repeat("x", 70<<10), "/"), nil, 413},
	} {
		if a := w.Post(c, "/sign-in", x.form, x.headers...); a.Status != x.status {
			t.Errorf("%s: status %d, want %d", x.name, a.Status, x.status)
		}
	}
	a := w.Post(c, "/sign-in", form(csrf, w.AdaToken, "//evil.example/"))
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/" {
		t.Fatalf("sign-in answers %d to %q", a.Status, a.Header.Get("Location"))
	}
	set := a.Header.Get("Set-Cookie")
	for _, word := range []string{"timba_session=", "HttpOnly", "SameSite=Lax"} {
		if !strings.Contains(set, word) {
			t.Errorf("the cookie %q lacks %s", set, word)
		}
	}
	page := w.Get(c, "/").Body
	if !strings.Contains(page, `<a href="/account">ada</a>`) {
		t.Fatal("nobody is signed in")
	}
	if a := w.Post(c, "/sign-out", form(csrf, "", "")); a.Status != http.StatusForbidden {
		t.Errorf("the form of an earlier session signs out: %d", a.Status)
	}
	if a := w.Post(c, "/sign-out", form(w.CSRF(page), "", "")); a.Status != http.StatusSeeOther {
		t.Errorf("sign-out answers %d", a.Status)
	}
	if page := w.Get(c, "/").Body; !strings.Contains(page, "/sign-in?next=") {
		t.Error("somebody is still signed in")
	}
}
