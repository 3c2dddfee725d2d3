// The scores that bots gave, as one line a seat.

import { svg } from './dom.js';

// ticks is about n round numbers from low to high.
export function ticks(low, high, n) {
  const rough = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
  const all = [];
  for (let i = Math.ceil(low / step); i * step <= high + step * 1e-9; i++) all.push(Number((i * step).toPrecision(12)));
  return all;
}

const dashes = [null, '7 3', '2 3', '9 3 2 3'];

// drawChart draws lines of points [ply, score] by seat, and gives the element
// and a function that marks a ply. jump is called with a ply that was clicked.
export function drawChart(lines, { width, height, plies, names, jump }) {
  const points = lines.flat();
  let low = Math.min(0, ...range(points)), high = Math.max(0, ...range(points));
  if (low === high) { low -= 1; high += 1; }
  const pad = { left: 46, right: 12, top: 10, bottom: 22 };
  const x = (p) => pad.left + (p / Math.max(1, plies)) * (width - pad.left - pad.right);
  const y = (s) => pad.top + ((high - s) / (high - low)) * (height - pad.top - pad.bottom);
  const pick = (event) => {
    const box = root.getBoundingClientRect();
    const at = ((event.clientX - box.left) * width) / box.width;
    jump(Math.max(0, Math.min(plies, Math.round(((at - pad.left) / (width - pad.left - pad.right)) * plies))));
  };
  const now = svg('line', { x1: 0, x2: 0, y1: pad.top, y2: height - pad.bottom, class: 'now' });
  const root = svg('svg', {
    class: 'chart', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', click: pick,
    'aria-label': `Scores given by ${lines.flatMap((l, seat) => (l.length ? [names[seat]] : [])).join(', ')}`,
  },
  ticks(low, high, 4).map((s) => [
    svg('line', { x1: pad.left, x2: width - pad.right, y1: y(s), y2: y(s), class: s === 0 ? 'zero' : 'grid' }),
    svg('text', { x: pad.left - 6, y: y(s) + 4, 'text-anchor': 'end', class: 'tick' }, short(s))]),
  ticks(0, plies, Math.max(2, width / 110)).filter(Number.isInteger).map((p) =>
    svg('text', { x: x(p), y: height - 6, 'text-anchor': 'middle', class: 'tick' }, String(p))),
  now,
  lines.map((line, seat) => line.length > 0 && svg('g', { class: `score seat${seat}`, 'data-seat': seat },
    svg('polyline', { points: line.map(([p, s]) => `${round(x(p))},${round(y(s))}`).join(' '), 'stroke-dasharray': dashes[Math.floor(seat / 3) % 4] }),
    line.length <= 80 && line.map(([p, s]) => svg('circle', { cx: round(x(p)), cy: round(y(s)), r: 2.5 },
      svg('title', {}, `${names[seat]}, ply ${p}: ${s}`))))));
  return { element: root, mark: (ply) => now.setAttribute('transform', `translate(${round(x(ply))} 0)`) };
}

function* range(points) { for (const [, s] of points) yield s; }
const round = (n) => Math.round(n * 10) / 10;
const short = (n) => (Math.abs(n) >= 1e5 || (n !== 0 && Math.abs(n) < 1e-3) ? n.toExponential(0) : String(n));
