// A match or a game of people in progress: the positions that come are shown one after the other.

import { html } from '../board/dom.js';
import { drawGame, expand, namesOf, sceneOf, sizeOf } from '../board/scene.js';
import { say } from '../board/text.js';

const still = matchMedia('(prefers-reduced-motion: reduce)');
const longest = 600, shortest = 50; // milliseconds between two positions
const catchUp = 1800; // in which all that have come are shown

const names = JSON.parse(document.getElementById('names').textContent);

// nameOf is what people call a bot, or a guest.
export const nameOf = (bot) => names[bot] ?? names[bot.replace(/#\d+$/, '')] ?? bot;

// namesAt are what people call those at a table; several with one name have numbers.
function namesAt(bots) {
  const all = bots.map(nameOf);
  return all.map((name, seat) => {
    if (all.indexOf(name) === all.lastIndexOf(name)) return name;
    const number = all.slice(0, seat + 1).filter((other) => other === name).length;
    return name === names.guest ? names['guest#'].replace('#', number) : `${name} ${number}`;
  });
}

// versus says who plays, partners together; of more than two sides it is a list.
export function versus({ bots, sides }) {
  const teams = new Map();
  namesAt(bots).forEach((name, seat) => {
    const side = sides?.[seat] ?? seat;
    teams.set(side, [...(teams.get(side) ?? []), name]);
  });
  return [...teams.values()].map((team) => team.join(' + ')).join(teams.size > 2 ? ' · ' : ` ${say('versus')} `);
}

export class Board {
  // stage is where it is drawn, small if it is one of several. shown is called after each drawing, ended with the state of the
  // match once it is over.
  constructor(socket, topic, stage, { small = false, shown = () => {}, ended = () => {} } = {}) {
    Object.assign(this, { topic, stage, small, shown, ended, game: null, at: '', ply: -1, looking: null, timer: null, tags: new Map() });
    this.watcher = new ResizeObserver(() => this.draw(false)); // which is disconnected where the stage stays
    this.watcher.observe(stage);
    socket.watch(this.topic, (doc) => this.heard(doc, socket), () => (this.game ? { game: this.at, ply: this.end() } : {}));
  }

  // end is the ply of the last position that has come.
  end() { return this.game.base + this.game.frames.length - 1; }

  heard(doc, socket) {
    if (doc.over !== undefined) {
      this.over = doc.over;
      this.step(); // ended comes when all has been shown
      return;
    }
    if (doc.head) this.begin(doc);
    else if (this.game && doc.at === this.at && doc.ply === this.end() + 1) this.add(doc);
    else if (doc.ply > 0 && (doc.frames.length > 0 || doc.at !== this.at)) { // something is missing
      this.game = null;
      socket.again(this.topic);
      return;
    }
    Object.assign(this, { left: doc.left, since: doc.since });
    this.game.faults = doc.faults;
    if (doc.result) this.finish(doc.result);
    this.frames = expand(this.game);
    this.step();
  }

  begin(doc) {
    const another = this.at !== '' && this.at !== doc.at && doc.ply === 0;
    const { head, ...rest } = doc;
    namesAt(head.seats.map((seat) => seat.name)).forEach((name, seat) => { head.seats[seat].name = name; });
    this.names = namesOf(head);
    this.game = { ...head, base: doc.ply, frames: rest.frames, moves: rest.moves, faults: rest.faults, over: false, differences: [] };
    this.at = doc.at;
    this.looking = null;
    // A game that begins is shown from its deal; one that was found in progress as it is.
    this.ply = another && !still.matches ? 0 : this.end();
    this.fresh = true;
  }

  add(doc) {
    this.game.frames.push(...doc.frames);
    this.game.moves.push(...doc.moves);
  }

  finish({ ranks, points, over }) {
    this.game.seats.forEach((s, seat) => Object.assign(s, { rank: ranks[seat], points: points[seat] }));
    Object.assign(this.game, { finished: true, over });
  }

  // step shows the next position, and goes on until the last one is shown.
  step() {
    if (this.timer !== null || !this.game) {
      if (!this.game && this.over !== undefined) this.ended(this.over);
      return;
    }
    const behind = this.end() - this.ply;
    if (this.fresh || behind === 0) this.draw(false);
    this.fresh = false;
    if (behind === 0) {
      if (this.over !== undefined) this.ended(this.over);
      return;
    }
    if (still.matches) this.ply = this.end();
    else this.ply += 1;
    this.draw(true);
    this.timer = setTimeout(() => { this.timer = null; this.step(); }, Math.max(shortest, Math.min(longest, catchUp / behind)));
  }

  // look shows an earlier position; null what is going on.
  look(ply) {
    this.looking = ply;
    this.draw(false);
  }

  // index is that of the position shown, in frames.
  index() { return Math.max(0, Math.min(this.looking ?? this.ply, this.end()) - this.game.base); }

  last() { return this.game.finished && this.index() === this.game.frames.length - 1; }

  draw(moving) {
    if (!this.game || this.stage.clientWidth === 0) return;
    const { game } = this, frame = this.frames[this.index()], over = this.last();
    this.stage.replaceChildren(drawGame(game.display, frame.views[0], {
      ...sceneOf(game, frame, 0, over), ...sizeOf(this.stage, game.display, this.small), moving, tags: this.tags,
    }));
    Object.assign(this.stage.dataset, { ply: this.looking ?? this.ply, game: this.at, over: over ? 'yes' : 'no' });
    this.shown(this);
  }
}

// place says which game of a match it is, counted as in replays; nothing of a game of people.
export function place({ match: { id, deal, rotation }, deals }) {
  return id === 0 ? '' : say('place', { deal, rotation, deals });
}

// status is the line that says whether the page is connected.
export function status(element) {
  return (on) => {
    element.dataset.on = on ? 'yes' : 'no';
    element.replaceChildren(html('span', { class: 'lamp', 'aria-hidden': 'true' }), on ? say('connected') : say('away'));
  };
}
