package site_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/webtest"
)

var botNames = regexp.MustCompile(`<a class="bot[^"]*" href="[^"]*" title="([^"]*)">`)

func bots(page string) (names []string) {
	for _, m := range botNames.FindAllStringSubmatch(page, -1) {
		names = append(names, m[1])
	}
	return names
}

// Pages answer as they should without a browser, all on one server.
func TestSite(t *testing.T) {
	t.Parallel()
	w := webtest.NewStaticWorld(t, nil)
	w.PlayEach(2)
	t.Run("standings", func(t *testing.T) { checkStandings(t, w) })
	t.Run("problems", func(t *testing.T) { checkProblems(t, w) })
	t.Run("headers", func(t *testing.T) { headers(t, w) })
	t.Run("languages", func(t *testing.T) { languages(t, w) })
	t.Run("sessions", func(t *testing.T) { checkSessions(t, w) })
}

// checkStandings checks that sorting and filters need no script, and that an address determines what the page
// shows.
func checkStandings(t *testing.T, w *webtest.StaticWorld) {
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

// checkProblems checks that errors have a page with the text that the API has.
func checkProblems(t *testing.T, w *webtest.StaticWorld) {
	c := w.Client()
	for _, x := range []struct {
		path   string
		status int
		text   string
	}{
		{"/nothing", 404, `&#34;/nothing&#34; does not exist`},
		{"/ladders/chess", 404, `ladder &#34;chess&#34; does not exist<br><span class="soft">the page of the ladders lists them`},
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

func headers(t *testing.T, w *webtest.StaticWorld) {
	c := w.Client()
	a := w.Get(c, "/", "Accept-Encoding", "zstd")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Content-Encoding": "zstd", "Cache-Control": "private, no-cache",
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
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

func languages(t *testing.T, w *webtest.StaticWorld) {
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

// checkSessions checks that signing in needs a valid token, and that signing out ends the session in the store.
func checkSessions(t *testing.T, w *webtest.StaticWorld) {
	c := w.Client()
	form := func(token, next string) string {
		return url.Values{"token": {token}, "next": {next}}.Encode()
	}
	for _, x := range []struct {
		name, form string
		status     int
	}{
		{"no token", form("", "/"), 401},
		{"a wrong token", form("timba_wrong", "/"), 401},
		{"too large", form(strings.Repeat("x", 70<<10), "/"), 413},
	} {
		if a := w.Post(c, "/sign-in", x.form); a.Status != x.status || a.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: status %d, want %d, cookie %q", x.name, a.Status, x.status, a.Header.Get("Set-Cookie"))
		}
	}
	a := w.Post(c, "/sign-in", form(w.AdaToken, "//evil.example/"))
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/" {
		t.Fatalf("sign-in answers %d to %q", a.Status, a.Header.Get("Location"))
	}
	set := a.Header.Get("Set-Cookie")
	for _, word := range []string{"timba_session=session_", "HttpOnly", "SameSite=Lax"} {
		if !strings.Contains(set, word) {
			t.Errorf("the cookie %q lacks %s", set, word)
		}
	}
	if strings.Contains(set, w.AdaToken) {
		t.Error("the cookie has the token")
	}
	cookie, _, _ := strings.Cut(set, ";")
	if page := w.Get(c, "/").Body; !strings.Contains(page, `<a href="/account">ada</a>`) {
		t.Fatal("nobody is signed in")
	}
	if a := w.Post(c, "/sign-out", ""); a.Status != http.StatusSeeOther {
		t.Errorf("sign-out answers %d", a.Status)
	}
	for _, headers := range [][]string{nil, {"Cookie", cookie}} {
		if page := w.Get(c, "/", headers...).Body; !strings.Contains(page, "/sign-in?next=") {
			t.Errorf("somebody is still signed in, with %q", headers)
		}
	}
}

// The account page lists a person's sessions, and can end one of them or all others. The page of tokens says what
// ends with one, and cannot revoke the last.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := webtest.NewStaticWorld(t, nil)
	all, bob := w.NewToken(w.Ada, ladder.ScopeAll), w.Ladder.AddPerson("bob", false)
	browsers := map[string]*http.Client{}
	for name, token := range map[string]string{"here": all, "second": all, "third": all, "reading": w.NewToken(w.Ada, ladder.ScopeRead), "bob": w.NewToken(bob, ladder.ScopeAll)} {
		browsers[name] = w.Client()
		w.SignIn(browsers[name], token)
	}
	account := func(name string) string { return w.Get(browsers[name], "/account").Body }
	id := func(name string) string {
		t.Helper()
		at := regexp.MustCompile(`name="id" value="(\d+)"`)
		own := at.FindAllStringSubmatch(account("here"), -1)
		others := at.FindAllString(account(name), -1)
		for _, m := range own { // each page has all but its own
			if !slices.Contains(others, m[0]) {
				return m[1]
			}
		}
		t.Fatalf("the session of %s is not found: %s", name, account("here"))
		return ""
	}
	if page := account("here"); strings.Count(page, `action="/account/sessions/end"`) != 3 || strings.Count(page, "this session") != 1 || !strings.Contains(page, "End all others") {
		t.Errorf("the account has %s", page)
	}
	if page := account("reading"); strings.Contains(page, "/account/sessions/") || strings.Count(page, "this session") != 1 {
		t.Errorf("that of a token to read has %s", page)
	}
	second := id("second")
	for _, x := range []struct {
		name, path, form string
		status           int
	}{
		{"reading", "/account/sessions/end", "id=" + second, 403},
		{"reading", "/account/sessions/end-others", "", 403},
		{"bob", "/account/sessions/end", "id=" + second, 404},
		{"bob", "/account/sessions/end-others", "", 303},
		{"here", "/account/sessions/end", "id=x", 400},
		{"here", "/account/sessions/end", "id=" + second, 303},
		{"here", "/account/sessions/end", "id=" + second, 404},
	} {
		if a := w.Post(browsers[x.name], x.path, x.form); a.Status != x.status {
			t.Errorf("%s: POST %s %s: %d", x.name, x.path, x.form, a.Status)
		}
	}
	signedIn := func(want ...string) {
		t.Helper()
		for name, c := range browsers {
			if a := w.Get(c, "/account"); (a.Status == http.StatusOK) != slices.Contains(want, name) {
				t.Errorf("the account of %s answers %d", name, a.Status)
			}
		}
	}
	signedIn("here", "third", "reading", "bob")
	w.Post(browsers["here"], "/account/sessions/end-others", "")
	signedIn("here", "bob")
	here := regexp.MustCompile(`this session(?s:.*?)(?:name="id" value="(\d+)"|the only token)(?s:.*?)</details>`)
	spare := w.NewToken(w.Ada, ladder.ScopeAll)
	row := here.FindStringSubmatch(w.Get(browsers["here"], "/account/tokens").Body)
	for _, text := range []string{"The browser session that began with it ends.", "You are signed out here"} {
		if !strings.Contains(row[0], text) {
			t.Errorf("before the token is revoked, the page does not say %q: %s", text, row[0])
		}
	}
	w.Post(browsers["here"], "/account/tokens/revoke", "id="+row[1]) // it ends this session
	signedIn("bob")
	w.SignIn(browsers["here"], spare)
	if row := here.FindStringSubmatch(w.Get(browsers["here"], "/account/tokens").Body); row == nil || row[1] != "" {
		t.Errorf("the only token can be revoked: %q", row)
	}
}
