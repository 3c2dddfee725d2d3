// The lists beside the drawing.

import { html, svg } from './dom.js';
import { moveName, parseCard, say } from './text.js';
import { pip } from './pack.js';

// about is the header of a replay: what was played, with which seed.
export function about(game) {
  const { clock } = game;
  const rows = [
    ['deal', say('about.deal-value', game.match)],
    ['clock', say(clock.bank ? 'about.bank' : 'about.movetime', { inc: 0, ...clock })],
    ...(game.adjudication ? [['adjudication', game.adjudication]] : []),
    ['seed', game.seed],
    ['match-seed', game.match.seed ?? say('about.hidden')],
    ['commitment', game.commitment],
  ];
  const fine = game.differences.length === 0;
  return [
    html('p', { class: 'options', tabindex: 0, role: 'group', 'aria-label': say('about.options') }, game.options.map(([name, value]) => html('span', {}, name, ' ', html('b', {}, value)))),
    html('p', { class: fine ? 'verdict good' : 'verdict bad', title: say('about.rebuilt') },
      fine ? say('about.verified') : say('about.differences', { count: game.differences.length })),
    !fine && html('ul', { class: 'differences' }, game.differences.map((d) => html('li', {}, d))),
    html('details', { class: 'facts' }, html('summary', {}, say('about.details')),
      html('dl', {}, rows.map(([name, value]) => [html('dt', {}, say(`about.${name}`)), html('dd', {}, String(value))]))),
  ];
}

// pointsAt is the points of a view by seat, null in games that count at the end.
function pointsAt(frame, seat, game, end) {
  if (end) return game.seats[seat].points;
  const points = frame.views[seat].points;
  return points === undefined ? null : points.split(',')[seat];
}

// seatList is the list of the seats, with their bots and points.
export function seatList(game, frame, out, end) {
  const sides = new Set(game.seats.map((s) => s.side));
  const teams = sides.size < game.seats.length;
  const sum = (side) => game.seats.reduce((n, s, seat) => n + (s.side === side ? Number(pointsAt(frame, seat, game, end)) : 0), 0);
  return [seatTable(game, frame, out, end, teams),
    teams && html('p', { class: 'teams' }, [...sides].map((side) => say('seats.team-points', { team: side + 1, points: sum(side) })).join(' · '))].filter(Boolean);
}

function seatTable(game, frame, out, end, teams) {
  return html('table', {},
    html('thead', {}, html('tr', {}, html('td', {}), ['bot', 'points', 'rank'].map((h) => html('th', { scope: 'col' }, say(`seats.${h}`))))),
    html('tbody', {}, game.seats.map((s, seat) => {
      const fault = game.faults.find((f) => f.seat === seat && out.has(seat));
      const me = game.display.board && frame.views[seat].me;
      return html('tr', { class: `seat${seat}${frame.turn === seat && !end ? ' turn' : ''}`, 'data-seat': seat },
        html('td', {}, html('span', { class: 'dot' }, String(seat))),
        html('td', {}, html('span', { class: 'botname' }, s.name), ' ', html('span', { class: 'version' }, s.version),
          me && html('span', { class: `side ${me === 'b' ? 'dark' : 'light'}`, title: say(`colour.${me}`) }),
          !end && (frame.views[seat].extra ?? '').includes(me) && html('span', { class: 'tagword' }, say('seats.extra')),
          teams && html('span', { class: 'tagword' }, say('seats.team', { team: s.side + 1 })),
          fault && html('span', { class: 'tagword bad' }, say('seats.fault', { code: fault.code }))),
        html('td', { class: 'number' }, String(pointsAt(frame, seat, game, end) ?? '')),
        html('td', { class: 'number' }, end ? String(s.rank) : ''));
    })));
}

// moveLabel is a move in words.
export function moveLabel(move, names) {
  return say(move.standin ? 'moves.standin' : 'moves.made', { name: names[move.seat], move: moveName(move.move) });
}

// moveText is a move in its shortest form: a card has its emblem.
function moveText(move) {
  const found = /^(?:(swap|sing|bid):)?(.+)$/.exec(move);
  const [, verb, rest] = found ?? [null, null, move];
  const card = parseCard(rest);
  const emblem = (suit) => svg('svg', { class: 'emblem', viewBox: '0 0 16 16', width: 15, height: 15, 'aria-hidden': 'true' }, pip(suit, 8, 8, 16));
  const word = verb ? `${say(`verb.${verb}`)} ` : '';
  if (card) return [`${word}${card.rank}`, emblem(card.suit)];
  if (verb === 'sing' && parseCard(`1${rest}`)) return [word, emblem(rest)];
  return [word + rest];
}

// moveList is all moves in lines: a trick a line, or a move of each seat, with
// the rounds and the faults between. jump is called with the ply after a move.
export function moveList(game, frames, names, jump) {
  const lines = [];
  let line = null;
  const put = (element) => {
    if (!line) lines.push(line = html('p', { class: 'moveline' }));
    line.append(element);
  };
  const faults = (ply) => game.faults.filter((f) => f.ply === ply).forEach((f) => {
    lines.push(html('p', { class: 'faultline' }, html('button', { type: 'button', class: 'fault', 'data-fault': f.seat, click: () => jump(f.ply) },
      say('moves.forfeits', { name: names[f.seat], code: f.code }))));
    line = null;
  });
  const round = (frame) => {
    const event = frame.events.all.find((e) => e.startsWith('round '));
    const told = /^round (\S+)(?: cards=(\S+))?/.exec(event ?? '');
    if (told) lines.push(html('h3', {}, say('moves.round', { round: told[1], cards: told[2] })));
    if (told) line = null;
  };
  const tricks = 'trick' in frames[0].views[0];
  round(frames[0]);
  game.moves.forEach((move, i) => {
    faults(i);
    if (!tricks && move.seat === 0 && game.moves[i - 1]?.seat !== 0) line = null;
    if (!line && !tricks) put(html('span', { class: 'movenumber' }, `${i + 1}`));
    put(html('button', {
      type: 'button', class: `move seat${move.seat}${move.standin ? ' standin' : ''}`, 'data-ply': i + 1, click: () => jump(i + 1), title: moveLabel(move, names),
    }, html('span', { class: 'seen', 'aria-hidden': 'true' }, html('span', { class: 'dot' }, String(move.seat)), moveText(move.move), move.standin && html('span', { class: 'standinmark' }, '⟳')),
    html('span', { class: 'heard' }, say('moves.label', { ply: i + 1, move: moveLabel(move, names) }))));
    const next = frames[i + 1];
    if (next.trick) {
      const { winner, points } = next.trick;
      put(html('span', { class: `taken seat${winner}` }, '→ ', html('span', { class: 'dot' }, String(winner)), Number.isFinite(points) ? ` +${points}` : ''));
      line = null;
    }
    round(next);
  });
  faults(game.moves.length);
  if (game.adjudicated) lines.push(html('p', { class: 'endline' }, game.adjudicated));
  return lines;
}

// thoughts shows what a bot wrote with its move; mayKnow is whether the viewer may read it.
export function thoughts(move, mayKnow, names) {
  if (!move) return html('p', { class: 'none' }, say('thoughts.before'));
  if (!mayKnow) return html('p', { class: 'none' }, say('thoughts.secret', { name: names[move.seat] }));
  return html('div', {},
    html('p', { class: `by seat${move.seat}` }, html('span', { class: 'dot' }, String(move.seat)), ' ', say(move.standin ? 'thoughts.standin' : 'thoughts.by', { name: names[move.seat], ms: move.ms ?? 0 })),
    move.info ? move.info.map((line) => html('p', { class: 'info' }, line.split(' ').filter((token) => token !== '').map((token) => {
      const at = token.indexOf('=');
      return at > 0 ? html('span', { class: 'pair', 'data-key': token.slice(0, at) }, html('b', {}, token.slice(0, at)), ' ', token.slice(at + 1))
        : html('span', { class: 'word' }, token);
    }))) : !move.standin && html('p', { class: 'none' }, say('thoughts.none')));
}
