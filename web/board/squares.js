// Boards, with squares or with points. Both are numbered row by row from the top
// left, as in the protocol, for every viewer.

import { svg } from './dom.js';
import { say } from './text.js';

const cell = 100;

// squaresOf reads 19-14 or 12; it returns [] if a move is neither.
export function squaresOf(move) {
  const found = /^(\d+)(?:-(\d+))?$/.exec(move ?? '');
  if (!found) return [];
  return found[2] === undefined ? [Number(found[1])] : [Number(found[1]), Number(found[2])];
}

// middle is the middle of a square in the units of a board's drawing.
export const middle = (square, size) => [((square % size) + 0.5) * cell, (Math.floor(square / size) + 0.5) * cell];

function piece(kind, square, size, marks, from) {
  const [x, y] = middle(square, size);
  const g = svg('g', {
    class: `piece ${kind === 'b' ? 'dark' : 'light'} ${marks}`.trim(), 'data-square': square, 'data-piece': kind,
    transform: `translate(${x} ${y})`, role: 'img', 'aria-label': say('board.piece', { colour: say(`colour.${kind}`), square }),
  });
  const lift = svg('g', { class: 'lift' },
    svg('ellipse', { cx: 1.5, cy: 5, rx: 35, ry: 34, class: 'shade' }),
    svg('circle', { r: 34, class: 'disc' }), svg('circle', { r: 26, class: 'groove' }), svg('circle', { r: 13, class: 'groove' }));
  if (from !== null) {
    const [fx, fy] = middle(from, size);
    lift.classList.add('arriving');
    lift.style.setProperty('--from-x', `${fx - x}px`);
    lift.style.setProperty('--from-y', `${fy - y}px`);
  }
  g.append(lift);
  return g;
}

function frame(kind, size, scene, ...content) {
  const side = size * cell + 60;
  const pixels = Math.min(scene.width, scene.height);
  return svg('svg', {
    class: `squares ${kind}`, 'data-size': size, viewBox: `-30 -30 ${side} ${side}`, width: pixels, height: pixels, role: 'group', 'aria-label': say('board'),
    'data-seat': scene.seat ?? 'open',
  },
  svg('rect', { x: -30, y: -30, width: side, height: side, rx: 22, class: 'wood' }),
  svg('rect', { x: -8, y: -8, width: size * cell + 16, height: size * cell + 16, rx: 6, class: 'rim' }),
  content);
}

// arrow shows where the last move went.
function arrow(from, to, size) {
  const [x1, y1] = middle(from, size), [x2, y2] = middle(to, size);
  const length = Math.hypot(x2 - x1, y2 - y1);
  const ux = (x2 - x1) / length, uy = (y2 - y1) / length;
  const tip = [x2 - ux * 38, y2 - uy * 38];
  const wing = (side) => `${tip[0] - ux * 16 + side * uy * 10} ${tip[1] - uy * 16 - side * ux * 10}`;
  return svg('g', { class: 'arrow', 'aria-hidden': 'true' },
    svg('path', { d: `M${x1 + ux * 12} ${y1 + uy * 12}L${tip[0] - ux * 12} ${tip[1] - uy * 12}` }),
    svg('path', { d: `M${wing(1)}L${tip.join(' ')}L${wing(-1)}Z`, class: 'tip' }));
}

// glowing is the squares of the pieces that won: those in both of the winner's corners
// where corners are goals, else all of the winner's.
function glowing(text, scene, corners) {
  if (!scene.winner) return [];
  const own = [...text].flatMap((kind, square) => (kind === scene.winner ? [square] : []));
  const goals = Object.keys(corners).map(Number).filter((square) => corners[square] === scene.winner);
  if (goals.length === 0) return own;
  return goals.every((square) => own.includes(square)) ? goals : [];
}

function pieces(text, size, scene, corners) {
  const squares = squaresOf(scene.last?.move);
  const to = squares.at(-1);
  const from = squares.length === 2 && scene.moving ? squares[0] : null;
  const glow = glowing(text, scene, corners);
  // The piece that has moved is drawn last, so that it passes over the others.
  const order = [...text].map((kind, square) => [kind, square]).filter(([kind]) => kind !== '.');
  order.sort((a, b) => (a[1] === to) - (b[1] === to));
  return order.map(([kind, square]) => piece(kind, square, size,
    `${square === to ? 'last' : ''}${square === to && squares.length === 1 && scene.moving ? ' placed' : ''}${glow.includes(square) ? ' winner' : ''}`,
    square === to ? from : null));
}

// drawBoard draws a board as Go's rules.Board describes it.
export function drawBoard(board, view, scene) {
  const placed = view[board.pieces];
  const size = Math.round(Math.sqrt(placed.length));
  const squares = squaresOf(scene.last?.move);
  const corners = goals(board.corners, size);
  return frame(board.colours ? 'fields' : 'lined', size, scene,
    board.colours ? fields(view[board.colours], size, squares, corners) : points(size, squares),
    squares.length === 2 && arrow(squares[0], squares[1], size),
    pieces(placed, size, scene, corners), (scene.captures ?? []).map((square) => taken(placed[square], square, size)));
}

// taken is a small piece of the side that lost one here, crossed out, in the corner of
// the square: the piece that captured stands in the middle.
function taken(captor, square, size) {
  const [x, y] = middle(square, size);
  return svg('g', { class: `taken ${captor === 'b' ? 'light' : 'dark'}`, 'data-taken': square, transform: `translate(${x + 36} ${y - 36})` },
    svg('title', {}, say('board.captured', { square })),
    svg('circle', { r: 9.5, class: 'disc' }), svg('path', { d: 'M-8-8l16 16m0-16l-16 16', class: 'cross' }));
}

// goals is the side that wants a corner, by the corner's square.
function goals(corners, size) {
  if (!corners) return {};
  return { 0: corners[0], [size - 1]: corners[1], [size * (size - 1)]: corners[2], [size * size - 1]: corners[3] };
}

// fields are squares of two colours; those of corners that are to be reached are
// marked.
function fields(colours, size, squares, corners) {
  return [...colours].map((colour, square) => {
    const x = (square % size) * cell, y = Math.floor(square / size) * cell;
    return svg('g', { class: `square ${colour === 'b' ? 'dark' : 'light'}${squares.includes(square) ? ' last' : ''}` },
      svg('rect', { x, y, width: cell, height: cell, class: 'ground' }),
      squares.includes(square) && svg('rect', { x, y, width: cell, height: cell, class: 'mark' }),
      corners[square] && svg('path', {
        class: `goal ${corners[square] === 'b' ? 'dark' : 'light'}`, d: `M${x + 5} ${y + 36}v-31h31m28 0h31v31m0 28v31h-31m-28 0h-31v-31`,
      }, svg('title', {}, say('board.goal', { colour: say(`colour.${corners[square]}`) }))),
      svg('text', { x: x + 10, y: y + 91, class: 'number' }, String(square)));
  });
}

// points are holes and the lines between neighbours.
function points(size, squares) {
  const lines = [];
  for (let square = 0; square < size * size; square++) {
    const [x, y] = middle(square, size);
    const right = square % size < size - 1, down = square < size * (size - 1);
    if (right) lines.push(`M${x} ${y}h${cell}`);
    if (down) lines.push(`M${x} ${y}v${cell}`);
    if (right && down) lines.push(`M${x} ${y}l${cell} ${cell}M${x + cell} ${y}l${-cell} ${cell}`);
  }
  return [svg('path', { class: 'lines', d: lines.join('') }), Array.from({ length: size * size }, (_, square) => {
    const [x, y] = middle(square, size);
    return svg('g', { class: `hole${squares.includes(square) ? ' last' : ''}` },
      svg('circle', { cx: x, cy: y, r: 38 }),
      svg('text', { x, y: y + 6, 'text-anchor': 'middle', class: 'number' }, String(square)));
  })];
}
