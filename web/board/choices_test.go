package board_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/web/webtest"
)

// livePosition is the data that a server sends for drawPosition; see package board.
type livePosition struct {
	Display rules.Display `json:"display"`
	Names   []string      `json:"names"`
	View    string        `json:"view"`
	Turn    int           `json:"turn"`
}

// live opens an empty page with choices.js and its style sheets.
func live(t *testing.T) *tab {
	t.Helper()
	b := open(t, webtest.Start(t), nil)
	script, err := bundle("live.js", `import { drawPosition } from './choices.js'; Object.assign(window, { drawPosition });`)
	kit.Must(t, err)
	styles, err := bundle("live.css", `@import "./tokens.css"; @import "./board.css"; @import "./table.css";`)
	kit.Must(t, err)
	speak(b, "en")
	webtest.Eval[chromedp.Void](b.Tab, script)
	webtest.Eval[chromedp.Void](b.Tab, fmt.Sprintf(`document.head.append(Object.assign(document.createElement('style'), { textContent: %q }));
		document.body.append(Object.assign(document.createElement('div'), { id: 'game' })); window.moves = [];
		// chosen clicks what gives a move, twice, and returns the moves that were handed on.
		window.chosen = (move) => {
			window.moves = [];
			const game = document.getElementById('game');
			const click = (selector) => game.querySelector(selector)?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
			const found = () => game.querySelector('[data-move="' + move + '"]');
			if (!found()) click('[data-choice="' + move.split('-')[0] + '"].from');
			const e = found();
			if (!e || e.getBoundingClientRect().width < 10) return ['no way to choose ' + move];
			e.dispatchEvent(new MouseEvent('click', { bubbles: true }));
			e.dispatchEvent(new MouseEvent('click', { bubbles: true }));
			return window.moves;
		};`, styles))
	return b
}

// draw draws a state for the seat to move, with its legal moves.
func (b *tab) draw(c sample, seats int, s rules.State, options string) (legal []string) {
	b.T.Helper()
	p := livePosition{Display: c.game.Display, Names: longNames[:seats], View: string(s.View(nil, s.Turn())), Turn: s.Turn()}
	for _, m := range s.Legal(nil) {
		legal = append(legal, string(s.MoveText(nil, m)))
	}
	position := kit.Get[[]byte](b.T)(json.Marshal(p))
	moves := kit.Get[[]byte](b.T)(json.Marshal(legal))
	webtest.Eval[chromedp.Void](b.Tab, fmt.Sprintf(`void drawPosition(document.getElementById('game'), %s, { seat: %d, legal: %s, onMove: (m) => window.moves.push(m), ...%s })`, position, s.Turn(), moves, options))
	return legal
}

// Every legal move in the positions of random games can be chosen with the mouse, and is passed on exactly
// once and letter for letter.
func TestBoardLiveChoices(t *testing.T) {
	t.Parallel()
	names, every, most := []string{"brisca", "tute", "podrida", "tebes", "teeko", "teeko-drop"}, 18, 6
	if kit.Soak {
		names, every, most = append(names, "podrida-twelve"), 9, 12
	}
	b := live(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			b.T = t
			c := find(t, name)
			r := play(t, c)
			v := kit.Get[*rules.Variant](t)(r.Resolve(c.game))
			ply := 0
			for step, err := range r.Walk(v, nil) {
				kit.Must(t, err)
				if step.Next == nil || ply > 60 {
					break
				}
				if ply++; ply%every != 1 {
					continue
				}
				legal := b.draw(c, v.Players, step.State, "{}")
				if len(legal) > most {
					legal = append(legal[:most/2], legal[len(legal)-most/2:]...)
				}
				for _, move := range legal {
					b.draw(c, v.Players, step.State, "{}")
					if got := webtest.Eval[[]string](b.Tab, fmt.Sprintf(`chosen(%q)`, move)); !slices.Equal(got, []string{move}) {
						t.Fatalf("ply %d: choosing %q twice gave %q", step.State.Ply(), move, got)
					}
				}
			}
		})
	}
}

// Without legal moves nothing can be chosen.
func TestBoardLiveNoMoves(t *testing.T) {
	t.Parallel()
	b := live(t)
	c := find(t, "brisca-three")
	r := play(t, c)
	v := kit.Get[*rules.Variant](t)(r.Resolve(c.game))
	for step, err := range r.Walk(v, nil) {
		kit.Must(t, err)
		b.draw(c, v.Players, step.State, "{ legal: [] }")
		break
	}
	if n := b.Count(".playable, .choice, .words button, .hand [tabindex]"); n > 0 || b.Count(".hand [data-card]") != 9 {
		t.Errorf("%d moves can be chosen, of %d cards", n, b.Count(".hand [data-card]"))
	}
}

// The keyboard is enough to choose a move: tab and arrows reach the choices, enter chooses one, and escape
// goes back.
func TestBoardLiveKeyboard(t *testing.T) {
	t.Parallel()
	b := live(t)
	c := find(t, "tebes")
	r := play(t, c)
	v := kit.Get[*rules.Variant](t)(r.Resolve(c.game))
	for step, err := range r.Walk(v, nil) {
		kit.Must(t, err)
		legal := b.draw(c, v.Players, step.State, "{}")
		b.Press(kb.Tab, kb.ArrowRight, kb.Enter)
		from := b.Attribute(".choice.chosen", "data-choice")
		targets := 0
		for _, move := range legal {
			if strings.HasPrefix(move, from+"-") {
				targets++
			}
		}
		if got := b.Count(".choice.to"); from == "" || targets == 0 || got != targets {
			t.Fatalf("from %q there are %d squares to move to, want %d", from, got, targets)
		}
		at := webtest.Eval[string](b.Tab, `document.activeElement.dataset.move`)
		b.draw(c, v.Players, step.State, "{ moving: true }")
		if again := webtest.Eval[string](b.Tab, `document.activeElement.dataset.move`); again != at || at == "" || b.Attribute(".choice.chosen", "data-choice") != from {
			t.Errorf("drawn again, the focus is on %q and not on %q, of the square %q", again, at, from)
		}
		b.Press(kb.Escape)
		if n := b.Count(".choice.chosen, .choice.to"); n != 0 {
			t.Errorf("after escape %d squares are still offered", n)
		}
		b.Press(kb.Enter, " ")
		got := webtest.Eval[[]string](b.Tab, `window.moves`)
		if len(got) != 1 || !slices.Contains(legal, got[0]) {
			t.Errorf("the keys chose %q, want one legal move", got)
		}
		break
	}
}
