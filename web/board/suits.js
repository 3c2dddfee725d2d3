// The four suits, each in a box of 100 by 100 about its own middle. The shapes
// have classes; board.css colours them.

import { path, sheet, svg } from './dom.js';

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

const draw = { o: oros, c: copas, e: espadas, b: bastos };

// suitSymbol is the id of a suit's symbol, which is put on the sheet when it is
// first needed.
export function suitSymbol(suit) {
  const id = `suit-${suit}`;
  if (!document.getElementById(id)) {
    sheet().append(svg('symbol', { id, viewBox: '-52 -52 104 104', overflow: 'visible' }, draw[suit]()));
  }
  return id;
}

// pip is a suit about a point.
export function pip(suit, x, y, size) {
  return svg('use', { href: `#${suitSymbol(suit)}`, x: x - size / 2, y: y - size / 2, width: size, height: size });
}
