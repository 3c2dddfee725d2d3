package site_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/webtest"
)

// pythonBot is a bot that raises an error at its turns while a file exists.
const pythonBot = `import os, sys

for line in sys.stdin:
    words = line.split()
    if words[0] == "timba": print("ready", flush=True)
    if words[0] == "bye": break
    if words[0] == "turn":
        if os.path.exists(%q): {}["nothing"]
        print("move", words[3], flush=True)
`

// An author comes from a lost game to the text of the version that lost it, with the failing line marked, plays the
// deal again before and after the repair, and submits the text. Nobody else sees it.
func TestFromLostGameToNextVersion(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	w := webtest.New(t, webtest.Calm, 0)
	trap := filepath.Join(t.TempDir(), "trap")
	dir := kit.Files(t, t.TempDir(), map[string]string{
		"bot.py": fmt.Sprintf(pythonBot, trap), "notes.txt": "kept\n", "helper.py": "", "timba.toml": `run = ["python3", "bot.py"]` + "\n" + `games = ["brisca players=2"]`,
	})
	c, other := w.Client(), w.Client()
	w.SignIn(c, w.Token)
	w.SignIn(other, register(t, w, "bert"))
	submission := submitBot(w, c, "lola", w.Archive(dir))
	kit.Until(t, "the bot is live", func() bool {
		return strings.Contains(w.Get(c, "/submissions/"+submission+"/progress").Body, `data-done="true"`)
	})
	kit.Must(t, os.WriteFile(trap, nil, 0o600))
	lola := kit.Get[ladder.Bot](t)(w.Server.Store.Bots.Find(t.Context(), "lola"))
	var lost []store.Forfeit
	kit.Until(t, "the bot has lost a game", func() bool {
		lost = kit.Get[[]store.Forfeit](t)(w.Server.Store.Matches.Forfeits(t.Context(), lola.ID, 1))
		return len(lost) > 0
	})
	for _, path := range []string{"/bots/lola/versions/1/edit", fmt.Sprintf("/games/%d/edit/%d", lost[0].GameID, lost[0].Seat)} {
		if a := w.Get(other, path); a.Status != http.StatusForbidden || strings.Contains(a.Body, "nothing") {
			t.Errorf("%s shows the text to others: %d", path, a.Status)
		}
	}
	for _, path := range []string{"/bots/lola/versions/1/edit?file=notes.txt", "/bots/lola/versions/1/edit?file=../bot.py", fmt.Sprintf("/games/%d/edit/7", lost[0].GameID)} {
		if a := w.Get(c, path); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	kind, body := multipartForm(t, nil, "game", "brisca", "language", "python", "text", "x", "edited", "lola@1", "file", "../x.py", "bot", "lola", "against", "@random")
	for _, path := range []string{"/write", "/write/tests"} {
		if a := w.Post(c, path, body, "Content-Type", kind); a.Status != http.StatusNotFound {
			t.Errorf("%s of a file outside: %d", path, a.Status)
		}
		if a := w.Post(other, path, body, "Content-Type", kind); a.Status != http.StatusForbidden {
			t.Errorf("%s of somebody else's version: %d", path, a.Status)
		}
	}

	b := webtest.Open(t, in, w.URL+"/")
	signIn(b, w, w.Token)
	b.Look(1280, 900, false)
	b.Go(w.URL + "/bots/lola/lost")
	b.Click(`main tbody tr:first-child a[href*="/edit/"]`)
	awaitSelector(b, `#editor[data-shown="timba.write.lola@1/bot.py"]`)
	marked := func() string {
		return inEditor[string](b, "editor.querySelector('.cm-failed')?.textContent.trim() ?? ''")
	}
	if text := marked(); !strings.HasSuffix(text, `{}["nothing"]`) {
		t.Errorf("the line %q is marked", text)
	}
	if text := b.Text("main .faultnote"); !strings.Contains(text, "KeyError") {
		t.Errorf("above the editor is %q", text)
	}
	b.RequireAccessible()
	b.Picture(*screens, "edit-desk-light")
	again := func(headline string) {
		t.Helper()
		webtest.Eval[bool](b, "(document.getElementById('tryout').replaceChildren(), true)") // the test before
		b.Click(`#test button[name="again"]`)
		awaitSelector(b, `#tryout .now[data-done="true"]`)
		awaitSelector(b, ".shown .player svg")
		if head := b.Text("#tryout h2"); b.Count(".tries button") != 2 || !strings.HasPrefix(head, "Deal ") || !strings.Contains(b.Text(".headline"), headline) {
			t.Errorf("played again: %s", b.Text("#tryout"))
		}
	}
	webtest.Eval[bool](b, `(window.realFetch = fetch, window.fetch = async () => new Response('<h1>502 Bad Gateway</h1><hr>nginx', { status: 502 }), true)`)
	b.Click(`#test button[name="again"]`)
	awaitSelector(b, `#tryout [role="alert"]`)
	if text := b.Text("#tryout"); !strings.Contains(text, "does not answer") || strings.Contains(text, "nginx") {
		t.Errorf("when a proxy answers for the server: %q", text)
	}
	webtest.Eval[bool](b, "(window.fetch = window.realFetch, true)")
	again("the bot failed in the same way in two games: KeyError: 'nothing', line 8")
	b.Picture(*screens, "edit-again-desk-light")
	b.Look(390, 844, true)
	if wide := webtest.Eval[int64](b, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("on a phone the page is %d wide", wide)
	}
	b.RequireAccessible()
	b.Picture(*screens, "edit-again-phone-dark")
	b.Look(1280, 900, false)
	inEditor[bool](b, `(editor.focus(), getSelection().selectAllChildren(editor.querySelector('.cm-failed')), true)`)
	webtest.Eval[bool](b, "new Promise((resolve) => requestAnimationFrame(() => resolve(true)))")
	b.Press(kb.End)
	b.Run(chromedp.KeyEvent(kb.Home, chromedp.KeyModifiers(8)))
	b.Press(kb.Backspace)
	if text := inEditor[string](b, "editor.textContent"); strings.Contains(text, "nothing") || !strings.Contains(text, "words[3]") {
		t.Fatalf("the repaired text is %q", text)
	}
	again("All games are played")
	if text := marked(); text != "" {
		t.Errorf("after a test without faults the line %q is marked", text)
	}
	b.Go(w.URL + "/bots/lola/versions/1/edit?file=bot.py") // the browser keeps the text
	awaitSelector(b, `#editor[data-shown]`)
	if text := inEditor[string](b, "editor.textContent"); strings.Contains(text, "nothing") || b.Count(`#test button[name="again"]`) != 0 {
		t.Errorf("without a lost game the text is %q", text)
	}
	b.Click("#submit button")
	awaitSelector(b, `.now[data-done="true"] .step`)
	if n := b.Count(".step.ok"); n != 4 {
		t.Fatalf("%d of 4 stages are passed: %s", n, b.Text("#progress"))
	}
	b.Go(w.URL + "/bots/lola")
	b.Click(`a[href="/bots/lola/versions/2/edit"]`)
	awaitSelector(b, `#editor[data-shown="timba.write.lola@2/bot.py"]`)
	if text := inEditor[string](b, "editor.textContent"); strings.Contains(text, "nothing") || !strings.Contains(text, "words[3]") {
		t.Errorf("version 2 is %q", text)
	}
	if page := w.Get(c, "/bots/lola/versions/2/files").Body; !strings.Contains(page, "notes.txt") || !strings.Contains(page, "helper.py") {
		t.Errorf("version 2 has the files %s", page)
	}
	b.RequireQuiet()
}
