"""Tests of timba_env.py against a real server, $TIMBA_LAB; without numpy if $NUMPY is "no"."""

import hashlib
import os
import random
import sys
import unittest

import timba_env
from timba_env import AEC, Batch, Gym, TimbaError

if os.environ["NUMPY"] == "no":
    timba_env.numpy = None
numpy = timba_env.numpy


def first_legal(batch):
    return [int(batch.legal[i][0]) if batch.count[i] else 0 for i in range(batch.games)]


class Trace(unittest.TestCase):
    """The same frames with numpy and without: the caller compares the digests."""

    def test(self):
        for game, options in (("brisca", {"exchange": "yes"}), ("tute", {"players": 3}), ("podrida", {}),
                              ("tebes", {"size": 4}), ("teeko", {})):
            digest = hashlib.sha256()
            with Batch(game, 5, options=options, arrays=("legal", "mask", "observation")) as batch:
                batch.reset(3, first=2)
                for _ in range(60):
                    batch.step(first_legal(batch))
                    for name in ("rewards", "points", "deal", "ply", "count", "legal", "mask", "numbers", "planes",
                                 "turn", "over", "ranks"):
                        for i in range(5):
                            row = getattr(batch, name)[i]
                            row = [float(x) for x in row] if hasattr(row, "__len__") else [float(row)]
                            digest.update(repr(row).encode())
            print("\ndigest", game, digest.hexdigest(), flush=True)


class TestBatch(unittest.TestCase):
    def test_random_games(self):
        for arrays in (("legal",), ("mask",), ("legal", "observation")):
            if numpy is None and "legal" not in arrays:
                continue
            with Batch("brisca", 8, arrays=arrays, options={"exchange": "yes"}) as batch:
                batch.reset(1)
                rng = random.Random(1) if numpy is None else numpy.random.default_rng(1)
                total, ended = [0.0] * 8, 0
                for _ in range(100):
                    batch.step(batch.sample(rng))  # an illegal action would raise
                    for i in range(8):
                        total[i] += sum(float(r) for r in batch.rewards[i])
                        if batch.over[i]:
                            self.assertEqual(total[i], 120)
                            self.assertEqual(sum(float(p) for p in batch.points[i]), 120)
                            total[i], ended = 0.0, ended + 1
                self.assertGreaterEqual(ended, 16)

    def test_chances_are_even(self):
        with Batch("teeko", 400, arrays=("legal", "mask")) as batch:
            batch.reset(1)
            seen = set()
            for _ in range(30):
                for i, a in enumerate(batch.sample()):
                    seen.add(list(batch.legal[i]).index(a) / batch.count[i] < 0.5)
            self.assertEqual(seen, {True, False})

    def test_errors(self):
        with Batch("brisca", 2) as batch:
            with self.assertRaisesRegex(TimbaError, "have not begun: send a reset frame first"):
                batch.step([0, 0])
            batch.reset("%064x" % 5)
            before = bytes(batch._frame)
            actions = first_legal(batch)
            with self.assertRaisesRegex(TimbaError, "game 1, deal 1: action 500 is no move of brisca"):
                batch.step([actions[0], 500])
            self.assertEqual(before, bytes(batch._frame))
            batch.step(actions)
        with self.assertRaisesRegex(TimbaError, 'game "chess" does not exist'):
            Batch("chess")
        for settings, error in (({"options": {"players": 9}}, 'option players cannot be "9"'),
                                ({"options": {"exchange": True}}, 'option exchange cannot be "true": try no or yes'),
                                ({"games": 1.5}, "games cannot be 1.5: try 1 to 65536"),
                                ({"arrays": ["lists"]}, 'arrays cannot be ."lists".: try some of'),
                                ({"bots": {2: "@first"}}, '"2" with the value "@first" is no seat')):
            with self.assertRaisesRegex(TimbaError, error):
                Batch("brisca", **settings)
        with self.assertRaisesRegex(TimbaError, "ended without an answer"):
            Batch("brisca", command=[sys.executable, "-c", "pass"])
        with self.assertRaises(ValueError):
            timba_env.seed_bytes(b"short")

    def test_numbers_of_numpy(self):
        number = int if numpy is None else numpy.int64
        with Batch("brisca", number(2), options={"players": number(3)}, bots={number(1): "@first"}, movetime=number(9)) as batch:
            self.assertEqual((batch.games, batch.players, batch.seats), (2, 3, [0, 2]))

    def test_next_and_render(self):
        with Batch("teeko", 2, auto=False, options={"limit": 4}) as batch:
            batch.reset(1)
            self.assertIn("teeko", batch.render(1))
            for _ in range(4):
                batch.step(first_legal(batch))
            self.assertEqual([int(o) for o in batch.over], [1, 1])
            batch.next([False, True])
            self.assertEqual([int(d) for d in batch.deal], [0, 3])
            self.assertEqual([int(o) for o in batch.over], [1, 0])

    def test_bots(self):
        with Batch("podrida", 3, bots={0: "@greedy", 2: "@random", 3: "@first"}) as batch:
            self.assertEqual(batch.seats, [1])
            batch.reset(1)
            for _ in range(40):
                self.assertEqual([int(t) for t in batch.turn], [1, 1, 1])
                batch.step(batch.sample())

    def test_socket(self):
        with Batch("brisca", 4, path=os.environ["SOCKET"]) as one, Batch("tute", 4, path=os.environ["SOCKET"]) as two:
            one.reset(1)
            two.reset(1)
            for _ in range(50):
                one.step(one.sample())
                two.step(two.sample())


class TestAEC(unittest.TestCase):
    def test_cycle(self):
        for game, settings in (("brisca", {}), ("tute", {"options": {"players": 4, "teams": "yes"}}), ("teeko", {})):
            env, first = AEC(game, **settings), None
            for seed in (7, None, 7):
                env.reset(seed=seed)
                self.assertEqual(env.agents, env.possible_agents)
                total, rng, moves = dict.fromkeys(env.agents, 0.0), random.Random(1), []
                for agent in env.agent_iter():
                    seen, reward, termination, truncation, info = env.last()
                    total[agent] += reward
                    self.assertFalse(truncation)
                    if termination:
                        self.assertEqual(sum(seen["action_mask"]), 0)
                        action = None
                    else:
                        self.assertEqual(agent, "seat_%d" % info["seat"])
                        self.assertEqual([a for a, m in enumerate(seen["action_mask"]) if m], info["legal_actions"])
                        self.assertTrue(env.observation_space(agent).contains(seen["observation"]))
                        action = rng.choice(info["legal_actions"])
                        self.assertTrue(env.action_space(agent).contains(action))
                        other = next(a for a in env.agents if a != agent)
                        self.assertEqual(sum(map(abs, env.observe(other)["observation"])), 0)
                    moves.append(action)
                    env.step(action)
                self.assertEqual(env.agents, [])
                points = [float(p) for p in env.batch.points[0]]
                self.assertEqual([total["seat_%d" % s] for s in range(len(points))], points)
                if seed == 7:
                    self.assertEqual(moves, first or moves)
                    first = moves
            env.close()

    def test_dead_step(self):
        env = AEC("teeko", options={"limit": 1}, bots={1: "@random"})
        env.reset(seed=1)
        env.step(env.last()[4]["legal_actions"][0])
        self.assertTrue(env.last()[2])
        with self.assertRaisesRegex(ValueError, "must be None"):
            env.step(0)
        env.step(None)
        self.assertEqual(env.agents, [])
        env.close()


class TestGym(unittest.TestCase):
    def test_episodes(self):
        for settings in ({}, {"players": 3, "seat": 2, "bot": "@greedy"}, {"rewards": "outcome", "seat": 1}):
            env = Gym("brisca", **settings)
            results = []
            for seed in (5, None, None, 5):
                seen, info = env.reset(seed=seed)
                rng, total, terminated = random.Random(2), 0.0, False
                while not terminated:
                    self.assertEqual(info["seat"], settings.get("seat", 0))
                    self.assertEqual(len(seen["observation"]), env.observation_space.shape[0])
                    self.assertIn(env.action_space.sample(seen["action_mask"]), info["legal_actions"])
                    seen, reward, terminated, truncated, info = env.step(rng.choice(info["legal_actions"]))
                    total += reward
                    self.assertFalse(truncated)
                if settings.get("rewards") == "outcome":
                    self.assertIn(total, (-1, 0, 1))
                else:
                    self.assertEqual(total, info["points"][settings.get("seat", 0)])
                results.append((info["deal"], total))
            self.assertEqual([deal for deal, _ in results], [0, 1, 2, 0])
            self.assertEqual(results[0], results[3])
            self.assertIsInstance(env.render(), str)
            env.close()


if __name__ == "__main__":
    unittest.main()
