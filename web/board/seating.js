// Where the seats of a card table are. The one whose view it is, or seat 0, is
// at the bottom; the others follow against the clock, as the game is played in
// Spain: the next seat is on the right.

// How many sit at the bottom, right, top and left of a wide table.
const wide = {
  2: [1, 0, 1, 0], 3: [1, 1, 0, 1], 4: [1, 1, 1, 1], 5: [1, 1, 2, 1], 6: [1, 1, 3, 1], 7: [1, 2, 2, 2],
  8: [3, 1, 3, 1], 9: [3, 1, 4, 1], 10: [3, 2, 3, 2], 11: [3, 2, 4, 2], 12: [3, 3, 3, 3],
};

const gap = 8;

// seating gives a box for each seat, {x, y, width, height, side}, and the
// middle, for a table of this width and height. rows is the height of a box at
// the top and at the bottom. A narrow table may need more height than it was
// given: the height of the result counts.
export function seating(seats, first, width, height, rows) {
  const tall = width < 680;
  const plan = tall ? tallPlan(seats, width, height, rows) : widePlan(seats, width, height, rows);
  const boxes = [];
  plan.boxes.forEach((box, i) => { boxes[(first + i) % seats] = box; });
  return { ...plan, boxes, tall };
}

// spread puts n boxes of a size side by side, the first on the left.
function spread(n, x, y, width, height, side, most) {
  const each = Math.min(most, (width - gap * (n - 1)) / n);
  const space = (width - each * n) / (n + 1);
  return Array.from({ length: n }, (_, i) => ({ x: x + space + i * (each + space), y, width: each, height, side }));
}

function widePlan(seats, width, height, rows) {
  const [bottom, right, top, left] = wide[seats];
  const pad = 12;
  const sideWidth = Math.min(220, width * 0.25);
  const inner = { top: top ? pad + rows.top + gap : pad, bottom: height - pad - rows.bottom - gap };
  const low = spread(bottom, pad, height - pad - rows.bottom, width - 2 * pad, rows.bottom, 'bottom', bottom > 1 ? 290 : 460);
  const high = spread(top, pad, pad, width - 2 * pad, rows.top, 'top', top > 1 ? 250 : 400).reverse();
  const column = (n, x, side) => {
    const each = Math.min((inner.bottom - inner.top - gap * (n - 1)) / n, rows.side);
    const space = (inner.bottom - inner.top - each * n) / (n + 1);
    return Array.from({ length: n }, (_, i) => ({
      x, y: inner.top + space + i * (each + space), width: sideWidth, height: each, side,
    }));
  };
  const onRight = column(right, width - pad - sideWidth, 'right').reverse();
  const onLeft = column(left, pad, 'left');
  const middle = Math.floor(bottom / 2); // of the bottom seats
  const x = left ? pad + sideWidth + gap : pad;
  const end = width - (right ? pad + sideWidth + gap : pad);
  return {
    height,
    boxes: [...low.slice(middle), ...onRight, ...high, ...onLeft, ...low.slice(0, middle)],
    middle: { x, y: inner.top, width: end - x, height: inner.bottom - inner.top },
  };
}

// A narrow table has the others in rows of two or three above the middle.
function tallPlan(seats, width, height, rows) {
  const pad = 8;
  const others = seats - 1;
  const columns = others > 6 ? 3 : 2;
  const side = columns === 2 ? Math.floor(others / 2) : Math.min(4, Math.ceil(others / 3));
  const across = others - 2 * side;
  const lines = columns === 2 ? side + across : Math.max(side, across);
  const each = (width - 2 * pad - gap * (columns - 1)) / columns;
  const at = (line, column, span = 1) => ({
    x: pad + column * (each + gap), y: pad + line * (rows.side + gap), width: each * span + gap * (span - 1), height: rows.side, side: 'top',
  });
  const firstSide = columns === 2 ? across : 0;
  const right = Array.from({ length: side }, (_, i) => at(firstSide + side - 1 - i, columns - 1));
  const left = Array.from({ length: side }, (_, i) => at(firstSide + i, 0));
  const over = columns === 2 ? (across ? [at(0, 0, 2)] : []) : Array.from({ length: across }, (_, i) => at(i, 1));
  const y = pad + lines * (rows.side + gap);
  const total = Math.max(height, y + rows.middle + rows.bottom + gap + pad);
  return {
    height: total,
    boxes: [{ x: pad, y: total - pad - rows.bottom, width: width - 2 * pad, height: rows.bottom, side: 'bottom' }, ...right, ...over, ...left],
    middle: { x: pad, y, width: width - 2 * pad, height: total - pad - rows.bottom - gap - y },
  };
}
