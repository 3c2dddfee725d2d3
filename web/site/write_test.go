package site_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/tryout"
	"github.com/timba-arena/timba/web/webtest"
)

// The server refuses invalid forms of the editor with a reason. A test of a failing bot shows why it failed,
// and tests of other people do not exist.
func TestEditorRefused(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	c, other := w.Client(), w.Client()
	w.SignIn(c, w.Token)
	w.SignIn(other, register(t, w, "bert"))
	send := func(path string, fields ...string) webtest.Answer {
		kind, body := multipartForm(t, nil, fields...)
		return w.Post(c, path, body, "Content-Type", kind)
	}
	fields := func(game, language, text, against string) []string {
		return []string{"game", game, "language", language, "text", text, "against", against, "bot", against}
	}
	for _, x := range []struct {
		path   string
		fields []string
		status int
		text   string
	}{
		{"/write/tests", fields("chess", "python", "x", "@random"), 400, "chess"},
		{"/write/tests", fields("brisca", "cobol", "x", "@random"), 400, "cobol"},
		{"/write/tests", fields("brisca", "python", "x", "nobody"), 404, "nobody"},
		{"/write/tests", fields("brisca", "python", strings.Repeat("x", tryout.MaxText+1), "@random"), 413, "256 KiB"},
		{"/write/tests", fields("brisca", "python", strings.Repeat("x", 1<<20), "@random"), 413, "256 KiB"},
		{"/write/tests", []string{"game"}, 400, ""},
		{"/write", fields("brisca", "python", "x", ""), 400, "needs a name"},
		{"/write", fields("brisca", "python", "x", "<b>"), 400, "the name of a bot cannot be"},
		{"/write", fields("brisca", "python", "", "mine"), 400, "is empty"},
		{"/write/tests/nothing/cancel", nil, 404, "does not exist"},
	} {
		if a := send(x.path, x.fields...); a.Status != x.status || !strings.Contains(a.Body, x.text) || !strings.Contains(a.Body, `role="alert"`) || strings.Contains(a.Body, "<html") {
			t.Errorf("%s %.60q: status %d, want %d with %q: %.1000s", x.path, x.fields, a.Status, x.status, x.text, a.Body)
		}
	}
	if a := w.Get(c, "/write/cobol"); a.Status != http.StatusNotFound {
		t.Errorf("an unknown starter: %d", a.Status)
	}

	a := send("/write/tests", fields("brisca", "c", "int main(void) { return <b>; }", "@random")...)
	path := a.Header.Get("Location")
	if a.Status != http.StatusSeeOther || !strings.HasPrefix(path, "/write/tests/") {
		t.Fatalf("a test: %d: %.1000s", a.Status, a.Body)
	}
	kit.Until(t, "the test is over", func() bool {
		a = w.Get(c, path)
		return strings.Contains(a.Body, `data-done="true"`)
	})
	if !strings.Contains(a.Body, `class="headline">cc: exit status 1; it says`) || !strings.Contains(a.Body, `data-line="1"`) || !strings.Contains(a.Body, "return &lt;b&gt;") {
		t.Errorf("a bot that does not compile: %s", a.Body)
	}
	for _, x := range []struct {
		c    *http.Client
		path string
	}{{other, path}, {other, path + "/games/1"}, {c, path + "/games/1"}} {
		if a := w.Get(x.c, x.path); a.Status != http.StatusNotFound {
			t.Errorf("%s: status %d", x.path, a.Status)
		}
	}

	// A test of a bot that fails in the same way in two games ends, and shows the cause, the fault and its standard error.
	path = send("/write/tests", fields("brisca", "python", "raise ValueError('of anna')", "@random")...).Header.Get("Location")
	kit.Until(t, "the test is over", func() bool {
		a = w.Get(c, path)
		return strings.Contains(a.Body, `data-done="true"`)
	})
	if !strings.Contains(a.Body, "the bot did not start: ValueError: of anna, line 1<br> <b>0 won, 0 drawn, 2 lost") || !strings.Contains(a.Body, `data-line="1"`) || !strings.Contains(a.Body, "1 fault<") {
		t.Errorf("a bot that fails: %s", a.Body)
	}
	if a = w.Get(c, path+"/games/1"); !strings.Contains(a.Body, "ValueError: of anna") || !strings.Contains(a.Body, "faultnote") {
		t.Errorf("its game: %d: %.3000s", a.Status, a.Body)
	}
}

// A module's request without a session gets an answer that fits into its page, instead of a redirect to
// another page.
func TestSignedOutModules(t *testing.T) {
	t.Parallel()
	w := webtest.New(t, webtest.Calm, 0)
	for _, x := range []struct{ method, path string }{
		{"GET", "/write/tests/x?change=1"}, {"GET", "/write/tests/x/games/1"}, {"GET", "/submissions/1/progress?tag=x"},
		{"POST", "/write"}, {"POST", "/write/tests"}, {"POST", "/write/tests/x/cancel"},
	} {
		a := webtest.Answer{}
		if x.method == "GET" {
			a = w.Get(w.Client(), x.path)
		} else {
			a = w.Post(w.Client(), x.path, "")
		}
		part := strings.Contains(a.Body, `role="alert"`) && strings.Contains(a.Body, `href="/sign-in?next=/write"`)
		if a.Status != http.StatusUnauthorized || !part || strings.Contains(a.Body, "<html") {
			t.Errorf("%s %s: status %d: %.300s", x.method, x.path, a.Status, a.Body)
		}
	}
}
