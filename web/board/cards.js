// The cards of the Spanish pack. Faces are symbols that are drawn when first
// needed and then used: a card on the table is one element.

import { path, sheet, svg } from './dom.js';
import { figure } from './figures.js';
import { pip } from './suits.js';
import { cardName, parseCard } from './view.js';

// ratio of a card's height to its width.
export const ratio = 190 / 122;

// jumbo is the width in pixels below which a card has a face for small sizes: a
// large index, and one emblem instead of many.
const jumbo = 54;

// The gaps in the frame's upper and lower edge tell the suit, as on every
// Spanish pack: none, one, two or three.
const gaps = { o: 0, c: 1, e: 2, b: 3 };

function frame(suit) {
  const left = 11, right = 111, top = 5.5, bottom = 184.5, gap = 7;
  const edge = (y) => {
    const n = gaps[suit];
    const length = (right - left - n * gap) / (n + 1);
    return Array.from({ length: n + 1 }, (_, i) => `M${left + i * (length + gap)} ${y}h${length}`).join('');
  };
  return path(`${edge(top)}${edge(bottom)}M${left} ${top}a5.5 5.5 0 0 0-5.5 5.5V179a5.5 5.5 0 0 0 5.5 5.5`
    + `M${right} ${top}a5.5 5.5 0 0 1 5.5 5.5V179a5.5 5.5 0 0 1-5.5 5.5`, 'frame');
}

const paper = () => svg('rect', { x: 0.8, y: 0.8, width: 120.4, height: 188.4, rx: 9, class: 'paper' });

const index = (rank, x, y, size) =>
  svg('text', { x, y, class: 'index', 'font-size': size, 'text-anchor': 'middle', 'letter-spacing': -size / 18 }, String(rank));

// columns and rows of the emblems of 2 to 9, in steps from the middle.
const places = {
  2: [[0, -1], [0, 1]],
  3: [[0, -1], [0, 0], [0, 1]],
  4: [[-1, -1], [1, -1], [-1, 1], [1, 1]],
  5: [[-1, -1], [1, -1], [0, 0], [-1, 1], [1, 1]],
  6: [[-1, -1], [1, -1], [-1, 0], [1, 0], [-1, 1], [1, 1]],
  7: [[-1, -1], [1, -1], [0, -0.5], [-1, 0], [1, 0], [-1, 1], [1, 1]],
  8: [[-1, -1], [1, -1], [0, -0.5], [-1, 0], [1, 0], [0, 0.5], [-1, 1], [1, 1]],
  9: [[-1, -1], [0, -1], [1, -1], [-1, 0], [0, 0], [1, 0], [-1, 1], [0, 1], [1, 1]],
};

const isTall = (suit) => suit === 'e' || suit === 'b';

// The size of the emblems and the steps between them, by rank: for coins and
// cups, and for swords and clubs, which are tall and narrow.
const round = { 2: [56, 0, 37], 3: [46, 0, 53], 4: [44, 24, 38], 5: [38, 24, 46], 6: [36, 24, 47], 7: [33, 24, 48], 8: [33, 24, 48], 9: [28, 28, 48] };
const tall = { 2: [82, 0, 42], 3: [58, 0, 57], 4: [70, 19, 41], 5: [54, 21, 54], 6: [54, 20, 55], 7: [54, 22, 55], 8: [54, 24, 55], 9: [52, 23, 55] };

function emblems(rank, suit) {
  if (rank === 1) return [pip(suit, 61, 95, isTall(suit) ? 150 : 84)];
  const [size, dx, dy] = (isTall(suit) ? tall : round)[rank];
  return places[rank].map(([column, row]) => pip(suit, 61 + column * dx, 95 + row * dy, size));
}

// The corner has the rank, and the suit where no emblem is near.
function corner(rank, suit) {
  return [rank > 9 ? index(rank, 20.5, 29, 21) : index(rank, 18.5, 31, 25),
    (rank < 4 || rank > 9) && pip(suit, 18.5, 44, 17)];
}

function face({ rank, suit }) {
  return [
    paper(), frame(suit),
    rank > 9 ? figure(rank, suit) : emblems(rank, suit),
    corner(rank, suit),
    svg('g', { transform: 'rotate(180 61 95)' }, rank > 9 ? corner(rank, suit)[0] : corner(rank, suit)),
  ];
}

function smallFace({ rank, suit }) {
  return [
    paper(), frame(suit),
    index(rank, rank > 9 ? 38 : 31, rank > 9 ? 50 : 56, rank > 9 ? 47 : 56),
    pip(suit, 31, 84, 40),
    rank > 9 ? svg('g', { transform: 'translate(43 61) scale(0.64)' }, figure(rank, suit))
      : pip(suit, 80, isTall(suit) ? 124 : 138, isTall(suit) ? 108 : 66),
  ];
}

function back() {
  const lines = [];
  for (let i = -180; i < 122; i += 13) lines.push(`M${i} 0l190 190M${i + 180} 0l-190 190`);
  return [
    paper(),
    svg('clipPath', { id: 'backclip' }, svg('rect', { x: 8, y: 8, width: 106, height: 174, rx: 5 })),
    svg('g', { 'clip-path': 'url(#backclip)' },
      svg('rect', { x: 8, y: 8, width: 106, height: 174, class: 'backfill' }),
      path(lines.join(''), 'lattice')),
    svg('rect', { x: 8, y: 8, width: 106, height: 174, rx: 5, class: 'backedge' }),
    svg('circle', { cx: 61, cy: 95, r: 24, class: 'backdisc' }),
    pip('o', 61, 95, 38),
  ];
}

// plainFace is a card of another pack: its text.
function plainFace(text) {
  return [paper(), svg('text', { x: 61, y: 112, class: 'index', 'font-size': 50, 'text-anchor': 'middle' }, text)];
}

function symbol(id, shapes) {
  if (!document.getElementById(id)) {
    sheet().append(svg('symbol', { id, viewBox: '0 0 122 190' }, shapes()));
  }
  return id;
}

// card draws a card with its upper left corner at (x, y), "?" face down. marks are
// more classes.
export function card(text, x, y, width, marks = '') {
  const known = parseCard(text);
  const id = text === '?' ? symbol('card-back', back)
    : !known ? symbol(`card-${text}`, () => plainFace(text))
    : width < jumbo ? symbol(`small-${text}`, () => smallFace(known))
      : symbol(`card-${text}`, () => face(known));
  return svg('g', {
    class: `card ${marks}`.trim(), 'data-card': text, role: 'img', 'aria-label': cardName(text),
    transform: `translate(${x} ${y})`,
  }, svg('g', { class: 'lift' },
    svg('use', { href: `#${id}`, width, height: width * ratio }),
    svg('rect', { class: 'edge', width, height: width * ratio, rx: width * 0.075 })));
}
