"""Trains an agent for Brisca with two players, against @random, by Monte Carlo learning.

The agent sees little of a position: for each card that it may play, whether it is a trump, what
it is worth, and, when the other has led, whether it would win and what the trick is worth. It
learns what such a play is worth on average by the end of the game, and plays the best, or with a
probability of 10 % any card. Prints the curve: its score and points in test games without chance.

    python3 example_brisca.py [--games 20000] [--seed 1]

$TIMBA_LAB is the program timba-lab, if it is not on the PATH.
"""

import argparse
import random

import timba_env

CARDS, RANKS = 48, 12  # a card is suit*12 + rank-1; an action below CARDS plays a card
WORTH = {1: 11, 3: 10, 12: 4, 11: 3, 10: 2}
STRENGTH = {rank: i for i, rank in enumerate((2, 4, 5, 6, 7, 10, 11, 12, 3, 1))}


def worth(card):
    return WORTH.get(card % RANKS + 1, 0)


def wins(card, led, trumps):
    """Whether a card takes the trick from the one that was led."""
    if card // RANKS == led // RANKS:
        return STRENGTH[card % RANKS + 1] > STRENGTH[led % RANKS + 1]
    return card // RANKS == trumps


def price(points):
    """0 for nothing, 1 for a king or less, 2 for a three or an ace."""
    return 0 if points == 0 else 1 if points < 10 else 2


class Agent:
    """The mean of what each kind of play has brought."""

    def __init__(self):
        self.sum, self.n = {}, {}

    def kinds(self, batch, i, plane):
        """Return the legal actions of game i, and the kind of each."""
        planes, numbers = batch.planes[i], batch.numbers[i]
        trumps = int(numbers[0])
        lies = bytes(planes[plane:plane + CARDS]).find(1)
        actions = [int(a) for a in batch.legal[i][:batch.count[i]]]
        kinds = []
        for card in actions:
            trump = card // RANKS == trumps
            if lies < 0:
                kinds.append(("lead", trump, price(worth(card))))
            else:
                won = wins(card, lies, trumps)
                kinds.append(("follow", won, trump, price(worth(card)), price(worth(lies))))
        return actions, kinds

    def value(self, kind):
        return self.sum.get(kind, 0.0) / self.n[kind] if kind in self.n else 0.0

    def choose(self, actions, kinds, chance, rng):
        """Return the place of the action to play."""
        if rng.random() < chance:
            return rng.randrange(len(actions))
        best = [self.value(kind) for kind in kinds]
        return best.index(max(best))

    def learn(self, path, last):
        """Credit each play of a game with the difference of points from then on."""
        for kind, before in path:
            self.sum[kind] = self.sum.get(kind, 0.0) + last - before
            self.n[kind] = self.n.get(kind, 0) + 1


def play(agent, batch, games, seed, chance, rng):
    """Play games as seat 0; learns if there is chance. Returns score and points a game."""
    offset = 0
    for plane in batch.layout["planes"]:
        if plane["name"] == "trick+1":
            break
        offset += plane["size"]
    batch.reset(seed)
    paths = [[] for _ in range(batch.games)]
    lead = [0.0] * batch.games  # the difference of points in the running game
    finished, score, points = 0, 0.0, 0.0
    while finished < games:
        actions = []
        for i in range(batch.games):
            legal, kinds = agent.kinds(batch, i, offset)
            at = agent.choose(legal, kinds, chance, rng)
            paths[i].append((kinds[at], lead[i]))
            actions.append(legal[at])
        batch.step(actions)
        for i in range(batch.games):
            mine, other = batch.rewards[i]
            lead[i] += float(mine - other)
            if not batch.over[i]:
                continue
            finished += 1
            score += 0.5 + ((lead[i] > 0) - (lead[i] < 0)) / 2
            points += float(batch.points[i][0])
            if chance:
                agent.learn(paths[i], lead[i])
            paths[i], lead[i] = [], 0.0
    return score / finished, points / finished


def main():
    parser = argparse.ArgumentParser(description="Trains an agent for Brisca and prints the curve.")
    parser.add_argument("--games", type=int, default=20000, help="games to learn from")
    parser.add_argument("--tests", type=int, default=2000, help="test games for each line")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, agent = random.Random(args.seed), Agent()
    with timba_env.Batch("brisca", games=100, bots={1: "@random"}) as batch:
        print("%8s %8s %8s" % ("games", "score", "points"))
        learned, step = 0, 100
        while True:
            score, points = play(agent, batch, args.tests, 0, 0.0, rng)
            print("%8d %7.1f%% %8.1f" % (learned, 100 * score, points), flush=True)
            if learned >= args.games:
                return
            step = min(step, args.games - learned)
            play(agent, batch, step, args.seed + 1 + learned, 0.1, rng)
            learned += step
            step = learned  # twice as many each time


if __name__ == "__main__":
    main()
