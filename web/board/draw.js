// One way to draw every game: from how it is shown (Go's rules.Display), a view of
// SPEC.md and a scene.

import { html } from './dom.js';
import { drawBoard } from './squares.js';
import { drawTable } from './table.js';
import { named } from './text.js';

// drawGame makes an element of a view. table.js says what a scene is. A game
// without a table or a board is shown as its keys and values.
export function drawGame(display, view, scene) {
  if (display.cards) return drawTable(named(display, view, scene.turn, scene.names.length), scene);
  if (display.board) return drawBoard(display.board, view, scene);
  return html('dl', { class: 'plainview' },
    Object.entries(view).map(([key, value]) => [html('dt', {}, key), html('dd', {}, value)]));
}

// wide reports whether a game's drawing uses the whole width.
export function wide(display) { return Boolean(display.cards); }
