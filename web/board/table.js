// The table of a card game in which tricks are played.

import { card, leastRow, leastStep, pip, ratio } from './pack.js';
import { svg } from './dom.js';
import { drawPlate } from './plates.js';
import { handRows, plateHeight, seating, stockScale, stockShow } from './seating.js';
import { trickPlaces } from './trick.js';
import { bySeat, held, list, parseCard, say, suitName, trickSeats } from './text.js';

// drawTable draws a view, its keys as view.js names them. scene has what no view has, and all of it is optional
// but width, height and names:
//   names     by seat
//   seat      whose view it is; null when all cards are open
//   turn      the seat to move, -1 when the game is over
//   last      {seat, move}, made just now
//   trick     {leader, cards, winner, points}: the trick that has just ended
//   won       tricks won by seat, where the view does not count them
//   out       seats that have forfeited, a set
//   ranks     by seat, once the game is over
//   moving    whether the last move is to be seen arriving
//   hand      the most cards that a seat holds in this game, for which room is kept; else
//             as many as the round or the position has
export function drawTable(view, scene) {
  return new Table(view, scene, scene.names.length).draw();
}

class Table {
  constructor(view, scene, seats) {
    Object.assign(this, { view, scene, seats });
    this.open = view.hands !== undefined;
    this.seat = this.open ? null : scene.seat;
    this.counts = held(view, seats, this.seat ?? 0);
    this.hands = this.open ? bySeat(view.hands) : null;
    this.known = bySeat(view.known);
    this.lastCard = scene.last?.move;
    const trick = list(view.trick).length > 0 ? 1 : 0;
    this.plan = seating({
      seats, first: this.seat ?? 0, width: scene.width, height: scene.height,
      hand: Number(view.cards ?? scene.hand ?? Math.max(...this.counts) + trick),
    });
  }

  draw() {
    const { width } = this.scene;
    const { height, boxes } = this.plan;
    return svg('svg', {
      class: 'table', viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': say('table'), 'data-seat': this.seat ?? 'open',
    }, felt(width, height), this.drawStock(this.plan.stock), this.drawTrick(), boxes.map((box, seat) => this.drawSeat(seat, box)));
  }

  drawSeat(seat, box) {
    return svg('g', { class: 'seat', 'data-seat': seat, 'data-turn': this.scene.turn === seat ? 'yes' : null },
      drawPlate(this.view, this.scene, seat, this.plateBox(box)), this.drawHand(seat, box));
  }

  // plateBox is where the name of a seat stands: under the hand of the seat at the bottom,
  // above the other hands, or behind all of a strip.
  plateBox(box) {
    if (box.side === 'strip') return { ...box, hand: this.stripHand(box) + 6 };
    const width = Math.min(box.side === 'bottom' ? 330 : 300, box.width);
    return { x: box.x + (box.width - width) / 2, y: box.side === 'bottom' ? box.y + box.height - plateHeight : box.y, width, height: plateHeight };
  }

  // stripHand is the width of the largest hand in a strip.
  stripHand(box) {
    const { other } = this.plan;
    const most = Number(this.view.cards ?? Math.max(...this.counts));
    if (this.counts.every((n) => n === 0)) return 0; // the names have all the room
    return other + Math.max(0, most - 1) * this.stripStep(box, most);
  }

  stripStep(box, most) {
    const { other } = this.plan;
    return Math.max(leastStep * other, Math.min(other * 0.7, (box.width * 0.42 - other) / Math.max(1, most - 1)));
  }

  // handOf is the cards of a seat as the viewer sees them: "?" for those unseen.
  handOf(seat) {
    if (this.open) return this.hands[seat] ?? [];
    if (seat === this.seat) return list(this.view.hand);
    const known = this.known[seat] ?? [];
    return [...known, ...Array(Math.max(0, this.counts[seat] - known.length)).fill('?')];
  }

  drawHand(seat, box) {
    const hand = this.handOf(seat);
    if (!hand.length) return null;
    const known = this.known[seat] ?? [];
    const { size, step, place } = this.handPlaces(hand, box);
    return svg('g', { class: 'hand', 'data-hand': seat }, hand.map((c, i) =>
      card(c, ...place(i), size, !this.open && seat !== this.seat && known.includes(c) ? 'known' : '', step < size)));
  }

  // handPlaces gives the width of the cards of a hand and the place of each.
  handPlaces(hand, box) {
    const under = box.side === 'bottom';
    const size = under ? this.plan.own : this.plan.other;
    const n = hand.length;
    if (box.side === 'strip') {
      const step = this.stripStep(box, Number(this.view.cards ?? Math.max(...this.counts)));
      const y = box.y + (box.height - size * ratio) / 2;
      return { size, step, place: (i) => [box.x + box.width - 4 - size - step * (n - 1 - i), y] };
    }
    const seen = hand.some((c) => c !== '?');
    const rows = seen ? handRows(n, size, box.width) : 1;
    const perRow = Math.ceil(n / rows);
    const step = Math.min(seen ? size + (under ? 6 : 4) : size * 0.5, perRow > 1 ? (box.width - size) / (perRow - 1) : size);
    const tall = size * ratio * (1 + (rows - 1) * leastRow);
    const y = under ? box.y + box.height - plateHeight - 5 - tall : box.y + plateHeight + 4;
    return {
      size, step: rows > 1 ? 0 : step,
      place: (i) => {
        const row = Math.floor(i / perRow), inRow = Math.min(perRow, n - row * perRow);
        return [box.x + (box.width - size - step * (inRow - 1)) / 2 + (i % perRow) * step, y + row * size * ratio * leastRow];
      },
    };
  }

  // drawStock draws the stock with the trump card across below it. With three
  // players, or once it is drawn, the trump card is only a reminder.
  drawStock(box) {
    const { view } = this;
    if (view.trump === undefined) return null;
    const size = this.plan.onTable * stockScale;
    const tall = size * ratio;
    const cx = box.x + box.width / 2;
    const x = cx - tall / 2;
    const stock = view.stock === undefined ? null : Number(view.stock);
    const gone = stock === 0 && this.seats !== 3;
    const trump = parseCard(view.trump);
    const lines = view.round === undefined ? [gone ? say('table.used') : say('table.stock', { count: stock })]
      : [say('table.round', { round: view.round }), say('event.each', { count: view.cards })];
    const y = box.y + box.height / 2 - tall / 2 + (lines.length - 1) * 7;
    const backs = stock === null ? 0 : Math.min(3, Math.max(0, stock - (this.seats === 3 ? 0 : 1)));
    const apart = backs > 0 ? tall * stockShow : 0;
    const shown = stock === null ? card(view.trump, cx - size / 2, y, size, 'trump')
      : svg('g', { transform: `translate(${x + tall + apart} ${y + (tall - size) / 2}) rotate(90)` }, card(view.trump, 0, 0, size, gone ? 'trump gone' : 'trump'));
    const sung = list(view.sung);
    const text = (at, words, dx = 0) => svg('text', { x: cx + dx, y: at, class: 'label', 'text-anchor': 'middle' }, words);
    return svg('g', { class: 'stock', 'data-stock': view.stock ?? null, 'data-trump': view.trump },
      lines.map((line, i) => text(y - 9 - 16 * (lines.length - 1 - i), line)),
      shown,
      Array.from({ length: backs }, (_, i) => card('?', x - apart + i * 2.5, y - i * 2.5, size)),
      trump && svg('g', { class: 'trumpname' }, svg('title', {}, say('table.trumps', { suit: suitName(trump.suit) })),
        text(y + tall + 19, say('table.trump-word'), -11), pip(trump.suit, cx + 25, y + tall + 14.5, 19)),
      sung.length > 0 && svg('g', { class: 'sung' }, text(y + tall + 38, say('table.sung'), -9 * sung.length),
        sung.map((s, i) => pip(s, cx + 26 - 9 * sung.length + i * 19, y + tall + 34, 17))));
  }

  drawTrick() {
    const { view, scene, plan, seats } = this;
    const now = list(view.trick);
    const ended = now.length === 0 && scene.trick;
    const cards = ended ? trickSeats(scene.trick.leader, scene.trick.cards, seats) : trickSeats(Number(view.leader), now, seats);
    const { size, at } = trickPlaces({
      area: plan.trick, keep: !plan.tall && seats > 6 && view.trump !== undefined ? this.stockKeep() : null,
      seats, first: this.seat ?? 0, played: cards.map((c) => c.seat), most: plan.onTable, rows: plan.tall && seats > 4,
    });
    return svg('g', { class: `trick${ended ? ' ended' : ''}`, 'data-trick': cards.map((c) => c.card).join(',') },
      cards.map(({ card: c, seat }) => {
        const [x, y] = at(seat);
        const last = this.lastCard === c && scene.last.seat === seat;
        const won = ended && seat === scene.trick.winner;
        const drawn = card(c, x - size / 2, y - (size * ratio) / 2, size, `${last ? 'last' : ''}${won ? ' winner' : ''}`);
        drawn.dataset.seat = seat;
        if (last && scene.moving) this.arrive(drawn, seat, x, y);
        return svg('g', {}, drawn, svg('g', { class: `tag seat${seat}` },
          svg('circle', { cx: x + size / 2 - 2, cy: y - (size * ratio) / 2 + 2, r: 8.5 }),
          svg('text', { x: x + size / 2 - 2, y: y - (size * ratio) / 2 + 6, 'text-anchor': 'middle' }, String(seat))));
      }));
  }

  // stockKeep is what the stock in the very middle takes.
  stockKeep() {
    const { stock, onTable } = this.plan;
    const tall = onTable * stockScale * ratio + 70;
    return { x: stock.x, y: stock.y + (stock.height - tall) / 2, width: stock.width, height: tall };
  }

  // arrive moves a card in from the seat that played it; see board.css.
  arrive(drawn, seat, x, y) {
    const box = this.plan.boxes[seat];
    const lift = drawn.querySelector('.lift');
    lift.classList.add('arriving');
    lift.style.setProperty('--from-x', `${(box.x + box.width / 2 - x) * 0.6}px`);
    lift.style.setProperty('--from-y', `${(box.y + box.height / 2 - y) * 0.6}px`);
  }
}

function felt(width, height) {
  return [
    svg('rect', { width, height, rx: 18, class: 'feltedge' }),
    svg('rect', { x: 6, y: 6, width: width - 12, height: height - 12, rx: 13, class: 'felt' }),
  ];
}
