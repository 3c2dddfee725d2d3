#!/usr/bin/env php
<?php
// A complete timba bot: it plays all five games legally, with a hint of thought.
//
// The referee's lines come in on stdin, our answers go out on stdout, and a turn
// lists every legal move. So a bot only has to say how much it likes each of
// them: put your ideas into trickScore, podridaScore, tebesScore and teekoScore.
declare(strict_types=1);

ini_set('display_errors', 'stderr'); // PHP's own messages must not go to stdout

const NAME = 'my-php-bot', VERSION = '1.0';

$game = []; // the `game` line: name, seat, players, seed and the game's options
$view = []; // the latest `view` line: all that we may know of the position

/** A list of the view; an empty one is written "-". */
function items(string $key): array
{
    global $view;
    $text = $view[$key] ?? '-';
    return $text === '-' ? [] : explode(',', $text);
}

// --- cards: "12c" is rank 12 of suit c ---------------------------------------

function rank(string $card): int
{
    return (int) $card;
}

function suit(string $card): string
{
    return $card[-1];
}

function isTrump(string $card): bool
{
    global $view;
    return suit($card) === suit($view['trump']); // the view has the card that shows the trumps
}

// --- Brisca and Tute -----------------------------------------------------------

const WEAK_TO_STRONG = [2, 4, 5, 6, 7, 10, 11, 12, 3, 1];
const VALUES = [1 => 11, 3 => 10, 12 => 4, 11 => 3, 10 => 2];

function power(string $card): int
{
    return array_search(rank($card), WEAK_TO_STRONG, true);
}

function value(string $card): int
{
    return VALUES[rank($card)] ?? 0;
}

/** Does a card, played later, take the trick from the card that wins it now? */
function beats(string $card, string $winner): bool
{
    return suit($card) === suit($winner) ? power($card) > power($winner) : isTrump($card);
}

/** How sorry we are to play a card: for its points, its strength, and for any trump. */
function price(string $card): int
{
    return 10 * value($card) + power($card) + (isTrump($card) ? 100 : 0);
}

/** Take a trick that has points as cheaply as we can, else throw the cheapest card. */
function trickScore(string $card): int
{
    $winner = null;
    $pot = 0;
    foreach (items('trick') as $later) {
        $pot += value($later);
        if ($winner === null || beats($later, $winner)) {
            $winner = $later;
        }
    }
    return $pot > 0 && beats($card, $winner) ? 500 - price($card) : -price($card);
}

// --- La Podrida ----------------------------------------------------------------

function strength(string $card): int
{
    return (rank($card) === 1 ? 13 : rank($card)) + (isTrump($card) ? 20 : 0);
}

function podridaScore(string $move): int
{
    global $game;
    if (str_starts_with($move, 'bid:')) { // bid as many tricks as we hold aces, kings and high trumps
        $isGood = fn($c) => rank($c) === 1 || rank($c) === 12 || isTrump($c) && rank($c) >= 10;
        return -abs((int) substr($move, 4) - count(array_filter(items('hand'), $isGood)));
    }
    $wantsMore = (int) items('tricks')[$game['seat']] < (int) items('bids')[$game['seat']];
    return $wantsMore ? strength($move) : -strength($move);
}

// --- Tebes -----------------------------------------------------------------------

/** Capture if we can, and go forward: up the board for white, down for black. */
function tebesScore(string $move): int
{
    global $view;
    [$from, $to] = array_map('intval', explode('-', $move));
    $size = (int) $view['size'];
    $up = intdiv($from, $size) - intdiv($to, $size);
    return ($view['me'] === 'w' ? $up : -$up) + ($view['pieces'][$to] === '.' ? 0 : 10);
}

// --- Teeko -----------------------------------------------------------------------

function near(int $a, int $b): bool
{
    return abs(intdiv($a, 5) - intdiv($b, 5)) <= 1 && abs($a % 5 - $b % 5) <= 1;
}

/**
 * Count the pairs of our pieces that touch: all six pairs do in a 2x2 square,
 * which wins. Four in a line win as well.
 */
function teekoScore(string $move): int
{
    global $view;
    $squares = array_map('intval', explode('-', $move)); // "12" places, "12-13" moves
    $from = $squares[0];
    $to = end($squares);
    $isMine = fn($s) => $s === $to || $view['board'][$s] === $view['me'] && $s !== $from;
    $mine = array_values(array_filter(range(0, 24), $isMine));
    $pairs = 0;
    $line = count($mine) === 4; // every step is the same, to a neighbour
    for ($i = 1; $i < count($mine); $i++) {
        $line = $line && near($mine[$i], $mine[$i - 1]) && $mine[$i] - $mine[$i - 1] === $mine[1] - $mine[0];
        for ($j = 0; $j < $i; $j++) {
            $pairs += (int) near($mine[$i], $mine[$j]);
        }
    }
    return $line ? 6 : $pairs;
}

// --- the position ------------------------------------------------------------------

/** By how much our side leads at cards: above 0 if we have more points on average. */
function lead(): int
{
    global $game;
    $ours = $theirs = $us = $them = 0;
    foreach (items('points') as $seat => $points) {
        $distance = $seat - (int) $game['seat'];
        if ($distance === 0 || ($game['teams'] ?? '') === 'yes' && $distance % 2 === 0) {
            $ours += (int) $points;
            $us++;
        } else {
            $theirs += (int) $points;
            $them++;
        }
    }
    return $ours * $them - $theirs * $us;
}

function morePieces(): int
{
    global $view;
    $all = strlen($view['pieces']) - substr_count($view['pieces'], '.');
    return 2 * substr_count($view['pieces'], $view['me']) - $all;
}

/** How many more pairs of our pieces touch than of theirs. */
function closer(): int
{
    global $view;
    $more = 0;
    for ($a = 0; $a < 25; $a++) {
        for ($b = 0; $b < $a; $b++) {
            $piece = $view['board'][$a];
            if ($piece !== '.' && $piece === $view['board'][$b] && near($a, $b)) {
                $more += $piece === $view['me'] ? 1 : -1;
            }
        }
    }
    return $more;
}

// --- choosing ----------------------------------------------------------------------

function score(string $move): int
{
    global $game;
    return match ($game['name']) {
        'brisca', 'tute' => trickScore($move),
        'podrida' => podridaScore($move),
        'tebes' => tebesScore($move),
        'teeko' => teekoScore($move),
        default => 0, // a game that we do not know: any move
    };
}

/** How well the game stands for us: above 0 if we are winning. */
function position(): int
{
    global $game;
    return match ($game['name']) {
        'brisca', 'tute', 'podrida' => lead(),
        'tebes' => morePieces(),
        'teeko' => closer(),
        default => 0,
    };
}

function choose(int $ply, array $moves): string
{
    global $game;
    foreach ($moves as $move) { // a better trump and a song are always worth having
        if (preg_match('/^(swap|sing):/', $move)) {
            return $move;
        }
    }
    $scores = array_map('score', $moves);
    $best = array_keys($scores, max($scores), true);
    echo 'info score=' . position() . "\n";
    return $moves[$best[((int) ($game['seed'] ?? 0) + $ply) % count($best)]]; // a tie: any will do
}

/** The words that are key=value. */
function pairs(array $words): array
{
    $pairs = [];
    foreach ($words as $word) {
        [$key, $text] = explode('=', $word, 2) + [1 => ''];
        $pairs[$key] = $text;
    }
    return $pairs;
}

while (($line = fgets(STDIN)) !== false) {
    $words = explode(' ', rtrim($line));
    // echo writes at once, so there is nothing to flush.
    switch ($words[0]) {
        case 'timba':
            echo 'ready ' . NAME . ' ' . VERSION . "\n";
            break;
        case 'game':
            $game = ['name' => $words[1]] + pairs(array_slice($words, 2));
            break;
        case 'view':
            $view = pairs(array_slice($words, 1));
            break;
        case 'turn': // turn PLY MILLISECONDS MOVE...
            echo 'move ' . choose((int) $words[1], array_slice($words, 3)) . "\n";
            break;
        case 'bye':
            exit;
    } // Anything else (event, fault, end, verbs to come) a bot may ignore: the view says it all.
}
