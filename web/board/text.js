// Texts for people, in the language of the page, and the words of the protocol: views, lists, cards,
// moves and events. The texts are those of Go's package messages below [board]; SPEC.md, "Games",
// says which keys a view has.

// A page brings its texts in an element with the id texts: JSON from language to texts by key.
const brought = document.getElementById('texts');
const all = brought ? JSON.parse(brought.textContent) : {};
let texts, plurals;

// languages are those of the texts, and language is the one that is spoken: at first that which the
// reader's browser prefers, else the first.
export const languages = Object.keys(all);
export let language;

// speak chooses a language for all that is drawn from now on.
export function speak(tag) {
  [language, texts, plurals] = [tag, all[tag] ?? {}, new Intl.PluralRules(tag)];
}

const preferred = navigator.languages.map((tag) => tag.split('-')[0].toLowerCase());
speak(preferred.find((tag) => languages.includes(tag)) ?? languages[0] ?? 'en');

// say is a text with its values, by the names of their places. count chooses the plural. The
// text of a key that does not exist is the key: a test keeps the messages complete.
export function say(key, values = {}) {
  const found = said(key) ? texts[key] : key;
  const text = typeof found === 'string' ? found : found[plurals.select(Number(values.count))] ?? found.other;
  return text.replace(/\{(\w+)\}/g, (place, name) => (Object.hasOwn(values, name) ? String(values[name]) : place));
}

// said reports whether there is a text.
export function said(key) { return Object.hasOwn(texts, key); }

// minutes returns whole seconds as a clock shows them: 4:05.
export const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;

// suits are the letters of the suits.
export const suits = ['o', 'c', 'e', 'b'];

// french reports whether the reader has chosen the French pack: oros are diamonds, copas hearts,
// espadas spades and bastos clubs.
export const french = document.documentElement.dataset.deck === 'french';
const pack = french ? 'french.' : '';

// suitName is a suit in words.
export function suitName(letter) {
  return suits.includes(letter) ? say(`${pack}suit.${letter}`) : letter;
}

// parseCard parses 12c; it returns null if the text is not a card.
export function parseCard(text) {
  const found = /^([1-9]|1[0-2])([oceb])$/.exec(text);
  return found && { rank: Number(found[1]), suit: found[2] };
}

// cardName is a card in words.
export function cardName(text) {
  const card = parseCard(text);
  if (!card) return text === '?' ? say('card.down') : text;
  const { rank } = card, name = `${pack}rank.${rank}`, suit = say(`${pack}of.${card.suit}`);
  return said(name) ? say(`${pack}card.figure`, { rank, name: say(name), suit }) : say('card', { rank, suit });
}

// theCard is a card in words with its article, which depends on the rank in some languages.
export function theCard(text) {
  const parsed = parseCard(text), card = cardName(text);
  const the = parsed && `${pack}the.${parsed.rank}`;
  return parsed ? say(said(the) ? the : 'the.any', { card }) : card;
}

// list reads a list joined by commas, - being none.
export function list(text) {
  return text === undefined || text === '-' || text === '' ? [] : text.split(',');
}

// bySeat reads lists joined by slashes.
export function bySeat(text) {
  return text === undefined ? [] : text.split('/').map(list);
}

// numbers reads numbers joined by commas, - being null.
export function numbers(text) {
  return text === undefined ? [] : text.split(',').map((n) => (n === '-' ? null : Number(n)));
}

// parseView reads a view line, without its verb, into an object from key to value.
export function parseView(text) {
  const view = {};
  for (const token of text.split(' ')) {
    const at = token.indexOf('=');
    if (at > 0) view[token.slice(0, at)] = token.slice(at + 1);
  }
  return view;
}

// viewText is the line again, with the keys in the order given.
export function viewText(view, keys = Object.keys(view)) {
  return keys.filter((key) => key in view).map((key) => `${key}=${view[key]}`).join(' ');
}

// named is a view of a card game with its cards as `hand` and `trick`, whatever the
// game calls them, and `leader`, the seat that began the trick. It leaves the views
// of other games as they are.
export function named(display, view, turn, seats) {
  if (!display.cards) return view;
  const hand = view[display.cards.hand], trick = view[display.cards.trick];
  const leader = view.leader ?? String((Math.max(0, turn) + seats - list(trick).length % seats) % seats);
  return { ...view, ...(hand === undefined ? {} : { hand }), trick, leader };
}

// openView is the view of somebody who sees all hands: that of seat 0, with
// `hands` by seat in the place of `hand`, and nobody being `me`.
export function openView(views) {
  const { hand, me, ...open } = views[0];
  if (hand !== undefined) open.hands = views.map((view) => view.hand).join('/');
  return open;
}

// held is the number of cards of each seat, which no view contains: all had the same
// number before this trick, and those who have played to it have one less.
export function held(view, seats, seat) {
  if (view.hands !== undefined) return bySeat(view.hands).map((hand) => hand.length);
  const trick = list(view.trick).length;
  const played = (s) => (s - Number(view.leader) + seats) % seats < trick;
  const before = list(view.hand).length + (played(seat) ? 1 : 0);
  return Array.from({ length: seats }, (_, s) => before - (played(s) ? 1 : 0));
}

// trickSeats pairs the cards of a trick with the seats that played them.
export function trickSeats(leader, cards, seats) {
  return cards.map((card, i) => ({ card, seat: (leader + i) % seats }));
}

const cards = (text) => list(text).map(cardName).join(', ');

// squareName is a square as players call it on a board with so many columns: a1 is the lower left
// one. A square that is no number of one is returned unchanged.
export function squareName(square, columns) {
  const n = Number(square);
  if (!columns || !Number.isInteger(n)) return String(square);
  return `${String.fromCharCode(97 + (n % columns))}${columns - Math.floor(n / columns)}`;
}

// moveName is a move in words, for any game; columns are those of a board.
export function moveName(move, columns = 0) {
  const [verb, rest] = move.split(':');
  if (rest === undefined) return columns ? move.split('-').map((square) => squareName(square, columns)).join('-') : cardName(move);
  switch (verb) {
    case 'swap': return say('move.swap', { card: cardName(rest) });
    case 'sing': return say('move.sing', { suit: suitName(rest) });
    case 'bid': return say('move.bid', { bid: rest });
  }
  return `${verb} ${rest}`;
}

// optionName is what the value of an option of a game means, in a few words.
export function optionName(name, value) {
  if (said(`option.${name}.${value}`)) return say(`option.${name}.${value}`);
  return said(`option.${name}`) ? say(`option.${name}`, { value }) : `${name} ${value}`;
}

// tell gives the key of what each event of a seat tells, and the values of its places, from its words.
const tell = {
  deal: ([hand]) => ['deal', { cards: cards(hand) }],
  play: ([move], columns) => ['play', { card: parseCard(move) ? theCard(move) : moveName(move, columns) }],
  swap: ([card]) => ['swap', { card: cardName(card) }],
  draw: ([card]) => ['draw', { card: theCard(card) }],
  trick: ([count]) => (count === undefined ? ['trick', {}] : ['trick-points', { count }]),
  sing: ([suit, points]) => ['sing', { suit: suitName(suit), points }],
  song: ([points]) => ['song', { points }],
  instant: ([kind]) => (['tute', 'blackhand', 'hunt3'].includes(kind) ? [kind, {}] : ['instant', { kind }]),
  bid: ([bid]) => ['bid', { bid }],
  capture: ([square], columns) => ['capture', { square: squareName(square, columns) }],
  extra: () => ['extra', {}],
};

// told is what an event of a seat tells, in the second person where the seat is the reader's.
function told(seat, { who, me }, [key, values]) {
  return seat === me ? say(`you.${key}`, values) : say(`event.${key}`, { who: who(seat), ...values });
}

// roundText is the event of a round, whose words are its number and pairs.
function roundText([round, ...pairs], { who, me }) {
  const rest = pairs.map((pair) => pair.replace(/^cards=(\d+)$/, (_, count) => say('event.each', { count }))
    .replace(/^dealer=(\d+)$/, (_, seat) => (Number(seat) === me ? say('you.dealer') : say('event.dealer', { who: who(Number(seat)) }))));
  return say('event.round', { round, rest: rest.join(', ') });
}

// eventText is an event in words; an unknown one is returned unchanged. reader has
//   who       names a seat
//   me        the seat that is spoken to, if there is one
//   columns   of a board
export function eventText(event, reader) {
  const { who } = reader;
  const to = / \(seat (\d+)\)$/.exec(event);
  const [verb, ...words] = (to ? event.slice(0, to.index) : event).split(' ');
  switch (verb) {
    case 'deal': return to ? told(Number(to[1]), reader, tell.deal(words)) : say(reader.me === undefined ? 'event.hand' : 'you.hand', { cards: cards(words[0]) });
    case 'trump': return words.length === 2 ? say('event.turned', { card: theCard(words[1]), suit: suitName(words[0]) }) : say('event.trump', { card: theCard(words[0]) });
    case 'round': return roundText(words, reader);
    case 'opening': return words[0] === '0' ? say('event.bare') : say('event.opening', { count: words[0] });
    case 'score': return say('event.score', { points: words.map((p, seat) => `${who(seat)} ${p}`).join(', ') });
  }
  return Object.hasOwn(tell, verb) && /^\d+$/.test(words[0]) ? told(Number(words[0]), reader, tell[verb](words.slice(1), reader.columns)) : event;
}
