// From the frames of a replay to what can be drawn.

import { list, named, openView } from './text.js';

// expand gives the frames in full: views by seat, the open view, and what the
// drawing needs besides. game is the JSON of Go's replaypage.Game.
export function expand(game) {
  let views = game.seats.map(() => ({}));
  let won = game.seats.map(() => 0);
  const frames = [];
  game.frames.forEach((frame, ply) => {
    views = views.map((view, seat) => ({ ...view, ...frame.common, ...frame.own?.[seat] }));
    const seen = views.map((view) => named(game.display, view, frame.turn, game.seats.length));
    const move = ply > 0 ? game.moves[ply - 1] : null;
    const told = summary(frame.events.all);
    let trick = null;
    if (told.trick) {
      const [winner, points] = told.trick.map(Number);
      const before = frames[ply - 1].views[0];
      trick = { leader: Number(before.leader), cards: [...list(before.trick), move.move], winner, points };
      won = won.map((n, seat) => n + (seat === winner ? 1 : 0));
    }
    frames.push({
      ply, turn: frame.turn, views: seen, events: frame.events, trick, won,
      last: move && { seat: move.seat, move: move.move },
      captures: move ? told.captures : [], // an opening's are no move's
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

// scoreOf is the score that a bot gave with a move, null if there is none: as in Go's
// ReplayMove.Score, the first of the last line that has one, and only decimal numbers count.
export function scoreOf(move) {
  let score = null;
  for (const line of move.info ?? []) {
    const token = line.split(' ').find((t) => t.startsWith('score='));
    const found = /^score=([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i.exec(token ?? '');
    if (found && Number.isFinite(Number(found[1]))) score = Number(found[1]);
  }
  return score;
}

// worst is the ply after the move that lost most by its bot's own scores, null if no score of
// a bot falls: from the score that it gave with the move to the one it gave with its next, as a
// share of the largest score that it gave.
export function worst(lines) {
  let most = 0, ply = null;
  for (const line of lines) {
    const size = line.reduce((m, [, s]) => Math.max(m, Math.abs(s)), 0);
    line.slice(1).forEach(([, after], i) => {
      const [at, before] = line[i];
      const loss = (before - after) / size;
      if (loss > most) [most, ply] = [loss, at + 1];
    });
  }
  return ply;
}

// scores is by seat the points [ply, score] of its moves. The score given with
// move i is drawn at ply i, the position that was thought about.
export function scores(game) {
  const lines = game.seats.map(() => []);
  game.moves.forEach((move, ply) => {
    const score = scoreOf(move);
    if (score !== null) lines[move.seat].push([ply, score]);
  });
  return lines;
}
