package site_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// newForgetfulWorld serves a competition, and returns a function that moves the clock of the site.
func newForgetfulWorld(t *testing.T) (*webtest.StaticWorld, func(time.Duration)) {
	var late atomic.Int64
	s := webtest.NewStaticWorld(t, func(o *site.Options) {
		o.Middleware.Service.Now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	})
	return s, func(d time.Duration) { late.Add(int64(d)) }
}

var tokenText = regexp.MustCompile(`value="(timba_\w+)"`)

// A form that is sent twice makes one thing, and the session that has made it sees its secret for ten minutes.
func TestFormSentTwice(t *testing.T) {
	t.Parallel()
	s, skip := newForgetfulWorld(t)
	admin := s.Ladder.AddPerson("root", true)
	token := s.NewToken(admin, ladder.ScopeAll)
	c, other := s.Client(), s.Client()
	s.SignIn(c, token)
	s.SignIn(other, token)
	count := func() int { return len(kit.Get[[]ladder.Token](t)(s.Store.Sessions.Tokens(t.Context(), admin.ID))) }
	before := count()
	for _, form := range []string{"once=a&label=x&scope=read&days=", "once=a&label=x&scope=read&days=", "once=a&label=y&scope=read&days=", "once=b&label=y&scope=read&days="} {
		if a := s.Post(c, "/account/tokens", form); a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/account/tokens" {
			t.Errorf("%s: it answers %d: %s", form, a.Status, a.Body)
		}
	}
	if n := count() - before; n != 3 {
		t.Errorf("%d tokens are made, want 3", n)
	}
	// A form that was refused may be sent again.
	for range 2 {
		if a := s.Post(c, "/account/tokens", "once=c&label=x&scope=none&days="); a.Status != http.StatusBadRequest {
			t.Errorf("a wrong scope answers %d", a.Status)
		}
	}
	shown := func(c *http.Client, path string) []string { return tokenText.FindAllString(s.Get(c, path).Body, -1) }
	if n := len(shown(c, "/account/tokens")); n != 3 {
		t.Errorf("%d tokens are shown, want 3", n)
	}
	if n := len(shown(other, "/account/tokens")); n != 0 {
		t.Errorf("another session sees %d tokens", n)
	}
	skip(9 * time.Minute)
	if n := len(shown(c, "/account/tokens")); n != 3 {
		t.Errorf("after nine minutes %d tokens are shown, want 3", n)
	}
	skip(2 * time.Minute)
	if n := len(shown(c, "/account/tokens")); n != 0 {
		t.Errorf("after eleven minutes %d tokens are shown", n)
	}
	if s.Post(c, "/account/tokens", "once=a&label=x&scope=read&days="); count()-before != 4 {
		t.Error("after eleven minutes the same form makes nothing")
	}
}

// A click twice on the button that revokes an invite or ends a session is no error.
func TestRevokedTwice(t *testing.T) {
	t.Parallel()
	s, _ := newForgetfulWorld(t)
	token := s.NewToken(s.Ladder.AddPerson("root", true), ladder.ScopeAll)
	c, other := s.Client(), s.Client()
	s.SignIn(c, token)
	s.SignIn(other, token)
	_, _, err := s.Store.People.AddInvite(t.Context(), 0, "", time.Time{})
	s.Must(err)
	for page, action := range map[string]string{"/account/invites": "/account/invites/revoke", "/account": "/account/sessions/end"} {
		form := regexp.MustCompile(`action="` + action + `"><input type="hidden" name="once" value="(\w+)"><input type="hidden" name="id" value="(\d+)"`)
		m := form.FindStringSubmatch(s.Get(c, page).Body)
		if m == nil {
			t.Errorf("%s: the form may not be sent twice", page)
			continue
		}
		for range 2 {
			if a := s.Post(c, action, "once="+m[1]+"&id="+m[2]); a.Status != http.StatusSeeOther {
				t.Errorf("%s: it answers %d: %s", action, a.Status, a.Body)
			}
		}
	}
	if a := s.Post(s.Client(), "/account/sessions/end", "id=1"); a.Status != http.StatusUnauthorized || !strings.Contains(a.Body, `class="button" href="/sign-in">Sign in</a>`) {
		t.Errorf("who is not signed in is answered with %d: %s", a.Status, a.Body)
	}
}

// Two requests that open the same account at the same time get the same session.
func TestJoinedTwice(t *testing.T) {
	t.Parallel()
	s, _ := newForgetfulWorld(t)
	code, _, err := s.Store.People.AddInvite(t.Context(), 0, "", time.Time{})
	s.Must(err)
	answers := make([]webtest.Answer, 5)
	var group sync.WaitGroup
	for i := range answers {
		group.Go(func() { answers[i] = s.Post(s.Client(), "/join", "once=a&name=anna&code="+code) })
	}
	group.Wait()
	for _, a := range answers {
		if a.Status != http.StatusSeeOther || a.Header.Get("Set-Cookie") != answers[0].Header.Get("Set-Cookie") || !strings.HasPrefix(a.Header.Get("Set-Cookie"), "timba_session=") {
			t.Errorf("it answers %d, cookie %q: %s", a.Status, a.Header.Get("Set-Cookie"), a.Body)
		}
	}
}

// A person who clicks twice on the button that opens the account sees the token. The server gets both forms before it
// answers one of them.
func TestDoubleClick(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	var clicked atomic.Bool
	first, second := make(chan bool), make(chan bool)
	s := webtest.NewStaticWorld(t, func(o *site.Options) {
		var calls atomic.Int64
		o.Middleware.Service.Now = func() time.Time {
			if clicked.Load() { // the site asks for the time when a form arrives
				switch calls.Add(1) {
				case 1:
					close(first)
					<-second
				case 2:
					close(second)
				}
			}
			return time.Now()
		}
	})
	code, _, err := s.Store.People.AddInvite(t.Context(), 0, "", time.Time{})
	s.Must(err)
	b := webtest.Open(t, in, s.URL+"/join#"+code)
	awaitSelector(b, "#name:focus")
	fill(b, "#name", "anna")
	type point struct{ X, Y float64 }
	at := webtest.Eval[point](b, `(() => {
		const box = document.querySelector('form[action="/join"] button').getBoundingClientRect();
		return { X: box.left + box.width / 2, Y: box.top + box.height / 2 };
	})()`)
	clicked.Store(true)
	for n := range int64(2) {
		for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
			webtest.Call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y, Button: input.MouseButtonLeft, ClickCount: n + 1})
		}
		<-first
	}
	awaitSelector(b, "#key")
	token := webtest.Eval[string](b, "document.getElementById('key').value")
	if p, _, err := s.Store.Sessions.Authenticate(t.Context(), token); err != nil || p.Name != "anna" {
		t.Errorf("the token %q is that of %q: %v", token, p.Name, err)
	}
	b.Go(s.URL + "/join")
	if again := webtest.Eval[string](b, "document.getElementById('key').value"); again != token {
		t.Errorf("later the page shows %q, want %q", again, token)
	}
	b.RequireQuiet()
}
