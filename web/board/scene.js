// From positions to drawings: one way to draw every game, from how it is shown (Go's rules.Display),
// a view of SPEC.md and a scene; and what the frames of a game give for that.

import { html } from './dom.js';
import { drawBoard } from './squares.js';
import { drawTable } from './table.js';
import { list, named, openView } from './text.js';

// drawGame makes an element of a view. A game without a table or a board is shown as its keys and
// values. scene has what no view has, and all of it is optional but width, height and names:
//   names     by seat
//   seat      whose view it is; null when all cards are open
//   bottom    the seat at the bottom when all cards are open; 0 if not given
//   partners  seats in the team of the viewer, a set
//   turn      the seat to move, -1 when the game is over
//   last      {seat, move}, made just now
//   trick     {leader, cards, winner, points}: the trick that has just ended
//   won       tricks won by seat, where the view does not count them
//   captures  the squares where the last move captured
//   out       seats that have forfeited, a set
//   tags      what else is said of a seat, by seat, a map
//   clocks    the time that a seat has left, as text by seat, a map; the drawing has it in elements with data-clock
//   ranks     by seat, once the game is over
//   winner    the colour that has won by the rules
//   leaving   whether the trick that has ended goes to its winner
//   moving    whether the last move is to be seen arriving
//   hand      the most cards that a seat holds in this game, for which room is kept; else
//             as many as the round or the position has
export function drawGame(display, view, scene) {
  if (display.cards) return drawTable(named(display, view, scene.turn, scene.names.length), { ...scene, rounds: display.cards.rounds });
  if (display.board) return drawBoard(display.board, view, scene);
  return html('dl', { class: 'plainview' },
    Object.entries(view).map(([key, value]) => [html('dt', {}, key), html('dd', {}, value)]));
}

// sizeOf is the width and height in pixels of a drawing in an element; small is one among others.
export function sizeOf(element, display, small = false) {
  const width = Math.max(280, Math.floor(element.clientWidth || 360));
  if (!display.cards) return { width, height: Math.min(width, small ? 300 : 640) };
  return { width, height: small ? 380 : Math.max(560, Math.round(width * 0.66)) };
}

// sceneOf is the scene of a frame but for its size; over is whether the game has ended with it.
export function sceneOf(game, frame, seat, over) {
  const first = game.seats.flatMap((s, i) => (s.rank === 1 ? [i] : []));
  return {
    names: game.seats.map((s) => s.name), seat, turn: over ? -1 : frame.turn, last: frame.last, trick: frame.trick,
    won: frame.won, captures: frame.captures, out: outAt(game, frame.ply), ranks: over ? game.seats.map((s) => s.rank) : null,
    winner: over && game.over && first.length === 1 ? game.display.board?.sides[first[0]] : null,
  };
}

// namesOf are the names of the seats, with a number where two are the same.
export function namesOf(game) {
  const all = game.seats.map((s) => s.name);
  return all.map((name, seat) => (all.indexOf(name) === all.lastIndexOf(name) ? name : `${name} (${seat})`));
}

// expand gives the frames in full: views by seat, the open view, and what the
// drawing needs besides. game is the JSON of Go's board.Game; base is the ply of its first
// frame, 0 if not given.
export function expand(game) {
  let views = game.seats.map(() => ({}));
  let won = game.seats.map(() => 0);
  const frames = [];
  game.frames.forEach((frame, i) => {
    views = views.map((view, seat) => ({ ...view, ...frame.common, ...frame.own?.[seat] }));
    const seen = views.map((view) => named(game.display, view, frame.turn, game.seats.length));
    const last = i > 0 ? game.moves[i - 1] : null;
    const told = summary(frame.events.all);
    let trick = null;
    if (told.trick && i > 0) {
      const [winner, points] = told.trick.map(Number);
      const before = frames[i - 1].views[0];
      trick = { leader: Number(before.leader), cards: [...list(before.trick), last.move], winner, points };
      won = won.map((n, seat) => n + (seat === winner ? 1 : 0));
    }
    frames.push({
      ply: i + (game.base ?? 0), turn: frame.turn, views: seen, events: frame.events, trick, won, last,
      captures: last ? told.captures : [], // an opening's are no move's
    });
  });
  return frames;
}

function summary(events) {
  const told = { trick: null, captures: [] };
  for (const event of events) {
    const [verb, ...words] = event.split(' ');
    if (verb === 'trick') told.trick = words;
    if (verb === 'capture') told.captures.push(Number(words[1]));
  }
  return told;
}

// viewOf is what is seen of a frame from a seat, or of all cards when seat is null.
export function viewOf(frame, seat) {
  return seat === null ? openView(frame.views) : frame.views[seat];
}

// eventsOf is the events that a seat saw, or all events.
export function eventsOf(frame, seat) {
  return seat === null || !frame.events.seen ? frame.events.all : frame.events.seen[seat];
}

// outAt is the seats that have forfeited when so many moves have been made.
export function outAt(game, ply) {
  const sides = new Set(game.faults.filter((f) => f.ply <= ply).map((f) => game.seats[f.seat].side));
  return new Set(game.seats.flatMap((seat, i) => (sides.has(seat.side) ? [i] : [])));
}
