// The table of a card game in which tricks are played.

import { fitted, svg, textWidth } from './dom.js';
import { card, leastRow, leastStep, pip, ratio } from './pack.js';
import { bySeat, held, list, numbers, parseCard, said, say, suitName, suits, trickSeats } from './text.js';

// drawTable draws a view, its keys as named of text.js names them, with a scene of scene.js.
export function drawTable(view, scene) {
  return new Table(view, scene, scene.names.length).draw();
}

class Table {
  constructor(view, scene, seats) {
    Object.assign(this, { view, scene, seats });
    this.open = view.hands !== undefined;
    this.seat = this.open ? null : scene.seat;
    this.first = this.seat ?? scene.bottom ?? 0;
    this.counts = held(view, seats, this.seat ?? 0);
    this.hands = this.open ? bySeat(view.hands) : null;
    this.known = bySeat(view.known);
    this.lastCard = scene.last?.move;
    const trick = list(view.trick).length > 0 ? 1 : 0;
    const room = {
      seats, first: this.first, width: scene.width, height: scene.height,
      hand: Number(view.cards ?? scene.hand ?? Math.max(...this.counts) + trick),
    };
    this.plan = seating(room);
    const cut = ({ narrow, width }, seat) => narrow && textWidth(scene.names[seat] ?? '', 13) > width - besides;
    if (this.plan.boxes.some(cut)) this.plan = seating({ ...room, plate: tallPlate });
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
    const height = box.plate ?? plateHeight;
    return { x: box.x + (box.width - width) / 2, y: box.side === 'bottom' ? box.y + box.height - height : box.y, width, height };
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
    const y = under ? box.y + box.height - plateHeight - 5 - tall : box.y + (box.plate ?? plateHeight) + 4;
    return {
      size, step: rows > 1 ? 0 : step,
      place: (i) => {
        const row = Math.floor(i / perRow), inRow = Math.min(perRow, n - row * perRow);
        return [box.x + (box.width - size - step * (inRow - 1)) / 2 + (i % perRow) * step, y + row * size * ratio * leastRow];
      },
    };
  }

  // drawStock draws the stock with the trump card across below it. Once it is
  // drawn, and with three players who never draw it, it is only a reminder.
  drawStock(box) {
    const { view } = this;
    if (view.trump === undefined) return null;
    const size = this.plan.onTable * stockScale;
    const tall = size * ratio;
    const cx = box.x + box.width / 2;
    const x = cx - tall / 2;
    const stock = view.stock === undefined ? null : Number(view.stock);
    const gone = stock === 0 && (this.seats !== 3 || isDrawn(view));
    const trump = parseCard(view.trump);
    const lines = view.round === undefined ? [gone ? say('table.used') : say('table.stock', { count: stock })]
      : [say(this.scene.rounds ? 'table.round-of' : 'table.round', { round: view.round, rounds: this.scene.rounds }), say('event.each', { count: view.cards })];
    const y = box.y + box.height / 2 - tall / 2 + (lines.length - 1) * 7;
    const backs = stock === null ? 0 : Math.min(3, Math.max(0, stock - (this.seats === 3 ? 0 : 1)));
    const apart = backs > 0 ? tall * stockShow : 0;
    const shown = stock === null ? card(view.trump, cx - size / 2, y, size, 'trump')
      : svg('g', { transform: `translate(${x + tall + apart} ${y + (tall - size) / 2}) rotate(90)` }, card(view.trump, 0, 0, size, gone ? 'trump gone' : 'trump'));
    const sung = list(view.sung);
    const text = (at, words, dx = 0) => { // which stays on the felt
      const x = Math.max(cx + dx, 12 + textWidth(words, 13, 400) / 2);
      return svg('text', { x, y: at, class: 'label', 'text-anchor': 'middle' }, words);
    };
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
      seats, first: this.first, played: cards.map((c) => c.seat), most: plan.onTable, rows: plan.tall && seats > 4,
    });
    return svg('g', { class: `trick${ended ? ' ended' : ''}`, 'data-trick': cards.map((c) => c.card).join(',') },
      cards.map(({ card: c, seat }) => {
        const [x, y] = at(seat);
        const last = this.lastCard === c && scene.last.seat === seat;
        const won = ended && seat === scene.trick.winner;
        const drawn = card(c, x - size / 2, y - (size * ratio) / 2, size, `${last ? 'last' : ''}${won ? ' winner' : ''}`);
        drawn.dataset.seat = seat;
        const tag = svg('g', { class: `tag seat${seat}` },
          svg('circle', { cx: x + size / 2 - 2, cy: y - (size * ratio) / 2 + 2, r: 8.5 }),
          svg('text', { x: x + size / 2 - 2, y: y - (size * ratio) / 2 + 6, 'text-anchor': 'middle' }, String(seat)));
        if (last && scene.moving) for (const part of [drawn.querySelector('.lift'), tag]) this.arrive(part, seat, x, y);
        const played = svg('g', {}, drawn, tag);
        if (ended && scene.leaving) this.leave(played, x, y);
        return played;
      }));
  }

  // stockKeep is what the stock in the very middle takes.
  stockKeep() {
    const { stock, onTable } = this.plan;
    const tall = onTable * stockScale * ratio + 70;
    return { x: stock.x, y: stock.y + (stock.height - tall) / 2, width: stock.width, height: tall };
  }

  // leave moves a card of a trick to its winner.
  leave(played, x, y) {
    const box = this.plan.boxes[this.scene.trick.winner];
    played.classList.add('leaving');
    played.style.setProperty('--to-x', `${box.x + box.width / 2 - x}px`);
    played.style.setProperty('--to-y', `${box.y + box.height / 2 - y}px`);
  }

  // arrive moves a card, or its tag, in from the seat that played it; see table.css.
  arrive(lift, seat, x, y) {
    const box = this.plan.boxes[seat];
    lift.classList.add('arriving');
    lift.style.setProperty('--from-x', `${(box.x + box.width / 2 - x) * 0.6}px`);
    lift.style.setProperty('--from-y', `${(box.y + box.height / 2 - y) * 0.6}px`);
  }
}

// isDrawn reports whether the trump card was drawn: then it is in a hand, as all
// know, or was played.
function isDrawn(view) {
  return [view.known?.replaceAll('/', ','), view.played, view.trick].some((cards) => list(cards).includes(view.trump));
}

function felt(width, height) {
  return [
    svg('rect', { width, height, rx: 18, class: 'feltedge' }),
    svg('rect', { x: 6, y: 6, width: width - 12, height: height - 12, rx: 13, class: 'felt' }),
  ];
}

// Where the seats are, and how large their cards. The seat whose view it is, or seat 0, is at the
// bottom; the others follow against the clock, as the game is played in Spain: the next seat is on
// the right.

// How many sit at the bottom, right, top and left of a wide table.
const wide = {
  2: [1, 0, 1, 0], 3: [1, 1, 0, 1], 4: [1, 1, 1, 1], 5: [1, 1, 2, 1], 6: [1, 1, 3, 1], 7: [1, 2, 2, 2],
  8: [3, 1, 3, 1], 9: [3, 1, 4, 1], 10: [3, 2, 3, 2], 11: [3, 2, 4, 2], 12: [3, 3, 3, 3],
};

// narrow is the width in pixels below which a table is narrow.
const narrow = 680;

// plateHeight is that of a name, and tallPlate that of a name above the rest, in a narrow box; besides is what a
// name in one line leaves to the rest.
const plateHeight = 26, tallPlate = 42, besides = 84;

const gap = 8;

// handRows is in how many rows a hand lies so that every card of it can be read.
function handRows(cards, size, width) {
  const perRow = Math.max(1, Math.floor((width - size) / (leastStep * size)) + 1);
  return Math.min(3, Math.ceil(Math.max(1, cards) / perRow));
}

const handHeight = (cards, size, width) => size * ratio * (1 + (handRows(cards, size, width) - 1) * leastRow);

// seating gives a box for each seat, {x, y, width, height, side}, the middle and the
// stock, the widths of the cards (own, other, onTable), and the height of the table,
// which is more than the given height where a table cannot be drawn that low. hand
// is the most cards that a seat holds. side is "bottom", "right", "top" or "left",
// or "strip" where a name has its cards beside it instead of below. plate is the height of the names in narrow boxes,
// which these then have as well.
export function seating({ seats, first, width, height, hand, plate = plateHeight }) {
  const tall = width < narrow;
  const make = tall ? tallPlan : widePlan;
  let plan;
  for (let scale = 1.5; scale > 0.78; scale -= 0.05) {
    plan = make(seats, width, height, hand, scale, plate);
    if (plan.least <= height) break;
  }
  const boxes = [];
  plan.boxes.forEach((box, i) => { boxes[(first + i) % seats] = box.narrow ? { ...box, plate } : box; });
  return { ...plan, boxes, tall };
}

// spread puts n boxes of a size side by side, the first on the left.
function spread(n, x, y, width, height, side, most) {
  const each = Math.min(most, (width - gap * (n - 1)) / n);
  const between = Math.max(gap, (width - each * n) / (n + 1));
  const start = x + (width - each * n - between * (n - 1)) / 2;
  return Array.from({ length: n }, (_, i) => ({ x: start + i * (each + between), y, width: each, height, side }));
}

function widePlan(seats, width, height, hand, scale, plate) {
  const [bottom, right, top, left] = wide[seats];
  const pad = 14;
  const crowded = seats > 6;
  const grow = Math.min(scale, 1.25);
  const own = Math.round((crowded ? 54 : 84) * grow), other = Math.round((crowded ? 42 : 56) * grow), onTable = Math.round((crowded ? 46 : 76) * grow);
  const sideWidth = Math.min(210, width * 0.25);
  const room = width - 2 * pad;
  const lowEach = bottom > 1 ? Math.min(290, (room - gap * (bottom - 1)) / bottom) : room;
  const highEach = top > 1 ? Math.min(260, (room - gap * (top - 1)) / top) : Math.min(440, room);
  const rows = {
    bottom: handHeight(hand, own, lowEach) + 5 + plateHeight,
    top: plateHeight + 4 + handHeight(hand, other, highEach),
    side: plate + 4 + handHeight(hand, other, sideWidth),
  };
  const above = top ? rows.top + gap : 0;
  const columns = Math.max(left, right);
  const trick = onTable * ratio * (crowded ? 3.4 : seats > 4 ? 2.1 : seats > 2 ? 1.7 : 2.05);
  const least = 2 * pad + above + Math.max(columns * rows.side + (columns - 1) * gap, trick) + gap + rows.bottom;
  const total = Math.max(height, least);
  const inner = { top: pad + above, bottom: total - pad - rows.bottom - gap };
  const column = (n, x, side) => {
    const each = rows.side;
    const space = Math.max(0, (inner.bottom - inner.top - each * n) / (n + 1));
    return Array.from({ length: n }, (_, i) => ({ x, y: inner.top + space + i * (each + space), width: sideWidth, height: each, side, narrow: true }));
  };
  const low = spread(bottom, pad, total - pad - rows.bottom, room, rows.bottom, 'bottom', lowEach);
  const high = spread(top, pad, pad, room, rows.top, 'top', highEach).reverse();
  const half = Math.floor(bottom / 2);
  const x = left ? pad + sideWidth + gap : pad;
  const middle = { x, y: inner.top, width: width - 2 * x, height: inner.bottom - inner.top };
  const stock = stockWidth(onTable);
  return {
    height: total, least, own, other, onTable, middle,
    stock: { ...middle, x: crowded ? middle.x + (middle.width - stock) / 2 : seats === 2 ? middle.x + middle.width * 0.1 : middle.x, width: stock },
    trick: crowded || seats === 2 ? middle : { ...middle, x: middle.x + stock, width: middle.width - stock },
    boxes: [...low.slice(half), ...column(right, width - pad - sideWidth, 'right').reverse(), ...high, ...column(left, pad, 'left'), ...low.slice(0, half)],
  };
}

// stockScale is the width of the stock's cards, to that of the others in the middle, and
// stockShow how much of its length the trump card shows below it to either side.
const stockScale = 0.92, stockShow = 0.11;

// stockWidth is the room for the stock with the trump card across below it.
const stockWidth = (size) => Math.max(104, size * stockScale * ratio * (1 + 2 * stockShow) + 10);

// A narrow table has the others in two columns above the middle, and one across the
// top where their number is odd. Many of them have their cards beside their names.
function tallPlan(seats, width, height, hand, scale, plate) {
  const pad = 10;
  const strips = seats > 7;
  const others = seats - 1;
  const side = Math.floor(others / 2), across = others % 2;
  const lines = side + across;
  const room = width - 2 * pad;
  const each = (room - gap) / 2;
  const own = Math.round(Math.min(84, 56 * scale)), other = Math.round((strips ? 27 : seats > 5 ? 32 : 36) * Math.min(scale, 1.35));
  const onTable = Math.round((seats > 7 ? 34 : seats > 4 ? 40 : 52) * Math.min(scale, 1.4));
  const row = strips ? Math.max(tallPlate, other * ratio + 6) : plate + 4 + handHeight(hand, other, each);
  const rowGap = strips ? 5 : gap;
  const bottom = handHeight(hand, own, room) + 5 + plateHeight;
  const stock = stockWidth(onTable);
  const perRow = Math.max(1, Math.floor((room - stock) / (onTable + 10)));
  const trick = seats > 4 ? Math.ceil(seats / perRow) * (onTable * ratio + 13) : onTable * ratio * 1.9 + 8;
  const high = Math.max(trick, onTable * ratio * 0.92 + 56);
  const least = 2 * pad + lines * (row + rowGap) + high + gap + bottom;
  const total = Math.max(height, least);
  const at = (line, column, span = 1) => ({
    x: pad + column * (each + gap), y: pad + line * (row + rowGap), width: each * span + gap * (span - 1), height: row, side: strips ? 'strip' : 'top', narrow: !strips && span === 1,
  });
  const top = strips ? { ...at(0, 0), x: (width - each) / 2 } : at(0, 0, 2);
  const right = Array.from({ length: side }, (_, i) => at(across + side - 1 - i, 1));
  const left = Array.from({ length: side }, (_, i) => at(across + i, 0));
  const y = pad + lines * (row + rowGap);
  const middle = { x: pad, y, width: room, height: total - pad - bottom - gap - y };
  return {
    height: total, least, own, other, onTable, middle,
    stock: { ...middle, width: stock }, trick: { ...middle, x: middle.x + stock, width: middle.width - stock },
    boxes: [{ x: pad, y: total - pad - bottom, width: room, height: bottom, side: 'bottom' }, ...right, ...(across ? [top] : []), ...left],
  };
}

// Where the cards of a trick lie.

const space = 9; // between cards, for the numbers of the seats on their corners

// trickPlaces gives the width of the cards and the middle of the card of each seat: in
// front of the seats, or in rows in the order of play where the table is narrow. area
// is the box for them, keep a box in it that stays free, and most the largest width.
function trickPlaces({ area, keep, seats, first, played, most, rows }) {
  return rows ? inRows(area, seats, played, most) : inRing(area, keep, seats, first, most);
}

function inRows(area, seats, played, size) {
  const tall = size * ratio;
  const perRow = Math.max(1, Math.floor((area.width + space) / (size + space)));
  const lines = Math.ceil(seats / perRow);
  const even = Math.ceil(seats / lines); // as many in each row
  const shown = Math.ceil(Math.max(1, played.length) / even);
  return {
    size,
    at: (seat) => {
      const i = played.indexOf(seat), row = Math.floor(i / even);
      const inRow = Math.min(even, played.length - row * even);
      return [area.x + area.width / 2 + ((i % even) - (inRow - 1) / 2) * (size + space),
        area.y + area.height / 2 + (row - (shown - 1) / 2) * (tall + 12)];
    },
  };
}

// inRing takes the largest cards, and for them the smallest and roundest ring, in which no
// card lies on another.
function inRing(area, keep, seats, first, most) {
  const cx = area.x + area.width / 2, cy = area.y + area.height / 2;
  for (let size = most; ; size -= 2) {
    const tall = size * ratio;
    const wide = Math.max(0, Math.min(area.width / 2 - size / 2 - 4, (size + space) * Math.max(1.4, seats / 3.4)));
    const high = Math.max(0, area.height / 2 - tall / 2 - 4);
    for (const corner of corners) for (let k = 0.1; k <= 1.001; k += 0.05) {
      const spots = Array.from({ length: seats }, (_, i) => {
        const turn = Math.PI / 2 - (2 * Math.PI * i) / seats;
        return [cx + bend(Math.cos(turn), corner) * wide * k, cy + bend(Math.sin(turn), corner) * high * k];
      });
      if (size <= 24 || apart(spots, size, tall, keep)) return { size, at: (seat) => spots[(seat - first + seats) % seats] };
    }
  }
}

// bend turns an ellipse towards a rectangle, the more so the smaller corner is.
const bend = (x, corner) => (Math.abs(x) < 1e-9 ? 0 : Math.sign(x) * Math.abs(x) ** corner);
const corners = [0.8, 0.5, 0.25];

function apart(spots, size, tall, keep) {
  return spots.every(([x, y], i) =>
    spots.slice(i + 1).every(([u, v]) => Math.abs(x - u) >= size + space - 0.01 || Math.abs(y - v) >= tall + space - 0.01)
    && (!keep || x + size / 2 <= keep.x || x - size / 2 >= keep.x + keep.width || y + tall / 2 <= keep.y || y - tall / 2 >= keep.y + keep.height));
}

// The names of the seats, with what there is to say of each.

const dot = 22; // the width of a seat's number

// badges are facts on a seat, the least important first: {kind, text, title, suit}.
function badges(view, scene, seat) {
  const all = [];
  const add = (kind, text, title, suit = null) => all.push({ kind, text, title, suit, seat });
  const rank = scene.ranks?.[seat];
  if (view.bids === undefined && scene.won?.[seat] && !rank) add('pile', String(scene.won[seat]), say('seat.won', { count: scene.won[seat] }));
  if (view.dealer !== undefined && Number(view.dealer) === seat && !rank) add('dealer', say('seat.dealer-mark'), say('seat.dealer'));
  if (view.bids !== undefined && !rank) {
    const bid = numbers(view.bids)[seat], won = numbers(view.tricks)[seat];
    if (bid !== null) add(won === bid ? 'good' : won > bid ? 'bad' : 'plain', `${won}/${bid}`, say('seat.bid', { won, bid }));
  }
  const declared = list(view.declared)[seat];
  if (suits.includes(declared)) add('song', '♪', say('seat.sings', { suit: suitName(declared) }), declared);
  if (scene.partners?.has(seat)) add('partner', say('seat.partner'), say('seat.partner-title'));
  if (scene.out?.has(seat)) add('bad', say('seat.out'), say('seat.forfeited'));
  const tag = scene.tags?.get(seat);
  if (tag && !rank) add('bad', tag, tag);
  const time = scene.clocks?.get(seat);
  if (time && !rank) add('clock', time, say('seat.clock'));
  if (rank) add(rank === 1 ? 'good' : 'plain', ordinal(rank), say('seat.rank', { rank }));
  return all;
}

const ordinal = (rank) => say(said(`ordinal.${rank}`) ? `ordinal.${rank}` : 'ordinal.any', { rank });

const badgeSize = 11.5;

function badgeWidth(badge) {
  if (badge.kind === 'dealer') return 18;
  return textWidth(badge.text, badgeSize) + 11 + (badge.suit ? 16 : 0) + (badge.kind === 'pile' ? 14 : 0);
}

function drawBadge(badge, x, y) {
  const width = badgeWidth(badge);
  const lead = badge.kind === 'pile' ? 14 : 0;
  return svg('g', { class: `badge ${badge.kind}` },
    svg('title', {}, badge.title),
    svg('rect', { x, y, width, height: 18, rx: 9 }),
    lead > 0 && [3, 0].map((d) => svg('rect', { x: x + 6 + d, y: y + 3 + d / 2, width: 7, height: 10.5, rx: 1.5, class: 'pilecard' })),
    svg('text', { x: badge.kind === 'dealer' ? x + 9 : x + 5.5 + lead, y: y + 13.2, 'text-anchor': badge.kind === 'dealer' ? 'middle' : null, 'data-clock': badge.kind === 'clock' ? badge.seat : null }, badge.text),
    badge.suit && pip(badge.suit, x + width - 13, y + 9, 15));
}

// drawBadges draws as many as fit into a width, from right to left before x, and
// gives them with the x where the first begins.
function drawBadges(all, x, y, width) {
  const kept = [...all];
  const total = () => kept.reduce((sum, b) => sum + badgeWidth(b) + 4, 0);
  while (kept.length > 0 && total() > width) kept.shift();
  let at = x - total();
  const start = at;
  return { start, drawn: kept.map((b) => {
    const g = drawBadge(b, at, y);
    at += badgeWidth(b) + 4;
    return g;
  }) };
}

// drawPlate draws a seat's name in a box. In a tall one the name stands above the rest; a box with the width of a
// hand is a strip, and the hand has the right.
function drawPlate(view, scene, seat, box) {
  const points = list(view.points)[seat] ?? '';
  const name = scene.names[seat] ?? '';
  const strip = box.hand !== undefined;
  const { x, y, width, height } = box;
  const end = x + width - (strip ? box.hand : 0);
  return svg('g', { class: `plate seat${seat}${scene.out?.has(seat) ? ' out' : ''}`, 'data-plate': seat, 'aria-label': say(points === '' ? 'seat.plate' : 'seat.plate-points', { seat, name, points }) },
    svg('title', {}, say('seat.name', { seat, name })),
    svg('rect', { x, y, width, height, rx: 7, class: 'plateback' }),
    svg('path', { d: `M${x + dot} ${y}h${7 - dot}q-7 0-7 7v${height - 14}q0 7 7 7h${dot - 7}z`, class: 'platedot' }),
    svg('text', { x: x + dot / 2, y: y + height / 2 + 4.5, class: 'platenumber', 'text-anchor': 'middle' }, String(seat)),
    (height < tallPlate ? inLine : inStrip)(badges(view, scene, seat), { name, points, x: x + dot + 5, end: end - (strip ? 2 : 7), y, height }));
}

// inLine writes name, badges and points into one line.
function inLine(all, { name, points, x, end, y, height }) {
  const unit = points !== '' && end - x > 200;
  const pointsWidth = points === '' ? 0 : textWidth(points, 15, 700) + (unit ? textWidth(say('seat.unit'), 11, 400) : 0) + 5;
  const least = Math.min(textWidth(name, 13), 50);
  const base = y + height / 2;
  const { start, drawn } = drawBadges(all, end - pointsWidth, base - 9, end - pointsWidth - x - least - 4);
  return [
    fitted(svg('text', { x, y: base + 4.6, class: 'name' }), name, start - x - 4, 13),
    drawn,
    svg('text', { x: end, y: base + 5, class: 'points', 'text-anchor': 'end' }, points, unit ? svg('tspan', { class: 'unit' }, say('seat.unit')) : null),
  ];
}

// inStrip writes the name above points and badges.
function inStrip(all, { name, points, x, end, y, height }) {
  const base = y + height / 2;
  const pointsWidth = textWidth(points, 14, 700) + 8;
  const room = end - x - pointsWidth;
  const { start, drawn } = drawBadges(all, end, base + 1, room);
  const shift = start - (x + pointsWidth); // towards the points
  return [
    fitted(svg('text', { x, y: base - 5, class: 'name small' }), name, end - x, 12.5),
    svg('text', { x, y: base + 15, class: 'points small' }, points),
    svg('g', { transform: `translate(${-shift} 0)` }, drawn),
  ];
}
