"""Timba's games as an environment for learners: many games at once, or one.

    Batch   plays many games at once; arrays of observations, legal actions and rewards
    AEC     one game in the manner of PettingZoo's AECEnv: every seat is an agent
    Gym     one game in the manner of Gymnasium's Env: one seat learns, house bots play the others

The games run in a process "timba-lab env", which this module starts, or in one that listens on a
Unix socket. lab/env.md of timba describes the frames between the two.

Only the standard library is needed. With numpy the arrays of a Batch are numpy arrays; without,
they are Rows: array[i] is the row of game i, or its number.
"""

import array
import json
import operator
import os
import random
import secrets
import socket
import struct
import subprocess
import sys

try:
    import numpy
except ImportError:
    numpy = None

VERSION = 1
OVER = -1  # the turn of a game that has ended
_HEADER = struct.Struct("<IB3x")
_CODES = {"f4": "f", "u4": "I", "u2": "H", "i2": "h", "u1": "B", "i1": "b"}
_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031  # fcntl's F_SETPIPE_SZ of Linux


class TimbaError(Exception):
    """What the server says is wrong: an action that is not legal, an option that does not exist."""


class Rows:
    """A two-dimensional array without numpy: rows[i] is a memoryview of row i."""

    def __init__(self, flat, width):
        self.flat, self.width = flat, width

    def __len__(self):
        return len(self.flat) // self.width

    def __getitem__(self, i):
        if not 0 <= i < len(self):
            raise IndexError(i)
        return self.flat[i * self.width:(i + 1) * self.width]


class _Connection:
    """Frames to and from a process or a socket."""

    def __init__(self, command, path):
        self._process = self._socket = None
        if path is not None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.connect(path)
            self._read, self._write = self._socket.recv_into, self._socket.send
            return
        if command is None:
            command = [os.environ.get("TIMBA_LAB", "timba-lab"), "env"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        for pipe in (self._process.stdin, self._process.stdout):
            try:  # fewer changes between the two processes
                import fcntl
                fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_BYTES)
            except (ImportError, OSError):
                pass
        self._read, self._write = self._process.stdout.readinto, self._process.stdin.write

    def send(self, kind, payload):
        data = memoryview(_HEADER.pack(len(payload), ord(kind)) + payload)
        try:
            while data:
                data = data[self._write(data):]
        except BrokenPipeError:
            pass  # the answer, or its lack, says why

    def _fill(self, view):
        while view:
            n = self._read(view)
            if not n:
                raise TimbaError("timba-lab env has ended without an answer")
            view = view[n:]

    def receive(self, kind, into=None):
        """Return the payload of the next frame; one of the kind is read into a buffer, if given."""
        header = bytearray(_HEADER.size)
        self._fill(memoryview(header))
        size, got = _HEADER.unpack(header)
        got = chr(got)
        if got == kind and into is not None and len(into) == size:
            self._fill(into)
            return into
        payload = bytearray(size)
        self._fill(memoryview(payload))
        if got == "E":
            raise TimbaError(payload.decode())
        if got != kind:
            raise TimbaError("a frame of kind %r came instead of %r" % (got, kind))
        return payload

    def close(self):
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
        self._socket = self._process = None


def seed_bytes(seed):
    """Return the 32 bytes of a seed: a number from 0 to 2**256-1, 64 hexadecimal digits, or bytes."""
    if isinstance(seed, str):
        seed = bytes.fromhex(seed)
    if not isinstance(seed, (bytes, bytearray)):
        seed = int(seed).to_bytes(32, "big")
    if len(seed) != 32:
        raise ValueError("a seed has 32 bytes, not %d" % len(seed))
    return bytes(seed)


class Batch:
    """Games that are played at once.

    game      brisca, tute, podrida, tebes or teeko
    games     how many
    options   of the game, by name: {"players": 3, "exchange": "yes"}
    bots      house bots by seat: {1: "@greedy"}; the client plays the other seats
    rewards   "points": what a seat's points changed by; "outcome": 1, 0 or -1 at the end
    auto      whether a game that has ended begins its next deal at once
    arrays    of "legal", "mask" and "observation", those to be sent
    movetime  milliseconds that house bots have for a move
    command   the server's command line; otherwise $TIMBA_LAB or timba-lab, with env
    path      of a Unix socket where a server listens, instead of a command

    The attributes rewards, points, deal, ply, count, legal, mask, numbers, planes, turn, over and
    ranks are arrays with a row for each game. Each call fills the same memory: copy what is to
    be kept. layout is the server's description of them; actions has the move of each action.
    """

    def __init__(self, game, games=1, options=None, bots=None, rewards="points", auto=True,
                 arrays=("legal", "observation"), movetime=None, command=None, path=None):
        self._connection = _Connection(command, path)
        document = {"version": VERSION, "game": game, "options": options or {}, "games": games,
                    "seats": {"%d" % seat: bot for seat, bot in (bots or {}).items()},
                    "rewards": rewards, "auto": bool(auto), "arrays": list(arrays)}
        if movetime is not None:
            document["movetime"] = movetime
        try:
            text = json.dumps(document, default=operator.index)  # numpy's numbers, too
            self._connection.send("M", text.encode())
            self.layout = json.loads(self._connection.receive("L").decode())
        except BaseException:
            self.close()
            raise
        self.games, self.players = self.layout["games"], self.layout["players"]
        self.actions = self.layout["actions"]
        self.seats = [seat for seat, bot in enumerate(self.layout["bots"]) if not bot]
        self._frame = bytearray(self.layout["size"])
        self._view = memoryview(self._frame)
        for a in self.layout["arrays"]:
            setattr(self, a["name"], self._array(a))
        if numpy is not None:
            self._all, self._rng = numpy.arange(self.games), numpy.random.default_rng()

    def _array(self, a):
        count = 1
        for n in a["shape"]:
            count *= n
        if numpy is not None:
            kind = numpy.dtype("<" + a["type"])
            return numpy.frombuffer(self._frame, kind, count, a["offset"]).reshape(a["shape"])
        if sys.byteorder != "little":
            raise TimbaError("without numpy this module needs a little-endian machine")
        flat = self._view[a["offset"]:a["offset"] + count * int(a["type"][1])].cast(_CODES[a["type"]])
        return flat if len(a["shape"]) == 1 else Rows(flat, a["shape"][1])

    def reset(self, seed=None, first=0):
        """Begin all games: game i plays deal first+i of the match with the seed, a random one if None."""
        seed = secrets.token_bytes(32) if seed is None else seed_bytes(seed)
        return self._exchange("R", seed + struct.pack("<I", first))

    def step(self, actions):
        """Make an action in each game. If one is not legal, none is made and TimbaError is raised."""
        if numpy is not None:
            data = numpy.ascontiguousarray(actions, "<u2").tobytes()
        else:
            data = array.array("H", actions)
            if sys.byteorder != "little":
                data.byteswap()
            data = data.tobytes()
        return self._exchange("A", data)

    def next(self, which):
        """Begin the next deal of the games whose element is true."""
        return self._exchange("N", bytes(1 if w else 0 for w in which))

    def _exchange(self, kind, payload):
        self._connection.send(kind, payload)
        self._connection.receive("S", self._view)
        return self

    def sample(self, rng=None):
        """Return a random legal action for each game; rng is numpy's Generator, or random.Random."""
        if numpy is None:
            rng = rng or random
            legal, count = self.legal, self.count
            return [legal[i][int(rng.random() * count[i])] for i in range(self.games)]
        rng = rng or self._rng
        nth = (rng.random(self.games) * self.count).astype(numpy.intp)
        if hasattr(self, "legal"):
            return self.legal[self._all, nth]
        games, actions = numpy.nonzero(self.mask)
        ends = numpy.cumsum(self.count, dtype=numpy.intp)
        if ends[-1] == 0:
            return numpy.zeros(self.games, numpy.uint16)
        return actions[numpy.minimum(ends - self.count + nth, ends[-1] - 1)]

    def render(self, game=0):
        """Return a drawing of a game, as the seat to move sees it."""
        self._connection.send("V", struct.pack("<I", game))
        return self._connection.receive("T").decode()

    def close(self):
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class Discrete:
    """The space of the numbers from 0 to n-1."""

    def __init__(self, n):
        self.n = n

    def sample(self, mask=None):
        return random.choice([a for a in range(self.n) if mask is None or mask[a]])

    def contains(self, x):
        return 0 <= int(x) < self.n

    __contains__ = contains


class Box:
    """The space of the vectors of numbers of one length."""

    def __init__(self, low, high, shape):
        self.low, self.high, self.shape = low, high, shape

    def contains(self, x):
        return len(x) == self.shape[0] and all(self.low <= v <= self.high for v in x)

    __contains__ = contains


class _One:
    """What AEC and Gym have in common: a Batch of one game."""

    def __init__(self, game, **settings):
        self.batch = Batch(game, games=1, auto=False, arrays=("legal", "mask", "observation"), **settings)
        layout = self.batch.layout
        self._width = sum(p["size"] for p in layout["planes"]) + len(layout["numbers"])
        self._seed = None
        self._actions = Discrete(len(self.batch.actions))
        self._observations = Box(-32768, 32767, (self._width,))

    def _deal(self, seed):
        """Begin the next deal; with a seed, the first of its match."""
        if seed is not None or self._seed is None:
            self._seed = secrets.token_bytes(32) if seed is None else seed_bytes(seed)
            self.batch.reset(self._seed)
        else:
            self.batch.next([True])

    def _observation(self):
        """The planes and the numbers as one vector of float32, and the mask of the legal actions."""
        b = self.batch
        if numpy is not None:
            vector = numpy.concatenate((b.planes[0], b.numbers[0])).astype(numpy.float32)
            return {"observation": vector, "action_mask": b.mask[0].astype(numpy.int8)}
        vector = array.array("f", b.planes[0])
        vector.extend(b.numbers[0])
        return {"observation": vector, "action_mask": array.array("b", b.mask[0])}

    def _info(self):
        b = self.batch
        return {"deal": int(b.deal[0]), "ply": int(b.ply[0]), "seat": int(b.turn[0]),
                "legal_actions": [int(a) for a in b.legal[0][:b.count[0]]],
                "points": [float(p) for p in b.points[0]], "ranks": [int(r) for r in b.ranks[0]]}

    def _act(self, action):
        self.batch.step([int(action)])
        return [float(r) for r in self.batch.rewards[0]]

    def render(self):
        return self.batch.render()

    def close(self):
        self.batch.close()


class Gym(_One):
    """One seat in the manner of gymnasium.Env; house bots play the others.

    An observation is {"observation": vector, "action_mask": mask}. After the end of a game it is
    all zeros. reset() without a seed begins the next deal of the same match.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, game, seat=0, bot="@random", players=None, options=None, **settings):
        options = dict(options or {})
        if players is not None:
            options["players"] = players
        if "bots" not in settings:
            n = int(options.get("players", {"podrida": 4}.get(game, 2)))
            settings["bots"] = {s: bot for s in range(n) if s != seat}
        super().__init__(game, options=options, **settings)
        self.seat, self.action_space, self.observation_space = seat, self._actions, self._observations

    def reset(self, seed=None, options=None):
        self._deal(seed)
        while self.batch.over[0]:  # won by the deal alone
            self._deal(None)
        return self._observation(), self._info()

    def step(self, action):
        reward = self._act(action)[self.seat]
        return self._observation(), reward, bool(self.batch.over[0]), False, self._info()


class AEC(_One):
    """One game in the manner of pettingzoo.AECEnv: the agents are seat_0, seat_1, ...

    The agent to act is agent_selection. Only its observation is known; that of another agent is
    all zeros. House bots are no agents.
    """

    metadata = {"render_modes": ["ansi"], "is_parallelizable": False}

    def __init__(self, game, **settings):
        super().__init__(game, **settings)
        self.possible_agents = ["seat_%d" % seat for seat in self.batch.seats]
        self.agents = []

    def action_space(self, agent):
        return self._actions

    def observation_space(self, agent):
        return self._observations

    def reset(self, seed=None, options=None):
        self._deal(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._follow([float(r) for r in self.batch.rewards[0]])

    def _follow(self, rewards):
        for agent in self.agents:
            self.rewards[agent] = rewards[int(agent[5:])]
            self._cumulative_rewards[agent] += self.rewards[agent]
        info = self._info()
        if self.batch.over[0]:
            for agent in self.agents:
                self.terminations[agent], self.infos[agent] = True, info
            self.agent_selection = self.agents[0]
            return
        self.agent_selection = "seat_%d" % info["seat"]
        self.infos[self.agent_selection] = info

    def observe(self, agent):
        seen = self._observation()
        if agent != "seat_%d" % self.batch.turn[0]:
            for values in seen.values():
                for i in range(len(values)):
                    values[i] = 0
        return seen

    def last(self, observe=True):
        agent = self.agent_selection
        return (self.observe(agent) if observe else None, self._cumulative_rewards[agent],
                self.terminations[agent], self.truncations[agent], self.infos[agent])

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            if action is not None:
                raise ValueError("the game is over: the action of %s must be None" % agent)
            self.agents.remove(agent)
            for known in (self.rewards, self._cumulative_rewards, self.terminations, self.truncations, self.infos):
                del known[agent]
            if self.agents:
                self.agent_selection = self.agents[0]
            return
        rewards = self._act(action)
        self._cumulative_rewards[agent] = 0.0
        self._follow(rewards)

    def agent_iter(self, max_iter=1 << 62):
        while self.agents and max_iter > 0:
            yield self.agent_selection
            max_iter -= 1
