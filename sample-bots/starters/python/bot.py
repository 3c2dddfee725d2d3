#!/usr/bin/env python3
"""A complete timba bot: it plays all five games legally, with a hint of thought.

The referee's lines come in on stdin, our answers go out on stdout, and a turn
lists every legal move. So a bot only has to say how much it likes each of
them: put your ideas into trick_score, podrida_score, tebes_score and
teeko_score.
"""
import sys

NAME, VERSION = "my-python-bot", "1.0"

game = {}  # the `game` line: name, seat, players, seed and the game's options
view = {}  # the latest `view` line: all that we may know of the position
ply = 0    # how many moves have been made in this game


def items(key, separator=","):
    """A list of the view; an empty one is written "-"."""
    text = view.get(key, "-")
    return [] if text == "-" else text.split(separator)


# --- cards: "12c" is rank 12 of suit c -------------------------------------

def rank(card):
    return int(card[:-1])


def suit(card):
    return card[-1]


def is_trump(card):
    return suit(card) == view["trump"][-1]  # the view has the card that shows the trumps


# --- Brisca and Tute ---------------------------------------------------------

WEAK_TO_STRONG = [2, 4, 5, 6, 7, 10, 11, 12, 3, 1]
VALUES = {1: 11, 3: 10, 12: 4, 11: 3, 10: 2}


def value(card):
    return VALUES.get(rank(card), 0)


def beats(card, winner):
    """Does card, played later, take the trick from the card that wins it now?"""
    if suit(card) == suit(winner):
        return WEAK_TO_STRONG.index(rank(card)) > WEAK_TO_STRONG.index(rank(winner))
    return is_trump(card)


def price(card):
    """How sorry we are to play a card: for its points, its strength, and for any trump."""
    return 10 * value(card) + WEAK_TO_STRONG.index(rank(card)) + (100 if is_trump(card) else 0)


def trick_score(card):
    """Take a trick that has points as cheaply as we can, else throw the cheapest card."""
    trick = items("trick")
    if trick:
        winner = trick[0]
        for later in trick[1:]:
            if beats(later, winner):
                winner = later
        if sum(map(value, trick)) > 0 and beats(card, winner):
            return 500 - price(card)
    return -price(card)


# --- La Podrida --------------------------------------------------------------

def strength(card):
    return (13 if rank(card) == 1 else rank(card)) + (20 if is_trump(card) else 0)


def podrida_score(move):
    seat = int(game["seat"])
    if move.startswith("bid:"):  # bid as many tricks as we hold aces, kings and high trumps
        good = sum(rank(c) in (1, 12) or is_trump(c) and rank(c) >= 10 for c in items("hand"))
        return -abs(int(move[4:]) - good)
    wants_more = int(items("tricks")[seat]) < int(items("bids")[seat])
    return strength(move) if wants_more else -strength(move)


# --- Tebes -------------------------------------------------------------------

def tebes_score(move):
    """Capture if we can, and go forward: up the board for white, down for black."""
    start, end = map(int, move.split("-"))
    size = int(view["size"])
    forward = start // size - end // size if view["me"] == "w" else end // size - start // size
    return forward + (10 if view["pieces"][end] != "." else 0)


# --- Teeko -------------------------------------------------------------------

def near(a, b):
    return abs(a // 5 - b // 5) <= 1 and abs(a % 5 - b % 5) <= 1


def teeko_score(move):
    """Count the pairs of our pieces that touch: all six pairs do in a 2x2 square, which wins."""
    squares = [int(s) for s in move.split("-")]  # "12" places, "12-13" moves
    mine = [s for s in range(25) if view["board"][s] == view["me"]]
    mine = sorted([s for s in mine if s != squares[0]] + [squares[-1]])
    steps = {b - a if near(a, b) else None for a, b in zip(mine, mine[1:])}
    if len(mine) == 4 and len(steps) == 1 and None not in steps:
        return 6  # four in a line wins as well
    return sum(near(a, b) for a in mine for b in mine if a < b)


# --- the position --------------------------------------------------------------

def lead():
    """By how much our side leads at cards: its points and those of the others."""
    seat, ours, theirs = int(game["seat"]), [], []
    for other, points in enumerate(map(int, items("points"))):
        with_us = other == seat or game.get("teams") == "yes" and (other - seat) % 2 == 0
        (ours if with_us else theirs).append(points)
    return sum(ours) * len(theirs) - sum(theirs) * len(ours)  # above 0 if we have more on average


def more_pieces():
    return sum((p == view["me"]) - (p != view["me"]) for p in view["pieces"] if p != ".")


def closer():
    """How many more pairs of our pieces touch than of theirs."""
    board = view["board"]
    pairs = [(a, b) for a in range(25) for b in range(a) if board[a] == board[b] != "." and near(a, b)]
    return sum(1 if board[a] == view["me"] else -1 for a, b in pairs)


# --- choosing ----------------------------------------------------------------

SCORES = {"brisca": trick_score, "tute": trick_score, "podrida": podrida_score,
          "tebes": tebes_score, "teeko": teeko_score}
POSITIONS = {"brisca": lead, "tute": lead, "podrida": lead, "tebes": more_pieces, "teeko": closer}


def choose(moves):
    for move in moves:  # a better trump and a song are always worth having
        if move.startswith(("swap:", "sing:")):
            return move
    score = SCORES.get(game["name"], lambda move: 0)
    scores = [score(move) for move in moves]
    best = [move for move, s in zip(moves, scores) if s == max(scores)]
    # How well the game stands for us: above 0 if we are winning.
    say("info", f"score={POSITIONS.get(game['name'], lambda: 0)()}")
    return best[(int(game.get("seed", 0)) + ply) % len(best)]  # a tie: any will do


def say(*words):
    print(*words, flush=True)  # without flush the line waits in a buffer and we time out


for line in sys.stdin:
    verb, *words = line.split() or [""]
    if verb == "timba":
        say("ready", NAME, VERSION)
    elif verb == "game":
        game = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        game["name"] = words[0]
    elif verb == "view":
        view = dict(word.split("=", 1) for word in words if "=" in word)
    elif verb == "turn":  # turn PLY MILLISECONDS MOVE...
        ply = int(words[0])
        say("move", choose(words[2:]))
    elif verb == "bye":
        break
    # Anything else (event, fault, end, verbs to come) a bot may ignore: the view says it all.
