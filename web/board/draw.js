// One way to draw every game: from a view of SPEC.md and a scene.

import { html } from './dom.js';
import { drawTeeko, drawTebes } from './squares.js';
import { drawTable } from './table.js';

const games = { brisca: drawTable, tute: drawTable, podrida: drawTable, tebes: drawTebes, teeko: drawTeeko };

// drawGame makes an element of a view. table.js says what a scene is. A game
// that has no drawing is shown as its keys and values.
export function drawGame(game, view, scene) {
  const draw = Object.hasOwn(games, game) ? games[game] : null;
  if (draw) return draw(view, scene);
  return html('dl', { class: 'plainview' },
    Object.entries(view).map(([key, value]) => [html('dt', {}, key), html('dd', {}, value)]));
}

// wide tells whether a game's drawing uses all the width that there is.
export function wide(game) { return games[game] === drawTable; }
