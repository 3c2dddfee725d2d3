// Events of SPEC.md in words.

import { cardName, list, suitName } from './view.js';
import { say } from './words.js';

const cards = (text) => list(text).map(cardName).join(', ');

// moveName is a move in words, for any game.
export function moveName(move) {
  const [verb, rest] = move.split(':');
  if (rest === undefined) return cardName(move);
  switch (verb) {
    case 'swap': return say('move.swap', { card: cardName(rest) });
    case 'sing': return say('move.sing', { suit: suitName(rest) });
    case 'bid': return say('move.bid', { bid: rest });
  }
  return `${verb} ${rest}`;
}

// tell says what each event of a seat tells, from its words.
const tell = {
  deal: (who, [hand]) => say('event.deal', { who, cards: cards(hand) }),
  play: (who, [move]) => say('event.play', { who, card: cardName(move) }),
  swap: (who, [card]) => say('event.swap', { who, card: cardName(card) }),
  draw: (who, [card]) => say('event.draw', { who, card: cardName(card) }),
  trick: (who, [count]) => (count === undefined ? say('event.trick', { who }) : say('event.trick-points', { who, count })),
  sing: (who, [suit, points]) => say('event.sing', { who, suit: suitName(suit), points }),
  song: (who, [points]) => say('event.song', { who, points }),
  instant: (who, [kind]) => (['tute', 'blackhand', 'hunt3'].includes(kind) ? say(`event.${kind}`, { who }) : say('event.instant', { who, kind })),
  bid: (who, [bid]) => say('event.bid', { who, bid }),
  capture: (who, [square]) => say('event.capture', { who, square }),
  extra: (who) => say('event.extra', { who }),
};

// roundText is the event of a round, whose words are its number and pairs.
function roundText([round, ...pairs], who) {
  const rest = pairs.map((pair) => pair.replace(/^cards=(\d+)$/, (_, count) => say('event.each', { count }))
    .replace(/^dealer=(\d+)$/, (_, seat) => say('event.dealer', { who: who(Number(seat)) })));
  return say('event.round', { round, rest: rest.join(', ') });
}

// eventText is an event in words; who names a seat. An unknown event is returned unchanged.
export function eventText(event, who) {
  const to = / \(seat (\d+)\)$/.exec(event);
  const [verb, ...words] = (to ? event.slice(0, to.index) : event).split(' ');
  switch (verb) {
    case 'deal': return to ? tell.deal(who(Number(to[1])), words) : say('event.hand', { cards: cards(words[0]) });
    case 'trump': return words.length === 2 ? say('event.turned', { card: cardName(words[1]), suit: suitName(words[0]) }) : say('event.trump', { card: cardName(words[0]) });
    case 'round': return roundText(words, who);
    case 'opening': return words[0] === '0' ? say('event.bare') : say('event.opening', { count: words[0] });
    case 'score': return say('event.score', { points: words.map((p, seat) => `${who(seat)} ${p}`).join(', ') });
  }
  return Object.hasOwn(tell, verb) && /^\d+$/.test(words[0]) ? tell[verb](who(Number(words[0])), words.slice(1)) : event;
}
