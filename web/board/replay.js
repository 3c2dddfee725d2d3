// The player of a replay: controls around a drawing, the lists beside it and a chart. It knows
// replays; the drawing does not.

import { drawChart } from './chart.js';
import { clip, html, svg } from './dom.js';
import { label, pip } from './pack.js';
import { drawGame, eventsOf, expand, namesOf, sceneOf, viewOf } from './scene.js';
import { columnsOf } from './squares.js';
import { eventText, language, languages, list, moveName, optionName, parseCard, say, speak, viewText } from './text.js';

const speeds = [0.5, 1, 2, 4, 8];
const beat = 900; // milliseconds a move at speed 1

// startPlayer fills an element with the player of a game, the JSON of Go's board.Game.
// options, all optional:
//   part        whether the element is a part of a page that has its own title, heading and
//               language; else the player is the page
//   address     where the address of the page has the position: 'hash' (the default), as in
//               #ply=12&seat=1, or 'query', as in ?ply=12&seat=1
//   last        whether it begins with the last position where the address has none
//   bottom      the seat at the bottom while all is open; 0 if not given
//   me          the seat of the reader, if there is one
//   plain       whether it leaves out what only authors of bots read
export function startPlayer(root, game, options = {}) {
  const player = new Player(root, game, options);
  player.build();
  player.listen();
  player.fromAddress();
  player.show();
  return player;
}

class Player {
  constructor(root, game, { part = false, address = 'hash', last = false, bottom = 0, me, plain = false }) {
    Object.assign(this, { root, game, part, address, bottom, me, plain, frames: expand(game), lines: scores(game) });
    this.worst = worst(this.lines);
    this.end = this.frames.length - 1;
    this.most = Math.max(...this.frames.flatMap((frame) => frame.views.map((view) => list(view.hand).length)));
    this.start = last ? this.end : 0; // the position of an address without one
    this.ply = this.start;
    this.seat = null;
    this.speed = 1;
    this.timer = null;
    this.names = namesOf(game);
  }

  build() {
    const { game } = this;
    const title = game.display.title || game.game;
    if (!this.part) document.title = `${title}: ${game.seats.map((s) => s.name).join(' - ')}`;
    this.playButton = this.button('play');
    this.slider = html('input', { type: 'range', min: 0, max: this.end, value: 0, step: 1, class: 'slider', 'aria-label': say('player.position'), input: () => this.jump(Number(this.slider.value)) });
    this.speedBox = html('select', { class: 'speed', 'aria-label': say('player.speed'), change: () => { this.speed = Number(this.speedBox.value); this.reschedule(); } },
      speeds.map((s) => html('option', { value: s, selected: s === this.speed }, `${s}×`)));
    this.count = html('output', { class: 'count' });
    this.views = html('div', { class: `views${game.seats.length > 6 ? ' many' : ''}`, role: 'group', 'aria-label': say('player.views') },
      html('button', { type: 'button', 'data-view': 'open', title: say('player.open'), click: () => this.see(null) }, say(this.hidden() ? 'player.all' : 'player.both')),
      game.seats.map((s, seat) => html('button', { type: 'button', class: `seat${seat}`, 'data-view': seat, title: `${say('player.sees', { seat, name: s.name })}${seat < 10 ? ` (${seat})` : ''}`, click: () => this.see(seat) },
        html('span', { class: 'dot' }, String(seat)), html('span', { class: 'viewname' }, clip(s.name, game.seats.length > 4 ? 110 : 200)))));
    this.stage = html('div', { class: 'drawing' });
    this.now = html('p', { class: 'now', 'aria-live': 'polite' });
    this.events = html('ul', { class: 'events' });
    this.thoughts = html('div', { class: 'thoughts' });
    this.chart = html('div', { class: 'chartbox' });
    this.seats = html('div', { class: 'seats' });
    this.moves = html('div', { class: `moves${game.moves.length > 3000 ? ' long' : ''}`, role: 'group', 'aria-label': say('player.moves'), tabindex: -1 }, moveList(game, this.frames, this.names, (ply) => this.jump(ply), this.me));
    this.line = html('code', { class: 'viewline' });
    this.buttons = new Map([...this.moves.querySelectorAll('button.move')].map((b) => [Number(b.dataset.ply), b]));
    this.root.replaceChildren(
      html(this.part ? 'div' : 'header', { class: 'head' }, !this.part && html('h1', {}, title), about(game), this.languageBox()),
      html(this.part ? 'div' : 'main', { class: `layout ${game.display.cards ? 'cards' : 'board'}` },
        html('div', { class: 'left' },
          html('section', { class: 'stage', 'aria-label': say('player.game') }, this.views, this.stage, this.now),
          this.controls = html('div', { class: 'controls', role: 'group', 'aria-label': say('player.playback') },
            html('div', { class: 'buttons' },
              this.button('first'), this.button('back'), this.playButton, this.button('forward'), this.button('last'),
              game.faults.length > 0 && this.button('fault'), this.worst !== null && this.button('worst')),
            this.slider, this.count, this.speedBox),
          this.lines.some((l) => l.length) && panel(say('player.scores'), 'chartpanel', this.chart),
          !this.plain && html('details', { class: 'panel linepanel' }, html('summary', {}, say('player.viewline')), this.line)),
        html('div', { class: 'right' },
          panel(say('player.seats'), 'seatspanel', this.seats),
          panel(say('player.moves'), 'movespanel', this.moves),
          panel(say('player.events'), 'eventspanel', this.events),
          !this.plain && panel(say('player.thoughts'), 'thoughtspanel', this.thoughts))),
      html(this.part ? 'p' : 'footer', { class: 'foot' }, say(this.hidden() ? 'player.help' : 'player.help-board')));
    this.drawn = null;
  }

  button(action) {
    const label = say(`player.${action}`);
    return html('button', { type: 'button', class: 'control', 'aria-label': label, title: `${label} (${say(`player.key.${action}`)})`, 'data-do': action, click: () => this.act(action) },
      svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true', width: 22, height: 22 }, svg('path', { d: glyphs[action] })));
  }

  // languageBox offers the languages, if there are several to choose from.
  languageBox() {
    if (languages.length < 2 || this.part) return null;
    const box = html('select', { class: 'language', 'aria-label': say('player.language'), change: () => this.translate(box.value) },
      languages.map((tag) => html('option', { value: tag, lang: tag, selected: tag === language }, new Intl.DisplayNames([tag], { type: 'language' }).of(tag))));
    return box;
  }

  translate(tag) {
    speak(tag);
    document.documentElement.lang = tag;
    this.pause();
    this.build();
    this.watch();
    this.show();
    this.root.querySelector('.language').focus();
  }

  // hidden reports whether the seats of this game see different cards.
  hidden() { return this.game.own.includes(this.game.display.cards?.hand); }

  // listen lasts until the element leaves the page; see show.
  listen() {
    const { signal } = this.listening = new AbortController();
    document.addEventListener('keydown', (event) => this.key(event), { signal });
    // A button that was clicked must not take the keys that come next.
    this.root.addEventListener('click', (event) => { if (event.detail > 0) event.target.closest('button')?.blur(); });
    window.addEventListener(this.address === 'hash' ? 'hashchange' : 'popstate', (event) => {
      this.fromAddress(new URL(event.newURL ?? location.href));
      this.show();
    }, { signal });
    this.watch();
  }

  close() {
    this.pause();
    clearTimeout(this.addressing);
    this.listening.abort();
    this.watcher.disconnect();
  }

  // watch draws again when there is another width to draw in.
  watch() {
    let width = 0;
    this.watcher?.disconnect();
    this.watcher = new ResizeObserver(() => {
      if (Math.abs(this.stage.clientWidth - width) < 1) return;
      width = this.stage.clientWidth;
      this.show();
    });
    this.watcher.observe(this.stage);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const [target] = event.composedPath(); // also one in a shadow root, as the editor is
    const on = target instanceof Element ? target : document.body;
    if (on.isContentEditable || on.matches('select, textarea, input:not([type="range"])')) return;
    if (on.matches('input') && event.key.startsWith('Arrow')) return; // the slider's own
    if (event.key === ' ' && on.matches('button, summary')) return;
    const action = keys[event.key];
    if (action) {
      event.preventDefault();
      this.act(action);
    } else if (/^\d$/.test(event.key) && Number(event.key) < this.game.seats.length) {
      this.see(Number(event.key));
    } else if (event.key === 'o') {
      this.see(null);
    }
  }

  act(action) {
    switch (action) {
      case 'first': return this.jump(0);
      case 'last': return this.jump(this.end);
      case 'back': return this.jump(this.ply - 1);
      case 'forward': return this.jump(this.ply + 1);
      case 'fault': return this.jump(this.nextFault());
      case 'worst': return this.jump(this.worst ?? this.ply);
      case 'play': return this.timer === null ? this.play() : this.pause();
    }
  }

  // nextFault is the ply of the fault after this position, of the first one after the last, or
  // this ply if there is none.
  nextFault() {
    const plies = this.game.faults.map((f) => f.ply).sort((a, b) => a - b);
    return plies.find((ply) => ply > this.ply) ?? plies[0] ?? this.ply;
  }

  // jump goes to a ply and stops playback.
  jump(ply) {
    this.pause();
    this.go(ply);
  }

  go(ply) {
    const next = Math.max(0, Math.min(this.end, ply));
    const moving = next === this.ply + 1;
    this.ply = next;
    this.show(moving);
  }

  see(seat) {
    this.seat = seat;
    this.show();
  }

  play() {
    if (this.ply === this.end) this.go(0);
    this.schedule();
    this.showPlaying();
  }

  schedule() {
    const hold = this.frames[this.ply].trick ? 1.7 : 1; // time to see who took it
    this.timer = setTimeout(() => {
      this.go(this.ply + 1);
      if (this.ply === this.end) this.pause();
      else if (this.timer !== null) this.schedule();
    }, (beat * hold) / this.speed);
  }

  reschedule() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.schedule();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.showPlaying();
  }

  showPlaying() {
    const playing = this.timer !== null;
    this.root.dataset.playing = playing ? 'yes' : 'no';
    this.playButton.setAttribute('aria-label', say(playing ? 'player.pause' : 'player.play'));
    this.playButton.querySelector('path').setAttribute('d', playing ? glyphs.pause : glyphs.play);
  }

  // The address keeps the position and the view, so that both can be shared.
  fromAddress(url = location) {
    const wanted = new URLSearchParams(this.address === 'hash' ? url.hash.slice(1) : url.search);
    const ply = Number(wanted.get('ply') ?? this.start), seat = wanted.get('seat');
    if (Number.isInteger(ply)) this.ply = Math.max(0, Math.min(this.end, ply));
    this.seat = seat !== null && /^\d+$/.test(seat) && Number(seat) < this.game.seats.length ? Number(seat) : null;
  }

  // toAddress writes the position and the view to the address, not more often than browsers allow:
  // they refuse some hundred changes in half a minute. The last one counts.
  toAddress() {
    clearTimeout(this.addressing);
    const address = this.link();
    if (address === location.href) return;
    const change = () => {
      this.replaced = performance.now();
      history.replaceState(null, '', address);
    };
    const wait = (this.replaced ?? 0) + 350 - performance.now();
    if (wait <= 0) change();
    else this.addressing = setTimeout(change, wait);
  }

  // link is the address of the position and the view.
  link() {
    const url = new URL(location.href), hash = this.address === 'hash';
    const wanted = new URLSearchParams(hash ? url.hash.slice(1) : url.search);
    const set = (name, value) => (value === null ? wanted.delete(name) : wanted.set(name, value));
    set('ply', this.ply === this.start ? null : this.ply);
    set('seat', this.seat);
    url[hash ? 'hash' : 'search'] = wanted;
    return url.href;
  }

  show(moving = false) {
    if (!this.root.isConnected) return this.close();
    const { game, ply, seat } = this;
    const frame = this.frames[ply];
    Object.assign(this.root.dataset, { ply, view: seat ?? 'open', width: this.stage.clientWidth, playing: this.timer === null ? 'no' : 'yes' });
    this.toAddress();
    this.slider.value = ply;
    this.slider.setAttribute('aria-valuetext', say('player.at', { ply, end: this.end }));
    this.count.value = `${ply} / ${this.end}`;
    for (const b of this.views.children) b.setAttribute('aria-pressed', String(b.dataset.view === String(seat ?? 'open')));
    this.showPressed();
    const view = viewOf(frame, seat);
    const scene = sceneOf(game, frame, seat, ply === this.end);
    this.draw(view, { ...scene, bottom: this.bottom, hand: this.most, moving });
    this.now.replaceChildren(stateText(game, frame, this.names, ply === this.end, this.me));
    this.seats.replaceChildren(...seatList(game, frame, scene.out, ply === this.end));
    this.showEvents(frame);
    const made = ply > 0 ? game.moves[ply - 1] : null;
    this.thoughts.replaceChildren(thoughts(made, made && (seat === null || seat === made.seat), this.names));
    this.line.textContent = seat === null ? say('player.choose') : `view ${viewText(view, game.keys)}`;
    this.showChart();
    this.mark();
  }

  // showPressed keeps the chosen view in sight where the row of views is too long.
  showPressed() {
    const { views } = this;
    const b = views.querySelector('[aria-pressed="true"]');
    const from = b.offsetLeft - views.offsetLeft;
    if (from < views.scrollLeft || from + b.offsetWidth > views.scrollLeft + views.clientWidth) views.scrollLeft = from - views.clientWidth / 2;
  }

  draw(view, scene) {
    const { display } = this.game;
    const width = Math.max(280, Math.floor(this.stage.clientWidth || 800));
    const height = Math.min(this.room(), display.cards ? Math.max(620, width * 0.7) : width);
    this.stage.replaceChildren(drawGame(display, view, { ...scene, width, height }));
  }

  // room is the height that is left for the drawing so that the controls are seen below it.
  room() {
    const top = this.stage.getBoundingClientRect().top;
    let above = top + window.scrollY;
    if (above > window.innerHeight / 2) above = top - this.root.getBoundingClientRect().top; // what is above the player is read first
    const covered = parseFloat(getComputedStyle(document.documentElement).scrollPaddingBottom) || 0; // by a bar at the bottom of a telephone
    const below = this.now.offsetHeight + this.controls.offsetHeight + 30 + covered;
    return Math.max(340, window.innerHeight - above - below);
  }

  showEvents(frame) {
    const { game, seat, ply } = this;
    const faults = game.faults.filter((f) => f.ply === ply);
    const said = eventsOf(frame, seat);
    this.events.replaceChildren(
      ...said.map((event) => html('li', {}, html('span', {}, eventText(event, { who: (s) => this.names[s] ?? say('seat', { seat: s }), me: this.me, columns: columns(game, frame) })), !this.plain && html('code', {}, event))),
      ...faults.map((f) => html('li', { class: 'bad' },
        html('span', {}, faultText(f, this.names, this.me)),
        // The full text may reveal the bot's cards.
        seat === null || seat === f.seat ? html('span', { class: 'faulttext' }, f.text) : null)),
      ...(said.length + faults.length === 0 ? [html('li', { class: 'none' }, say('player.noevents'))] : []));
  }

  // showChart draws the chart when it is not yet there for this width and
  // view, and marks the position in it.
  showChart() {
    if (!this.chart.isConnected) return;
    const width = Math.max(260, Math.floor(this.chart.clientWidth || 600));
    if (this.drawn?.width !== width || this.drawn.seat !== this.seat) {
      const lines = this.lines.map((line, seat) => (this.seat === null || this.seat === seat ? line : []));
      const { element, mark } = drawChart(lines, { width, height: 150, plies: this.end, names: this.names, jump: (ply) => this.jump(ply) });
      this.drawn = { width, seat: this.seat, mark };
      const none = lines.every((line) => line.length === 0);
      if (none) this.chart.replaceChildren(html('p', { class: 'none' }, say('player.noscore', { name: this.names[this.seat] })));
      else this.chart.replaceChildren(element, html('ul', { class: 'legend' }, lines.flatMap((line, seat) =>
        (line.length ? [html('li', { class: `seat${seat}` }, html('span', { class: 'dot' }, String(seat)), this.game.seats[seat].name)] : []))));
    }
    this.drawn.mark(this.ply);
  }

  // mark shows which move was made last, and keeps it in sight in its list.
  mark() {
    this.marked?.removeAttribute('aria-current');
    this.marked = this.buttons.get(this.ply) ?? null;
    if (!this.marked) {
      this.moves.scrollTop = 0;
      return;
    }
    this.marked.setAttribute('aria-current', 'step');
    const top = this.marked.offsetTop, height = this.moves.clientHeight;
    if (top < this.moves.scrollTop + 30 || top > this.moves.scrollTop + height - 60) this.moves.scrollTop = top - height / 2;
  }
}

function panel(title, kind, ...content) {
  return html('section', { class: `panel ${kind}`, 'aria-label': title }, html('h2', {}, title), content);
}

const keys = {
  ArrowLeft: 'back', ArrowRight: 'forward', ' ': 'play', Home: 'first', End: 'last', f: 'fault', m: 'worst',
};

const glyphs = {
  play: 'M7 4l13 8-13 8z', pause: 'M6 4h4v16H6zM14 4h4v16h-4z',
  first: 'M5 4h3v16H5zM20 4v16L9 12z', last: 'M16 4h3v16h-3zM4 4l11 8-11 8z',
  fault: 'M12 2.5L23 21.5H1zM11 9v6h2V9zm0 8v2.4h2V17z', worst: 'M3 4h2.2l6 7.4 3.2-3.2 5 6.6V11H22v8h-8v-2.6h3.6l-3.4-4.4-3.2 3.2z',
  back: 'M17 4v16L5 12z', forward: 'M7 4l12 8-12 8z',
};

// The lists beside the drawing.

// about is the header of a replay: what was played, with which seed.
function about(game) {
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
    html('p', { class: 'options', tabindex: 0, role: 'group', 'aria-label': say('about.options') }, game.options.filter(([, value]) => value !== 'no').map(([name, value]) => html('span', {}, optionName(name, value)))),
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
function seatList(game, frame, out, end) {
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
          fault && html('span', { class: 'tagword bad' }, say('seats.fault', { code: say(`fault.${fault.code}`) }))),
        html('td', { class: 'number' }, String(pointsAt(frame, seat, game, end) ?? '')),
        html('td', { class: 'number' }, end ? String(s.rank) : ''));
    })));
}

// columns is how many a game's board has, 0 if it has none.
const columns = (game, frame) => columnsOf(game.display.board, frame.views[0]);

// moveLabel is a move in words.
function moveLabel(move, names, columns) {
  return say(move.standin ? 'moves.standin' : 'moves.made', { name: names[move.seat], move: moveName(move.move, columns) });
}

// faultText is who has lost by which fault; me is the seat of the reader.
const faultText = (fault, names, me) => say(fault.seat === me ? 'you.forfeits' : 'moves.forfeits', { name: names[fault.seat], code: say(`fault.${fault.code}`) });

// stateText is the state of a game in one line; over is whether it has ended with a frame, and me the seat of the reader.
export function stateText(game, frame, names, over, me) {
  if (!over) {
    const turn = frame.turn === me ? say('player.turn-you') : say('player.turn', { name: names[frame.turn] ?? '' });
    return `${frame.last ? `${moveLabel(frame.last, names, columns(game, frame))}. ` : ''}${turn}`;
  }
  const best = names.filter((_, seat) => game.seats[seat].rank === 1);
  const result = best.length === names.length ? say('player.drawn') : best.length === 1 && best[0] === names[me] ? say('player.wins-you') : say('player.wins', { names: best.join(say('player.and')), count: best.length });
  return game.adjudicated ? `${result} ${adjudicated(game, names)}` : result;
}

// adjudicated tells how the bots' scores ended a game.
function adjudicated({ adjudicated: { as, seats = [] } }, names) {
  return say(`player.adjudicated.${as}`, { names: seats.map((seat) => names[seat]).join(say('player.and')), count: seats.length });
}

// moveText is a move in its shortest form: a card has its emblem.
function moveText(move, columns) {
  if (columns) return [moveName(move, columns)];
  const found = /^(?:(swap|sing|bid):)?(.+)$/.exec(move);
  const [, verb, rest] = found ?? [null, null, move];
  const card = parseCard(rest);
  const emblem = (suit) => svg('svg', { class: 'emblem', viewBox: '0 0 16 16', width: 15, height: 15, 'aria-hidden': 'true' }, pip(suit, 8, 8, 16));
  const word = verb ? `${say(`verb.${verb}`)} ` : '';
  if (card) return [word + label(card.rank), emblem(card.suit)];
  if (verb === 'sing' && parseCard(`1${rest}`)) return [word, emblem(rest)];
  return [word + rest];
}

// moveList is all moves in lines: a trick a line, or a move of each seat, with
// the rounds and the faults between. jump is called with the ply after a move.
export function moveList(game, frames, names, jump, me) {
  const lines = [], across = columns(game, frames[0]);
  let line = null;
  const put = (element) => {
    if (!line) lines.push(line = html('p', { class: 'moveline' }));
    line.append(element);
  };
  const faults = (ply) => game.faults.filter((f) => f.ply === ply).forEach((f) => {
    lines.push(html('p', { class: 'faultline' }, html('button', { type: 'button', class: 'fault', 'data-fault': f.seat, click: () => jump(f.ply) },
      faultText(f, names, me))));
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
      type: 'button', class: `move seat${move.seat}${move.standin ? ' standin' : ''}`, 'data-ply': i + 1, click: () => jump(i + 1), title: moveLabel(move, names, across),
    }, html('span', { class: 'seen', 'aria-hidden': 'true' }, html('span', { class: 'dot' }, String(move.seat)), moveText(move.move, across), move.standin && html('span', { class: 'standinmark' }, '⟳')),
    html('span', { class: 'heard' }, say('moves.label', { ply: i + 1, move: moveLabel(move, names, across) }))));
    const next = frames[i + 1];
    if (next.trick) {
      const { winner, points } = next.trick;
      put(html('span', { class: `taken seat${winner}` }, '→ ', html('span', { class: 'dot' }, String(winner)), Number.isFinite(points) ? ` +${points}` : ''));
      line = null;
    }
    round(next);
  });
  faults(game.moves.length);
  if (game.adjudicated) lines.push(html('p', { class: 'endline' }, adjudicated(game, names)));
  return lines;
}

// thoughts shows what a bot wrote with its move; mayKnow is whether the viewer may read it.
function thoughts(move, mayKnow, names) {
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

// The scores that bots gave.

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
function worst(lines) {
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
function scores(game) {
  const lines = game.seats.map(() => []);
  game.moves.forEach((move, ply) => {
    const score = scoreOf(move);
    if (score !== null) lines[move.seat].push([ply, score]);
  });
  return lines;
}
