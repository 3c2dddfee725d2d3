// The names of the seats at a card table, with what there is to say of each.

import { clip, svg, textWidth } from './dom.js';
import { pip } from './pack.js';
import { list, numbers, said, say, suitName, suits } from './text.js';

const dot = 22; // the width of a seat's number

// badges are facts on a seat, the least important first: {kind, text, title, suit}.
function badges(view, scene, seat) {
  const all = [];
  const add = (kind, text, title, suit = null) => all.push({ kind, text, title, suit });
  const rank = scene.ranks?.[seat];
  if (view.bids === undefined && scene.won?.[seat] && !rank) add('pile', String(scene.won[seat]), say('seat.won', { count: scene.won[seat] }));
  if (view.dealer !== undefined && Number(view.dealer) === seat && !rank) add('dealer', say('seat.dealer-mark'), say('seat.dealer'));
  if (view.bids !== undefined && !rank) {
    const bid = numbers(view.bids)[seat], won = numbers(view.tricks)[seat];
    if (bid !== null) add(won === bid ? 'good' : won > bid ? 'bad' : 'plain', `${won}/${bid}`, say('seat.bid', { won, bid }));
  }
  const declared = list(view.declared)[seat];
  if (suits.includes(declared)) add('song', '♪', say('seat.sings', { suit: suitName(declared) }), declared);
  if (scene.out?.has(seat)) add('bad', say('seat.out'), say('seat.forfeited'));
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
    svg('text', { x: badge.kind === 'dealer' ? x + 9 : x + 5.5 + lead, y: y + 13.2, 'text-anchor': badge.kind === 'dealer' ? 'middle' : null }, badge.text),
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

// drawPlate draws a seat's name in a box. A box with the width of a hand is a strip: the
// name stands above the rest, and the hand has the right.
export function drawPlate(view, scene, seat, box) {
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
    (strip ? inStrip : inLine)(badges(view, scene, seat), { name, points, x: x + dot + 5, end: end - (strip ? 2 : 7), y, height }));
}

// inLine writes name, badges and points into one line.
function inLine(all, { name, points, x, end, y, height }) {
  const unit = points !== '' && end - x > 200;
  const pointsWidth = points === '' ? 0 : textWidth(points, 15, 700) + (unit ? textWidth(say('seat.unit'), 11, 400) : 0) + 5;
  const least = Math.min(textWidth(name, 13), 50);
  const base = y + height / 2;
  const { start, drawn } = drawBadges(all, end - pointsWidth, base - 9, end - pointsWidth - x - least - 4);
  return [
    svg('text', { x, y: base + 4.6, class: 'name' }, clip(name, start - x - 4)),
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
    svg('text', { x, y: base - 5, class: 'name small' }, clip(name, end - x, 12)),
    svg('text', { x, y: base + 15, class: 'points small' }, points),
    svg('g', { transform: `translate(${-shift} 0)` }, drawn),
  ];
}
