// The words of the protocol: views, lists, cards. SPEC.md, "Games", says which
// keys a view has.

import { said, say } from './words.js';

// suits are the letters of the suits.
export const suits = ['o', 'c', 'e', 'b'];

// suitName is a suit in words.
export function suitName(letter) {
  return suits.includes(letter) ? say(`suit.${letter}`) : letter;
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
  const { rank } = card, name = `rank.${rank}`;
  return said(name) ? say('card.figure', { rank, name: say(name), suit: suitName(card.suit) }) : say('card', { rank, suit: suitName(card.suit) });
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
