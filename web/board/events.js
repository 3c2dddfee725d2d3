// Events of SPEC.md in words.

import { cardName, list, suits } from './view.js';

const instants = {
  tute: 'has all four 12s or all four 11s, and wins at once',
  blackhand: 'has 1, 3 and 12 of trumps, and wins at once',
  hunt3: 'has caught the 3 of trumps, and wins at once',
};

const cards = (text) => list(text).map(cardName).join(', ');
const suitName = (letter) => suits[letter]?.name ?? letter;
const plural = (n, word) => `${n} ${word}${Number(n) === 1 ? '' : 's'}`;

// moveName is a move in words, for any game.
export function moveName(move) {
  const [verb, rest] = move.split(':');
  if (rest === undefined) return cardName(move);
  if (verb === 'swap') return `swap the trump card for the ${cardName(rest)}`;
  if (verb === 'sing') return `sing ${suitName(rest)}`;
  return `${verb} ${rest}`;
}

const tell = {
  deal: (who, [hand]) => `${who} has ${cards(hand)}`,
  play: (who, [move]) => `${who} plays ${cardName(move)}`,
  swap: (who, [card]) => `${who} lays the ${cardName(card)} down and takes the trump card`,
  draw: (who, [card]) => `${who} draws ${cardName(card)}`,
  trick: (who, [points]) => `${who} takes the trick${points === undefined ? '' : `, ${plural(points, 'point')}`}`,
  sing: (who, [suit, points]) => `${who} sings ${suitName(suit)} for ${points}`,
  song: (who, [points]) => `${who} scores the song, ${points}`,
  instant: (who, [kind]) => `${who} ${instants[kind] ?? `wins at once by ${kind}`}`,
  bid: (who, [n]) => `${who} bids ${n}`,
  capture: (who, [square]) => `${who} captures on ${square}`,
  extra: (who) => `${who} reaches a corner and moves once more`,
};

// eventText is an event in words; who names a seat. An unknown event is returned unchanged.
export function eventText(event, who) {
  const to = / \(seat (\d+)\)$/.exec(event);
  const [verb, ...words] = (to ? event.slice(0, to.index) : event).split(' ');
  switch (verb) {
    case 'deal': return tell.deal(to ? who(Number(to[1])) : 'The hand', words);
    case 'trump': return words.length === 2 ? `${cardName(words[1])} is turned up: ${suitName(words[0])} are trumps` : `The trump card is ${cardName(words[0])}`;
    case 'round': return `Round ${words[0]}: ${words.slice(1).join(', ').replace(/cards=(\d+)/, (_, n) => `${plural(n, 'card')} each`).replace(/dealer=(\d+)/, (_, s) => `${who(Number(s))} deals`)}`;
    case 'opening': return words[0] === '0' ? 'The game begins without an opening' : `The game begins after ${words[0]} random ${words[0] === '1' ? 'ply' : 'plies'}`;
    case 'score': return `The round is over: ${words.map((p, seat) => `${who(seat)} ${p}`).join(', ')}`;
  }
  return Object.hasOwn(tell, verb) && /^\d+$/.test(words[0]) ? tell[verb](who(Number(words[0])), words.slice(1)) : event;
}
