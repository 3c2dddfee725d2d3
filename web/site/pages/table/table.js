// A person's seat: the lines of the protocol come, and moves go back.

import { drawPosition } from '../board/choices.js';
import { html } from '../board/dom.js';
import { eventText, say } from '../board/text.js';
import { Stream } from '../layout/stream.js';

const table = JSON.parse(document.getElementById('table').textContent);
const [board, state, clock, events] = ['board', 'state', 'clock', 'events'].map((id) => document.getElementById(id));

const who = (seat) => table.names[seat] ?? String(seat);

let view = null, turn = null, deadline = null, left = table.left;
let plays = []; // of the trick on the table
let trick = null; // the last one, to be shown
let last = null;
let showing = 0;
let instead = say('connecting'); // what is said instead of whose turn it is; null: nothing

function read(line) {
  const [verb, ...words] = line.split(' ');
  switch (verb) {
    case 'timba': stream.answer('ready'); break;
    case 'view': view = words.join(' '); break;
    case 'turn': begin(words); break;
    case 'event': happen(words.join(' ')); break;
    case 'fault': log(say('fault', { who: who(Number(words[0])) })); break;
    case 'end': turn = null; break;
  }
}

function begin([, , ...legal]) {
  if (stream.answered()) { // before the page was loaded again
    trick = null;
    return;
  }
  const time = left >= 0 ? left : table.move;
  left = -1;
  deadline = performance.now() + time;
  turn = { legal };
}

function happen(event) {
  const [verb, seat, move] = event.split(' ');
  if (verb === 'play') {
    last = { seat: Number(seat), move };
    plays.push({ seat: Number(seat), card: move });
  }
  if (verb === 'trick') {
    trick = { leader: plays[0]?.seat ?? 0, cards: plays.map((p) => p.card), winner: Number(seat), points: move === undefined ? undefined : Number(move) };
    plays = [];
  }
  log(eventText(event, who));
}

function log(text) {
  events.append(html('li', {}, text));
  events.parentElement.scrollTop = events.parentElement.scrollHeight;
}

function announce(text) {
  if (state.textContent !== text) state.textContent = text;
}

// tell says something instead of whose turn it is, or no longer.
function tell(text) {
  instead = text;
  announce(instead ?? (turn ? say('yours') : say('theirs')));
}

const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;

// show draws the position: first the trick that has just ended, for a moment or until a click.
function show() {
  const ended = table.display.cards && turn && trick ? trick : null;
  trick = null;
  showing += 1;
  const now = showing;
  draw(ended);
  if (ended) setTimeout(() => { if (now === showing) goOn(); }, calm ? 600 : 1300);
}

// goOn draws the position itself, after a trick.
function goOn() {
  showing += 1;
  draw(null);
}

board.addEventListener('click', () => { if (board.dataset.trick === 'ended') goOn(); });

function draw(ended) {
  if (view === null) return;
  const key = table.display.cards?.trick;
  const shown = ended ? view.split(' ').map((pair) => (pair.startsWith(`${key}=`) ? `${key}=-` : pair)).join(' ') : view;
  drawPosition(board, { display: table.display, names: table.names, view: shown, turn: turn ? table.seat : -2, last, trick: ended },
    { seat: table.seat, legal: turn && !ended ? turn.legal : [], onMove: move, moving: !ended && turn !== null });
  board.dataset.turn = turn && !ended ? 'yes' : 'no';
  board.dataset.trick = ended ? 'ended' : '';
  if (instead === null && ended) announce(say('took', { who: who(ended.winner) }));
  else tell(instead);
}

function move(text) {
  if (!turn) return;
  turn = null;
  deadline = null;
  board.dataset.turn = 'no';
  stream.answer(`move ${text}`);
  tell(instead);
}

function tick() {
  clock.textContent = '';
  if (deadline !== null && turn) {
    const seconds = Math.max(0, Math.ceil((deadline - performance.now()) / 1000));
    clock.textContent = say('left', { time: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}` });
    clock.classList.toggle('short', seconds <= 10);
  }
}

setInterval(tick, 250);
let width = 0;
new ResizeObserver(() => {
  if (Math.abs(board.clientWidth - width) < 1) return;
  width = board.clientWidth;
  if (board.dataset.sent === undefined) draw(null);
}).observe(board);
const stream = new Stream(table.socket, { read, shown: show, told: (what) => tell(what && say(what)) });
