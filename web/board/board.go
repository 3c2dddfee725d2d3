// Package board draws games in a browser and exports replays: as a page that plays a game back (Recording),
// and as a table for training with a row for each move (Rows). PublicFrames has what may be seen of a game in
// progress.
//
// The drawing is done by embedded JavaScript modules and style sheets. Their input is what a seat may know,
// as in the view lines of SPEC.md, so they can draw both replays and games in progress.
//
// Each of these modules knows only those before it:
//
//   - scene.js: drawGame(display, view, scene) returns an element that shows one position: the table of a
//     card game (table.js, pack.js), a board (squares.js), or the keys of any other game. It handles no
//     input. sceneOf(game, frame, seat, over) makes a scene from a frame of a replay or of a game that is
//     watched.
//   - choices.js: drawPosition(element, position, options) draws a position of a game in progress into an
//     element, and offers the legal moves: cards of the hand, squares of a board, and buttons for bids,
//     declarations and all other words. A move is chosen by click, touch or keyboard (tab and arrows, enter
//     or space, escape), and passed to options.onMove once.
//   - follow.js: follow(display, view, event, seat) returns the view after an event, to show what has
//     happened between two turns.
//   - replay.js: startPlayer(element, game) plays a replay back, with controls, lists and a chart.
//
// A page needs tokens.css (colors, type and space), board.css (cards) and table.css (tables, boards and the
// choice of moves). The player also needs player.css.
//
// For drawPosition a server sends the game's rules.Display, the names of the seats, the View of one seat and
// the Turn of the rules.State. To that seat alone, and only when it is to move, the server also sends the
// Legal moves as MoveText writes them. A page passes all of this on unchanged:
//
//	drawPosition(element, { display, names, view: 'hand=5c,7b trump=3b ...', turn: 0, last: { seat: 1, move: '1o' } },
//		{ seat: 0, legal: ['5c', '7b', 'swap:7b'], onMove: (move) => send(move) });
//
// The modules take texts for people from package messages, below the key [board]. A page has these texts as
// JSON in an element with the ID texts: an object from language to texts. If there are several languages,
// text.js chooses the one that the browser prefers.
//
// Squares have numbers in views and moves, and names (a1) in all texts. A board is turned so that the
// viewer's own corners are at the bottom.
//
// The server must omit what a seat may not know. For spectators it sends the view of a seat with each card of
// the key hand as "?".
package board

import "embed"

// Files has the JavaScript modules and style sheets that draw games, for servers and for pages with
// everything in one file.
//
//go:embed *.js *.css
var Files embed.FS
