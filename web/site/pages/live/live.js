// All matches in progress, each as a small board.

import { html } from '../board/dom.js';
import { Socket } from '../layout/socket.js';
import { say } from '../board/text.js';
import { Board, nameOf, place, status } from './board.js';

const most = 20; // boards; Go's live.Limits.Topics is more
const stay = 6000; // milliseconds for which a match that has ended stays
const grid = document.getElementById('games');
const none = document.getElementById('none');
const cells = new Map();
const socket = new Socket(status(document.getElementById('status')));

socket.watch('games', ({ matches }) => {
  for (const { id, ladder, bots } of matches) {
    if (!cells.has(id) && cells.size < most) cells.set(id, cell(id, ladder, bots));
  }
  none.hidden = cells.size > 0;
});
for (const li of grid.querySelectorAll('[data-match]')) {
  li.remove(); // the list of the socket has them again, or they are over
}

function cell(id, ladder, bots) {
  const stage = html('div', { class: 'stage', 'aria-hidden': 'true' });
  const where = html('p', { class: 'soft' }, ladder || say('unrated'));
  const now = html('p', { class: 'soft' }, ' ');
  const li = html('li', { class: 'panel', 'data-match': String(id) },
    html('h2', {}, html('a', { href: `/live/${id}` }, bots.map(nameOf).join(` ${say('versus')} `))), where, stage, now);
  grid.append(li);
  const board = new Board(socket, id, stage, {
    small: true,
    shown: ({ game }) => { now.textContent = place(game); },
    ended: () => {
      socket.leave(board.topic);
      now.textContent = say('over');
      setTimeout(() => {
        li.remove();
        cells.delete(id);
        none.hidden = cells.size > 0;
        socket.again('games');
      }, stay);
    },
  });
  return board;
}
