package board_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/rules/podrida"
	"github.com/timba-arena/timba/rules/tute"
	"github.com/timba-arena/timba/web/board"
	"github.com/timba-arena/timba/web/webtest"
)

// longNames are realistic names, some of which are longer than a table has room for.
var longNames = []string{
	"capicúa", "monte-carlo-tree-2", "stochastic-beam-search", "la-sota-de-oros", "PodridaNet", "mano_negra",
	"siete-y-media", "Kasparov del tute", "zz", "WWWWWWWWWWWWWWWWWWWWWWWW", "@greedy", "as-de-espadas",
}

// tableFaults returns the visible defects of a page: names, cards and controls that overlap, are cut off or
// lie outside the window.
const tableFaults = `(() => {
	const faults = [];
	const all = (selector, of = document) => [...of.querySelectorAll(selector)];
	const box = (e) => e.getBoundingClientRect();
	const meet = (a, b, slack = 0.5) => a.left < b.right - slack && b.left < a.right - slack && a.top < b.bottom - slack && b.top < a.bottom - slack;
	const inside = (a, b) => a.left >= b.left - 0.5 && a.right <= b.right + 0.5 && a.top >= b.top - 0.5 && a.bottom <= b.bottom + 0.5;
	const name = (e) => e.getAttribute('class') + ' ' + (e.closest('[data-card]')?.dataset.card ?? e.textContent.trim());
	const windowBox = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
	const plates = all('.plate'), cards = all('.drawing .card');
	const pairs = (list, what) => list.forEach((a, i) => list.slice(i + 1).forEach((b) => { if (meet(box(a), box(b))) faults.push(what + ': ' + name(a) + ' and ' + name(b)); }));
	pairs(plates.map((p) => p.querySelector('.plateback')), 'plates overlap');
	for (const plate of plates) {
		const parts = all('.name, .points, .badge rect:not(.pilecard)', plate).filter((e) => e.textContent !== '' || e.localName === 'rect');
		pairs(parts, 'parts of a plate overlap');
		for (const part of parts) if (!inside(box(part), box(plate.querySelector('.plateback')))) faults.push('outside its plate: ' + name(part));
		if (all('.name', plate).some((e) => e.textContent.length < 2)) faults.push('no name: ' + name(plate));
	}
	const edges = (list) => list.map((c) => c.querySelector('.edge'));
	pairs(edges(all('.trick .card')), 'cards of the trick overlap');
	for (const played of edges(all('.trick .card, .stock .card'))) {
		for (const other of [...edges(all('.hand .card')), ...plates.map((p) => p.querySelector('.plateback'))]) if (meet(box(played), box(other))) faults.push('in the middle ' + name(played) + ' lies on ' + name(other));
	}
	for (const played of edges(all('.trick .card'))) for (const stock of edges(all('.stock .card'))) if (meet(box(played), box(stock))) faults.push('the trick lies on the stock');
	for (const a of all('.hand')) for (const b of all('.hand')) {
		if (a !== b && edges(all('.card', a)).some((x) => edges(all('.card', b)).some((y) => meet(box(x), box(y))))) faults.push('hands overlap: ' + a.dataset.hand + ' and ' + b.dataset.hand);
	}
	for (const hand of all('.hand')) {
		const plate = box(document.querySelector('[data-plate="' + hand.dataset.hand + '"] .plateback'));
		for (const card of edges(all('.card', hand))) if (meet(box(card), plate) && !inside(box(card), plate)) faults.push('a plate is under ' + name(card));
		// Number and suit of each open card are on top, wherever it lies.
		for (const card of all('.card:not([data-card="?"])', hand)) {
			const r = box(card.querySelector('.edge'));
			for (const [x, y] of [[0.1, 0.12], [0.38, 0.12], [0.1, 0.5], [0.38, 0.5]]) {
				const top = document.elementFromPoint(r.left + x * r.width, r.top + y * r.height)?.closest('.card');
				if (top !== card) { faults.push('the corner of ' + card.dataset.card + ' is covered by ' + (top?.dataset.card ?? 'something else')); break; }
			}
		}
	}
	const own = document.querySelector('.seat:has(.hand)') && all('.seat').sort((a, b) => box(b).bottom - box(a).bottom)
		.find((s) => s.querySelector('.hand') && s.dataset.seat === (document.querySelector('.table').dataset.seat === 'open' ? '0' : document.querySelector('.table').dataset.seat));
	if (own) {
		const hand = box(own.querySelector('.hand')), plate = box(own.querySelector('.plateback'));
		if (plate.top < hand.bottom - 1) faults.push('the bottom name is not under its hand');
		if (Math.abs(plate.left + plate.right - hand.left - hand.right) > 8) faults.push('the bottom name is beside its hand');
	}
	const controls = all('.controls, .views, p.now');
	for (const control of controls) for (const card of [...edges(cards), ...plates]) if (meet(box(control), box(card))) faults.push('a control covers ' + name(card));
	for (const e of [...edges(cards), ...plates, ...controls]) if (!inside(box(e), windowBox)) faults.push('outside the window: ' + name(e));
	return faults;
})()`

// tables are the games whose tables must fit on the page.
var tables = []sample{
	{name: "podrida-3", game: podrida.Game, options: map[string]string{"players": "3"}, match: 11},
	{name: "podrida-6", game: podrida.Game, options: map[string]string{"players": "6"}, match: 11},
	{name: "podrida-12", game: podrida.Game, options: map[string]string{"players": "12"}, match: 11},
	{name: "brisca-2", game: brisca.Game, options: map[string]string{"players": "2"}, match: 11},
	{name: "tute-3", game: tute.Game, options: map[string]string{"players": "3"}, match: 11},
	{name: "tute-4", game: tute.Game, options: map[string]string{"players": "4", "teams": "yes"}, match: 11},
}

// Tables of 2 to 12 seats fit on a phone and on a desktop: at the start, in the middle and at the end, with
// long names, with all cards open and as a seat sees them.
func TestReplaysPageTables(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	for _, c := range tables {
		if !kit.Soak && !slices.Contains([]string{"podrida-3", "podrida-12", "tute-4"}, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := play(t, c)
			seats := len(r.Seats)
			for seat := range r.Seats {
				r.Seats[seat].Name = longNames[seat]
			}
			g := rebuilt(t, c, r)
			b := open(t, in, g)
			end := len(g.Moves)
			for _, size := range [][2]int64{{390, 844}, {1280, 800}} {
				b.Run(chromedp.EmulateViewport(size[0], size[1]))
				fitted(b, size[0])
				for i, ply := range []int{0, end / 2, min(lastRound(g)+seats, end), end} {
					views := []int{-1, seats / 2}
					if !kit.Soak {
						views = views[i%2 : i%2+1]
					}
					for _, seat := range views {
						b.visit(ply, seat)
						if faults := webtest.Eval[[]string](b.Tab, tableFaults); len(faults) > 0 {
							t.Errorf("%d by %d, ply %d, view %d: %d faults, the first: %q", size[0], size[1], ply, seat, len(faults), faults[:min(4, len(faults))])
						}
					}
				}
				picture(b, fmt.Sprintf("tables-%s-%d", c.name, size[0]))
			}
			b.RequireQuiet()
		})
	}
}

// lastRound returns the ply at which the last round was dealt, with the largest hands; 0 if there are no rounds.
func lastRound(g *board.Recording) (ply int) {
	for i, f := range g.Frames {
		if slices.ContainsFunc(f.Events.All, func(e string) bool { return len(e) > 6 && e[:6] == "round " }) {
			ply = i
		}
	}
	return ply
}

// On every card, in both faces, the number and the suit do not touch the picture.
func TestBoardIndices(t *testing.T) {
	t.Parallel()
	b := open(t, webtest.Start(t), nil)
	script, err := bundle("cards.js", `import { card } from './pack.js'; import { svg } from './dom.js'; Object.assign(window, { card, svg });`)
	kit.Must(t, err)
	styles, err := bundle("page.css", `@import "./tokens.css"; @import "./board.css";`)
	kit.Must(t, err)
	webtest.Eval[chromedp.Void](b.Tab, script)
	webtest.Eval[chromedp.Void](b.Tab, fmt.Sprintf(`document.head.append(Object.assign(document.createElement('style'), { textContent: %q }))`, styles))
	wrong := webtest.Eval[[]string](b.Tab, `(() => {
		const wrong = [];
		let measured = 0;
		const stage = svg('svg', { viewBox: '0 0 122 190', width: 488, height: 760 });
		document.body.append(stage);
		for (const suit of 'oceb') for (let rank = 1; rank <= 12; rank++) for (const overlapped of [false, true]) {
			const drawn = card(rank + suit, 0, 0, 122, '', overlapped);
			const face = document.querySelector(drawn.querySelector('use').getAttribute('href'));
			stage.replaceChildren(...[...face.childNodes].map((n) => n.cloneNode(true)));
			const at = stage.getBoundingClientRect();
			const box = (e) => e.getBoundingClientRect();
			// A corner as it is seen: digits stand on their line, and are three quarters of their
			// font's size high. The lower corner is turned about the middle of the card.
			const inCorner = (e) => {
				const b = e.getBBox(), line = Number(e.getAttribute('y'));
				let r = e.localName === 'text' ? [b.x, line - Number(e.getAttribute('font-size')) * 0.75, b.x + b.width, line] : [b.x, b.y, b.x + b.width, b.y + b.height];
				if (e.closest('[transform]')) r = [122 - r[2], 190 - r[3], 122 - r[0], 190 - r[1]];
				return { left: at.left + r[0] * 4, top: at.top + r[1] * 4, right: at.left + r[2] * 4, bottom: at.top + r[3] * 4 };
			};
			const meet = (a, c) => a.left < c.right && c.left < a.right && a.top < c.bottom && c.top < a.bottom;
			const picture = [...stage.querySelectorAll('.picture *')].filter((e) => e.localName !== 'g');
			for (const part of stage.querySelectorAll('.corner > *')) for (const shape of picture) {
				measured++;
				if (box(shape).width > 0 && meet(inCorner(part), box(shape))) wrong.push(rank + suit + (overlapped ? ', small' : '') + ': the ' + part.localName + ' of the corner meets a ' + shape.localName);
			}
			if (picture.length === 0 || !picture.some((e) => box(e).width > 0)) wrong.push(rank + suit + ' has no picture');
		}
		return measured > 1000 ? wrong : ['only ' + measured + ' shapes were measured'];
	})()`)
	if len(wrong) > 0 {
		t.Errorf("%d corners are not clear, the first: %q", len(wrong), wrong[:min(8, len(wrong))])
	}
}

// SPEC.md, "Tebes": at the end only the two winning corners glow, if there are any, and each captured piece
// is marked next to the piece that captured it.
func TestReplaysPageTebesMarks(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	byCorners, want := 0, 1
	if kit.Soak {
		want = 2
	}
	for match := uint64(1); byCorners < want; match++ {
		if match > 60 {
			t.Fatalf("of 60 games %d were won by corners, want %d", byCorners, want)
		}
		c := find(t, "tebes")
		c.match = match
		g := rebuilt(t, c, play(t, c))
		views := unfold(g)
		last := views[len(views)-1][0]["pieces"]
		var want []string
		for _, pair := range [][3]any{{0, 5, byte('w')}, {30, 35, byte('b')}} {
			if last[pair[0].(int)] == pair[2] && last[pair[1].(int)] == pair[2] {
				want = []string{strconv.Itoa(pair[0].(int)), strconv.Itoa(pair[1].(int))}
			}
		}
		if want == nil {
			continue
		}
		byCorners++
		b := open(t, in, g)
		b.visit(len(g.Moves), -1)
		got := b.Attributes(".piece.winner", "data-square")
		slices.SortFunc(got, func(x, y string) int { a, _ := strconv.Atoi(x); z, _ := strconv.Atoi(y); return a - z })
		if !slices.Equal(got, want) {
			t.Errorf("match %d: the squares %q glow, want %q", match, got, want)
		}
		captures := 0
		for ply := range g.Moves {
			b.visit(ply+1, -1)
			captures += b.Count(".taken")
			if on := webtest.Eval[[]string](b.Tab, takenOnPiece); len(on) > 0 {
				t.Errorf("match %d, ply %d: the mark of a capture is on the piece on %q", match, ply+1, on)
			}
		}
		if captures == 0 {
			t.Errorf("match %d has no captures", match)
		}
		b.RequireQuiet()
	}
}

// takenOnPiece returns the squares on which the mark of a capture touches a piece.
const takenOnPiece = `[...document.querySelectorAll('.taken')].filter((mark) => {
	const r = mark.getBoundingClientRect(), piece = document.querySelector('[data-piece][data-square="' + mark.dataset.taken + '"] .disc');
	if (!piece) return true;
	const d = piece.getBoundingClientRect(), x = d.left + d.width / 2, y = d.top + d.height / 2;
	const dx = Math.max(r.left - x, 0, x - r.right), dy = Math.max(r.top - y, 0, y - r.bottom);
	return Math.hypot(dx, dy) < d.width / 2;
}).map((mark) => mark.dataset.taken)`

// After a forfeit no corner glows.
func TestReplaysPageForfeitGlowsNot(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	c := find(t, "tebes-fault")
	g := rebuilt(t, c, play(t, c))
	if g.Over {
		t.Fatal("the game is over by the rules")
	}
	b := open(t, in, g)
	b.visit(len(g.Moves), -1)
	if got := b.Attributes(".piece.winner", "data-square"); len(got) > 0 {
		t.Errorf("the squares %q glow", got)
	}
}

// Scores of different scales have separate axes, on which each line is visible.
func TestReplaysPageAxes(t *testing.T) {
	t.Parallel()
	in := webtest.Start(t)
	c := sample{game: podrida.Game, options: map[string]string{"players": "4"}, match: 3}
	r := play(t, c)
	for i := range r.Moves {
		m := &r.Moves[i]
		wave := float64(i%7) - 3
		score := []float64{0.5 + wave/10, 400 * wave, 0.1 * wave, 0}[m.Seat]
		m.Info = []string{"score=" + strconv.FormatFloat(score, 'g', -1, 64)}
	}
	b := open(t, in, rebuilt(t, c, r))
	if got, want := b.Attributes(".axis", "data-seats"), []string{"0,2,3", "1"}; !slices.Equal(got, want) {
		t.Fatalf("the axes are those of the seats %q, want %q", got, want)
	}
	type line struct {
		Seat  string  `json:"seat"`
		Share float64 `json:"share"` // of the height of its axis
		Ticks int     `json:"ticks"`
	}
	for _, l := range webtest.Eval[[]line](b.Tab, `[...document.querySelectorAll('.axis .score')].map((e) => ({
		seat: e.dataset.seat, ticks: e.closest('.axis').querySelectorAll('.tick').length,
		share: e.querySelector('polyline').getBoundingClientRect().height / e.closest('.axis').querySelector('.axisback').getBoundingClientRect().height }))`) {
		if l.Seat != "3" && l.Share < 0.3 || l.Ticks < 2 {
			t.Errorf("the line of seat %s has %.2f of the height of its axis, which has %d ticks", l.Seat, l.Share, l.Ticks)
		}
	}
	b.RequireQuiet()
}
