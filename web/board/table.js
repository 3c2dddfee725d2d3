// The table of a card game in which tricks are played.

import { card, ratio } from './cards.js';
import { clip, svg } from './dom.js';
import { seating } from './seating.js';
import { pip } from './suits.js';
import { bySeat, held, list, numbers, parseCard, suits, trickSeats } from './view.js';

const plateHeight = 26;
const badgeHeight = 22;
const badgeRoom = 128; // beside a name at the bottom

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
    this.sizes();
  }

  // sizes sets how wide cards are, and from them the rows of seats.
  sizes() {
    const { width, height } = this.scene;
    const tall = width < 680;
    const crowded = this.seats > 6;
    const scale = tall ? 1 : Math.max(0.8, Math.min(1.5, height / 580, width / 860));
    this.own = Math.round((tall ? 54 : crowded ? 50 : 76) * scale);
    this.other = Math.round((tall ? (this.seats > 7 ? 30 : 36) : crowded ? 38 : 54) * scale);
    this.onTable = Math.round((tall ? (this.seats > 5 ? 38 : 54) : crowded ? 42 : 70) * scale);
    this.crowded = crowded;
    const row = (size, badges) => plateHeight + 4 + badges + size * ratio + 2;
    const tricks = tall && this.seats > 4 ? Math.ceil(this.seats / 5) * (this.onTable * ratio + 16) : this.onTable * ratio * 2.05;
    this.rows = {
      bottom: row(this.own, 0), top: row(this.other, badgeHeight), side: row(this.other, badgeHeight) + (tall || crowded ? 0 : this.other * 1.1),
      middle: Math.max(tricks, this.onTable * ratio + 62) + 22,
    };
  }

  draw() {
    const { width, height } = this.scene;
    const first = this.seat ?? 0;
    this.plan = seating(this.seats, first, width, height, this.rows);
    const seatsDrawn = this.plan.boxes.map((box, seat) => this.drawSeat(seat, box));
    const root = svg('svg', {
      class: 'table', viewBox: `0 0 ${width} ${this.plan.height}`, width, height: this.plan.height, role: 'group',
      'aria-label': 'The table', 'data-seat': this.seat ?? 'open',
    }, felt(width, this.plan.height), this.drawMiddle(), seatsDrawn);
    return root;
  }

  drawSeat(seat, box) {
    const under = box.side === 'bottom';
    const size = under ? this.own : this.other;
    const plateWidth = Math.min(300, box.width - (under ? badgeRoom : 0));
    const plateX = under ? box.x + Math.max(0, (box.width - plateWidth) / 2 - (box.width < plateWidth + 2 * badgeRoom ? badgeRoom / 2 : 0)) : box.x + (box.width - plateWidth) / 2;
    const plateY = under ? box.y + box.height - plateHeight : box.y;
    const handY = under ? plateY - size * ratio - 5 : plateY + plateHeight + badgeHeight + 2;
    return svg('g', { class: 'seat', 'data-seat': seat, 'data-turn': this.scene.turn === seat ? 'yes' : null },
      this.drawPlate(seat, plateX, plateY, plateWidth),
      under ? this.drawBadges(seat, plateX + plateWidth + 6, plateY + 3) : this.drawBadges(seat, box.x + box.width / 2, plateY + plateHeight + 2, true),
      this.drawHand(seat, box, handY, size));
  }

  drawPlate(seat, x, y, width) {
    const { scene, view } = this;
    const points = list(view.points)[seat] ?? '';
    const small = width < 130;
    const name = scene.names[seat] ?? '';
    const mark = scene.ranks?.[seat] === 1 ? '★ ' : '';
    const room = width - 34 - points.length * 9 - (small ? 0 : 26);
    return svg('g', { class: `plate seat${seat}${scene.out?.has(seat) ? ' out' : ''}`, 'aria-label': `seat ${seat}, ${name}: ${points} points` },
      svg('title', {}, `seat ${seat}: ${name}`),
      svg('rect', { x, y, width, height: plateHeight, rx: 7, class: 'plateback' }),
      svg('rect', { x, y, width: 22, height: plateHeight, rx: 7, class: 'platedot' }),
      svg('text', { x: x + 11, y: y + 18, class: 'platenumber', 'text-anchor': 'middle' }, String(seat)),
      svg('text', { x: x + 28, y: y + 17.6, class: 'name' }, mark + clip(name, room - (mark ? 14 : 0))),
      svg('text', { x: x + width - 8, y: y + 18, class: 'points', 'text-anchor': 'end' }, points,
        small || points === '' ? null : svg('tspan', { class: 'unit' }, ' pts')));
  }

  // badges are further facts on a seat, in a few words each.
  badges(seat) {
    const { view, scene } = this;
    const all = [];
    const add = (kind, text, suit = null) => all.push({ kind, text, suit });
    const short = this.crowded && this.plan.tall;
    if (scene.out?.has(seat)) add('bad', short ? 'out' : 'forfeited');
    if (view.dealer !== undefined && Number(view.dealer) === seat) add('plain', short ? 'D' : 'dealer');
    if (view.bids !== undefined) {
      const bid = numbers(view.bids)[seat];
      const won = numbers(view.tricks)[seat];
      if (bid !== null) add(won === bid ? 'good' : won > bid ? 'bad' : 'plain', `${won} of ${bid}`);
    } else if (scene.won?.[seat]) {
      add('pile', String(scene.won[seat]));
    }
    const declared = list(view.declared)[seat];
    if (suits[declared]) add('song', 'sings', declared);
    const ordinal = { 1: '1st', 2: '2nd', 3: '3rd' };
    const rank = scene.ranks?.[seat];
    if (rank) add(rank === 1 ? 'good' : 'plain', ordinal[rank] ?? `${rank}th`);
    return all;
  }

  // drawBadges draws them from x on, or about x.
  drawBadges(seat, at, y, centred = false) {
    const badges = this.badges(seat);
    const widths = badges.map((b) => b.text.length * 6.9 + 14 + (b.suit ? 15 : 0) + (b.kind === 'pile' ? 14 : 0));
    let x = centred ? at - (widths.reduce((a, b) => a + b, 0) + 4 * (badges.length - 1)) / 2 : at;
    return badges.map((b, i) => {
      const lead = b.kind === 'pile' ? 14 : 0;
      const g = svg('g', { class: `badge ${b.kind}` },
        b.kind === 'pile' && svg('title', {}, `${b.text} tricks won`),
        svg('rect', { x, y: y + 1, width: widths[i], height: 18, rx: 9 }),
        b.kind === 'pile' && [3, 0].map((d) => svg('rect', { x: x + 9 + d, y: y + 4 + d / 2, width: 7, height: 10.5, rx: 1.5, class: 'pilecard' })),
        svg('text', { x: x + 7 + lead, y: y + 14 }, b.text),
        b.suit && pip(b.suit, x + widths[i] - 12, y + 10, 15));
      x += widths[i] + 4;
      return g;
    });
  }

  // handOf is the cards of a seat as the viewer sees them: "?" for those unseen.
  handOf(seat) {
    if (this.open) return this.hands[seat] ?? [];
    if (seat === this.seat) return list(this.view.hand);
    const known = this.known[seat] ?? [];
    return [...known, ...Array(Math.max(0, this.counts[seat] - known.length)).fill('?')];
  }

  drawHand(seat, box, y, size) {
    const hand = this.handOf(seat);
    if (!hand.length) return null;
    const rows = box.side !== 'bottom' && box.side !== 'top' && hand.length > 8 && hand[0] !== '?' ? 2 : 1;
    const perRow = Math.ceil(hand.length / rows);
    const open = hand.some((c) => c !== '?');
    const step = Math.min(open ? size + 5 : size * 0.5, perRow > 1 ? (box.width - size) / (perRow - 1) : size);
    const known = this.known[seat] ?? [];
    return svg('g', { class: 'hand', 'data-hand': seat }, hand.map((c, i) => {
      const row = Math.floor(i / perRow);
      const inRow = Math.min(perRow, hand.length - row * perRow);
      const x = box.x + (box.width - size - step * (inRow - 1)) / 2 + (i % perRow) * step;
      const shown = !this.open && seat !== this.seat && known.includes(c);
      return card(c, x, y + row * size * 0.72, size, shown ? 'known' : '');
    }));
  }

  drawMiddle() {
    const m = this.plan.middle;
    const stockWidth = Math.max(92, this.onTable * ratio + 20);
    // Many seats leave the very middle free, few leave the left.
    const central = this.crowded && !this.plan.tall;
    const x = central ? m.x + (m.width - stockWidth) / 2 : m.x + 4;
    const area = central ? m : { ...m, x: m.x + stockWidth, width: m.width - stockWidth };
    return svg('g', { class: 'middle' },
      this.drawStock({ x, y: m.y, width: stockWidth, height: m.height }),
      this.drawTrick(area));
  }

  // drawStock draws the stock with the trump card across below it. With three
  // players, or once it is drawn, the trump card is only a reminder.
  drawStock(box) {
    const { view } = this;
    if (view.trump === undefined) return null;
    const size = this.onTable * 0.92;
    const tall = size * ratio;
    const cx = box.x + box.width / 2;
    const x = cx - tall / 2;
    const stock = view.stock === undefined ? null : Number(view.stock);
    const gone = stock === 0 && this.seats !== 3;
    const trump = parseCard(view.trump);
    const lines = view.round === undefined ? [gone ? 'stock used up' : `stock ${stock}`]
      : [`round ${view.round}`, `${view.cards} card${view.cards === '1' ? '' : 's'} each`];
    const y = box.y + box.height / 2 - tall / 2 + (lines.length - 1) * 7;
    const shown = stock === null ? card(view.trump, cx - size / 2, y, size, 'trump')
      : svg('g', { transform: `translate(${x + tall} ${y + (tall - size) / 2}) rotate(90)` }, card(view.trump, 0, 0, size, gone ? 'trump gone' : 'trump'));
    const backs = stock === null ? 0 : Math.min(3, Math.max(0, stock - (this.seats === 3 ? 0 : 1)));
    const sung = list(view.sung);
    const text = (at, words, dx = 0) => svg('text', { x: cx + dx, y: at, class: 'label', 'text-anchor': 'middle' }, words);
    return svg('g', { class: 'stock', 'data-stock': view.stock ?? null, 'data-trump': view.trump },
      lines.map((line, i) => text(y - 9 - 16 * (lines.length - 1 - i), line)),
      shown,
      Array.from({ length: backs }, (_, i) => card('?', x - 2 + i * 2.5, y - i * 2.5, size)),
      trump && svg('g', { class: 'trumpname' }, svg('title', {}, `${suits[trump.suit].name} are trumps`),
        text(y + tall + 20, `trump ${trump.rank}`, -9), pip(trump.suit, cx + 30 + (trump.rank > 9 ? 4 : 0), y + tall + 15, 18)),
      sung.length > 0 && svg('g', { class: 'sung' }, text(y + tall + 40, 'sung', -9 * sung.length),
        sung.map((s, i) => pip(s, cx + 26 - 9 * sung.length + i * 19, y + tall + 36, 17))));
  }

  drawTrick(area) {
    const { view, scene } = this;
    const now = list(view.trick);
    const ended = now.length === 0 && scene.trick;
    const cards = ended ? trickSeats(scene.trick.leader, scene.trick.cards, this.seats)
      : trickSeats(Number(view.leader), now, this.seats);
    const size = this.onTable;
    const place = this.places(area, size, cards);
    return svg('g', { class: `trick${ended ? ' ended' : ''}`, 'data-trick': cards.map((c) => c.card).join(',') },
      cards.map(({ card: c, seat }) => {
        const [x, y] = place(seat);
        const last = this.lastCard === c && scene.last.seat === seat;
        const won = ended && seat === scene.trick.winner;
        const drawn = card(c, x - size / 2, y - (size * ratio) / 2, size, `${last ? 'last' : ''}${won ? ' winner' : ''}`);
        drawn.dataset.seat = seat;
        if (last && scene.moving) this.arrive(drawn, seat, x, y);
        return svg('g', {}, drawn, svg('g', { class: `tag seat${seat}` },
          svg('circle', { cx: x + size / 2 - 1, cy: y - (size * ratio) / 2 + 1, r: 9 }),
          svg('text', { x: x + size / 2 - 1, y: y - (size * ratio) / 2 + 5.2, 'text-anchor': 'middle' }, String(seat))));
      }));
  }

  // places says where a seat's card of the trick lies: towards the seat, or in
  // rows where the middle is too small for that.
  places(area, size, cards) {
    const cx = area.x + area.width / 2, cy = area.y + area.height / 2;
    const tall = size * ratio;
    if (this.plan.tall && this.seats > 4) {
      const perRow = Math.max(1, Math.min(cards.length, Math.floor(area.width / (size + 10))));
      const rows = Math.ceil(cards.length / perRow);
      return (seat) => {
        const i = cards.findIndex((c) => c.seat === seat);
        const row = Math.floor(i / perRow);
        const inRow = Math.min(perRow, cards.length - row * perRow);
        return [cx + ((i % perRow) - (inRow - 1) / 2) * (size + 10), cy + (row - (rows - 1) / 2) * (tall + 14)];
      };
    }
    const rx = Math.max(size * 0.6, Math.min(area.width / 2 - size / 2 - 6, size * (this.crowded ? 4 : this.seats > 4 ? 2.1 : 1.55)));
    const ry = Math.max(tall * 0.2, Math.min(area.height / 2 - tall / 2 - 6, tall * (this.crowded ? 1.9 : this.seats > 4 ? 0.85 : 0.62)));
    const first = this.seat ?? 0;
    return (seat) => {
      const turn = Math.PI / 2 - (2 * Math.PI * ((seat - first + this.seats) % this.seats)) / this.seats;
      return [cx + rounder(Math.cos(turn)) * rx, cy + rounder(Math.sin(turn)) * ry];
    };
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

// rounder turns an ellipse towards a rectangle, where many cards lie better.
const rounder = (x) => Math.sign(x) * Math.abs(x) ** 0.8;

function felt(width, height) {
  return [
    svg('rect', { width, height, rx: 18, class: 'feltedge' }),
    svg('rect', { x: 6, y: 6, width: width - 12, height: height - 12, rx: 13, class: 'felt' }),
    svg('rect', { x: 14, y: 14, width: width - 28, height: height - 28, rx: 9, class: 'feltline' }),
  ];
}
