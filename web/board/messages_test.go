package board_test

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/messages"
	"github.com/timba-arena/timba/web/webtest"
)

// speak adds the texts of a language to a page without texts.
func speak(b *tab, tag string) {
	b.T.Helper()
	all := kit.Get[[]*messages.Language](b.T)(messages.All())
	texts := kit.Get[[]byte](b.T)(messages.TextsJSON([]string{"board."}, all[messages.Choose(tag, "")]))
	webtest.Eval[chromedp.Void](b.Tab, fmt.Sprintf(`document.body.append(Object.assign(document.createElement('script'), { type: 'application/json', id: 'texts', textContent: %q }))`, texts))
}

var (
	quoted   = regexp.MustCompile(`(?:say|said)\(([^,)]*(?:\([^)]*\))?[^,)]*)`)
	literal  = regexp.MustCompile("['`]([a-z0-9.-]+)['`]")
	prefixed = regexp.MustCompile("`([a-z.]+)\\$\\{")
)

// The modules use every text, and no other.
func TestBoardTextsUsed(t *testing.T) {
	english := map[string]messages.PluralText{}
	for key, text := range kit.Get[[]*messages.Language](t)(messages.All())[0].Texts {
		if name, ok := strings.CutPrefix(key, "board."); ok {
			english[name] = text
		}
	}
	used := map[string]bool{}
	prefixes := []string{}
	names := kit.Get[[]string](t)(fs.Glob(board.Files, "*.js"))
	for _, name := range names {
		data := kit.Get[[]byte](t)(board.Files.ReadFile(name))
		for _, call := range quoted.FindAllStringSubmatch(strings.ReplaceAll(string(data), "${pack}", ""), -1) {
			for _, m := range literal.FindAllStringSubmatch(call[1], -1) {
				if !strings.Contains(call[1], "=== '"+m[1]) {
					used[m[1]] = true
				}
			}
			for _, m := range prefixed.FindAllStringSubmatch(call[1], -1) {
				prefixes = append(prefixes, m[1])
			}
		}
	}
	prefixes = append(prefixes, "rank.", "the.") // for which said looks first
	for key := range used {
		if english[key] == nil {
			t.Errorf("the text %q is used and does not exist", key)
		}
	}
	for key := range english {
		name := strings.TrimPrefix(key, "french.") // those of a pack have the names of the others
		if !used[name] && !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			t.Errorf("the text %q is used nowhere", key)
		}
	}
	for _, p := range prefixes {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(english)), func(key string) bool { return strings.HasPrefix(key, p) }) {
			t.Errorf("no text begins with %q", p)
		}
	}
}

// After a choice, the page speaks another language, stays where it is, and handles each key once.
func TestReplaysPageSpeaks(t *testing.T) {
	t.Parallel()
	c := find(t, "podrida-fault")
	g := rebuilt(t, c, play(t, c))
	b := open(t, webtest.Start(t), g)
	if got := webtest.Eval[[]string](b.Tab, `[document.documentElement.lang, document.querySelector('.movespanel h2').textContent]`); !slices.Equal(got, []string{"en", "Moves"}) {
		t.Errorf("the page begins with %q", got)
	}
	b.Press(kb.ArrowRight, kb.ArrowRight)
	b.at(2, g)
	for tag, want := range map[string][]string{
		"ca": {"Jugades", "Seients", "Endavant"}, "es": {"Jugadas", "Asientos", "Adelante"},
	} {
		webtest.Eval[chromedp.Void](b.Tab, fmt.Sprintf(`(() => { const s = document.querySelector('.language'); s.value = %q; s.dispatchEvent(new Event('change')); })()`, tag))
		b.Wait(fmt.Sprintf(`html[lang=%q] .player[data-ply="2"]`, tag))
		got := webtest.Eval[[]string](b.Tab, `[document.querySelector('.movespanel h2').textContent, document.querySelector('.seatspanel h2').textContent, document.querySelector('[data-do="forward"]').getAttribute('aria-label')]`)
		if !slices.Equal(got, want) {
			t.Errorf("in %s the page has %q, want %q", tag, got, want)
		}
	}
	webtest.Eval[chromedp.Void](b.Tab, `document.activeElement.blur()`)
	b.Press(kb.ArrowRight)
	b.at(3, g)
	b.RequireQuiet()
}

// Keys jump to faults and to the move that lost most.
func TestReplaysPageJumps(t *testing.T) {
	t.Parallel()
	c := find(t, "podrida-fault")
	r := play(t, c)
	for i := range r.Moves {
		r.Moves[i].Info = nil
	}
	// Seat 0 falls from 100 to 40, seat 1 from 1 to 0: the larger share is that of seat 1.
	scores := map[int][]string{0: {"score=100", "score=40"}, 1: {"score=1", "score=0"}}
	want := 0
	for i, m := range r.Moves {
		if list := scores[m.Seat]; len(list) > 0 {
			if r.Moves[i].Info, scores[m.Seat] = list[:1], list[1:]; m.Seat == 1 && len(list) == 2 {
				want = i + 1
			}
		}
	}
	g := rebuilt(t, c, r)
	b := open(t, webtest.Start(t), g)
	b.Press("f")
	b.at(g.Faults[0].Ply, g)
	b.Press("m")
	b.at(want, g)
	b.Click(`[data-do="fault"]`)
	b.at(g.Faults[0].Ply, g)
	b.Click(`[data-do="worst"]`)
	b.at(want, g)
	b.RequireQuiet()

	c = find(t, "teeko")
	b = open(t, webtest.Start(t), rebuilt(t, c, play(t, c)))
	if n := b.Count(`[data-do="fault"]`); n != 0 {
		t.Error("a game without faults offers to jump to one")
	}
}
