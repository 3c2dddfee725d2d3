package site_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/webtest"
)

// The pages of bots and people have no errors and are accessible, for visitors and for the owner.
func TestBotPagesInBrowser(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	s := webtest.NewStaticWorld(t, nil)
	addLola(s)
	s.MakeLive("quiet", store.BuildInfo{Language: "Go"})
	p := s.Ladder.AddPerson("newcomer", false)
	s.Ladder.Submit(p.ID, "waits", webtest.Hash)
	b := webtest.Open(t, in, s.URL+"/sign-in")
	look := func(name, path string) {
		t.Run(name, func(t *testing.T) {
			b.T = t
			examine(b, s.URL+path, name)
			b.RequireQuiet()
		})
	}
	look("bots", "/bots")
	look("bots-empty", "/bots?q=nobody")
	look("bot", "/bots/lola")
	look("bot-quiet", "/bots/quiet?ladder=teams")
	look("bot-waits", "/bots/waits")
	look("bot-options", "/bots/@greedy:noise=20")
	look("version", "/bots/lola/versions/2")
	look("versions", "/bots/lola/versions")
	look("person", "/people/ada")
	look("person-empty", "/people/ada?before=1")
	look("search", "/search?q=a")
	look("search-empty", "/search?q=zzz")
	b.T = t
	b.Go(s.URL + "/sign-in?next=/bots/lola")
	webtest.Eval[bool](b, `(document.querySelector('#token, [name=token]').value = '`+s.AdaToken+`', true)`)
	b.Click(`main form button`)
	b.Wait(`#own`)
	m, games := s.LastFinished("tebes-4")
	s.Must(s.Store.Versions.SetUnplayable(t.Context(), m.Versions[0], phrase.Plain("cobol")))
	_, err := s.Store.Versions.Suspend(t.Context(), m.Versions[0], m.ID, phrase.Plain("too many faults to finish each of its last 3 matches\nthe last fault: KeyError\nsubmit a new version to bring the bot back"))
	s.Must(err)
	look("bot-own", "/bots/lola")
	look("version-own", "/bots/lola/versions/2")
	look("account-messages", "/account")
	look("game-own", fmt.Sprintf("/games/%d", games[0].ID))
	look("match-fault", fmt.Sprintf("/matches/%d", m.ID))
	look("lost", "/bots/lola/lost")
	look("pairs-lola", "/ladders/brisca/pairs")
	look("pair", "/ladders/brisca/pairs/lola@1/@random@1")
}

// The pointer and the arrow keys select the values of a chart.
func TestChartByKeyboard(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	s := webtest.NewStaticWorld(t, nil)
	addLola(s)
	b := webtest.Open(t, in, s.URL+"/bots/lola")
	shown := `[...document.querySelectorAll('.tip')].filter((e) => getComputedStyle(e).opacity === '1').map((e) => e.textContent)`
	read := func(want int, what string) {
		t.Helper()
		tips := webtest.Eval[[]string](b, shown)
		labels := b.Attributes("figure:first-of-type .point", "aria-label")
		if len(labels) != 10 || len(tips) != 1 || tips[0] != strings.Replace(labels[want], ", ", "", 1) {
			t.Errorf("%s: %q is shown of %q", what, tips, labels)
		}
	}
	if tips := webtest.Eval[[]string](b, shown); len(tips) != 0 {
		t.Errorf("%q is shown at first", tips)
	}
	webtest.Eval[bool](b, `(document.querySelector('.point[tabindex="0"]').focus(), true)`)
	read(9, "focus")
	for _, x := range []struct {
		key  string
		want int
	}{{kb.ArrowLeft, 8}, {kb.ArrowLeft, 7}, {kb.ArrowRight, 8}, {kb.Home, 0}, {kb.ArrowLeft, 0}, {kb.End, 9}, {kb.ArrowRight, 9}} {
		b.Press(x.key)
		read(x.want, fmt.Sprintf("%q", x.key))
	}
	webtest.Eval[bool](b, `(document.activeElement.blur(), true)`)
	at := webtest.Eval[[]float64](b, `(() => { const r = document.querySelectorAll('.point rect')[4].getBoundingClientRect(); return [r.x + r.width / 2, r.y + 5]; })()`)
	webtest.Call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at[0], Y: at[1]})
	read(4, "pointer")
	b.Look(320, 640, false)
	wide := webtest.Eval[[]string](b, `[...document.querySelectorAll('.linechart text')].filter((e) => {
		const box = e.getBoundingClientRect();
		return box.right > 320 || box.left < 0 || parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a < 13;
	}).map((e) => e.textContent)`)
	if len(wide) > 0 {
		t.Errorf("on a phone a chart is too wide or too small for %q", wide)
	}
	b.RequireQuiet()
}
