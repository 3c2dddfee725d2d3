// The scores that bots gave, as one line a seat. Scores of different scales have axes
// of their own, one above the other.

import { svg } from './dom.js';
import { say } from './text.js';

// ticks is about n round numbers from low to high.
export function ticks(low, high, n) {
  const rough = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
  const all = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) all.push(Number((i * step).toPrecision(12)));
  return all;
}

// alike is how many times larger the scores of one bot may be than those of another to
// share an axis with them.
const alike = 8;

// scales groups the seats that have points [ply, score] by the size of their largest
// score, the groups in the order of their first seats.
export function scales(lines) {
  const sized = lines.flatMap((line, seat) => (line.length ? [{ seat, size: Math.max(...line.map(([, s]) => Math.abs(s))) }] : []))
    .sort((a, b) => a.size - b.size);
  const groups = [];
  let least = null;
  for (const { seat, size } of sized) {
    if (least === null || (size > 0 && least === 0) || size > least * alike) {
      if (least !== 0) groups.push([]); // only zeros fit any scale
      least = size;
    }
    groups.at(-1).push(seat);
  }
  return groups.map((group) => group.sort((a, b) => a - b)).sort((a, b) => a[0] - b[0]);
}

const dashes = [null, '7 3', '2 3', '9 3 2 3'];
const pad = { left: 46, right: 12, top: 10, bottom: 22, between: 8 };
const head = 22; // the room above an axis for the seats whose it is, where there are several

// drawChart draws lines of points by seat, and gives the element and a function that
// marks a ply. height is that of a chart with one axis. jump is called with a ply
// that was clicked.
export function drawChart(lines, { width, height, plies, names, jump }) {
  const groups = scales(lines);
  const many = groups.length > 1;
  const each = many ? head + Math.max(64, (height - pad.top - pad.bottom) * 0.55) : height - pad.top - pad.bottom;
  const total = pad.top + pad.bottom + groups.length * each + Math.max(0, groups.length - 1) * pad.between;
  const x = (p) => pad.left + (p / Math.max(1, plies)) * (width - pad.left - pad.right);
  const pick = (event) => {
    const box = root.getBoundingClientRect();
    const at = ((event.clientX - box.left) * width) / box.width;
    jump(Math.max(0, Math.min(plies, Math.round(((at - pad.left) / (width - pad.left - pad.right)) * plies))));
  };
  const now = svg('line', { x1: 0, x2: 0, y1: pad.top, y2: total - pad.bottom, class: 'now' });
  const root = svg('svg', {
    class: 'chart', viewBox: `0 0 ${width} ${total}`, width, height: total, role: 'img', click: pick,
    'aria-label': say('chart', { names: groups.map((group) => group.map((seat) => names[seat]).join(', ')).join(say('chart.between')) }),
  },
  ticks(0, plies, Math.max(2, width / 110)).filter(Number.isInteger).map((p) =>
    svg('text', { x: x(p), y: total - 6, 'text-anchor': 'middle', class: 'tick' }, String(p))),
  groups.map((group, i) => axis(group, lines, { x, width, names, top: pad.top + i * (each + pad.between) + (many ? head : 0), height: each - (many ? head : 0), many })),
  now);
  return { element: root, mark: (ply) => now.setAttribute('transform', `translate(${round(x(ply))} 0)`) };
}

// axis draws the lines of some seats on a scale of their own.
function axis(group, lines, { x, width, names, top, height, many }) {
  const points = group.flatMap((seat) => lines[seat]);
  let low = points.reduce((m, [, s]) => Math.min(m, s), 0), high = points.reduce((m, [, s]) => Math.max(m, s), 0);
  if (low === high) { low -= 1; high += 1; }
  const y = (s) => top + ((high - s) / (high - low)) * height;
  return svg('g', { class: 'axis', 'data-seats': group.join(',') },
    many && svg('rect', { x: pad.left, y: top, width: width - pad.left - pad.right, height, class: 'axisback' }),
    ticks(low, high, many ? 3 : 4).map((s) => [
      svg('line', { x1: pad.left, x2: width - pad.right, y1: y(s), y2: y(s), class: s === 0 ? 'zero' : 'grid' }),
      svg('text', { x: pad.left - 6, y: y(s) + 4, 'text-anchor': 'end', class: 'tick' }, short(s))]),
    group.map((seat) => svg('g', { class: `score seat${seat}`, 'data-seat': seat },
      svg('polyline', { points: lines[seat].map(([p, s]) => `${round(x(p))},${round(y(s))}`).join(' '), 'stroke-dasharray': dashes[Math.floor(seat / 3) % 4] }),
      lines[seat].length <= 80 && lines[seat].map(([p, s]) => svg('circle', { cx: round(x(p)), cy: round(y(s)), r: 2.5 },
        svg('title', {}, say('chart.point', { name: names[seat], ply: p, score: s })))))),
    many && group.map((seat, i) => svg('g', { class: `axisseat seat${seat}`, transform: `translate(${pad.left + 9 + 21 * i} ${top - 12})` },
      svg('circle', { r: 8.5 }), svg('text', { y: 4, 'text-anchor': 'middle' }, String(seat)))));
}

const round = (n) => Math.round(n * 10) / 10;
const short = (n) => (Math.abs(n) >= 1e5 || (n !== 0 && Math.abs(n) < 1e-3) ? n.toExponential(0) : String(n));
