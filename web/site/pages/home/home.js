// One of the matches in progress on the table; the next one when it has ended.

import { Board, versus } from '../live/board.js';
import { say } from '../board/text.js';
import { socket } from '../layout/parts.js';

const stay = 6000; // milliseconds for which a match that has ended stays
const [figure, watch, others] = ['now', 'watch', 'others'].map((id) => document.getElementById(id));
const stage = figure.querySelector('.stage');
let shown = null;

socket.watch('games', ({ matches }) => {
  others.hidden = matches.length < 2;
  others.textContent = say('others', { count: matches.length - 1 });
  if (shown || matches.length === 0) return;
  const game = matches.find((m) => m.id > 0) ?? matches[0]; // bots are faster than people
  figure.hidden = false;
  watch.href = game.url;
  watch.textContent = versus(game);
  shown = new Board(socket, game.topic, stage, {
    small: true,
    ended: () => {
      socket.leave(shown.topic);
      setTimeout(() => {
        shown.watcher.disconnect();
        shown = null;
        socket.again('games');
      }, stay);
    },
  });
});
