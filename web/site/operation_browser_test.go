package site_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/site"
	"github.com/timba-arena/timba/web/webtest"
)

// An admin sees on the page for operators how the server is, what waits and what has failed, each with its reason.
// From there the admin bans a bot, whose owner is told why and cannot bring it back, and blocks a person after a
// question.
func TestOperationInBrowser(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, func(o *site.Options) {
		o.Status = func() site.ServerStatus {
			return site.ServerStatus{Failure: errors.New("no space left on device"), Sandbox: sandbox.LevelReduced, FreeBytes: 30 << 30, DiskBytes: 300 << 30}
		}
	})
	addLola(s)
	s.MakeLive("copy", store.BuildInfo{Language: "Go"})
	s.Ladder.Submit(s.Ada.ID, "waits", webtest.Hash)
	failed := s.Ladder.Submit(s.Ada.ID, "broken", webtest.Hash)
	s.Must(s.Store.Versions.Fail(t.Context(), failed.ID, phrase.Plain("build: the compiler is missing")))
	m, _ := s.LastFinished("tebes-4")
	_, err := s.Store.Versions.Suspend(t.Context(), m.Versions[0], m.ID, phrase.Plain("KeyError"))
	s.Must(err)
	states := matchStates(s)
	admin := s.NewToken(s.Ladder.AddPerson("root", true), ladder.ScopeAll)

	b := webtest.Open(t, webtest.Start(t), s.URL+"/sign-in?next=/account")
	webtest.Eval[bool](b, `(document.querySelector('#token, [name=token]').value = '`+admin+`', true)`)
	b.Click(`main form button`)
	b.Click(`nav.tabs a[href="/account/operation"]`)
	b.Wait(`#failed`)
	page := b.Text("main")
	for _, want := range []string{
		"no space left on device", "30 GiB free of 300 GiB", "nearly full", "REDUCED", "Nothing limits the memory",
		"build: the compiler is missing", "KeyError", "ada is blocked", "waits",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q: %s", want, page)
		}
	}
	if n := b.Count(fmt.Sprintf(`section a[href="%s"]`, states["running"])); n != 1 {
		t.Errorf("the match in progress is listed %d times", n)
	}
	examine(b, s.URL+"/account/operation", "operation")

	if b.Count(`section[aria-labelledby="ladders"] .tag`) != 0 {
		t.Error("a ladder is paused from the start")
	}
	b.Click(`form[action="/ladders/tebes-4/pause"] button`)
	b.Wait(`form[action="/ladders/tebes-4/resume"]`)
	if a := s.Get(s.Client(), "/ladders/tebes-4"); !strings.Contains(a.Body, "This ladder is paused") {
		t.Errorf("the page of a paused ladder says %s", a.Body)
	}
	b.Click(`form[action="/ladders/tebes-4/resume"] button`)
	b.Wait(`form[action="/ladders/tebes-4/pause"]`)
	if a := s.Get(s.Client(), "/ladders/tebes-4"); strings.Contains(a.Body, "This ladder is paused") {
		t.Error("the page of a resumed ladder says that it is paused")
	}

	announce := func(text string) {
		webtest.Eval[bool](b, `(document.querySelector('#text').value = `+fmt.Sprintf("%q", text)+`, true)`)
		b.Click(`form[action$="/announcement"] button`)
	}
	announce(`<b>Maintenance</b>   on Friday & Saturday`)
	b.Wait(`.announcement`)
	if text := b.Text(`.announcement`); text != "<b>Maintenance</b> on Friday & Saturday" {
		t.Errorf("the announcement is %q", text)
	}
	for _, path := range []string{"/", "/ladders", "/nothing-here", "/sign-in"} {
		if a := s.Get(s.Client(), path); strings.Count(a.Body, "&lt;b&gt;Maintenance&lt;/b&gt; on Friday &amp; Saturday</p>") != 1 {
			t.Errorf("%s does not show the announcement: %s", path, a.Body)
		}
	}
	examine(b, s.URL+"/account/operation", "announcement")
	announce("")
	kit.Until(t, "the end of the announcement", func() bool { return b.Count(`.announcement`) == 0 })
	if a := s.Get(s.Client(), "/"); strings.Contains(a.Body, "Maintenance") {
		t.Error("the announcement is still shown")
	}

	b.Go(s.URL + "/bots/copy")
	b.Click(`details summary:has(+ form[action$="/ban"])`)
	webtest.Eval[bool](b, `(document.querySelector('#reason').value = 'It copies lola.', true)`)
	b.Click(`form[action$="/ban"] button`)
	b.Wait(`form[action$="/unban"]`)
	examine(b, s.URL+"/bots/copy", "bot-banned")
	b.Go(s.URL + "/account/operation")
	if text := b.Text(`section[aria-labelledby="banned"]`); !strings.Contains(text, "copy") || !strings.Contains(text, "It copies lola.") {
		t.Errorf("the banned bots are %q", text)
	}
	owner := s.Client()
	s.SignIn(owner, s.AdaToken)
	if a := s.Get(owner, "/bots/copy"); !strings.Contains(a.Body, "It copies lola.") || strings.Contains(a.Body, "/restore") {
		t.Errorf("the owner sees %s", a.Body)
	}
	if a := s.Post(owner, "/bots/copy/restore", ""); a.Status != 403 || !strings.Contains(a.Body, "It copies lola.") {
		t.Errorf("the owner brings it back: %d %s", a.Status, a.Body)
	}
	if a := s.Get(owner, "/account"); !strings.Contains(a.Body, "An admin has banned copy") {
		t.Errorf("the owner is not told: %s", a.Body)
	}

	b.Go(s.URL + "/account/people?q=ada")
	b.Click(`summary[aria-label="Block ada"]`)
	if text := b.Text(`details[open]`); !strings.Contains(text, "All sessions and tokens of ada end") {
		t.Errorf("before it blocks, the page says %q", text)
	}
	b.Click(`form[action="/account/people/block"] button`)
	b.Wait(`form[action="/account/people/unblock"]`)
	if a := s.Get(owner, "/account"); a.Status == 200 {
		t.Error("a blocked person still sees the account")
	}

	b.Click(`a[href="/people/ada/remove"]`)
	b.Wait(`form[action="/people/ada/remove"]`)
	other := store.RemovedName(s.Ada.ID)
	for _, want := range []string{"passkeys of ada end", "the name " + other + " in place of ada", "copy", "Nobody else can take the name ada"} {
		if text := b.Text("main"); !strings.Contains(text, want) {
			t.Errorf("before it removes, the page does not say %q: %s", want, text)
		}
	}
	examine(b, s.URL+"/people/ada/remove", "removal")
	b.Click(`form[action="/people/ada/remove"] button`)
	b.Wait(`.notice`)
	if text := b.Text("main"); !strings.Contains(text, other) || !strings.Contains(text, "removed this person") || !strings.Contains(text, "copy") {
		t.Errorf("the page of a removed person says %q", text)
	}
	examine(b, s.URL+"/people/"+other, "person-removed")
	b.RequireQuiet()
	if a := s.Get(s.Client(), "/people/ada"); a.Status != 404 {
		t.Errorf("the page of ada: status %d", a.Status)
	}
	if a := s.Get(s.Client(), "/bots/copy"); strings.Contains(a.Body, "/people/ada") || !strings.Contains(a.Body, other) {
		t.Errorf("the page of the bot: %s", a.Body)
	}
	b.Go(s.URL + "/account/people?q=" + other)
	if b.Count(`form[action="/account/people/unblock"]`) != 0 || b.Count(`a[href$="/remove"]`) != 0 {
		t.Error("a removed person can be unblocked or removed again")
	}
}
