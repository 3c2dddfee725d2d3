// Where the cards of a trick lie.

import { ratio } from './pack.js';

const space = 9; // between cards, for the numbers of the seats on their corners

// trickPlaces gives the width of the cards and the middle of the card of each seat: in
// front of the seats, or in rows in the order of play where the table is narrow. area
// is the box for them, keep a box in it that stays free, and most the largest width.
export function trickPlaces({ area, keep, seats, first, played, most, rows }) {
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
