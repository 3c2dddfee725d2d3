// Draws the cards in the rules of a game.

const drawCards = async (cards) => {
  const [{ card, ratio }, { svg }] = await Promise.all([import('../board/pack.js'), import('../board/dom.js')]);
  const width = 46;
  for (const place of cards) {
    place.replaceChildren(svg('svg', { width, height: width * ratio }, card(place.dataset.card, 0, 0, width)));
  }
};

const cards = document.querySelectorAll('.rules b[data-card]');
if (cards.length > 0) drawCards(cards); // not awaited at the top, where the modules that import this one would wait, too
