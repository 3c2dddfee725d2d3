// Where the seats of a card table are, and how large their cards. The seat whose
// view it is, or seat 0, is at the bottom; the others follow against the clock, as
// the game is played in Spain: the next seat is on the right.

import { leastRow, leastStep, ratio } from './pack.js';

// How many sit at the bottom, right, top and left of a wide table.
const wide = {
  2: [1, 0, 1, 0], 3: [1, 1, 0, 1], 4: [1, 1, 1, 1], 5: [1, 1, 2, 1], 6: [1, 1, 3, 1], 7: [1, 2, 2, 2],
  8: [3, 1, 3, 1], 9: [3, 1, 4, 1], 10: [3, 2, 3, 2], 11: [3, 2, 4, 2], 12: [3, 3, 3, 3],
};

// narrow is the width in pixels below which a table is narrow.
const narrow = 680;

// plateHeight is that of a name.
export const plateHeight = 26;

const gap = 8;

// handRows is in how many rows a hand lies so that every card of it can be read.
export function handRows(cards, size, width) {
  const perRow = Math.max(1, Math.floor((width - size) / (leastStep * size)) + 1);
  return Math.min(3, Math.ceil(Math.max(1, cards) / perRow));
}

const handHeight = (cards, size, width) => size * ratio * (1 + (handRows(cards, size, width) - 1) * leastRow);

// seating gives a box for each seat, {x, y, width, height, side}, the middle and the
// stock, the widths of the cards (own, other, onTable), and the height of the table,
// which is more than the given height where a table cannot be drawn that low. hand
// is the most cards that a seat holds. side is "bottom", "right", "top" or "left",
// or "strip" where a name has its cards beside it instead of below.
export function seating({ seats, first, width, height, hand }) {
  const tall = width < narrow;
  const make = tall ? tallPlan : widePlan;
  let plan;
  for (let scale = 1.5; scale > 0.78; scale -= 0.05) {
    plan = make(seats, width, height, hand, scale);
    if (plan.least <= height) break;
  }
  const boxes = [];
  plan.boxes.forEach((box, i) => { boxes[(first + i) % seats] = box; });
  return { ...plan, boxes, tall };
}

// spread puts n boxes of a size side by side, the first on the left.
function spread(n, x, y, width, height, side, most) {
  const each = Math.min(most, (width - gap * (n - 1)) / n);
  const between = Math.max(gap, (width - each * n) / (n + 1));
  const start = x + (width - each * n - between * (n - 1)) / 2;
  return Array.from({ length: n }, (_, i) => ({ x: start + i * (each + between), y, width: each, height, side }));
}

function widePlan(seats, width, height, hand, scale) {
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
    side: plateHeight + 4 + handHeight(hand, other, sideWidth),
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
    return Array.from({ length: n }, (_, i) => ({ x, y: inner.top + space + i * (each + space), width: sideWidth, height: each, side }));
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
export const stockScale = 0.92, stockShow = 0.11;

// stockWidth is the room for the stock with the trump card across below it.
const stockWidth = (size) => Math.max(104, size * stockScale * ratio * (1 + 2 * stockShow) + 10);

// A narrow table has the others in two columns above the middle, and one across the
// top where their number is odd. Many of them have their cards beside their names.
function tallPlan(seats, width, height, hand, scale) {
  const pad = 10;
  const strips = seats > 7;
  const others = seats - 1;
  const side = Math.floor(others / 2), across = others % 2;
  const lines = side + across;
  const room = width - 2 * pad;
  const each = (room - gap) / 2;
  const own = Math.round(Math.min(84, 56 * scale)), other = Math.round((strips ? 27 : seats > 5 ? 32 : 36) * Math.min(scale, 1.35));
  const onTable = Math.round((seats > 7 ? 34 : seats > 4 ? 40 : 52) * Math.min(scale, 1.4));
  const row = strips ? Math.max(42, other * ratio + 6) : plateHeight + 4 + handHeight(hand, other, each);
  const rowGap = strips ? 5 : gap;
  const bottom = handHeight(hand, own, room) + 5 + plateHeight;
  const stock = stockWidth(onTable);
  const perRow = Math.max(1, Math.floor((room - stock) / (onTable + 10)));
  const trick = seats > 4 ? Math.ceil(seats / perRow) * (onTable * ratio + 13) : onTable * ratio * 1.9 + 8;
  const high = Math.max(trick, onTable * ratio * 0.92 + 56);
  const least = 2 * pad + lines * (row + rowGap) + high + gap + bottom;
  const total = Math.max(height, least);
  const at = (line, column, span = 1) => ({
    x: pad + column * (each + gap), y: pad + line * (row + rowGap), width: each * span + gap * (span - 1), height: row, side: strips ? 'strip' : 'top',
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
