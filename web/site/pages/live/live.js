// All matches and games of people in progress, each as a small board.

import { html } from '../board/dom.js';
import { Socket } from '../layout/socket.js';
import { say } from '../board/text.js';
import { Board, nameOf, place, status, versus } from './board.js';

const most = 20; // boards; Go's live.Limits.Topics is more
const stay = 6000; // milliseconds for which a match that has ended stays
const grid = document.getElementById('games');
const none = document.getElementById('none');
const cells = new Map();
const socket = new Socket(status(document.getElementById('status')));

socket.watch('games', ({ matches }) => {
  for (const game of matches) {
    if (!cells.has(game.topic) && cells.size < most) cells.set(game.topic, cell(game));
  }
  none.hidden = cells.size > 0;
});
for (const li of grid.querySelectorAll('[data-match]')) {
  li.remove(); // the list of the socket has them again, or they are over
}

function cell(game) {
  const { topic, url, ladder, title } = game;
  const stage = html('div', { class: 'stage', 'aria-hidden': 'true' });
  const where = html('p', { class: 'soft' }, title || (ladder ? nameOf(`/${ladder}`) : say('unrated')));
  const now = html('p', { class: 'soft' }, ' ');
  const li = html('li', { class: 'panel', 'data-match': topic },
    html('h2', {}, html('a', { href: url }, versus(game))), where, stage, now);
  grid.append(li);
  const board = new Board(socket, topic, stage, {
    small: true,
    shown: ({ game }) => { now.textContent = place(game); },
    ended: () => {
      socket.leave(board.topic);
      now.textContent = say(title ? 'ended' : 'over');
      setTimeout(() => {
        li.remove();
        cells.delete(topic);
        none.hidden = cells.size > 0;
        socket.again('games');
      }, board.game ? stay : 0); // of a short match no position may have come
    },
  });
  return board;
}
