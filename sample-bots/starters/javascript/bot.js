#!/usr/bin/env node
// A complete timba bot: it plays all five games legally, with a hint of thought.
//
// The referee's lines come in on stdin, our answers go out on stdout, and a turn
// lists every legal move. So a bot only has to say how much it likes each of
// them: put your ideas into trickScore, podridaScore, tebesScore and teekoScore.
"use strict";
const readline = require("node:readline");

const NAME = "my-javascript-bot", VERSION = "1.0";

let game = {}; // the `game` line: name, seat, players, seed and the game's options
let view = {}; // the latest `view` line: all that we may know of the position
let ply = 0; // how many moves have been made in this game

/** A list of the view; an empty one is written "-". */
function items(key) {
  const text = view[key] ?? "-";
  return text === "-" ? [] : text.split(",");
}

// --- cards: "12c" is rank 12 of suit c ---------------------------------------

const rank = (card) => parseInt(card, 10);
const suit = (card) => card.at(-1);
const isTrump = (card) => suit(card) === view.trump.at(-1); // the view has the card that shows the trumps

// --- Brisca and Tute -----------------------------------------------------------

const WEAK_TO_STRONG = [2, 4, 5, 6, 7, 10, 11, 12, 3, 1];
const VALUES = { 1: 11, 3: 10, 12: 4, 11: 3, 10: 2 };

const power = (card) => WEAK_TO_STRONG.indexOf(rank(card));
const value = (card) => VALUES[rank(card)] ?? 0;

/** Does card, played later, take the trick from the card that wins it now? */
function beats(card, winner) {
  return suit(card) === suit(winner) ? power(card) > power(winner) : isTrump(card);
}

/** How sorry we are to play a card: for its points, its strength, and for any trump. */
function price(card) {
  return 10 * value(card) + power(card) + (isTrump(card) ? 100 : 0);
}

/** Take a trick that has points as cheaply as we can, else throw the cheapest card. */
function trickScore(card) {
  const trick = items("trick");
  if (trick.length > 0) {
    const winner = trick.reduce((best, later) => (beats(later, best) ? later : best));
    const pot = trick.reduce((sum, c) => sum + value(c), 0);
    if (pot > 0 && beats(card, winner)) return 500 - price(card);
  }
  return -price(card);
}

// --- La Podrida ----------------------------------------------------------------

const strength = (card) => (rank(card) === 1 ? 13 : rank(card)) + (isTrump(card) ? 20 : 0);

function podridaScore(move) {
  if (move.startsWith("bid:")) { // bid as many tricks as we hold aces, kings and high trumps
    const isGood = (c) => rank(c) === 1 || rank(c) === 12 || (isTrump(c) && rank(c) >= 10);
    return -Math.abs(Number(move.slice(4)) - items("hand").filter(isGood).length);
  }
  const wantsMore = Number(items("tricks")[game.seat]) < Number(items("bids")[game.seat]);
  return wantsMore ? strength(move) : -strength(move);
}

// --- Tebes ---------------------------------------------------------------------

/** Capture if we can, and go forward: up the board for white, down for black. */
function tebesScore(move) {
  const [from, to] = move.split("-").map(Number);
  const row = (square) => Math.floor(square / view.size);
  const forward = view.me === "w" ? row(from) - row(to) : row(to) - row(from);
  return forward + (view.pieces[to] !== "." ? 10 : 0);
}

// --- Teeko ---------------------------------------------------------------------

function near(a, b) {
  const rows = Math.floor(a / 5) - Math.floor(b / 5), columns = (a % 5) - (b % 5);
  return Math.abs(rows) <= 1 && Math.abs(columns) <= 1;
}

/** Count the pairs of our pieces that touch: all six pairs do in a 2x2 square, which wins. */
function teekoScore(move) {
  const squares = move.split("-").map(Number); // "12" places, "12-13" moves
  const from = squares[0], to = squares.at(-1);
  const mine = [...view.board].map((_, s) => s)
    .filter((s) => s === to || (view.board[s] === view.me && s !== from));
  const inStep = (s, i) => i === 0 || (near(mine[i - 1], s) && s - mine[i - 1] === mine[1] - mine[0]);
  if (mine.length === 4 && mine.every(inStep)) return 6; // four in a line wins as well
  let pairs = 0;
  for (const a of mine) for (const b of mine) if (a < b && near(a, b)) pairs++;
  return pairs;
}

// --- the position --------------------------------------------------------------

/** By how much our side leads at cards: above 0 if we have more points on average. */
function lead() {
  const seat = Number(game.seat), points = items("points").map(Number);
  const withUs = (_, other) => other === seat || (game.teams === "yes" && (other - seat) % 2 === 0);
  const sum = (list) => list.reduce((a, b) => a + b, 0);
  const ours = points.filter(withUs), theirs = points.filter((p, s) => !withUs(p, s));
  return sum(ours) * theirs.length - sum(theirs) * ours.length;
}

const morePieces = () => [...view.pieces].reduce((n, p) => n + (p === "." ? 0 : p === view.me ? 1 : -1), 0);

/** How many more pairs of our pieces touch than of theirs. */
function closer() {
  const board = view.board;
  let more = 0;
  for (let a = 0; a < 25; a++) {
    for (let b = 0; b < a; b++) {
      if (board[a] !== "." && board[a] === board[b] && near(a, b)) more += board[a] === view.me ? 1 : -1;
    }
  }
  return more;
}

// --- choosing ------------------------------------------------------------------

const SCORES = {
  brisca: trickScore, tute: trickScore, podrida: podridaScore, tebes: tebesScore, teeko: teekoScore,
};
const POSITIONS = { brisca: lead, tute: lead, podrida: lead, tebes: morePieces, teeko: closer };

function choose(moves) {
  const gift = moves.find((move) => move.startsWith("swap:") || move.startsWith("sing:"));
  if (gift) return gift; // a better trump and a song are always worth having
  const scores = moves.map(SCORES[game.name] ?? (() => 0));
  const top = Math.max(...scores);
  const best = moves.filter((_, i) => scores[i] === top);
  // How well the game stands for us: above 0 if we are winning.
  console.log(`info score=${(POSITIONS[game.name] ?? (() => 0))()}`);
  // A tie: any will do. The first % keeps the sum within the whole numbers that JavaScript has.
  return best[((Number(game.seed ?? 0) % best.length) + ply) % best.length];
}

const pairs = (words) => Object.fromEntries(words.map((word) => word.split("=")));

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb, ...words] = line.split(" ");
  if (verb === "timba") {
    console.log(`ready ${NAME} ${VERSION}`);
  } else if (verb === "game") {
    game = { ...pairs(words.slice(1)), name: words[0] };
  } else if (verb === "view") {
    view = pairs(words);
  } else if (verb === "turn") { // turn PLY MILLISECONDS MOVE...
    ply = Number(words[0]);
    console.log(`move ${choose(words.slice(2))}`);
  } else if (verb === "bye") {
    process.exit();
  }
  // Anything else (event, fault, end, verbs to come) a bot may ignore: the view says it all.
});
