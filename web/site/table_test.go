package site_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/webtest"
)

// openTableAtSeat opens a table at a seat by the form of the page.
func openTableAtSeat(b *webtest.Tab, w *webtest.World, bot, game string, seat int, options string) {
	b.T.Helper()
	b.Go(playAddress(w, bot, game, seat, options))
	b.Click(`form.choose > button`)
	b.Wait(`#board[data-turn="yes"]`)
}

// A key continues after a trick. The list of events is in the second person and does not run ahead of the
// drawing, the title says whose turn it is, and a button shows the last trick again. Events have sounds,
// which a button switches off for good.
func TestTableTricks(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play")
	openTableAtSeat(b, w, "@random", "brisca", 0, "")
	webtest.Eval[bool](b, countTones)
	const title = `document.title`
	if text := webtest.Eval[string](b, title); text != "● Your turn · Brisca · timba" {
		t.Errorf("the title is %q", text)
	}
	const focused = `document.activeElement.closest('#board')?.contains(document.activeElement) ? document.activeElement.getAttribute('class') ?? document.activeElement.id : document.activeElement.localName`
	webtest.Eval[bool](b, `(document.querySelector('.playable').focus(), true)`)
	for range 3 {
		b.Press(kb.Enter)
		b.Wait(`#board[data-trick="ended"]`)
		last := webtest.Eval[string](b, `document.querySelector('#events li:last-child').textContent`)
		if !strings.Contains(last, "the trick") {
			t.Errorf("while a trick is shown the log ends with %q", last)
		}
		if text := webtest.Eval[string](b, title); text != "Brisca · timba" {
			t.Errorf("the title is %q while a trick is shown", text)
		}
		if on := webtest.Eval[string](b, focused); on != "board" {
			t.Errorf("while a trick is shown the focus is on %q", on)
		}
		b.Press(kb.Enter) // goes on at once
		b.Wait(`#board[data-turn="yes"]`)
		if on := webtest.Eval[string](b, focused); !strings.Contains(on, "playable") {
			t.Errorf("after a trick the focus is on %q", on)
		}
	}
	text := b.Text("#events")
	if !strings.Contains(text, "You play ") || !strings.Contains(text, "random plays ") || strings.Contains(text, "ou plays") || strings.Contains(text, "face down") {
		t.Errorf("what happened is told as %q", text)
	}
	if n := b.Count(".playable"); n != 3 || b.Count(".unplayable") != 0 {
		t.Errorf("%d cards are marked as legal, want 3", n)
	}
	b.Click("#last")
	b.Wait(`#last[aria-pressed="true"]`)
	if n := b.Count(".trick.ended .card"); n != 2 || b.Count(".playable") != 0 {
		t.Errorf("the last trick has %d cards", n)
	}
	b.Click("#last")
	b.Wait(`#board[data-turn="yes"]`)
	heard := webtest.Eval[int](b, "tones")
	if heard < 9 { // one for each own move, and two for each turn
		t.Errorf("three tricks have %d tones", heard)
	}
	b.Click("#sound")
	b.Wait(`#sound[aria-pressed="false"]`)
	playOut(b, 1)
	b.Wait(`#board[data-trick="ended"], #board[data-turn="yes"]`)
	if n := webtest.Eval[int](b, "tones"); n != heard {
		t.Errorf("without sound there are %d tones", n-heard)
	}
	b.Go(webtest.Eval[string](b, "location.href"))
	b.Wait(`#sound[aria-pressed="false"]`)
	b.Click("#sound")
	b.Wait(`#sound[aria-pressed="true"]`)
	b.RequireQuiet()
}

// countTones is a script that counts the tones that a page plays.
const countTones = `(() => {
	window.tones = 0;
	const { start } = OscillatorNode.prototype;
	OscillatorNode.prototype.start = function (at) { window.tones++; start.call(this, at); };
	return true;
})()`

// On a board, people see their color, names, and squares as a1 to f6. Their own side is at the bottom, and
// their goal corners have their color.
func TestTableBoard(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play")
	b.Look(390, 844, false)
	for seat, want := range []struct{ colour, turned, corner, goals string }{
		{"white", "", "a1", "0 5"}, {"black", "yes", "f6", "30 35"},
	} {
		openTableAtSeat(b, w, "@random", "tebes", seat, "") // which nobody can win in two moves
		playOut(b, 2)
		b.Wait(`#board[data-turn="yes"]`)
		if got := b.Attribute(".squares", "data-turned"); got != want.turned {
			t.Errorf("seat %d: the board is turned: %q", seat, got)
		}
		low := webtest.Eval[string](b, `[...document.querySelectorAll('.squares .plate')].sort((a, b) => b.getBoundingClientRect().top - a.getBoundingClientRect().top)[0].querySelector('.name').textContent`)
		if low != "you  "+want.colour {
			t.Errorf("seat %d: the plate at the bottom says %q", seat, low)
		}
		if goals := webtest.Eval[string](b, fmt.Sprintf(`[...document.querySelectorAll('.goal.seat%d')].map((e) => [...document.querySelectorAll('.square')].indexOf(e.closest('.square'))).join(' ')`, seat)); goals != want.goals {
			t.Errorf("seat %d: the corners in its colour are %q, want %q", seat, goals, want.goals)
		}
		corner := webtest.Eval[string](b, `(() => {
			const all = [...document.querySelectorAll('.coordinate')].map((e) => [e.textContent, e.getBoundingClientRect()]);
			const letters = all.filter(([text]) => /[a-z]/.test(text)).sort((x, y) => x[1].left - y[1].left);
			const numbers = all.filter(([text]) => /\d/.test(text)).sort((x, y) => y[1].top - x[1].top);
			return letters[0][0] + numbers[0][0];
		})()`)
		if corner != want.corner {
			t.Errorf("seat %d: the lower left square is %s, want %s", seat, corner, want.corner)
		}
		for line := range strings.SplitSeq(webtest.Eval[string](b, `[...document.querySelectorAll('#events li')].map((e) => e.textContent).join('\n')`), "\n") {
			if strings.Contains(line, " play") && !regexp.MustCompile(` plays? [a-f][1-6]-[a-f][1-6]$`).MatchString(line) {
				t.Errorf("seat %d: a move is told as %q", seat, line)
			}
		}
		if label := b.Attribute(".choice", "aria-label"); !regexp.MustCompile(`^move from [a-f][1-6]$`).MatchString(label) {
			t.Errorf("seat %d: a choice is called %q", seat, label)
		}
	}
	b.RequireQuiet()
}

// A card, a bid or a square that is no move now says by which rule, also to screen readers, and goes when the person moves.
func TestTableRefusal(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play")
	b.Look(1280, 900, false)
	says := func(selector, want string) {
		t.Helper()
		webtest.Eval[string](b, `document.querySelector('#why').textContent = ''`) // the last reason
		b.Click(selector)
		b.Wait(`#why[role="alert"]:not(:empty)`)
		if text := b.Text("#why"); !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("a click on %s says %q, want %s", selector, text, want)
		}
	}
	openTableAtSeat(b, w, "@random", "tute", 1, "")
	for b.Count(".over, .unplayable") == 0 {
		playOut(b, 1)
		b.Wait(`#board[data-turn="yes"], .over`)
	}
	says(".unplayable", `^You (must beat the |have \w+, and must follow suit|have none of the suit led, and must play a trump)`)
	if label := b.Attribute(".unplayable", "aria-label"); !strings.HasSuffix(label, ", which may not be played now") || b.Attribute(".unplayable", "aria-disabled") != "true" {
		t.Errorf("a screen reader calls the card %q", label)
	}
	b.Picture(*screens, "table-refusal")
	b.Look(390, 844, true)
	b.RequireAccessible()
	b.Picture(*screens, "table-refusal-phone-dark")
	b.Look(1280, 900, false)
	playOut(b, 1)
	b.Wait(`#why:empty`)
	webtest.Eval[int](b, `fetch(location.pathname + '/resign', { method: 'POST' }).then((answer) => answer.status)`) // two games at the same time are allowed
	openTableAtSeat(b, w, "@random", "podrida", 0, "players=3")
	says(`.hand .waiting`, "^Cards are played when all have bid")
	openTableAtSeat(b, w, "@random", "tebes", 0, "opening=0")
	says(`[data-square="0"]`, "^You have no piece on a6.$")
	says(`[data-square="30"]`, "^Your piece on a1 has no move now.$")
	b.Click(`.choice.from`)
	says(`[data-square="0"]`, "^(A piece goes one or two squares|The other side’s piece on )")
	b.RequireQuiet()
}

// Partners are marked, and the score of both teams is above the table, as in the result. The table fills the
// screen of a phone, and the page is silent.
func TestTableTeams(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play")
	b.Look(390, 844, true)
	webtest.Call(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	openTableAtSeat(b, w, "@random", "brisca", 1, "players=4 teams=yes")
	b.Wait(`#sound[aria-pressed="false"]`)
	if got := strings.Join(b.Attributes(`.plate:has(.badge.partner)`, "data-plate"), " "); got != "3" {
		t.Errorf("the seats %q are marked as partners, want 3", got)
	}
	if text := b.Text("#score"); !regexp.MustCompile(`^Your team \d+, the others \d+$`).MatchString(text) {
		t.Errorf("the score is %q", text)
	}
	box := webtest.Eval[[]float64](b, `(() => { const r = document.querySelector('#board svg').getBoundingClientRect(); return [r.top + scrollY, r.bottom + scrollY, r.width]; })()`)
	if box[0] > 100 || box[1] < 800 || box[1] > 844 || box[2] < 360 {
		t.Errorf("the table is from %v to %v and %v wide, on a screen of 390 by 844", box[0], box[1], box[2])
	}
	webtest.Eval[bool](b, `(window.tops = new Set(), new MutationObserver(() => tops.add(document.getElementById('board').offsetTop)).observe(document.querySelector('.at'), { childList: true, subtree: true }), true)`)
	playOut(b, 0)
	b.Wait(`.over`)
	if tops := webtest.Eval[[]float64](b, `[...tops]`); len(tops) != 1 {
		t.Errorf("the table jumps: its top is at %v", tops)
	}
	score := regexp.MustCompile(`\d+`).FindAllString(b.Text("#score"), -1)
	if head, want := b.Text(".over h2"), fmt.Sprintf(", %s to %s", score[0], score[1]); !strings.HasSuffix(head, want) {
		t.Errorf("the card says %q, want %q", head, want)
	}
	if n := b.Count(".over .sides li"); n != 2 {
		t.Errorf("the card has %d sides", n)
	}
	if b.Count(`.side .over`) != 1 || b.Count(`.trick.ended .card`) != 4 || b.Text("#state") != b.Text(".over h2") {
		t.Errorf("beside the result the table shows %d cards of the last trick and says %q", b.Count(`.trick.ended .card`), b.Text("#state"))
	}
	b.Click(`#last`)
	b.Wait(`#last[aria-pressed="false"]`)
	b.Click(`[data-opens="rules"]`)
	b.Wait(`#rules[open]`)
	b.Press(kb.Escape)
	b.Wait(`#rules:not([open])`)
	b.RequireAccessible()
	b.RequireQuiet()
}

// On the screen of a phone, several lines of bids fit together with the table.
func TestTableBids(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play")
	b.Look(390, 844, false)
	openTableByForm(b, w, "podrida", "players=4 rounds=short")
	b.Wait(`#board .words`)
	webtest.Eval[int64](b, `document.styleSheets[0].insertRule('#board .words button { min-width: 200px; }', document.styleSheets[0].cssRules.length)`) // as many would be
	b.Look(380, 844, false)                                                                                                                             // it is drawn again
	kit.Until(t, "the bids have two lines, which end on the screen", func() bool {
		box := webtest.Eval[[]float64](b, `(() => { const r = document.querySelector('#board .words').getBoundingClientRect(); return [r.height, r.bottom + scrollY, document.getElementById('board').clientWidth]; })()`)
		return box[0] > 90 && box[1] <= 844 && box[2] < 375
	})
}

// Resigning needs a confirmation, and the result mentions it. After a reload the guest still reads "you";
// others read about a guest. The result has buttons for the next level and the review.
func TestTableResign(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play")
	openTableAtSeat(b, w, "@champion:level=1", "teeko", 0, "start=drop") // which nobody can win in two moves
	b.Click(`[data-opens="resign"]`)
	b.Wait(`#resign[open]`)
	b.RequireAccessible()
	b.Click(`#resign [data-closes]`)
	b.Wait(`#resign:not([open])`)
	playOut(b, 1)
	b.Wait(`#board[data-turn="yes"]`)
	b.Click(`[data-opens="resign"]`)
	b.Click(`form[action$="/resign"] button`)
	b.Wait(`.over.loss`)
	const card = `document.querySelector('.over').innerText.split('\n').slice(0, 3).join(' ').replace(/\s+/g, ' ').trim()`
	if text := webtest.Eval[string](b, card); !strings.HasPrefix(text, "You lost You resigned.") {
		t.Errorf("the card says %q", text)
	}
	table := webtest.Eval[string](b, "location.href")
	other := webtest.Open(t, webtest.Start(t), table+"?lang=es")
	other.Wait(`.over.loss`)
	if text := webtest.Eval[string](other, card); !strings.HasPrefix(text, "una persona invitada ha perdido una persona invitada ha abandonado.") {
		t.Errorf("others read %q", text)
	}
	other.RequireQuiet()
	b.Click(`.over a[href$="?ply=0"]`)
	b.Wait(`.player[data-ply="0"]`)
	if text := b.Text(".now"); text != "Your turn." {
		t.Errorf("the review of one's own game says %q", text)
	}
	b.Go(table)
	b.Wait(`.player[data-ply]:not([data-ply="0"])`)
	b.Click(`form:has([name="level"]) button`)
	b.Wait(`#board[data-turn="yes"]`)
	if text := b.Text("h1"); text != "Teeko with learner, level 2" {
		t.Errorf("the next game is %q", text)
	}
	b.RequireQuiet()
}

// The rules of the game open beside the table in the language of the page, with the options of the table marked.
func TestTableRules(t *testing.T) {
	t.Parallel()
	w, b := webtest.Browse(t, playRules, "/play?lang=ca")
	b.Look(390, 844, false)
	openTableAtSeat(b, w, "@random", "tute", 0, "last10=yes followonly=yes")
	b.Click(`[data-opens="rules"]`)
	b.Wait(`#rules[open]`)
	b.RequireAccessible()
	if n := b.Count("#rules .used"); n != 2 || b.Count("#rules li") < 10 {
		t.Errorf("%d options of %d are marked, want 2", n, b.Count("#rules li"))
	}
	if text := b.Text("#rules"); !strings.Contains(text, "cal seguir el pal") {
		t.Errorf("the rules say %q", text)
	}
	b.Press(kb.Escape)
	b.Wait(`#rules:not([open])`)
	b.RequireQuiet()
}
