// A table that waits for people: the page is loaded again once all have come, or nobody waits any more.

import '../layout/copy.js';
import '../layout/deck.js';
import '../layout/parts.js';

const seats = document.querySelector('[data-topic]');
new MutationObserver(() => { if (seats.querySelector('[data-begun]')) location.reload(); }).observe(seats, { childList: true, subtree: true });
