// A position that is being played: drawn into an element, with the legal moves to choose
// by pointer or keyboard. It knows neither replays nor servers.

import { html, svg } from './dom.js';
import { drawGame, sizeOf } from './scene.js';
import { middle, squaresOf } from './squares.js';
import { moveName, parseView, say, squareName } from './text.js';

// drawPosition draws a position into an element, in the place of what was there.
//
// position is what a server tells of it:
//   display   how the game is drawn: Go's rules.Display
//   names     of the seats
//   view      the view line of a seat, without its verb
//   turn      the seat to move, -1 when the game is over
//   last, trick, won, captures, ranks, winner, tags, clocks, hand
//             optional: see scene.js
//
// options, all optional:
//   seat      whose view it is, who sits at the bottom; 0 if not given
//   legal     the moves of the turn line; none can be chosen without them
//   onMove    called with the move that was chosen, once; the next drawPosition takes
//             choices again
//   onRefuse  called with a move that is not among the legal ones, when its card, bid or square is chosen; or with null and
//             what else is wrong with a square: 'stuck', 'no-own-piece' or 'choose', and the square
//   moving    whether the last move is to be seen arriving
//   height    the most pixels that the drawing may be high
//
// A square that was chosen, and the focus, stay where the legal moves are the same as before. It returns the drawing,
// an SVG element.
export function drawPosition(element, position, options = {}) {
  const { seat = 0, legal = [], onMove = () => {}, onRefuse = () => {}, moving = false, height } = options;
  const focused = element.contains(document.activeElement), at = keyOf(document.activeElement);
  element.tabIndex = -1; // keeps the focus while there is nothing to choose
  const { display, view } = position;
  const drawing = drawGame(display, parseView(view), { ...position, ...sizeOf(element, display), ...(height ? { height } : {}), seat, moving });
  const choices = new Choices(element, drawing, { seat, own: display.board?.sides[seat], legal }, (move) => {
    element.dataset.sent = move;
    onMove(move);
  }, onRefuse);
  delete element.dataset.sent;
  element.replaceChildren(drawing, ...choices.words());
  const before = offered.get(element);
  offered.set(element, choices);
  choices.offer(before?.legal.join() === legal.join() ? before.from : null);
  if (focused && !choices.focus(at)) element.focus({ preventScroll: true });
  return drawing;
}

const offered = new WeakMap(); // the last Choices of each element

// keyOf tells one choice from the others.
const keyOf = ({ dataset: { move, choice } }) => `${choice} ${move}`;

class Choices {
  constructor(element, drawing, { seat, own, legal }, choose, refuse) {
    Object.assign(this, { element, drawing, own, choose, refuse, legal, from: null });
    const size = Number(drawing.dataset.size);
    this.grid = { size, turned: drawing.dataset.turned === 'yes' };
    const hand = new Map([...drawing.querySelectorAll(`[data-hand="${seat}"] [data-card]`)].map((c) => [c.dataset.card, c]));
    this.hand = hand;
    this.size = size;
    this.cards = legal.filter((move) => hand.has(move));
    this.squares = size ? legal.filter((move) => squaresOf(move).length > 0) : [];
    this.others = legal.filter((move) => !this.cards.includes(move) && !this.squares.includes(move));
  }

  // words is the buttons for moves that are neither cards nor squares.
  words() {
    if (this.others.length === 0) return [];
    const bids = this.others.every((move) => move.startsWith('bid:'));
    const all = bids ? Array.from({ length: this.hand.size + 1 }, (_, n) => `bid:${n}`) : this.others;
    return [html('div', { class: 'words', role: 'group', 'aria-label': say(bids ? 'live.bid' : 'live.moves') },
      bids && html('span', { class: 'wordslabel' }, say('live.bid-label')),
      all.map((move) => {
        const legal = this.others.includes(move);
        return html('button', { type: 'button', ...(legal ? { 'data-move': move } : { 'aria-disabled': 'true' }), 'aria-label': moveName(move), click: () => (legal ? this.take(move) : this.refuse(move)) },
          bids ? move.slice('bid:'.length) : moveName(move));
      }))];
  }

  take(move) {
    if (this.element.dataset.sent === undefined) this.choose(move);
  }

  offer(from) {
    if (this.legal.length > 0) for (const [text, card] of this.hand) this.offerCard(text, card);
    if (this.squares.length > 0) {
      this.offerSquares(from);
      this.drawing.addEventListener('click', ({ target }) => this.refuseSquare(target.closest('[data-square], [data-place]')));
    }
  }

  // offerCard lets a card be played, or says why it may not be; it is darker then if others may be.
  offerCard(text, card) {
    if (this.cards.includes(text)) {
      card.classList.add('playable');
      this.press(card, say('live.play', { card: moveName(text) }), text, () => this.take(text));
      return;
    }
    card.classList.add(this.cards.length > 0 ? 'unplayable' : 'waiting');
    this.press(card, say('live.refused', { card: moveName(text) }), null, () => this.refuse(text));
    card.setAttribute('tabindex', -1);
    card.setAttribute('aria-disabled', 'true');
  }

  // refuseSquare says why nothing can be done with a square that is not offered.
  refuseSquare(element) {
    if (!element) return;
    const square = Number(element.dataset.square ?? element.dataset.place);
    const piece = this.drawing.querySelector(`[data-piece][data-square="${square}"]`)?.dataset.piece;
    if (this.from !== null) this.refuse(`${this.from}-${square}`);
    else if (this.squares.some((move) => squaresOf(move).length === 1)) this.refuse(String(square));
    else this.refuse(null, !piece ? 'choose' : piece === this.own ? 'stuck' : 'no-own-piece', square);
  }

  // press makes a button of an SVG element.
  press(element, label, move, action) {
    const set = { role: 'button', tabindex: 0, 'aria-label': label, 'data-move': move };
    for (const [name, value] of Object.entries(set)) if (value !== null) element.setAttribute(name, value);
    element.addEventListener('click', action);
    element.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault();
        event.stopPropagation();
        action();
      } else if (event.key.startsWith('Arrow')) {
        event.preventDefault();
        event.stopPropagation();
        this.walk(element, event.key);
      } else if (event.key === 'Escape' && this.from !== null && this.size) {
        event.stopPropagation();
        this.offerSquares(null);
        this.focus();
      }
    });
  }

  // offerSquares offers the squares to play on or to move from, and those to move to once
  // from is chosen.
  offerSquares(from) {
    this.from = from;
    this.layer?.remove();
    const moves = this.squares.map(squaresOf), name = (square) => squareName(square, this.size);
    const starts = [...new Set(moves.filter((m) => m.length === 2).map(([a]) => a))];
    this.layer = svg('g', { class: 'choices' },
      moves.filter((m) => m.length === 1).map(([to]) => this.spot(to, 'to', say('live.play-on', { square: name(to) }), String(to), () => this.take(String(to)))),
      starts.map((square) => this.spot(square, square === from ? 'chosen' : 'from', say('live.from', { square: name(square) }), null,
        () => this.pick(square === from ? null : square))),
      from !== null && moves.filter(([a, b]) => a === from && b !== undefined).map(([a, b]) =>
        this.spot(b, 'to', say('live.to', { from: name(a), to: name(b) }), `${a}-${b}`, () => this.take(`${a}-${b}`))));
    this.drawing.append(this.layer);
  }

  pick(from) {
    this.offerSquares(from);
    const next = from === null ? null : this.layer.querySelector('.to');
    (next ?? this.layer.querySelector('.choice')).focus();
  }

  spot(square, kind, label, move, action) {
    const [x, y] = middle(square, this.grid);
    const g = svg('g', { class: `choice ${kind}`, 'data-choice': square },
      svg('rect', { x: x - 48, y: y - 48, width: 96, height: 96, rx: 8, class: 'spot' }),
      svg('circle', { cx: x, cy: y, r: kind === 'to' && !this.drawing.querySelector(`[data-piece][data-square="${square}"]`) ? 13 : 41, class: 'ring' }));
    this.press(g, label, move, action);
    return g;
  }

  // all is what can be chosen, in the order of the keyboard.
  all() {
    return [...this.element.querySelectorAll('.playable, .choice, .words button')];
  }

  // focus goes to the one with a key, else to the first of them, and reports whether there is one.
  focus(key) {
    const all = this.all(), same = all.find((e) => keyOf(e) === key);
    (same ?? all[0])?.focus({ preventScroll: same !== undefined });
    return all.length > 0;
  }

  // walk moves the focus to the nearest choice in the direction of an arrow key.
  walk(from, key) {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const at = (e) => { const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; };
    const [x, y] = at(from);
    let best = null, least = Infinity;
    for (const other of this.element.querySelectorAll('.playable, .unplayable, .choice, .words button')) {
      const [u, v] = at(other);
      const along = (u - x) * dx + (v - y) * dy, aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
      const cost = along + 2 * aside;
      if (other !== from && along > 1 && cost < least) [best, least] = [other, cost];
    }
    best?.focus();
  }
}
