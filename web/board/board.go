// Package board draws games in a browser, and exports replays: as a page that plays the game back
// (Game), and as rows for training (Rows), one for each move. PublicFrames is what may be seen of a
// game in progress.
//
// What draws is embedded JavaScript modules and style sheets. Their input is what a seat may know,
// as in the view lines of SPEC.md, so that they can draw replays and games in progress.
//
// There are layers, each of which knows only those before it:
//
//   - scene.js: drawGame(display, view, scene) returns an element for one position: the table of a
//     card game (table.js, pack.js), a board (squares.js), or the keys of any other game. It listens
//     to nothing. sceneOf(game, frame, seat, over) makes a scene of a frame of a replay or of a game
//     that is watched.
//   - choices.js: drawPosition(element, position, options) draws a position of a game in progress
//     into an element, and offers the legal moves: cards of the hand, squares of a board, and
//     buttons for bids, declarations and all other words. A move is chosen by click, touch or
//     keyboard (tab and arrows, enter or space, escape), and handed to options.onMove once.
//   - follow.js: follow(display, view, event, seat) is a view after an event, to show what has happened
//     between two turns.
//   - replay.js: startPlayer(element, game) plays a replay back, with controls, lists and a chart.
//
// A page needs tokens.css (colours, type and space), board.css (cards) and table.css (tables, boards
// and moves to choose), and for the player player.css too.
//
// For drawPosition a server sends, and a page hands on unchanged, the game's rules.Display, the
// names of the seats, State.View of one seat, State.Turn, and, for that seat only and only when it
// is to move, State.Legal as State.MoveText writes it:
//
//	drawPosition(element, { display, names, view: 'hand=5c,7b trump=3b ...', turn: 0, last: { seat: 1, move: '1o' } },
//		{ seat: 0, legal: ['5c', '7b', 'swap:7b'], onMove: (move) => send(move) });
//
// Texts for people are those of package messages below [board], for all of these modules. text.js chooses the
// language: a page brings the texts as JSON in an element with the id texts, an object from
// language to texts, and of several languages the one that the browser prefers is spoken.
//
// Squares have numbers in views and moves, and names (a1) in all texts. A board is turned so that the
// viewer's own corners are at the bottom.
//
// What a seat must not know has to be left out by the server: for spectators it sends the view of
// a seat with each card of the hand key as "?".
package board

import "embed"

// Files contains the modules and style sheets, for servers and for bundles.
//
//go:embed *.js *.css
var Files embed.FS
