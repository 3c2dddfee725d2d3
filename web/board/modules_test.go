package board_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/webtest"
)

const modules = `
import * as chart from './chart.js';
import * as replay from './replay.js';
import * as scene from './scene.js';
import { follow } from './follow.js';
import { seating } from './table.js';
import * as text from './text.js';
Object.assign(window, chart, replay, scene, text, { follow, seating });
`

// Cards in Catalan have the elisions of their articles and suits.
func TestBoardElisions(t *testing.T) {
	t.Parallel()
	b := open(t, webtest.Start(t), nil)
	script := kit.Get[string](t)(bundle("modules.js", modules))
	speak(b, "ca")
	webtest.Eval[chromedp.Void](b.Tab, script)
	got := webtest.Eval[[]string](b.Tab, `[cardName('1o'), cardName('7c'), ...['play 1 1o', 'play 0 11e', 'draw 1 3b', 'draw 1 ?', 'trump o 7o'].map((e) => eventText(e, { who: (s) => 'AB'[s], me: 1 }))]`)
	want := []string{"1 (as) d’oros", "7 de copes", "Jugues l’1 (as) d’oros", "A juga l’11 (cavall) d’espases", "Robes el 3 de bastos", "Robes una carta de cap per avall", "Es gira el 7 d’oros: trumfen oros"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the texts are others (-want +got): %s", diff)
	}
}

// These tests run the modules of package board without a replay.
func TestBoardModules(t *testing.T) {
	t.Parallel()
	b := open(t, webtest.Start(t), nil)
	script := kit.Get[string](t)(bundle("modules.js", modules))
	speak(b, "en")
	webtest.Eval[chromedp.Void](b.Tab, script)
	for name, c := range map[string]struct{ expression, want string }{
		"card":         {`[parseCard('12c'), parseCard('7o'), parseCard('13c'), parseCard('0o'), parseCard('?'), parseCard('7x')]`, `[{"rank":12,"suit":"c"},{"rank":7,"suit":"o"},null,null,null,null]`},
		"card in text": {`[cardName('12c'), cardName('7o'), cardName('?'), cardName('19-14')]`, `["12 (rey) of copas","7 of oros","a card face down","19-14"]`},
		"lists":        {`[list('-'), list(undefined), list('7o,12c'), bySeat('-/7o,12c'), numbers('1,-,0')]`, `[[],[],["7o","12c"],[[],["7o","12c"]],[1,null,0]]`},
		"view":         {`parseView('hand=5c,7b trick=- known=-/-')`, `{"hand":"5c,7b","trick":"-","known":"-/-"}`},
		"view again":   {`viewText({b: '1', a: '2', x: '3'}, ['a', 'b', 'c'])`, `"a=2 b=1"`},
		"open view":    {`openView([{hand: '1o', me: 'b', trump: '3c'}, {hand: '-', me: 'w', trump: '3c'}])`, `{"trump":"3c","hands":"1o/-"}`},
		// Seat 1 leads and has played, seat 2 has, seats 3 and 0 have not.
		"held before its card": {`held({hand: '1o,2o,3o', leader: '1', trick: '5c,6c'}, 4, 0)`, `[3,2,2,3]`},
		"held after its card":  {`held({hand: '1o,2o', leader: '1', trick: '5c,6c'}, 4, 2)`, `[3,2,2,3]`},
		"held, all open":       {`held({hands: '1o,2o/-', leader: '1', trick: '5c'}, 2, 0)`, `[2,0]`},
		"score":                {`[{info: ['score=3 depth=2', 'depth=3 score=-4.5']}, {info: ['score=x', 'score=']}, {info: ['score=1e999']}, {info: ['myscore=3']}, {}, {info: ['score=0x10', 'score=1 score=2', 'score=inf']}, {info: ['score=.5']}].map(scoreOf)`, `[-4.5,null,null,null,null,1,0.5]`},
		"ticks":                {`[ticks(-7, 12, 4), ticks(0, 1, 4), ticks(0, 0.0004, 2)]`, `[[-5,0,5,10],[0,0.5,1],[0,0.0002,0.0004]]`},
		"scales":               {`[scales([[[0, 0.2], [2, -0.9]], [[1, 300]], [], [[3, 4]], [[5, 0]]]), scales([[], []]), scales([[[0, 0]], [[1, 0]]])]`, `[[[0,3,4],[1]],[],[[0,1]]]`},
		"events": {
			`['play 1 12c', 'draw 0 ?', 'trick 1 14', 'trick 1', 'sing 0 o 20', 'bid 1 1', 'score 10 -10', 'trump c 10c', 'trump 3b', 'deal 5c,7b (seat 1)', 'round 2 cards=1 dealer=0', 'extra 0', 'opening 6', 'opening 1', 'opening 0', 'new 1 thing', 'play x', 'constructor 0']
				.map((e) => eventText(e, { who: (s) => 'AB'[s] }))`,
			`["B plays the 12 (rey) of copas","A draws a card face down","B takes the trick, 14 points","B takes the trick","A sings oros for 20","B bids 1",
			"The round is over: A 10, B -10","The card turned up is the 10 (sota) of copas: copas are trumps","The trump card is the 3 of bastos","B has 5 of copas, 7 of bastos",
			"Round 2: 1 card each, A deals","A reaches a corner and moves once more","The game begins after 6 random moves","The game begins after 1 random move","The game begins without an opening","new 1 thing","play x","constructor 0"]`,
		},
		"events of the reader": {
			`['play 1 12c', 'play 0 12c', 'trick 1 1', 'draw 1 3o', 'bid 1 2', 'deal 5c', 'round 2 cards=3 dealer=1'].map((e) => eventText(e, { who: (s) => 'AB'[s], me: 1 }))`,
			`["You play the 12 (rey) of copas","A plays the 12 (rey) of copas","You take the trick, 1 point","You draw the 3 of oros","You bid 2","Your hand: 5 of copas","Round 2: 3 cards each, you deal"]`,
		},
		"squares": {
			`[[0, 6], [5, 6], [30, 6], [35, 6], [24, 5], ['x', 5], [7, 0]].map(([square, columns]) => squareName(square, columns)).concat(moveName('19-14', 6), moveName('12', 5), eventText('capture 0 14', { who: () => 'A', columns: 6 }))`,
			`["a6","f6","a1","f1","e1","x","7","b3-c4","c3","A captures on c4"]`,
		},
		"moves": {`['swap:7o', 'sing:c', 'bid:2', '12-13', '11e'].map((m) => moveName(m))`, `["swap the trump card for the 7 of oros","sing copas","bid 2","12-13","11 (caballo) of espadas"]`},
		// A team forfeits together.
		"out": {`[0, 4, 5].map((ply) => [...outAt({faults: [{seat: 1, ply: 5}], seats: [{side: 0}, {side: 1}, {side: 0}, {side: 1}]}, ply)])`, `[[],[],[1,3]]`},
		// A long game that is watched begins in its middle, perhaps with the end of a trick.
		"from the middle": {`expand({base: 40, display: {cards: {hand: 'hand', trick: 'trick'}}, seats: [{}, {}], moves: [{seat: 1, move: '1o'}], frames: [
				{turn: 1, common: {trick: '-'}, events: {all: ['trick 1 14']}}, {turn: 0, common: {trick: '1o'}, events: {all: ['play 1 1o']}}]})
				.map((f) => [f.ply, f.trick, f.last])`, `[[40,null,null],[41,null,{"seat":1,"move":"1o"}]]`},
		"another game": {`drawGame({title: 'Mus'}, {hand: '<b>'}, {}).outerHTML`, `"<dl class=\"plainview\"><dt>hand</dt><dd>&lt;b&gt;</dd></dl>"`},
		"not a game":   {`drawGame({}, {a: '1'}, {}).tagName`, `"DL"`},
		"cards need no replay": {
			`(() => { const t = drawGame({cards: {hand: 'hand', trick: 'trick'}}, parseView('hand=5c,7b trump=3b stock=28 leader=1 trick=1o points=4,0 played=- known=-/7b'), {width: 900, height: 600, names: ['a', 'b'], seat: 0, turn: 0});
				return [...t.querySelectorAll('[data-hand]')].map((h) => [...h.querySelectorAll('[data-card]')].map((c) => c.dataset.card).join()); })()`,
			`["5c,7b","7b"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want any
			kit.Must(t, json.Unmarshal([]byte(c.want), &want))
			b.T = t
			if diff := cmp.Diff(want, webtest.Eval[any](b.Tab, c.expression)); diff != "" {
				t.Errorf("%s differs (-want +got)\n%s", c.expression, diff)
			}
		})
	}
}

// No seat overlaps another, lies in the middle or leaves the table, for any viewer, at any width, and with
// any number of cards in the hands.
func TestBoardSeating(t *testing.T) {
	t.Parallel()
	b := open(t, webtest.Start(t), nil)
	script := kit.Get[string](t)(bundle("modules.js", modules))
	webtest.Eval[chromedp.Void](b.Tab, script)
	wrong := webtest.Eval[[]string](b.Tab, `(() => {
		const wrong = [];
		const apart = (a, b) => a.x + a.width <= b.x + 0.01 || b.x + b.width <= a.x + 0.01 || a.y + a.height <= b.y + 0.01 || b.y + b.height <= a.y + 0.01;
		for (let seats = 2; seats <= 12; seats++) for (const width of [280, 320, 374, 600, 679, 680, 860, 1400]) for (const height of [340, 560, 900])
		for (const hand of [1, 3, Math.floor(48 / seats)]) for (const first of [0, seats - 1]) for (const plate of [26, 42]) {
			const { boxes, middle, height: total, least } = seating({ seats, first, width, height, hand, plate });
			const say = (what) => wrong.push(seats + ' seats, ' + width + ' by ' + height + ', hands of ' + hand + ', first ' + first + ': ' + what);
			if (boxes.length !== seats || boxes.includes(undefined)) { say('a seat is missing'); continue; }
			if (total !== Math.max(height, least)) say('the height is ' + total + ', at least ' + least);
			boxes.forEach((box, i) => {
				if (box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > total) say('seat ' + i + ' is off the table');
				boxes.slice(i + 1).forEach((other, j) => { if (!apart(box, other)) say('seats ' + i + ' and ' + (i + 1 + j) + ' overlap'); });
				if (!apart(box, middle)) say('seat ' + i + ' is in the middle');
			});
			if (boxes[first].y + boxes[first].height < total - 20) say('the first seat is not at the bottom');
			if (seats > 2 && boxes[(first + 1) % seats].x + boxes[(first + 1) % seats].width / 2 <= width / 2) say('the next seat is not on the right');
		}
		return wrong;
	})()`)
	if len(wrong) > 0 {
		t.Errorf("%d arrangements are wrong, the first: %q", len(wrong), wrong[:min(5, len(wrong))])
	}
}

// The events between two positions change the view of the first into what is drawn of the second.
func TestBoardFollow(t *testing.T) {
	t.Parallel()
	b := open(t, webtest.Start(t), nil)
	webtest.Eval[chromedp.Void](b.Tab, kit.Get[string](t)(bundle("modules.js", modules)))
	for _, c := range samples {
		g := kit.Get[[]byte](t)(json.Marshal(rebuilt(t, c, play(t, c))))
		wrong := webtest.Eval[[]string](b.Tab, fmt.Sprintf(`(() => {
			const game = %s, frames = expand(game), wrong = [];
			const keys = ['hand', 'trick', 'leader', 'trump', 'stock', 'points', 'tricks', 'bids', 'declared', 'round', 'cards', 'dealer', 'pieces', 'board'];
			frames.slice(1).forEach((frame, i) => game.seats.forEach((_, seat) => {
				const view = eventsOf(frame, seat).reduce((v, event) => follow(game.display, v, event, seat), frames[i].views[seat]);
				for (const key of keys) {
					const want = frame.views[seat][key];
					if (view[key] !== want) wrong.push('ply ' + frame.ply + ', seat ' + seat + ': ' + key + ' is ' + view[key] + ', want ' + want);
				}
			}));
			return wrong;
		})()`, g))
		if len(wrong) > 0 {
			t.Errorf("%s: %d differ, the first: %q", c.name, len(wrong), wrong[:min(4, len(wrong))])
		}
	}
}
