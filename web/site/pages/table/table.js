// A person's seat: the lines of the protocol come and are shown one after the other, and moves go back.

import { drawPosition } from '../board/choices.js';
import { html } from '../board/dom.js';
import { follow } from '../board/follow.js';
import { columnsOf } from '../board/squares.js';
import { eventText, list, minutes, parseView, say, squareName, suitName, theCard, viewText } from '../board/text.js';
import '../layout/deck.js';
import { socket } from '../layout/parts.js';
import { Stream } from '../layout/stream.js';
import { clocksIn, tagsIn } from './seats.js';
import { sound } from './sound.js';

const table = JSON.parse(document.getElementById('table').textContent);
const element = (id) => document.getElementById(id);
const [board, state, clock, events, score, why] = ['board', 'state', 'clock', 'events', 'score', 'why'].map(element);
const { display, seat: me } = table;
const title = document.title;
const teams = new Set(table.sides).size < table.sides.length;
const partners = new Set(table.sides.flatMap((side, seat) => (seat !== me && side === table.sides[me] ? [seat] : [])));

// who names a seat, with its number where several have the name.
const who = (seat) => (table.names.filter((name) => name === table.names[seat]).length > 1 ? `${table.names[seat]} (${seat})` : table.names[seat] ?? String(seat));

let view = null; // that is shown: the last view line, and what has happened since
let turn = null; // the legal moves while the person is to move
let mover = null; // the other seat that is to move, if it is known
let deadline = null, left = table.left;
let last = null; // the last move
let trick = null; // the last trick that has ended
let showing = null; // that trick, while it is shown; leaving once it goes to its winner
let sent = null; // the event of the person's move, until the referee tells of it
let captures = [];
let over = null; // the page of the game once it is over
let faults = false; // somebody has forfeited
let ranks = null, winner = null; // by seat at the end, and the colour that has won by the rules of a board game
let instead = say('connecting'); // what is said instead of whose turn it is; null: nothing

// What has come and is not yet shown: steps, each a line. One of before the page was loaded again is
// shown without its moves.
const steps = [];
let playing = false;

function read(line) {
  const [verb, ...words] = line.split(' ');
  const step = { verb, words, text: words.join(' '), told: false };
  switch (verb) {
    case 'timba': stream.answer('ready'); return;
    case 'turn':
      if (stream.answered()) { // before the page was loaded again
        for (const earlier of steps) earlier.told = true;
        step.told = true;
        break;
      }
      if (out()) break;
      deadline = left >= 0 ? left : table.bank > 0 ? Number(words[1]) : table.move;
      deadline = deadline > 0 || left >= 0 ? performance.now() + deadline : null;
      left = -1;
  }
  steps.push(step);
}

// play shows all steps, one after the other.
async function play() {
  if (playing) return;
  playing = true;
  while (steps.length > 0) await show(steps.shift());
  playing = false;
  if (over !== null) end();
}

async function show(step) {
  switch (step.verb) {
    case 'view':
      view = parseView(step.text);
      if (steps[0]?.verb === 'wait') mover = Number(steps.shift().words[0]);
      if (!step.told) draw();
      break;
    case 'wait':
      mover = Number(step.words[0]);
      if (!step.told) draw();
      break;
    case 'turn':
      sent = null;
      if (step.told) break;
      if (!out()) {
        turn = step.words.slice(2);
        sound('turn');
      }
      draw();
      break;
    case 'event': await happen(step); break;
    case 'fault': {
      faults = true;
      const seat = Number(step.words[0]);
      if (seat === me) forfeit();
      log(seat === me ? say('fault-you') : say('fault', { who: who(seat) }));
      draw();
      break;
    }
    case 'end': result(step.words[0]); turn = null; instead = say('over'); draw(); break;
  }
}

// out reports whether the person has no more turns, though the others play on.
const out = () => table.resigned || table.forfeited;

// result reads the ranks of the line that ends a game.
function result(word) {
  ranks = word.slice('ranks='.length).split(',').map(Number);
  const first = ranks.flatMap((rank, seat) => (rank === 1 ? [seat] : []));
  if (display.board && !faults && first.length === 1) winner = display.board.sides[first[0]];
}

function endTurn() {
  turn = null;
  mover = null;
  deadline = null;
  explain('');
}

function forfeit() {
  table.forfeited = true;
  endTurn();
}

// pauses are milliseconds after what happens; patience is what all of them together may take.
const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
const pauses = calm ? { play: 0, trick: 600, leave: 0, end: 1000 } : { play: 480, trick: 1100, leave: 360, end: 1600 };
const patience = 3500;

async function happen({ text, words: [verb, word, move], told }) {
  const seat = Number(word);
  const made = text === sent; // it is shown already
  if (verb === 'play') captures = [];
  if (verb === 'capture') captures = [...captures, Number(move)];
  if (verb === 'trick' && view !== null && display.cards) {
    const cards = list(view[display.cards.trick]);
    trick = { leader: Number(view.leader), cards, winner: seat, points: move === undefined ? undefined : Number(move) };
  }
  const opening = view === null && ['play', 'capture', 'extra'].includes(verb); // one line tells of all its moves
  if (!opening && !text.endsWith(' ?')) log(eventText(text, { who, me, columns: columns() })); // all draw, unseen, after each trick
  if (view === null) return;
  if (verb === 'play') last = { seat, move };
  if (verb === 'trick' && !told && trick) await showTrick();
  if (made) sent = null;
  else view = follow(display, view, text, me);
  if (told || !['play', 'capture', 'bid', 'score'].includes(verb)) return;
  if (verb === 'play' && !made) sound('move');
  draw(verb === 'play' && !made);
  if (!made && verb !== 'capture') await pause(Math.min(pauses.play, patience / (steps.length + 1)));
}

// columns is how many the board has, also before its first view is shown.
function columns() {
  const seen = view ?? parseView(steps.find((step) => step.verb === 'view')?.text ?? '');
  return display.board && seen[display.board.pieces] ? columnsOf(display.board, seen) : 0;
}

// showTrick shows the trick that has ended, and then how it goes to its winner.
async function showTrick() {
  showing = { ...trick };
  draw();
  await pause(pauses.trick);
  if (pauses.leave > 0 && showing) {
    showing.leaving = true;
    draw();
    await pause(pauses.leave);
  }
  showing = null;
}

let hurry = () => {};

// pause waits for some milliseconds, or until a click on the board.
function pause(ms) {
  if (ms < 1 || document.hidden) return null;
  return new Promise((resolve) => {
    hurry = resolve;
    setTimeout(resolve, ms);
  });
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
  state.parentElement.classList.toggle('told', instead !== null);
  document.title = turn && !instead ? `● ${say('yours')} · ${title}` : title;
  announce(instead ?? (showing ? took(showing.winner) : turn ? say('yours') : waits()));
}

// waits says whose move the person waits for.
function waits() {
  if (table.resigned) return say('resigned');
  if (table.forfeited) return say('fault-you');
  const other = mover ?? (table.names.length === 2 ? 1 - me : null);
  return other === null ? say('theirs') : say('theirs-one', { who: who(other) });
}

let quiet = null; // the timer that ends an explanation

// explain says beside the board, for some seconds, why what was chosen is no move.
function explain(text) {
  clearTimeout(quiet);
  why.textContent = text;
  if (text) quiet = setTimeout(() => { why.textContent = ''; }, 8000);
}

// refuse says why a move is not legal: by the rule that forbids it, which the server knows, or by what the board knows.
async function refuse(move, code, square) {
  let rule = { code, values: { square } };
  if (move !== null) {
    const answer = await fetch(`${location.pathname}/refusal?${new URLSearchParams({ move })}`).catch(() => null);
    rule = answer?.ok ? await answer.json() : null;
  }
  if (!rule || !turn) return;
  const { card, suit, count, square: at } = rule.values;
  explain(say(`why.${rule.code}`, { card: card && theCard(card), suit: suit && suitName(suit), square: squareName(at, columns()), count }));
}

const took = (winner) => (winner === me ? say('took-you') : say('took', { who: who(winner) }));

let tags = tagsIn(document), clocked = [...clocksIn(document).keys()].join(); // the seats with clocks

let words = 0; // the height of the buttons below the board

// room is the height that the board may have: on a phone the rest of the screen.
function room() {
  const above = board.getBoundingClientRect().top + window.scrollY;
  const rest = window.innerHeight - above - words - 8;
  return Math.max(display.cards ? 480 : 300, Math.min(rest, display.cards ? board.clientWidth * 2.1 : 900));
}

function draw(moving = false) {
  if (view === null) return;
  const { cards } = display;
  const ended = showing ?? looking;
  const shown = ended ? { ...view, [cards.trick]: '-' } : view;
  score.textContent = teams ? say('teams', teamPoints()) : '';
  const put = () => drawPosition(board, { display, names: table.names, view: viewText(shown), turn: turn ? me : mover ?? -2, last, trick: ended, leaving: ended?.leaving, partners, captures, tags, ranks, winner, clocks: clocksIn(document) },
    { seat: me, legal: turn && !ended ? turn : [], onMove: move, onRefuse: refuse, moving, height: room() });
  const below = put().nextElementSibling?.offsetHeight ?? 0;
  if (words !== (words = below && below + 22)) put(); // their lines are known once they are there
  board.dataset.turn = turn && !ended ? 'yes' : 'no';
  board.dataset.trick = ended ? 'ended' : '';
  if (element('last')) element('last').disabled = trick === null;
  tell(instead);
}

// teamPoints are the points of the person's team and of the others.
function teamPoints() {
  const points = (view.points ?? '').split(',').map(Number);
  const sum = (own) => points.reduce((n, p, seat) => n + ((table.sides[seat] === table.sides[me]) === own ? p : 0), 0);
  return { own: sum(true), other: sum(false) };
}

let looking = null; // the last trick, while the person looks at it

function look(at) {
  looking = at;
  element('last').setAttribute('aria-pressed', String(looking !== null));
  draw();
}

element('last')?.addEventListener('click', () => look(looking ? null : trick));

// goOn ends what is shown for a moment.
function goOn() {
  if (looking && over === null) look(null);
  else hurry();
}

board.addEventListener('click', (event) => {
  if (event.target.closest('[data-move], .choice')) return;
  if (!turn && !playing && over === null && event.target.closest(`[data-hand="${me}"] [data-card], [data-square], [data-place]`)) explain(waits());
  goOn();
});
board.addEventListener('keydown', (event) => {
  if (event.target !== board || event.key !== 'Enter' && event.key !== ' ') return;
  event.preventDefault();
  goOn();
});

function move(text) {
  if (!turn) return;
  endTurn();
  sound('move');
  stream.answer(`move ${text}`);
  if (!text.includes(':') || text.startsWith('bid:')) { // what follows is known, and shown at once
    sent = text.startsWith('bid:') ? `bid ${me} ${text.slice('bid:'.length)}` : `play ${me} ${text}`;
    if (sent.startsWith('play')) last = { seat: me, move: text };
    captures = [];
    view = follow(display, view, sent, me);
  }
  draw(sent !== null);
}

const skew = Date.now() - table.now; // of this machine's clock against the server's

// tick shows the clocks in the list of seats, and that of the seat to move over the board.
function tick() {
  const until = (ms) => Math.max(0, Math.ceil(ms / 1000));
  const left = deadline === null ? null : until(deadline - performance.now());
  for (const bank of document.querySelectorAll('[data-until]')) {
    bank.textContent = minutes(until(Number(bank.dataset.until) - (Date.now() - skew)));
  }
  for (const [seat, time] of clocksIn(document)) {
    const plate = board.querySelector(`[data-clock="${seat}"]`);
    if (plate && plate.textContent !== time) plate.textContent = time;
  }
  clock.textContent = left === null ? '' : clockText(left);
  clock.classList.toggle('short', left !== null && left <= 10);
  if (left === null || left > soon) warned = false;
  else if (!warned) {
    warned = true;
    sound('warn');
    explain(say('warn', { time: minutes(left) }));
  }
}

// soon is how many seconds before its end the time is said loudly, once: warned.
const soon = 30;
let warned = false;

// clockText says how many seconds the person has left, in all or without banks for the move.
function clockText(left) {
  const time = minutes(left);
  return table.bank === 0 && left <= soon ? say('move-left', { time }) : say('left', { time });
}

// told tells what is said of the connection. A page that has lost its seat to another one stops, and takes it back when
// it is asked to.
function told(what) {
  if (what === 'over') { // no line comes any more: the game is over, or lost while the others play on
    endTurn();
    draw();
    return;
  }
  element('here').hidden = what !== 'taken';
  element('enter').hidden = what !== 'out';
  if (what === 'taken' || what === 'out') {
    steps.length = 0;
    endTurn();
    draw();
  }
  tell(what && say(what));
}

element('here').addEventListener('click', () => location.reload());

// ended takes the page of the game once it is over; what has happened is shown before.
function ended(page) {
  over = page;
  if (!playing) end();
}

// end marks what has decided the game, and a moment later puts the card with the result beside the table, or below it.
async function end() {
  const page = new DOMParser().parseFromString(over, 'text/html');
  const card = page.querySelector('.over');
  if (!card || view === null) {
    location.reload();
    return;
  }
  element('resign').remove();
  document.querySelector('[data-opens="resign"]')?.remove();
  endTurn();
  instead = card.querySelector('h2').textContent;
  if (trick) look(trick);
  else draw();
  document.title = page.title;
  sound('end');
  await pause(pauses.end);
  document.querySelector('.side').prepend(document.adoptNode(card));
  socket.again(board.closest('[data-topic]').dataset.topic); // for a rematch that was offered meanwhile
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: 'nearest' });
}

for (const button of document.querySelectorAll('[data-opens]')) button.addEventListener('click', () => element(button.dataset.opens).showModal());
for (const button of document.querySelectorAll('[data-closes]')) button.addEventListener('click', () => button.closest('dialog').close());

new MutationObserver(() => {
  const now = tagsIn(document), clocks = [...clocksIn(document).keys()].join();
  if (over !== null || String([...now]) === String([...tags]) && clocks === clocked) return;
  [tags, clocked] = [now, clocks];
  if (document.querySelector(`.side [data-seat="${me}"][data-out]`)) forfeit();
  draw();
}).observe(document.querySelector('.side'), { childList: true, subtree: true });
setInterval(tick, 250);
let width = 0;
new ResizeObserver(() => {
  if (Math.abs(board.clientWidth - width) < 1) return;
  width = board.clientWidth;
  draw();
}).observe(board);
const stream = new Stream(table.socket, { read, shown: play, told, ended });
