package site_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/client"
	"github.com/timba-arena/timba/web/webtest"
	"github.com/timba-arena/timba/web/wire"
)

// awaitSelector waits until a selector matches on the page, possibly on a later one.
func awaitSelector(b *webtest.Tab, selector string) {
	b.T.Helper()
	b.Run(chromedp.WaitReady(chromedp.CSS(selector)))
}

func fill(b *webtest.Tab, selector, text string) {
	b.T.Helper()
	b.Run(chromedp.SendKeys(chromedp.CSS(selector), text))
}

func signIn(b *webtest.Tab, w *webtest.World, token string) {
	b.T.Helper()
	b.Go(w.URL + "/sign-in?next=/account")
	fill(b, "#token", token)
	b.Click("form.stack button")
	awaitSelector(b, ".tabs")
}

// From invite to standings: an admin creates an invite, a person joins with it, signs in, uploads a bot and
// sees its stages to the end.
func TestTheWholeWay(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, webtest.Calm, "/")
	signIn(b, w, w.Token)
	b.Click(`.tabs a[href="/account/invites"]`)
	awaitSelector(b, `form[action="/account/invites"]`)
	b.Click(`form[action="/account/invites"] button`)
	awaitSelector(b, "#link0")
	link := webtest.Eval[string](b, "document.getElementById('link0').value")
	b.Click(`form[action="/sign-out"] button`)
	awaitSelector(b, `.who > a[href^="/sign-in"]`)

	b.Go(link)
	awaitSelector(b, "#code:focus, #name:focus") // the module has taken the code from the address
	if at := webtest.Eval[string](b, "location.href"); at != w.URL+"/join" {
		t.Errorf("the address still has %q", at)
	}
	fill(b, "#name", "anna")
	b.Click("form.stack button")
	awaitSelector(b, `[data-copy="key"]:not([hidden])`)
	token := webtest.Eval[string](b, "document.getElementById('key').value")
	if !strings.HasPrefix(token, "timba_") {
		t.Fatalf("the token is %q", token)
	}
	b.Click(`[data-copy="key"]`)
	awaitSelector(b, `[data-copied="key"]:not(.hidden)`)
	b.Click(`form[action="/sign-in"] button:not([type="button"])`)
	awaitSelector(b, "#archive")

	file := filepath.Join(t.TempDir(), "mybot.tar.gz")
	w.Must(os.WriteFile(file, w.Archive(starter(t, "python")), 0o600))
	b.Run(chromedp.SetUploadFiles(chromedp.CSS("#archive"), []string{file}))
	fill(b, "#bot", "annas-bot")
	b.Click(".upload button")
	awaitSelector(b, "#progress .now")
	was := webtest.Eval[bool](b, "window.before = true, document.querySelector('.now').dataset.done === 'true'")
	awaitSelector(b, `.now[data-done="true"]`)
	if !webtest.Eval[bool](b, "window.before") {
		t.Error("the page was loaded anew")
	}
	if n := b.Count(".step.ok"); n != 4 || b.Count(".headline .win") != 1 {
		t.Fatalf("%d of 4 stages are passed: %s", n, b.Text("#progress"))
	}
	asked := 0
	for _, url := range b.Requests() {
		if strings.Contains(url, "/progress?tag=") {
			asked++
		}
		if strings.Contains(url, token) || strings.Contains(url, strings.Split(link, "#")[1]) && !strings.Contains(url, "#") {
			t.Errorf("a request has a secret in its address: %s", url)
		}
	}
	if asked == 0 && !was {
		t.Error("the page did not ask for the stages")
	}
	b.Click(`#progress a[href="/ladders/brisca"]`)
	awaitSelector(b, `.standings a[href="/bots/annas-bot"]`)
	b.Go(w.URL + "/account")
	awaitSelector(b, `a[href="/bots/annas-bot"]`)
	b.RequireQuiet()
	if log := w.Log(); !strings.Contains(log, "path=/submit") || strings.Contains(log, token) || strings.Contains(log, strings.Split(link, "#")[1]) {
		t.Errorf("the log has a secret, or no requests:\n%s", log)
	}
}

// inEditor returns the value of an expression in which the name editor is the content of the editor.
func inEditor[T any](b *webtest.Tab, expression string) T {
	b.T.Helper()
	return webtest.Eval[T](b, "(() => { const editor = document.getElementById('editor').shadowRoot.querySelector('.cm-content'); return "+expression+"; })()")
}

// A person writes a bot in the browser: the editor keeps the text until the person is signed in, Tab leaves the
// editor after Escape, a test shows games and standard error, and the submitted bot gets on the standings.
func TestFromIdeaToLadder(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, webtest.Calm, 0)
	c := kit.Get[*client.Client](t)(client.New(w.URL, w.Token))
	invite := kit.Get[wire.MadeInvite](t)(c.AddInvite(t.Context(), wire.NewInvite{}))
	b := webtest.Open(t, in, w.URL+"/")
	b.Look(1280, 900, false)
	b.Click(`.hero a[href="/write"]`)
	awaitSelector(b, "#editor[data-shown]")
	if text := inEditor[string](b, "editor.textContent"); !strings.Contains(text, "import sys") || !strings.Contains(text, "my-bot") {
		t.Fatalf("the editor begins with %.300q", text)
	}
	inEditor[bool](b, "(editor.focus(), true)")
	webtest.Call(b, input.InsertText, input.InsertTextParams{Text: "import sys; print('anna thinks', file=sys.stderr)\n"})
	b.Press(kb.Tab)
	if at := webtest.Eval[string](b, "document.activeElement.id"); at != "editor" {
		t.Errorf("Tab has left the editor for %q", at)
	}
	b.Run(chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(8))) // Shift takes the indent back
	b.Press(kb.Escape, kb.Tab)
	if webtest.Eval[string](b, "document.activeElement.id") == "editor" {
		t.Error("Escape and Tab have not left the editor")
	}
	b.RequireAccessible()
	b.Picture(*screens, "write-guest")
	b.Run(chromedp.SetValue(chromedp.CSS("#language"), "bash"))
	webtest.Eval[bool](b, "document.getElementById('language').dispatchEvent(new Event('change'))")
	awaitSelector(b, `#editor[data-shown$=".bash"]`)
	if text := inEditor[string](b, "editor.textContent"); strings.Contains(text, "anna thinks") {
		t.Error("the text of one language is that of another")
	}
	b.Go(w.URL + "/join#" + invite.Code)
	awaitSelector(b, "#code:focus, #name:focus")
	fill(b, "#name", "anna")
	b.Click("form.stack button")
	awaitSelector(b, `#key`)
	b.Click(`form[action="/sign-in"] button:not([type="button"])`)
	awaitSelector(b, `main a[href="/write"]`)
	b.Click(`main a[href="/write"]`)
	awaitSelector(b, `#editor[data-shown$=".bash"]`) // the editor is as before
	b.Go(w.URL + "/write?game=brisca&language=python")
	awaitSelector(b, `#editor[data-shown$=".python"]`)
	if text := inEditor[string](b, "editor.textContent"); !strings.Contains(text, "anna thinks") {
		t.Fatalf("the text is lost: %.300q", text)
	}

	b.Click("#test button")
	awaitSelector(b, `#tryout .now[data-done="true"]`)
	if n := b.Count(".tries button"); n != 10 || !strings.Contains(b.Text(".headline"), "All games are played") {
		t.Fatalf("%d games: %s", n, b.Text("#tryout"))
	}
	awaitSelector(b, ".shown .player svg")
	if look := webtest.Eval[string](b, "getComputedStyle(document.querySelector('.player .layout')).display"); look != "grid" {
		t.Errorf("the replay has no style: %s", look)
	}
	if text := b.Text(".shown pre"); !strings.Contains(text, "anna thinks") {
		t.Errorf("stderr is %q", text)
	}
	inEditor[bool](b, "(editor.focus(), true)")
	for _, key := range []string{" ", "f", "m", "o", "0"} { // the player handles these keys, too
		// A single event, so that the text is not typed if the page handles the key; Press sends the text separately.
		webtest.Call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kb.KeyDown, Key: key, Text: key})
	}
	if text := inEditor[string](b, "editor.textContent"); !strings.HasPrefix(text, " fmo0") {
		t.Errorf("beside a replay the editor does not take these keys: %.60q", text)
	}
	b.Press(kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace, kb.Backspace)
	webtest.Eval[bool](b, "(window.former = document.querySelector('.shown .player'), true)")
	b.Click(`.tries li:nth-child(3) button`)
	awaitSelector(b, `.tries li:nth-child(3) [aria-pressed="true"]`)
	awaitSelector(b, ".shown .player svg")
	was := webtest.Eval[string](b, "former.dataset.ply")
	b.Press(kb.End)
	if ply := b.Attribute(".shown .player", "data-ply"); ply != "40" {
		t.Errorf("End leads to ply %s", ply)
	}
	if ply := webtest.Eval[string](b, "former.dataset.ply"); ply != was {
		t.Errorf("a player that another one has replaced goes from ply %s to %s", was, ply)
	}
	b.Click(`.tries li:nth-child(4) button`)
	awaitSelector(b, `.tries li:nth-child(4) [aria-pressed="true"]`)
	awaitSelector(b, ".shown .player svg")
	if ply := b.Attribute(".shown .player", "data-ply"); ply != "0" {
		t.Errorf("the next game begins with ply %s", ply)
	}
	b.RequireAccessible()
	b.Picture(*screens, "write-desk-light")
	b.Look(390, 844, true)
	b.RequireAccessible()
	if wide := webtest.Eval[int64](b, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("on a phone the page is %d wide: %s", wide, webtest.Eval[string](b, "[...document.querySelectorAll('main *')].filter((e) => e.getBoundingClientRect().right > 391).map((e) => e.tagName + '.' + e.getAttribute('class')).join(' ')"))
	}
	b.Picture(*screens, "write-phone-dark")
	b.Look(1280, 900, false)

	fill(b, "#bot", "no such name")
	b.Click("#submit button")
	awaitSelector(b, "#refused .notice")
	b.ClearConsole() // of the status 400
	webtest.Eval[bool](b, "(document.getElementById('bot').value = '', true)")
	fill(b, "#bot", "annas-idea")
	b.Click("#submit button")
	awaitSelector(b, `.now[data-done="true"] .step`)
	if n := b.Count(".step.ok"); n != 4 {
		t.Fatalf("%d of 4 stages are passed: %s", n, b.Text("#progress"))
	}
	b.Click(`#progress a[href="/ladders/brisca"]`)
	awaitSelector(b, `.standings a[href="/bots/annas-idea"]`)
	b.RequireQuiet()
}

// The form refuses a file that is too large before it is sent, and accepts a file that is dropped.
func TestUploadForm(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, strings.Replace(webtest.Calm, "[limits]", "[limits]\nupload = \"1m\"", 1), "/")
	signIn(b, w, w.Token)
	b.Go(w.URL + "/submit")
	large := filepath.Join(t.TempDir(), "large.zip")
	w.Must(os.WriteFile(large, make([]byte, 2<<20), 0o600))
	b.Run(chromedp.SetUploadFiles(chromedp.CSS("#archive"), []string{large}))
	awaitSelector(b, ".upload .notice:not([hidden])")
	if text := b.Text(".upload .notice"); !strings.Contains(text, "larger than 1 MiB") {
		t.Errorf("the notice is %q", text)
	}
	b.Click(".upload button")
	if at := webtest.Eval[string](b, "location.pathname + document.querySelector('.upload button').disabled"); at != "/submitfalse" {
		t.Errorf("the form was sent: %s", at)
	}
	webtest.Eval[bool](b, `(() => {
		const files = new DataTransfer();
		files.items.add(new File(['nothing'], 'dropped.zip'));
		document.querySelector('.drop').dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }));
		return true;
	})()`)
	awaitSelector(b, ".upload .notice[hidden]")
	if name := webtest.Eval[string](b, "document.getElementById('archive').files[0].name"); name != "dropped.zip" {
		t.Errorf("the form has the file %q", name)
	}
	b.Click(".upload button")
	awaitSelector(b, ".notice[role=alert] p")
	if text := b.Text(".notice[role=alert]"); !strings.Contains(text, `file "dropped.zip" is no archive`) {
		t.Errorf("the server's notice is %q", text)
	}
	b.ClearConsole() // of the status 400
	b.RequireQuiet()
}

// The pages of members have no errors and are accessible.
func TestMemberPages(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, webtest.Calm, 0)
	register(t, w, "anna")
	c := w.Client()
	w.SignIn(c, w.Token)
	w.Post(c, "/account/tokens", "label=laptop&scope=submit&days=7")
	failed := submitBot(w, c, "broken", w.Archive(brokenBot(t)))
	b := webtest.Open(t, in, w.URL+"/")
	signIn(b, w, w.Token)
	b.Go(w.URL + "/submissions/" + failed)
	awaitSelector(b, `.now[data-done="true"] .step.failed`)
	if text := b.Text(".now .notice"); !strings.Contains(text, `unknown key "rum"`) {
		t.Errorf("the reason is %q", text)
	}
	for _, p := range []struct{ name, path string }{
		{"account", "/account"},
		{"tokens", "/account/tokens"},
		{"invites", "/account/invites"},
		{"people", "/account/people"},
		{"people-none", "/account/people?q=zz"},
		{"submit", "/submit"},
		{"submission-failed", "/submissions/" + failed},
		{"newmatch", "/matches/new?bot=@random"},
	} {
		examine(b, w.URL+p.path, p.name)
	}
	b.Look(1280, 900, false)
	b.Go(w.URL + "/account/people")
	b.Click(`.actions details:has(form[action$="/reset"]) summary`)
	b.Picture(*screens, "people-reset")
	b.Click(`.actions details:has(form[action$="/reset"]) button`)
	awaitSelector(b, ".made #key0")
	if text := b.Text(".made"); !strings.Contains(text, "anna has a new token") || !strings.HasPrefix(webtest.Eval[string](b, "document.getElementById('key0').value"), "timba_") {
		t.Errorf("after the reset the page says %q", text)
	}
	b.Picture(*screens, "people-made")
	b.Go(w.URL + "/account/tokens")
	b.Click(`form[action="/account/tokens"] button`)
	awaitSelector(b, "#key0")
	b.RequireAccessible()
	b.Picture(*screens, "tokens-made")
	b.RequireQuiet()
}

// The form to ask for a match offers the bots, in as many fields as the chosen ladder has slots.
func TestMatchFieldsInBrowser(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	s := webtest.NewStaticWorld(t, nil)
	s.MakeLive("lola", store.BuildInfo{})
	b := webtest.Open(t, in, s.URL+"/sign-in")
	signIn(b, &s.World, s.AdaToken)
	b.Go(s.URL + "/matches/new?bot=lola")
	fields := func() string {
		return webtest.Eval[string](b, `[...document.querySelectorAll('[list=bots]:enabled')].map((e) => e.checkVisibility() ? e.value : 'hidden').join()`)
	}
	if got := fields(); got != "lola," {
		t.Errorf("for two bots the fields are %q", got)
	}
	webtest.Eval[bool](b, `(ladder => { ladder.value = 'teams'; return ladder.dispatchEvent(new Event('change')); })(document.getElementById('ladder'))`)
	if got := fields(); got != "lola,,," {
		t.Errorf("for four bots the fields are %q", got)
	}
	if names := b.Attributes("datalist#bots option", "value"); !slices.Contains(names, "lola") || !slices.Contains(names, "@greedy") {
		t.Errorf("the list has %q", names)
	}
	b.RequireQuiet()
}

// The page of a submission says that the session has ended, and then stops asking for changes.
func TestSubmissionSignedOut(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	s := webtest.NewStaticWorld(t, nil)
	v := s.Ladder.Submit(s.Ada.ID, "adas", webtest.Hash)
	b := webtest.Open(t, in, s.URL+"/sign-in")
	signIn(b, &s.World, s.AdaToken)
	b.Go(fmt.Sprintf("%s/submissions/%d", s.URL, v.ID))
	awaitSelector(b, "#progress .refresh[hidden]")
	webtest.Eval[bool](b, "fetch('/sign-out', { method: 'POST' }).then(() => true)")
	s.Must(s.Store.Versions.StartStage(t.Context(), v.ID, "unpack")) // it answers the waiting request
	awaitSelector(b, "#progress [role=alert]")
	if text := b.Text("#progress [role=alert]"); !strings.Contains(text, "The session has ended") {
		t.Errorf("the page says %q", text)
	}
	b.ClearConsole() // of the status 401
	b.RequireQuiet()
}
