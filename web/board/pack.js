// The Spanish pack, or the French one in its place: suits, figures and cards. The shapes have classes;
// board.css colours them. Suits and faces are symbols that are drawn when first needed and then used:
// a card on the table is one element.

import { path, sheet, svg } from './dom.js';
import { cardName, french, parseCard } from './text.js';

// symbol puts shapes into a box on the sheet when they are first needed, and returns their id.
function symbol(id, box, shapes) {
  if (!document.getElementById(id)) sheet().append(svg('symbol', { id, ...box }, shapes()));
  return id;
}

// isTall reports whether a suit's emblem is tall and narrow: swords and clubs.
const isTall = (suit) => !french && (suit === 'e' || suit === 'b');

// The four suits, each in a box of 100 by 100 about its own middle.

const circle = (r, kind, cx = 0, cy = 0) => svg('circle', { cx, cy, r, class: kind });

// ring repeats a shape around the middle.
const ring = (n, shape) => Array.from({ length: n }, (_, i) => {
  const g = shape();
  g.setAttribute('transform', `rotate(${(360 / n) * i})`);
  return g;
});

function oros() {
  return [
    circle(47, 'gold line'),
    circle(40, 'amber thin'),
    ...ring(16, () => circle(2.6, 'red', 0, -43.4)),
    circle(34, 'gold thin'),
    ...ring(8, () => path('M0-31C6-24 7-17 0-10C-7-17-6-24 0-31Z', 'red thin')),
    ...ring(8, () => path('M0-25L2.4-16L0-9L-2.4-16Z', 'gold', { })),
    circle(12, 'amber thin'),
    circle(6, 'gold thin'),
  ];
}

function copas() {
  return [
    path('M-27 47C-27 39-11 38-7 30L7 30C11 38 27 39 27 47Z', 'gold line'),
    path('M-18 43C-13 39-8 37-5 33L5 33C8 37 13 39 18 43Z', 'amber'),
    path('M-7 32C-9 24-9 20-6 14L6 14C9 20 9 24 7 32Z', 'red line'),
    svg('ellipse', { cx: 0, cy: 22, rx: 11, ry: 5, class: 'gold line' }),
    path('M-36-36C-38-2-22 16 0 17C22 16 38-2 36-36Z', 'red line'),
    path('M-30-22C-28 0-16 11 0 12C16 11 28 0 30-22C16-15-16-15-30-22Z', 'crimson'),
    path('M-35.6-30C-35-25-34.6-20-33.4-16C-20-8 20-8 33.4-16C34.6-20 35-25 35.6-30C18-23-18-23-35.6-30Z', 'gold thin'),
    ...[-22, -11, 0, 11, 22].map((x) => circle(2.7, 'red', x, -15.6 - (x * x) / 110)),
    svg('ellipse', { cx: 0, cy: -37, rx: 36, ry: 9, class: 'gold line' }),
    svg('ellipse', { cx: 0, cy: -37, rx: 29, ry: 5.6, class: 'wine' }),
    path('M-24 -6C-20 4-12 9-6 10', 'gleam'),
  ];
}

function espadas() {
  return [
    path('M0-50L7.5-38L6.5 16L-6.5 16L-7.5-38Z', 'steel line'),
    path('M0-50L7.5-38L6.5 16L0 16Z', 'blue'),
    path('M0-44L0 14', 'steelline'),
    path('M-21 13C-22 21-14 23-8 21L8 21C14 23 22 21 21 13C14 17 8 16 0 16C-8 16-14 17-21 13Z', 'gold line'),
    circle(3.4, 'red thin', 0, 18.6),
    path('M-4.4 21L4.4 21L3.6 38L-3.6 38Z', 'red line'),
    path('M-4.1 26L4.1 26M-3.9 30L3.9 30M-3.8 34L3.8 34', 'goldline'),
    circle(6.4, 'gold line', 0, 43.4),
    circle(2.6, 'amber', 0, 43.4),
  ];
}

function leaf(x, y, turn) {
  return svg('g', { transform: `translate(${x} ${y}) rotate(${turn})` },
    path('M0 0C-7-4-7-13 0-19C7-13 7-4 0 0Z', 'green line'), path('M0-3L0-13', 'mossline'));
}

function bastos() {
  return [
    leaf(-13, -20, -52), leaf(13, -4, 54), leaf(-9, 14, -48),
    path('M-12-42C-17-32-16-24-14-13C-11 4-8 22-6.4 44C-4.6 51 4.6 51 6.4 44C8 22 12 4 14.4-12C16.6-24 17-33 12-42Z', 'wood line'),
    path('M3-42C9-30 9-18 7-2C5 16 3.6 32 2 48C4.4 48 6 47 6.4 44C8 22 12 4 14.4-12C16.6-24 17-33 12-42Z', 'darkwood'),
    svg('ellipse', { cx: 0, cy: -43, rx: 12.4, ry: 5.6, class: 'tan line' }),
    svg('ellipse', { cx: 0, cy: -43, rx: 6, ry: 2.4, class: 'bark' }),
    svg('ellipse', { cx: -7.6, cy: -20, rx: 4, ry: 5.4, class: 'tan line' }),
    svg('ellipse', { cx: 8, cy: 0, rx: 3.4, ry: 4.6, class: 'tan line' }),
    svg('ellipse', { cx: -4, cy: 18, rx: 2.8, ry: 3.8, class: 'tan line' }),
    path('M-6.8 33C-3 35 3 35 6.8 33L6.4 39C3 41 -3 41-6.4 39Z', 'red thin'),
  ];
}

const spanishSuits = { o: oros, c: copas, e: espadas, b: bastos };

const frenchSuits = {
  o: () => [path('M0-50Q15-22 38 0Q15 22 0 50Q-15 22-38 0Q-15-22 0-50Z', 'redsuit')],
  c: () => [path('M0 46C-14 28-46 6-46-17C-46-35-34-44-23-44C-11-44-3-37 0-27C3-37 11-44 23-44C34-44 46-35 46-17C46 6 14 28 0 46Z', 'redsuit')],
  e: () => [path('M0-48C12-28 44-8 44 15C44 29 34 36 24 36C14 36 7 31 4 24C5 36 9 43 16 48H-16C-9 43-5 36-4 24C-7 31-14 36-24 36C-34 36-44 29-44 15C-44-8-12-28 0-48Z', 'blacksuit')],
  b: () => [
    ...[[0, -25], [-23, 9], [23, 9]].map(([x, y]) => ellipse(x, y, 22, 22, 'blacksuit')),
    path('M-8-6H8C4 24 8 40 16 48H-16C-8 40-4 24-8-6Z', 'blacksuit'),
  ],
};

const suits = french ? frenchSuits : spanishSuits;

// pip is a suit about a point.
export function pip(suit, x, y, size) {
  const id = symbol(`suit-${suit}`, { viewBox: '-52 -52 104 104', overflow: 'visible' }, suits[suit]);
  return svg('use', { href: `#${id}`, x: x - size / 2, y: y - size / 2, width: size, height: size });
}

// Sota, caballo and rey. Each is drawn once, in two cloths that board.css colours by suit, and
// holds up the emblem of its suit. The card is 122 by 190.

const ellipse = (cx, cy, rx, ry, kind) => svg('ellipse', { cx, cy, rx, ry, class: kind });

// emblem is what a hand at (x, y) holds: coins and cups rest on it, swords and
// clubs are gripped near their lower end.
function emblem(suit, x, y, size) {
  return pip(suit, x, isTall(suit) ? y - size * 0.5 : y - size * 0.44, isTall(suit) ? size * 1.5 : size);
}

const ermine = (marks) => path(marks.map(([x, y]) => `M${x} ${y}l0 3.4`).join(''), 'tick');

function head(x, y, kind) {
  return [
    ellipse(x, y, 10.5, 12.5, 'skin line'),
    path(`M${x - 6} ${y - 3.4}q2-1.8 4 0M${x + 2} ${y - 3.4}q2-1.8 4 0`, 'stroke'),
    ellipse(x - 4, y - 0.8, 1.1, 1.4, 'ink'),
    ellipse(x + 4, y - 0.8, 1.1, 1.4, 'ink'),
    path(`M${x} ${y - 0.6}l-1.4 4.2l2 .2`, 'stroke'),
    kind === 'young' && path(`M${x - 2.6} ${y + 6.6}q2.6 1.8 5.2 0`, 'lips'),
    ellipse(x - 6.4, y + 3.4, 1.9, 1.3, 'blush'),
    ellipse(x + 6.4, y + 3.4, 1.9, 1.3, 'blush'),
  ];
}

function rey(suit) {
  return [
    path('M46 82C31 96 25 138 27 171L96 171C98 140 92 98 76 82Z', 'cloth2 line'),
    path('M31 171C30 142 34 112 44 94M91 171C93 144 88 114 79 96', 'fold'),
    ellipse(53, 172, 9, 4, 'shoe line'),
    ellipse(70, 172, 9, 4, 'shoe line'),
    path('M38 170C37 134 40 102 48 84L74 84C82 102 86 134 85 170C70 174 52 174 38 170Z', 'cloth1 line'),
    path('M54 88L68 88L72 171C66 172.6 57 172.6 50.6 171Z', 'gold thin'),
    path('M55.4 90L66.6 90L69.6 169C64 170 58 170 53 169Z', 'cloth2 thin'),
    ...[102, 116, 130, 144].map((y) => path(`M61.3 ${y - 5}l4 5l-4 5l-4-5Z`, 'gold thin')),
    path('M38.2 157C54 161 70 161 84.8 157L85 170C70 174 52 174 38 170Z', 'fur line'),
    ermine([[44, 162], [50, 166], [56, 162], [62, 166], [68, 162], [74, 166], [80, 162]]),
    path('M50 86C38 94 34 108 41 117L49 112C46 106 49 99 56 95Z', 'cloth1 line'),
    path('M38.6 110C39 114 40 116 41 118L50 112.6L47.4 107Z', 'fur thin'),
    ellipse(47.6, 117, 4.4, 4, 'skin line'),
    emblem(suit, 89, 71, 33),
    path('M70 84C80 96 95 92 95 75L84 73C84 80 80 80 74 78Z', 'cloth1 line'),
    path('M83.4 72L96 74L95 79.6L83.4 77.6Z', 'fur thin'),
    ellipse(89.4, 70.4, 4.8, 4.2, 'skin line'),
    path('M43 83C50 95 72 95 79 83L74 73C66 79 56 79 48 73Z', 'fur line'),
    ermine([[49, 81], [54, 85], [60, 86], [66, 85], [72, 81]]),
    path('M47 46C44 60 46 72 50 76L72 76C76 72 78 60 75 46Z', 'hair line'),
    ...head(61, 56),
    path('M50 58C49 74 54 84 61 87C68 84 73 74 72 58C70 65 66 66.4 61 64.4C56 66.4 52 65 50 58Z', 'hair line'),
    path('M52.6 65.6C56 62 60 62.6 61 64.6C62 62.6 66 62 69.4 65.6C66 68.4 62.4 68 61 66.4C59.6 68 56 68.4 52.6 65.6Z', 'beard thin'),
    path('M58.6 69.6q2.4 1.4 4.8 0', 'lips'),
    path('M56 73C57 78 59 81 61 83M66 73C65 78 63 81 61 83', 'fold'),
    path('M46 48L42 26L51.6 36L61 20L70.4 36L80 26L76 48C66 44.6 56 44.6 46 48Z', 'gold line'),
    path('M46 48L45 42C56 38.6 66 38.6 77 42L76 48C66 44.6 56 44.6 46 48Z', 'amber thin'),
    ...[[42, 25], [61, 19], [80, 25]].map(([x, y]) => svg('circle', { cx: x, cy: y, r: 2.8, class: 'jewel thin' })),
    ...[[52, 43.4], [61, 42], [70, 43.4]].map(([x, y]) => svg('circle', { cx: x, cy: y, r: 1.7, class: 'jewel' })),
  ];
}

function sota(suit) {
  return [
    path('M48 86C36 100 33 124 37 142L56 136L70 136L86 142C90 124 84 98 74 86Z', 'cloth2 line'),
    path('M50 130L61 130L59.6 165L51.4 165Z', 'cloth2 line'),
    path('M62 130L74 130L73 165L64.8 165Z', 'cloth1 line'),
    path('M51 163L59.8 163L60 173L40 173C42 167 49 169 51 163Z', 'shoe line'),
    path('M64.6 163L73.4 163C75 169 83 167 85 173L64.4 173Z', 'shoe line'),
    path('M45 138C47 116 45 100 50 84L72 84C77 100 76 116 79 138C74 142 71 138 68 141C65 144 63 140 61 142C58 144 56 140 53 142C50 143 48 140 45 138Z', 'cloth1 line'),
    path('M61.4 86L72 86C76.4 100 75.4 116 78 137C74 141 71 137.4 68 140C65 143 63.4 139.6 61.6 141Z', 'cloth2 thin'),
    path('M46 110C56 114 68 114 77.4 110L77.8 116.4C68 120 56 120 45.8 116.4Z', 'gold line'),
    svg('rect', { x: 57.6, y: 110.4, width: 8, height: 9.4, rx: 1.4, class: 'amber line' }),
    ...[94, 102].map((y) => svg('circle', { cx: 61.2, cy: y, r: 1.7, class: 'gold thin' })),
    path('M51 86C40 92 34 104 39 116L46 121L52 114L46 110C45 104 49 99 56 96Z', 'cloth2 line'),
    ellipse(49, 117.6, 4.4, 4, 'skin line'),
    emblem(suit, 89, 79, 33),
    path('M70 84C80 100 95 98 95 83L84 81C84 88 80 88 75 84Z', 'cloth1 line'),
    path('M83.4 80L96 82L95 87.6L83.4 85.6Z', 'gold thin'),
    ellipse(89.4, 78.4, 4.8, 4.2, 'skin line'),
    path('M47 84C49 78 54 76 61 76C68 76 73 78 75 84C73 89 69 87 67 90C64 92 63 89 61 91C58 92 57 89 55 90C52 89 49 88 47 84Z', 'fur line'),
    path('M48 54C44 62 44 70 48 74C54 72 68 72 74 74C78 70 78 62 74 54Z', 'hair line'),
    ...head(61, 62, 'young'),
    path('M50.6 60C51 52 55 50 61 50C67 50 71 52 71.4 60C69 55 66 54 61 54C56 54 53 55 50.6 60Z', 'hair'),
    path('M43 53C42 40 54 34 64 35C74 36 80 43 79 52C70 47 54 47 43 53Z', 'cloth1 line'),
    path('M43 53C54 45.6 70 45.6 79.4 52L79 56C70 50.6 54 50.6 43.4 57Z', 'gold line'),
    path('M47 44C40 38 34 31 37 21C45 20 51 28 52 40Z', 'fur line'),
    path('M50 41C47 34 43 28 39 24', 'stroke'),
  ];
}

function caballo(suit) {
  return [
    path('M94 112C104 112 108 122 104 138C102 146 105 150 101 157C97 152 96 146 97 138C98 128 98 122 92 118Z', 'mane line'),
    path('M84 134C80 142 83 148 80 155L77 168L84 168L87 155C90 148 92 142 93 134Z', 'horse2 line'),
    path('M48 132C40 134 33 138 29 146L34 158L29 163L35 167L41 158L37 148C42 146 48 146 54 144Z', 'horse2 line'),
    path('M17.6 105C18 99 23 94 26 87C28 80 32 76 36 70L40 77C48 80 55 90 60 102C70 107 82 104 91 108C100 112 101 124 98 134C96 141 101 147 101.6 153L99 168L91 168L92.4 155C88 149 86 144 84 139C76 143 64 143 56 140C57 147 57 151 55.6 157L54 168L46 168L47 155C45 148 43 141 41.6 135C38 128 38 119 37 113C34 111 32 110 29 112C24 114 17 112 17.6 105Z', 'horse line'),
    path('M40 77C50 80 57 90 62 103C57 104 54 100 52 97C51 100 48 98 47 94C44 94 44 90 44 88C41 88 41 84 39 82Z', 'mane line'),
    path('M36 70C34 76 33 80 31 84', 'stroke'),
    ellipse(29.4, 91, 1.5, 1.8, 'ink'),
    path('M19.6 107C22 108 24 108 26 106.6', 'stroke'),
    ellipse(20.6, 102.4, 0.9, 1.2, 'ink'),
    path('M45.6 162L54.8 162L54 170L44.6 170Z', 'hoof line'),
    path('M91.4 162L100 162L99.4 170L90 170Z', 'hoof line'),
    path('M77.8 163L84.8 163L84.4 170L76 170Z', 'hoof line'),
    path('M29.8 160L35.6 165L31 170L25.6 165.6Z', 'hoof line'),
    path('M24 95L37 100M26.6 87L24 95L22 100M37 100C44 98 50 96 56 96', 'rein'),
    path('M50 104C62 110 78 108 88 106L86 126C76 130 62 130 51 126Z', 'cloth2 line'),
    path('M51 121C62 125.6 76 125.6 86.6 121L86 126C76 130 62 130 51 126Z', 'gold thin'),
    path('M56 72C46 84 60 96 84 112C92 108 90 84 78 72Z', 'cloth2 line'),
    path('M54 106C53 92 54 80 59 70L76 70C80 80 82 94 80 106C72 110 62 110 54 106Z', 'cloth1 line'),
    path('M54 98C62 101.6 72 101.6 80.6 98L80.4 103C72 106.6 62 106.6 54 103Z', 'gold thin'),
    path('M60 103C63 112 60 124 57 134L66 137C72 126 77 114 78 103Z', 'cloth1 line'),
    path('M56.4 130L67 133L65 146C58 149 47 148 46 144C49 140 55 141 56.4 130Z', 'shoe line'),
    path('M59 76C50 82 46 90 48 97L54.4 99.6L58 93C58 90 60 88 64 86Z', 'cloth2 line'),
    ellipse(52, 97.4, 4, 3.6, 'skin line'),
    emblem(suit, 91, 64, 31),
    path('M74 72C82 86 96 84 96.6 69L86 67C86 74 83 74 79 71Z', 'cloth2 line'),
    path('M85.6 66L97.4 68L96.6 73L85.6 71Z', 'gold thin'),
    ellipse(91.4, 64.4, 4.6, 4, 'skin line'),
    path('M54 66C58 62 62 61 67 61C72 61 76 63 79 67C76 73 58 73 54 66Z', 'fur line'),
    path('M54 42C50 50 51 57 54 60C60 58 72 58 78 60C81 57 82 50 79 42Z', 'hair line'),
    ...head(66, 49, 'young'),
    path('M47 41C56 34 76 33 86 39C78 42 56 43 47 41Z', 'cloth2 line'),
    path('M55 39C55 27 60 22 67 22C74 22 78 27 78 38C70 36 62 36.4 55 39Z', 'cloth1 line'),
    path('M55 39C62 36 70 35.6 78 37.6L78 34C70 32 62 32.4 55 35Z', 'gold thin'),
    path('M60 25C52 22 45 24 42 31C48 34 54 33 58 33Z', 'fur line'),
  ];
}

const figures = { 10: sota, 11: caballo, 12: rey };

// letters are the indices of the French pack that are not numbers.
const letters = { 1: 'A', 10: 'J', 11: 'Q', 12: 'K' };

// figure is the picture of rank 10, 11 or 12, clear of the corners of its card: in the French pack
// its letter between two emblems.
function figure(rank, suit) {
  if (french) return svg('g', {}, pip(suit, 61, 48, 30), index(rank, suit, 61, 121, 76, 56), pip(suit, 61, 148, 30));
  return svg('g', { class: `figure suit-${suit}`, transform: 'translate(11 19) scale(0.8)' }, figures[rank](suit));
}

// The cards.

// ratio of a card's height to its width, whose box has these units.
export const ratio = 190 / 122;
const box = { viewBox: '0 0 122 190' };

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
    const n = french ? 0 : gaps[suit];
    const length = (right - left - n * gap) / (n + 1);
    return Array.from({ length: n + 1 }, (_, i) => `M${left + i * (length + gap)} ${y}h${length}`).join('');
  };
  return path(`${edge(top)}${edge(bottom)}M${left} ${top}a5.5 5.5 0 0 0-5.5 5.5V179a5.5 5.5 0 0 0 5.5 5.5`
    + `M${right} ${top}a5.5 5.5 0 0 1 5.5 5.5V179a5.5 5.5 0 0 1-5.5 5.5`, `frame ink-${suit}`);
}

const paper = () => svg('rect', { x: 0.8, y: 0.8, width: 120.4, height: 188.4, rx: 9, class: 'paper' });

// index writes a rank about x, with its digits as wide as given whatever the font.
const index = (rank, suit, x, y, size, width) => svg('text', {
  x: x - width / 2, y, class: `index ink-${suit}`, 'font-size': size, textLength: width, lengthAdjust: 'spacingAndGlyphs',
}, label(rank));

// label is the index of a rank.
export const label = (rank) => (french && letters[rank]) || String(rank);

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
    label(rank).length > 1 ? index(rank, suit, 18.5, 31, 22, 20.5) : index(rank, suit, 18.5, 33, 28, 15),
    (rank < 4 || rank > 9) && pip(suit, 18.5, 47, 18));
}

function face({ rank, suit }) {
  const below = svg('g', { transform: 'rotate(180 61 95)' }, corner(rank, suit));
  if (rank > 9 && !french) below.querySelector('use').remove(); // the figure is near
  return [paper(), frame(suit), svg('g', { class: 'picture' }, rank > 9 ? figure(rank, suit) : emblems(rank, suit)), corner(rank, suit), below];
}

function smallFace({ rank, suit }) {
  return [
    paper(), frame(suit),
    svg('g', { class: 'picture' }, rank > 9 && !french ? svg('g', { transform: 'translate(30 40) scale(0.9)' }, figure(rank, suit))
      : pip(suit, 82, isTall(suit) ? 124 : 138, isTall(suit) ? 104 : 64)),
    svg('g', { class: 'corner' }, label(rank).length > 1 ? index(rank, suit, 29, 52, 45, 43) : index(rank, suit, 29, 55, 58, 33), pip(suit, 29, 84, 38)),
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

// card draws a card with its upper left corner at (x, y), "?" face down. marks are
// more classes. Cards that others overlap have the face for small sizes.
export function card(text, x, y, width, marks = '', overlapped = false) {
  const known = parseCard(text);
  const id = text === '?' ? symbol('card-back', box, back)
    : !known ? symbol(`card-${text}`, box, () => plainFace(text))
    : width < jumbo || overlapped ? symbol(`small-${text}`, box, () => smallFace(known))
      : symbol(`card-${text}`, box, () => face(known));
  return svg('g', {
    class: `card ${marks}`.trim(), 'data-card': text, role: 'img', 'aria-label': cardName(text),
    transform: `translate(${x} ${y})`,
  }, svg('g', { class: 'lift' },
    svg('use', { href: `#${id}`, width, height: width * ratio }),
    svg('rect', { class: 'edge', width, height: width * ratio, rx: width * 0.075 })));
}
