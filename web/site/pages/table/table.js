// A person's seat: the lines of the protocol come over a WebSocket, and moves go back. Both ends
// number their lines, so that a new connection, or the page loaded again, goes on where the last
// one broke: see Go's package seat.

import { eventText, say } from '../board/text.js';
import { drawPosition } from '../board/choices.js';

const table = JSON.parse(document.getElementById('table').textContent);
const [board, state, clock, events] = ['board', 'state', 'clock', 'events'].map((id) => document.getElementById(id));

const closeEnded = 1000, closeTaken = 4001;
const who = (seat) => table.names[seat] ?? String(seat);

let socket = null;
let got = 0; // lines that have come
let answers = []; // lines of ours that the server may not have, from number first on
let first = 0;
let known = 0; // lines of ours that the server had when this page connected
let asked = 0; // lines that the server has asked for
let fresh = true; // no frame of this connection has come
let tries = 0;
let view = null, turn = null, deadline = null, left = table.left;
let plays = []; // of the trick on the table
let trick = null; // the last one, to be shown
let last = null;
let showing = 0;
let leaving = false; // a form of the page is sent
let instead = say('connecting'); // what is said instead of whose turn it is; null: nothing

function connect() {
  socket = new WebSocket(`${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}${table.socket}`);
  fresh = true;
  socket.addEventListener('open', () => send({ ack: got }));
  socket.addEventListener('message', (event) => take(JSON.parse(event.data)));
  socket.addEventListener('close', (event) => closed(event.code));
}

function send(frame) {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
}

function closed(code) {
  if (leaving) return undefined;
  if (code === closeTaken) return tell(say('taken'));
  if (code !== closeEnded) tell(say('lost'));
  else if (tries > 0) tell(say('away'));
  tries += 1;
  if (code === closeEnded && tries === 1) return again(code);
  setTimeout(() => again(code), Math.min(8000, 250 * 2 ** tries));
  return undefined;
}

// again loads the page anew where the game may be over, and else connects. While the server does
// not answer it tries again: the page stays.
async function again(code) {
  if (code === closeEnded || tries > 1) {
    try {
      if ((await fetch(location.href)).status < 500) return location.reload();
    } catch { /* the server cannot be reached */ }
    if (code === closeEnded) return closed(code);
  }
  return connect();
}

function take(frame) {
  if (fresh) {
    fresh = false;
    tries = 0;
    tell(null);
    if (got === 0 && answers.length === 0) known = first = frame.ack;
    answers = answers.slice(Math.max(0, frame.ack - first));
    first = Math.max(first, frame.ack);
    if (answers.length > 0) send({ n: first, lines: answers, ack: got });
  } else if (frame.ack > first) {
    answers = answers.slice(frame.ack - first);
    first = frame.ack;
  }
  const lines = (frame.lines ?? []).slice(Math.max(0, got - (frame.n ?? 0)));
  lines.forEach(read);
  if (lines.length > 0) {
    got += lines.length;
    send({ ack: got });
    show();
  }
  if (frame.end) tell(say('over'));
}

// answer sends a line that was asked for, unless an earlier page has answered.
function answer(line) {
  asked += 1;
  if (asked <= known) return;
  answers.push(line);
  send({ n: first + answers.length - 1, lines: [line], ack: got });
}

function read(line) {
  const [verb, ...words] = line.split(' ');
  switch (verb) {
    case 'timba': return answer('ready');
    case 'view': view = words.join(' '); return undefined;
    case 'turn': return begin(words);
    case 'event': return happen(words.join(' '));
    case 'fault': return log(say('fault', { who: who(Number(words[0])) }));
    case 'end': turn = null; return undefined;
  }
  return undefined;
}

function begin([, , ...legal]) {
  if (asked < known) { // answered before the page was loaded again
    asked += 1;
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
  const item = document.createElement('li');
  item.textContent = text;
  events.append(item);
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
  if (!ended) return draw(null);
  draw(ended);
  setTimeout(() => { if (now === showing) goOn(); }, calm ? 600 : 1300);
  return undefined;
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
  answer(`move ${text}`);
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
document.addEventListener('submit', () => { leaving = true; });
let width = 0;
new ResizeObserver(() => {
  if (Math.abs(board.clientWidth - width) < 1) return;
  width = board.clientWidth;
  if (board.dataset.sent === undefined) draw(null);
}).observe(board);
connect();
