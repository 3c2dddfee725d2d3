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
const jumbo = 72;

// leastStep and leastRow are how far apart overlapped cards must lie, in parts of their
// width and height, for the number and the suit of each to be seen.
export const leastStep = 0.45, leastRow = 0.58;

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

// index writes a rank about x, with its digits as wide as given whatever the font.
const index = (rank, x, y, size, width) => svg('text', {
  x: x - width / 2, y, class: 'index', 'font-size': size, textLength: width, lengthAdjust: 'spacingAndGlyphs',
}, String(rank));

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

// Tall emblems have no room between two columns.
const tallPlaces = {
  ...places,
  7: [[-1, -1], [1, -1], [-1, 0], [0, 0], [1, 0], [-1, 1], [1, 1]],
  8: [[-1, -1], [1, -1], [0, -0.5], [-1, 0], [1, 0], [0, 0.5], [-1, 1], [1, 1]],
};

// The size of the emblems and the steps between them, by rank: for coins and
// cups, and for swords and clubs, which are tall and narrow. All stay clear of
// the corners: right of 28 of the 122 units, or below 34 of the 190.
const round = { 2: [56, 0, 37], 3: [46, 0, 53], 4: [42, 24, 38], 5: [38, 24, 43], 6: [36, 24, 44], 7: [33, 24, 44], 8: [33, 24, 44], 9: [28, 28, 45] };
const tall = { 2: [82, 0, 42], 3: [58, 0, 57], 4: [58, 15, 41], 5: [50, 16, 54], 6: [50, 16, 54], 7: [38, 21, 52], 8: [38, 21, 54], 9: [38, 21, 52] };

function emblems(rank, suit) {
  if (rank === 1) return [suit === 'b' ? pip(suit, 61, 98, 122) : pip(suit, 61, 95, suit === 'e' ? 150 : 76)];
  const [size, dx, dy] = (isTall(suit) ? tall : round)[rank];
  return (isTall(suit) ? tallPlaces : places)[rank].map(([column, row]) => pip(suit, 61 + column * dx, 95 + row * dy, size));
}

// corner is the rank in the upper left, above the suit unless so many emblems are near that
// it would be counted as one of them.
function corner(rank, suit) {
  return svg('g', { class: 'corner' },
    index(rank, 18.5, rank > 9 ? 31 : 33, rank > 9 ? 22 : 28, rank > 9 ? 20.5 : 15),
    (rank < 4 || rank > 9) && pip(suit, 18.5, 47, 18));
}

function face({ rank, suit }) {
  const below = svg('g', { transform: 'rotate(180 61 95)' }, corner(rank, suit));
  if (rank > 9) below.querySelector('use').remove(); // the figure is near
  return [paper(), frame(suit), svg('g', { class: 'picture' }, rank > 9 ? figure(rank, suit) : emblems(rank, suit)), corner(rank, suit), below];
}

function smallFace({ rank, suit }) {
  return [
    paper(), frame(suit),
    svg('g', { class: 'picture' }, rank > 9 ? svg('g', { transform: 'translate(30 40) scale(0.9)' }, figure(rank, suit))
      : pip(suit, 82, isTall(suit) ? 124 : 138, isTall(suit) ? 104 : 64)),
    svg('g', { class: 'corner' }, index(rank, 29, rank > 9 ? 52 : 55, rank > 9 ? 45 : 58, rank > 9 ? 43 : 33), pip(suit, 29, 84, 38)),
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
// more classes. Cards that others overlap have the face for small sizes.
export function card(text, x, y, width, marks = '', overlapped = false) {
  const known = parseCard(text);
  const id = text === '?' ? symbol('card-back', back)
    : !known ? symbol(`card-${text}`, () => plainFace(text))
    : width < jumbo || overlapped ? symbol(`small-${text}`, () => smallFace(known))
      : symbol(`card-${text}`, () => face(known));
  return svg('g', {
    class: `card ${marks}`.trim(), 'data-card': text, role: 'img', 'aria-label': cardName(text),
    transform: `translate(${x} ${y})`,
  }, svg('g', { class: 'lift' },
    svg('use', { href: `#${id}`, width, height: width * ratio }),
    svg('rect', { class: 'edge', width, height: width * ratio, rx: width * 0.075 })));
}
