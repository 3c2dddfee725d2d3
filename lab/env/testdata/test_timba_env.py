"""Tests of timba_env.py against a real server, $TIMBA_LAB; without numpy if $NUMPY is "no"."""

import copy
import hashlib
import os
import pickle
import random
import signal
import sys
import unittest

import timba_env
from timba_env import AEC, Batch, Gym, Parallel, TimbaError

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
            with self.assertRaisesRegex(TimbaError, 'game 1, deal 1: action 50: "swap:3o" is not in this game'):
                batch.step([actions[0], 50])
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
        for seed in (b"short", "12", "z" * 64, 1.9, -0.5, -1, 1 << 256, [1], None):
            with self.assertRaisesRegex(ValueError, "a seed cannot be .*: try an integer"):
                timba_env.seed_bytes(seed)
        with Batch("brisca", 2) as batch:
            batch.reset(1)
            good = first_legal(batch)
            for bad in (-1, 1.0, 1 << 16, len(batch.actions), "1", None):
                with self.assertRaisesRegex(ValueError, "game 1: an action cannot be .*: try an integer from 0 to "):
                    batch.step([good[0], bad])
            for actions in ([], good[:1], good * 2, 3):
                with self.assertRaisesRegex(ValueError, "actions for 2 games"):
                    batch.step(actions)
            batch.step(good)

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


class TestBroken(unittest.TestCase):
    """After an exchange that broke, calls fail until the games begin anew."""

    def check_broken(self, batch, why):
        for call in (lambda: batch.step(first_legal(batch)), lambda: batch.next([True]), batch.render):
            with self.assertRaisesRegex(TimbaError, why + ".*: begin anew with reset"):
                call()
        batch.reset(4)
        with Batch(batch.layout["game"]) as other:
            other.reset(4)
            self.assertEqual([int(a) for a in other.legal[0]], [int(a) for a in batch.legal[0]])
        batch.step(first_legal(batch))

    def test_killed(self):
        with Batch("brisca") as batch:
            batch.reset(1)
            batch._connection._process.kill()
            with self.assertRaisesRegex(TimbaError, "ended without an answer .killed by signal 9"):
                batch.step(first_legal(batch))
            self.check_broken(batch, "ended without an answer")

    def test_interrupted(self):
        def interrupt(view):
            raise KeyboardInterrupt  # as a signal does while the answer is awaited

        with Batch("brisca") as batch:
            batch.reset(1)
            batch._connection._read = interrupt
            with self.assertRaises(KeyboardInterrupt):
                batch.step(first_legal(batch))
            self.check_broken(batch, "an earlier call was interrupted")

    def test_fork(self):
        with Batch("brisca") as batch:
            batch.reset(1)
            child = os.fork()
            if not child:
                try:
                    self.check_broken(batch, "process %d started these games" % os.getppid())
                    batch.close()
                    os._exit(0)
                finally:
                    os._exit(1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            batch.step(first_legal(batch))

    def test_closed(self):
        batch = Batch("brisca")
        for _ in range(2):
            batch.close()
        for call in (batch.reset, batch.render):
            with self.assertRaisesRegex(TimbaError, "these games are closed: make new ones"):
                call()

    def test_terminal_signal(self):
        with Batch("brisca") as batch:
            batch.reset(1)
            batch._connection._process.send_signal(signal.SIGINT)
            batch.step(first_legal(batch))
            self.assertIsNone(batch._connection._process.poll())


class TestOne(unittest.TestCase):
    """What Gymnasium and PettingZoo demand of environments of one game."""

    def test_illegal_action(self):
        for make in (Gym, AEC, Parallel):
            env = make("brisca")
            with self.assertRaisesRegex(TimbaError, "begin (one|a game) with reset"):
                env.step({"seat_0": 0} if make is Parallel else 0)
            for seed in (1, None):
                env.reset(seed=seed)
                mover = env.agent_selection if make is AEC else env._mover()
                illegal = next(a for a, m in enumerate(env.batch.mask[0]) if not m)
                for bad in (-1, 1.5, "0", len(env.batch.actions)):
                    with self.assertRaisesRegex(ValueError, "an action cannot be"):
                        env.step({mover: bad} if make is Parallel else bad)
                if make is Gym:
                    seen, reward, terminated, truncated, info = env.step(illegal)
                elif make is AEC:
                    env.step(illegal)
                    self.assertEqual([env.rewards[a] for a in env.agents], [-1 if a == mover else 0 for a in env.agents])
                    env.agent_selection = mover
                    seen, reward, terminated, truncated, info = env.last()
                else:
                    seen, reward, terminated, truncated, info = (values[mover] for values in env.step({mover: illegal}))
                    self.assertEqual(env.agents, [])
                self.assertEqual((reward, terminated, truncated), (-1, True, False))
                self.assertRegex(info["illegal"], "action %d .* is not legal" % illegal)
                self.assertEqual(sum(seen["action_mask"]), 0)
            env.close()
        env = Gym("brisca", illegal_reward=None)
        _, info = env.reset(seed=1)
        with self.assertRaises(TimbaError):
            env.step(next(a for a, m in enumerate(env.batch.mask[0]) if not m))
        env.step(info["legal_actions"][0])
        env.close()
        with self.assertRaisesRegex(ValueError, "render_mode cannot be 'human': try ansi"):
            Gym("brisca", render_mode="human")

    def test_spaces(self):
        env = AEC("tute", options={"players": 3})
        env.reset(seed=1)
        self.assertEqual((env.num_agents, env.max_num_agents, str(env), env.unwrapped), (3, 3, "timba_tute", env))
        space, actions = env.observation_space("seat_0"), env.action_space("seat_0")
        self.assertIs(space, env.observation_space("seat_0"))
        self.assertEqual(space, env.observation_space("seat_1"))
        self.assertNotEqual(space["observation"], space["action_mask"])
        self.assertIn(space.sample(), space)
        for bad in (None, {}, {"observation": []}):
            self.assertNotIn(bad, space)
        for bad in (-1, 1.0, "0", actions.n):
            self.assertNotIn(bad, actions)
        actions.seed(3)
        first = [int(actions.sample()) for _ in range(20)]
        self.assertGreater(len(set(first)), 1)
        actions.seed(3)
        self.assertEqual(first, [int(actions.sample()) for _ in range(20)])
        mask = [0] * actions.n
        mask[5] = 1
        mask = mask if numpy is None else numpy.array(mask, "int8")
        self.assertEqual([int(actions.sample(mask)) for _ in range(5)], [5] * 5)
        env.close()

    def test_copies(self):
        env = Gym("tute", seat=1, players=3)
        seen, _ = env.reset(seed=5)
        for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
            with self.assertRaisesRegex(TimbaError, "begin one with reset"):
                other.step(0)
            again, _ = other.reset(seed=5)
            self.assertEqual(list(seen["observation"]), list(again["observation"]))
            other.close()
        env.close()

    def test_parallel(self):
        env, aec = Parallel("brisca", bots={1: "@first"}), AEC("brisca", bots={1: "@first"})
        seen, infos = env.reset(seed=3)
        aec.reset(seed=3)
        while env.agents:
            self.assertEqual(list(seen["seat_0"]["observation"]), list(aec.last()[0]["observation"]))
            action = infos["seat_0"]["legal_actions"][0]
            with self.assertRaisesRegex(ValueError, "have none of seat_0"):
                env.step({})
            aec.step(action)
            seen, rewards, terminations, _, infos = env.step({"seat_0": action})
            self.assertEqual(rewards, aec.rewards)
            self.assertEqual(terminations, aec.terminations)
        env.close()
        aec.close()


@unittest.skipIf(timba_env.gymnasium is None or timba_env.pettingzoo is None or numpy is None, "the libraries are not installed")
class TestLibraries(unittest.TestCase):
    """The libraries' own checks, where they are installed."""

    def test(self):
        import gymnasium
        from gymnasium.utils.env_checker import check_env
        from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
        for game in ("brisca", "tute", "podrida", "tebes", "teeko"):
            env = gymnasium.make("timba_env:timba/%s-v0" % game)
            check_env(env.unwrapped)
            env.close()
            for make, check in ((AEC, api_test), (Parallel, parallel_api_test)):
                env = make(game)
                check(env, num_cycles=100)
                env.close()
            seed_test(lambda: AEC(game), 50)
            parallel_seed_test(lambda: Parallel(game), 50)
        for vector in (gymnasium.vector.SyncVectorEnv, gymnasium.vector.AsyncVectorEnv):
            env = vector([lambda: Gym("brisca")] * 3)
            env.reset(seed=3)
            for _ in range(20):
                env.step(env.action_space.sample())
            env.close()
        env = gymnasium.make("timba_env:timba/brisca-v0", max_episode_steps=1)
        _, info = env.reset(seed=1)
        self.assertTrue(env.step(info["legal_actions"][0])[3])
        env.close()


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
                        self.assertIn(seen, env.observation_space(agent))
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
                    self.assertIn(seen, env.observation_space)
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
