// One match or game of people in progress: a board, the clocks and the moves.

import { html } from '../board/dom.js';
import { moveList, stateText } from '../board/replay.js';
import { Socket } from '../layout/socket.js';
import { minutes, say } from '../board/text.js';
import { Board, place, status } from '../live/board.js';
import { tagsIn } from '../table/seats.js';

const element = (id) => document.getElementById(id);
const root = element('watch');
const people = root?.dataset.clocks !== undefined;
const clocked = people ? root.dataset.clocks.split(' ').filter(Boolean).map(Number) : null; // the seats with clocks; null: all
const skew = Date.now() - Number(root?.dataset.now); // of this machine's clock against the server's
if (root) {
  const socket = new Socket(status(element('status')));
  const back = element('back');
  let listed = '';
  const board = new Board(socket, root.dataset.match, element('stage'), { shown, ended });
  back.addEventListener('click', () => { board.look(null); });
  if (people) socket.watch(root.dataset.table, away, () => ({ lang: document.documentElement.lang }));
  setInterval(() => clocks(board), 200);

  function shown(b) {
    const { game, names } = b, i = b.index(), frame = b.frames[i];
    element('place').textContent = place(game);
    element('seats').replaceChildren(...seats(b, frame, names));
    clocks(b);
    element('now').textContent = stateText(game, frame, names, b.last());
    const all = b.ply - game.base;
    const key = `${b.at} ${game.base} ${all} ${game.faults.length}`;
    if (key !== listed) { // the moves that have been shown
      listed = key;
      element('moves').replaceChildren(...moveList({ ...game, moves: game.moves.slice(0, all), faults: people ? [] : game.faults }, b.frames.slice(0, all + 1), names, (n) => b.look(n + game.base)));
      element('moves').scrollTop = element('moves').scrollHeight;
    }
    for (const button of element('moves').querySelectorAll('button.move')) {
      if (Number(button.dataset.ply) === i) button.setAttribute('aria-current', 'step');
      else button.removeAttribute('aria-current');
    }
    back.hidden = b.looking === null;
  }

  // away shows who is away or has resigned.
  function away({ parts }) {
    board.tags = tagsIn(new DOMParser().parseFromString(parts?.seats ?? '', 'text/html'));
    board.draw(false);
  }

  function ended(state) {
    root.dataset.over = state;
    element('status').hidden = true;
    element('over').hidden = false;
    const replay = element('replay'), at = board.game?.match;
    if (replay && at && state === 'finished') {
      replay.href = `/matches/${at.id}/games/${at.deal}/${at.rotation}`;
      replay.hidden = false;
    }
    element('over').querySelector('p').textContent = state === 'finished' ? say('finished') : say('broken');
    if (people) result();
    clocks(board);
  }
}

// result tells how a game of people has ended, as its page has it now.
async function result() {
  const said = element('over').querySelector('p');
  said.textContent = say('over');
  try {
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), 'text/html');
    const told = [...page.querySelectorAll('.over :is(h2, .why)')].map((e) => e.textContent);
    said.textContent = told.join('. ') || page.querySelector('.notice p')?.textContent || said.textContent;
  } catch { /* the link leads there */ }
}

function seats(b, frame, names) {
  const { game } = b;
  const points = frame.views[0].points?.split(','); // boards have none
  element('pointshead').hidden = !points;
  return game.seats.map((s, seat) => html('tr', { class: `seat${seat}${frame.turn === seat && !b.last() ? ' turn' : ''}`, 'data-seat': String(seat) },
    html('td', {}, html('span', { class: 'dot' }, String(seat))),
    html('th', { scope: 'row' }, names[seat], !people && game.faults.some((f) => f.seat === seat) && html('span', { class: 'tag loss' }, say('forfeit'))),
    points && html('td', { class: 'number' }, b.last() ? String(s.points) : points[seat]),
    clocked?.length !== 0 && html('td', { class: 'number clock' }, '')));
}

// clocks shows the time that each seat has, counting down for the one to move since its turn began.
function clocks(b) {
  if (!b.game || !b.left) return;
  const turn = b.game.frames.at(-1).turn, running = !b.game.finished && b.over === undefined;
  document.querySelectorAll('#seats .clock').forEach((cell, seat) => {
    if (clocked && !clocked.includes(seat)) return;
    const spent = running && seat === turn ? Math.max(0, Date.now() - skew - b.since) : 0;
    const seconds = Math.max(0, b.left[seat] - spent) / 1000;
    const text = people ? minutes(Math.ceil(seconds)) : `${seconds.toFixed(1)} s`;
    if (cell.textContent !== text) cell.textContent = text;
  });
}
