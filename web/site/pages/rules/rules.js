// The rules of a game, with pictures of the cards.

import '../layout/deck.js';
