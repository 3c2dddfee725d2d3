// Boards, with squares or with points. Both are numbered row by row from the top left, as in the
// protocol. Players see names for them, a1 at the lower left, and those whose pieces come from the
// top see the board turned round.

import { fitted, svg, textWidth } from './dom.js';
import { say, squareName } from './text.js';

const cell = 100;
const edge = 38; // of wood around the squares
const plate = { height: 46, gap: 10 };

// A grid is {size, turned}: how many columns and rows a board has, and whether it is turned round.

// seen is the place at which a square is seen, counted from the top left.
const seen = (square, { size, turned }) => (turned ? size * size - 1 - square : square);

// squaresOf reads 19-14 or 12; it returns [] if a move is neither.
export function squaresOf(move) {
  const found = /^(\d+)(?:-(\d+))?$/.exec(move ?? '');
  if (!found) return [];
  return found[2] === undefined ? [Number(found[1])] : [Number(found[1]), Number(found[2])];
}

// middle is the middle of a square in the units of a board's drawing.
export function middle(square, grid) {
  const place = seen(square, grid);
  return [((place % grid.size) + 0.5) * cell, (Math.floor(place / grid.size) + 0.5) * cell];
}

function piece(kind, square, grid, marks, from) {
  const [x, y] = middle(square, grid);
  const g = svg('g', {
    class: `piece ${kind === 'b' ? 'dark' : 'light'} ${marks}`.trim(), 'data-square': square, 'data-piece': kind,
    transform: `translate(${x} ${y})`, role: 'img', 'aria-label': say('board.piece', { colour: say(`colour.${kind}`), square: squareName(square, grid.size) }),
  });
  const lift = svg('g', { class: 'lift' },
    svg('ellipse', { cx: 1.5, cy: 5, rx: 35, ry: 34, class: 'shade' }),
    svg('circle', { r: 34, class: 'disc' }), svg('circle', { r: 26, class: 'groove' }), svg('circle', { r: 13, class: 'groove' }));
  if (from !== null) {
    const [fx, fy] = middle(from, grid);
    lift.classList.add('arriving');
    lift.style.setProperty('--from-x', `${fx - x}px`);
    lift.style.setProperty('--from-y', `${fy - y}px`);
  }
  g.append(lift);
  return g;
}

function frame(kind, grid, board, view, scene, ...content) {
  const { size } = grid;
  const side = size * cell, width = side + 2 * edge;
  const named = Math.min(scene.width, scene.height) >= width / 2; // else names cannot be read
  const band = named ? plate.height + plate.gap : 0;
  const height = width + 2 * band;
  const scale = Math.min(scene.width / width, scene.height / height);
  const low = scene.seat ?? scene.bottom ?? 0;
  return svg('svg', {
    class: `squares ${kind}`, 'data-size': size, 'data-turned': grid.turned ? 'yes' : null, viewBox: `${-edge} ${-edge - band} ${width} ${height}`,
    width: width * scale, height: height * scale, role: 'group', 'aria-label': say('board'), 'data-seat': scene.seat ?? 'open',
  },
  named && [1 - low, low].map((seat, i) => name(board, view, scene, seat, width, i === 0 ? -edge - band : side + edge + plate.gap)),
  svg('rect', { x: -edge, y: -edge, width, height: width, rx: 22, class: 'wood' }),
  svg('rect', { x: -8, y: -8, width: side + 16, height: side + 16, rx: 6, class: 'rim' }),
  labels(grid),
  content);
}

// labels are the letters of the columns and the numbers of the rows, on the wood.
function labels(grid) {
  const { size } = grid;
  const at = (x, y, text) => svg('text', { x, y, class: 'coordinate', 'text-anchor': 'middle', 'aria-hidden': 'true' }, text);
  return Array.from({ length: size }, (_, i) => {
    const [x] = middle(i, grid), [, y] = middle(i * size, grid);
    return [at(x, size * cell + 30, squareName(i, size)[0]), at(-23, y + 7, squareName(i * size, size).slice(1))];
  });
}

// name is the plate of a seat beside the board: its colour, its name and what there is to say of it.
function name(board, view, scene, seat, width, y) {
  const kind = board.sides[seat], x = -edge;
  const colour = say(`colour.${kind}`), title = scene.names[seat] ?? '';
  const rank = scene.ranks?.[seat];
  const facts = [
    scene.out?.has(seat) && say('seat.out'),
    !rank && scene.tags?.get(seat),
    rank ? say(`ordinal.${Math.min(rank, 2)}`) : board.colours && `${[...view[board.pieces]].filter((p) => p === kind).length} ●`,
  ].filter(Boolean).join(' · ');
  const time = !rank && scene.clocks?.get(seat), clock = time ? textWidth(time, 24, 700) + 26 : 0;
  const room = width - 92 - textWidth(facts, 22) - clock, word = textWidth(`  ${colour}`, 21, 400);
  const whole = textWidth(title, 21) <= room - word; // else the chip tells the colour
  return svg('g', { class: `plate seat${seat}`, 'data-plate': seat, 'data-turn': scene.turn === seat ? 'yes' : null, role: 'img', 'aria-label': `${say('seat.name', { seat, name: title })}, ${colour}` },
    svg('title', {}, say('seat.name', { seat, name: title })),
    svg('rect', { x: x + 2, y: y + 2, width: width - 4, height: plate.height - 4, rx: 12, class: 'plateback' }),
    svg('rect', { x: x + 2, y: y + 2, width: 10, height: plate.height - 4, rx: 5, class: 'platedot' }),
    svg('circle', { cx: x + 38, cy: y + plate.height / 2, r: 14, class: `chip ${kind === 'b' ? 'dark' : 'light'}` }),
    fitted(svg('text', { x: x + 64, y: y + plate.height / 2 + 8, class: 'name' }, whole && svg('tspan', { class: 'colour' }, `  ${colour}`)), title, whole ? room - word : room, 24),
    svg('text', { x: x + width - 16 - clock, y: y + plate.height / 2 + 8, class: 'points', 'text-anchor': 'end' }, facts),
    clock > 0 && svg('text', { x: x + width - 16, y: y + plate.height / 2 + 8, class: 'time', 'text-anchor': 'end', 'data-clock': seat }, svg('title', {}, say('seat.clock')), time));
}

// arrow shows where the last move went.
function arrow(from, to, grid) {
  const [x1, y1] = middle(from, grid), [x2, y2] = middle(to, grid);
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

function pieces(text, grid, scene, corners) {
  const squares = squaresOf(scene.last?.move);
  const to = squares.at(-1);
  const from = squares.length === 2 && scene.moving ? squares[0] : null;
  const glow = glowing(text, scene, corners);
  // The piece that has moved is drawn last, so that it passes over the others.
  const order = [...text].map((kind, square) => [kind, square]).filter(([kind]) => kind !== '.');
  order.sort((a, b) => (a[1] === to) - (b[1] === to));
  return order.map(([kind, square]) => piece(kind, square, grid,
    `${square === to ? 'last' : ''}${square === to && squares.length === 1 && scene.moving ? ' placed' : ''}${glow.includes(square) ? ' winner' : ''}`,
    square === to ? from : null));
}

// drawBoard draws a board as Go's rules.Board describes it.
export function drawBoard(board, view, scene) {
  const placed = view[board.pieces];
  const size = columnsOf(board, view);
  const grid = { size, turned: Boolean(board.corners) && board.corners[0] !== board.sides[scene.seat ?? scene.bottom ?? 0] };
  const squares = squaresOf(scene.last?.move);
  const corners = goals(board.corners, size);
  return frame(board.colours ? 'fields' : 'lined', grid, board, view, scene,
    board.colours ? fields(view[board.colours], grid, squares, corners, board.sides) : points(grid, squares),
    squares.length === 2 && arrow(squares[0], squares[1], grid),
    pieces(placed, grid, scene, corners), (scene.captures ?? []).map((square) => taken(placed[square], square, grid)));
}

// columnsOf is how many columns a board has, 0 if there is none.
export function columnsOf(board, view) {
  return board ? Math.round(Math.sqrt(view[board.pieces].length)) : 0;
}

// taken is a small piece of the side that lost one here, crossed out, in the corner of
// the square: the piece that captured stands in the middle.
function taken(captor, square, grid) {
  const [x, y] = middle(square, grid);
  return svg('g', { class: `taken ${captor === 'b' ? 'light' : 'dark'}`, 'data-taken': square, transform: `translate(${x + 36} ${y - 36})` },
    svg('title', {}, say('board.captured', { square: squareName(square, grid.size) })),
    svg('circle', { r: 9.5, class: 'disc' }), svg('path', { d: 'M-8-8l16 16m0-16l-16 16', class: 'cross' }));
}

// goals is the side that wants a corner, by the corner's square.
function goals(corners, size) {
  if (!corners) return {};
  return { 0: corners[0], [size - 1]: corners[1], [size * (size - 1)]: corners[2], [size * size - 1]: corners[3] };
}

// fields are squares of two colours. A corner that is to be reached has the colour of the seat that
// wants it, and a mark of its pieces.
function fields(colours, grid, squares, corners, sides) {
  return [...colours].map((colour, square) => {
    const [cx, cy] = middle(square, grid), x = cx - cell / 2, y = cy - cell / 2;
    const goal = corners[square];
    return svg('g', { class: `square ${colour === 'b' ? 'dark' : 'light'}${squares.includes(square) ? ' last' : ''}`, 'data-place': square },
      svg('rect', { x, y, width: cell, height: cell, class: 'ground' }),
      squares.includes(square) && svg('rect', { x, y, width: cell, height: cell, class: 'mark' }),
      goal && svg('g', { class: `goal seat${sides.indexOf(goal)}`, 'data-goal': goal },
        svg('title', {}, say('board.goal', { colour: say(`colour.${goal}`) })),
        svg('rect', { x: x + 6, y: y + 6, width: cell - 12, height: cell - 12, rx: 5 }),
        svg('circle', { cx, cy, r: 11, class: `chip ${goal === 'b' ? 'dark' : 'light'}` })));
  });
}

// points are holes and the lines between neighbours.
function points(grid, squares) {
  const { size } = grid;
  const lines = [];
  for (let square = 0; square < size * size; square++) {
    const [x, y] = middle(square, { size });
    const right = square % size < size - 1, down = square < size * (size - 1);
    if (right) lines.push(`M${x} ${y}h${cell}`);
    if (down) lines.push(`M${x} ${y}v${cell}`);
    if (right && down) lines.push(`M${x} ${y}l${cell} ${cell}M${x + cell} ${y}l${-cell} ${cell}`);
  }
  return [svg('path', { class: 'lines', d: lines.join('') }), Array.from({ length: size * size }, (_, square) => {
    const [cx, cy] = middle(square, grid);
    return svg('circle', { cx, cy, r: 38, class: `hole${squares.includes(square) ? ' last' : ''}`, 'data-place': square });
  })];
}
