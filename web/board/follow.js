// What an event changes in a view, so that the moves between two turns can be shown one after the
// other. SPEC.md, "Games", has the events and the keys.

import { list, parseCard, suits } from './text.js';

// follow returns the view of a seat, as parseView reads it, after an event that the seat has seen.
// It changes what is drawn; the next view line has the rest.
export function follow(display, view, event, me) {
  const [verb, ...words] = event.split(' ');
  if (display.board) return verb === 'play' ? moved(display.board, view, Number(words[0]), words[1]) : view;
  return display.cards && changes[verb] ? { ...view, ...changes[verb](display.cards, view, words, me) } : view;
}

// moved is the view of a board after a move of a seat: 19-14, or 12 for a piece that is placed.
function moved(board, view, seat, move) {
  const [from, to = from] = move.split('-').map(Number);
  const pieces = [...view[board.pieces]];
  pieces[from] = '.';
  pieces[to] = board.sides[seat];
  return { ...view, [board.pieces]: pieces.join('') };
}

// changes gives, for each event of the card games, the keys of a view that it changes.
const changes = {
  deal: ({ hand }, view, [cards]) => ({ [hand]: join(inOrder(list(cards))) }),
  trump: (_, view, words) => ({ trump: words.at(-1) }),
  play: ({ hand, trick }, view, [seat, card], me) => ({
    [trick]: join([...list(view[trick]), card]),
    ...(list(view[trick]).length === 0 ? { leader: seat } : {}),
    ...(Number(seat) === me ? { [hand]: join(list(view[hand]).filter((c) => c !== card)) } : {}),
    ...drop(view, Number(seat), card),
  }),
  trick: ({ trick }, view, [seat, points = '0']) => ({
    [trick]: '-', leader: seat, ...add(view, 'points', seat, points), ...add(view, 'tricks', seat, 1),
    ...(view.declared ? { declared: view.declared.replaceAll(/[^,]+/g, '-') } : {}),
  }),
  draw: ({ hand }, view, [seat, card], me) => ({
    stock: String(Number(view.stock) - 1),
    ...(Number(seat) === me ? { [hand]: join(inOrder([...list(view[hand]), card])) } : {}),
  }),
  swap: ({ hand }, view, [seat, card], me) => ({
    trump: card,
    ...(Number(seat) === me ? { [hand]: join(inOrder([...list(view[hand]).filter((c) => c !== card), view.trump])) } : {}),
  }),
  sing: (_, view, [seat, suit]) => put(view, 'declared', seat, suit),
  song: (_, view, [seat, points]) => add(view, 'points', seat, points),
  bid: (_, view, [seat, bid]) => put(view, 'bids', seat, bid),
  score: (_, view, points) => ({ points: points.join(',') }),
  round: ({ hand, trick }, view, [round, ...pairs]) => {
    const { cards, dealer } = Object.fromEntries(pairs.map((pair) => pair.split('=')));
    const seats = view.bids.split(',').length;
    return {
      round, cards, dealer, leader: String((Number(dealer) + 1) % seats), [hand]: '-', [trick]: '-',
      bids: Array(seats).fill('-').join(','), tricks: Array(seats).fill('0').join(','),
    };
  },
};

const join = (cards) => cards.join(',') || '-';

// inOrder sorts cards as a view has them: by suit, and by rank.
function inOrder(cards) {
  const place = (text) => {
    const card = parseCard(text);
    return suits.indexOf(card.suit) * 12 + card.rank;
  };
  return cards.toSorted((a, b) => place(a) - place(b));
}

// put sets the value of a seat in a list by seat, if the view has it.
function put(view, key, seat, value) {
  return view[key] === undefined ? {} : { [key]: view[key].split(',').with(Number(seat), String(value)).join(',') };
}

// add adds to the number of a seat.
function add(view, key, seat, more) {
  return view[key] === undefined ? {} : put(view, key, seat, Number(view[key].split(',')[Number(seat)]) + Number(more));
}

// drop takes a card that has been played from those that all know to be in a hand.
function drop(view, seat, card) {
  if (view.known === undefined) return {};
  const known = view.known.split('/');
  return { known: known.with(seat, join(list(known[seat]).filter((c) => c !== card))).join('/') };
}
