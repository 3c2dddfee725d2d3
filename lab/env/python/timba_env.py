"""Timba's games as an environment for learners: many games at once, or one.

    Batch     plays many games at once; arrays of observations, legal actions and rewards
    Gym       one game as a gymnasium.Env: one seat learns, house bots play the others
    AEC       one game as a pettingzoo.AECEnv: every seat is an agent
    Parallel  the same as a pettingzoo.ParallelEnv
    play      plays matches as a bot, by a policy that was trained with one of these

The games run in a process "timba-lab env", which this module starts, or in one that listens on a
Unix socket. lab/env.md of timba describes the frames between the two.

Only the standard library is needed. With numpy the arrays of a Batch are numpy arrays; without,
they are Rows: array[i] is the row of game i, or its number. Where Gymnasium and PettingZoo are
installed, Gym, AEC and Parallel are subclasses of their classes, the spaces are Gymnasium's, and
gymnasium.make("timba_env:timba/brisca-v0") makes a Gym. Otherwise they only have the same methods.
"""

import array
import json
import numbers
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
try:
    import gymnasium
except ImportError:
    gymnasium = None
try:
    import pettingzoo
except ImportError:
    pettingzoo = None

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
    """Frames to and from a process or a socket.

    A call that did not end, because of a signal or because the server was killed, leaves the
    connection unusable, so that no answer is taken for that of another call. So does a fork.
    """

    def __init__(self, command, path):
        self._process = self._socket = None
        self._pid = os.getpid()
        self._failure = None  # why the connection cannot be used any more
        if path is not None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.connect(path)
            self._read, self._write = self._socket.recv_into, self._socket.send
            return
        if command is None:
            beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "timba-lab")
            default = beside if os.path.exists(beside) else "timba-lab"
            command = [os.environ.get("TIMBA_LAB", default), "env"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        for pipe in (self._process.stdin, self._process.stdout):
            try:  # fewer changes between the two processes
                import fcntl
                fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_BYTES)
            except (ImportError, OSError):
                pass
        self._read, self._write = self._process.stdout.readinto, self._process.stdin.write

    def failure(self):
        """Return why the connection cannot be used, or None."""
        if os.getpid() != self._pid:
            return "process %d started these games, not this process, %d: begin anew with reset" % (self._pid, os.getpid())
        return self._failure

    def call(self, kind, payload, answer, into=None):
        """Send a frame and return the payload of its answer, which is read into a buffer, if given."""
        failure = self.failure()
        if failure:
            raise TimbaError(failure)
        self._failure = "an earlier call was interrupted: begin anew with reset"
        self._send(kind, payload)
        got, payload = self._receive(answer, into)
        self._failure = None
        if got == "E":
            raise TimbaError(payload.decode())
        if got != answer:
            raise TimbaError("a frame of kind %r came instead of %r" % (got, answer))
        return payload

    def _send(self, kind, payload):
        data = memoryview(_HEADER.pack(len(payload), ord(kind)) + payload)
        try:
            while data:
                data = data[self._write(data):]
        except (BrokenPipeError, ConnectionResetError):
            pass  # the answer, or its lack, says why

    def _fill(self, view):
        while view:
            n = self._read(view)
            if not n:
                self._failure = "timba-lab env has ended without an answer%s: begin anew with reset" % self._status()
                raise TimbaError(self._failure)
            view = view[n:]

    def _status(self):
        if self._process is None:
            return ""
        try:
            status = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return ""
        return " (%s %d)" % (("exit status", status) if status >= 0 else ("killed by signal", -status))

    def _receive(self, kind, into):
        header = bytearray(_HEADER.size)
        self._fill(memoryview(header))
        size, got = _HEADER.unpack(header)
        got = chr(got)
        payload = into if got == kind and into is not None and len(into) == size else bytearray(size)
        self._fill(memoryview(payload))
        return got, payload

    def close(self):
        """End the server. In another process than that which started it, only close the files."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            if os.getpid() == self._pid:
                self._process.wait()
            else:
                self._process.returncode = 0  # it is not a child of this process
        self._socket = self._process = None
        self._failure = "these games are closed: make new ones"


def seed_bytes(seed):
    """Return the 32 bytes of a seed: a number from 0 to 2**256-1, 64 hexadecimal digits, or bytes."""
    try:
        if isinstance(seed, str):
            data = bytes.fromhex(seed)
        elif isinstance(seed, (bytes, bytearray)):
            data = bytes(seed)
        else:
            data = operator.index(seed).to_bytes(32, "big")
        if len(data) == 32:
            return data
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError("a seed cannot be %r: try an integer from 0 to 2**256-1, 64 hexadecimal digits or 32 bytes" % (seed,))


def _action_bytes(actions, games, count):
    """Return the payload of actions, one integer from 0 to count-1 for each of the games."""
    if numpy is not None:
        given = numpy.asarray(actions)
        if given.shape == (games,) and given.dtype.kind in "iu" and (given < count).all() and (given >= 0).all():
            return given.astype("<u2").tobytes()
    given = list(actions) if hasattr(actions, "__iter__") else [actions]
    if len(given) != games:
        raise ValueError("there are %d actions for %d games: send one for each" % (len(given), games))
    for i, action in enumerate(given):
        if not isinstance(action, numbers.Integral) or not 0 <= action < count:
            raise ValueError("game %d: an action cannot be %r: try an integer from 0 to %d" % (i, action, count - 1))
    return struct.pack("<%dH" % games, *given)


class _Remade:
    """An object of which a copy, or what pickle loads, is made anew with the same arguments.

    A copy has a server of its own and no game yet: reset it.
    """

    def __new__(cls, *args, **keywords):
        made = super().__new__(cls)
        made._arguments = args, keywords
        return made

    def __reduce__(self):
        return _make, (type(self), self._arguments)

    def __deepcopy__(self, memo):
        return _make(type(self), self._arguments)


def _make(cls, arguments):
    return cls(*arguments[0], **arguments[1])


class Batch(_Remade):
    """Games that are played at once.

    game      brisca, tute, podrida, tebes or teeko
    games     how many
    options   of the game, by name: {"players": 3, "exchange": "yes"}
    bots      house bots by seat: {1: "@greedy"}; the client plays the other seats
    rewards   "points": what a seat's points changed by; "outcome": 1, 0 or -1 at the end
    auto      whether a game that has ended begins its next deal at once
    arrays    of "legal", "mask" and "observation", those to be sent
    movetime  milliseconds that house bots have for a move
    command   the server's command line; otherwise $TIMBA_LAB, timba-lab in the directory of this
              file, or timba-lab on the PATH, with env
    path      of a Unix socket where a server listens, instead of a command

    The attributes rewards, points, deal, ply, count, legal, mask, numbers, planes, turn, over and
    ranks are arrays with a row for each game. Each call fills the same memory: copy what is to
    be kept. layout is the server's description of them; actions has the move of each action.
    """

    def __init__(self, game, games=1, options=None, bots=None, rewards="points", auto=True,
                 arrays=("legal", "observation"), movetime=None, command=None, path=None):
        document = {"version": VERSION, "game": game, "options": options or {}, "games": games,
                    "seats": {"%d" % seat: bot for seat, bot in (bots or {}).items()},
                    "rewards": rewards, "auto": bool(auto), "arrays": list(arrays)}
        if movetime is not None:
            document["movetime"] = movetime
        self._document = json.dumps(document, default=operator.index).encode()  # numpy's numbers, too
        self._server, self._is_closed = (command, path), False
        self._connect()
        self.games, self.players = self.layout["games"], self.layout["players"]
        self.actions = self.layout["actions"]
        self.seats = [seat for seat, bot in enumerate(self.layout["bots"]) if not bot]
        self._frame = bytearray(self.layout["size"])
        self._view = memoryview(self._frame)
        for a in self.layout["arrays"]:
            setattr(self, a["name"], self._array(a))
        if numpy is not None:
            self._all, self._rng = numpy.arange(self.games), numpy.random.default_rng()

    def _connect(self):
        self._connection = _Connection(*self._server)
        try:
            self.layout = json.loads(self._connection.call("M", self._document, "L").decode())
        except BaseException:
            self.close()
            raise

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
        """Begin all games: game i plays deal first+i of the match with the seed, a random one if None.

        After a call that was interrupted, a server that was killed, or a fork, the games begin in a
        new server.
        """
        seed = secrets.token_bytes(32) if seed is None else seed_bytes(seed)
        if self._is_closed:
            raise TimbaError("these games are closed: make new ones")
        if self._connection.failure():
            self._connection.close()
            self._connect()
        return self._exchange("R", seed + struct.pack("<I", first))

    def step(self, actions):
        """Make an action in each game. If one is not legal, none is made and TimbaError is raised."""
        return self._exchange("A", _action_bytes(actions, self.games, len(self.actions)))

    def next(self, which):
        """Begin the next deal of the games whose element is true."""
        return self._exchange("N", bytes(1 if w else 0 for w in which))

    def observe(self, seat, view, turn):
        """Show a bot's turn in a match as a learner sees it; the batch must have one game.

        view and turn are the lines that the referee sent the bot in this seat. They fill the
        arrays. To play the game itself, reset it first.
        """
        return self._exchange("O", bytes([seat]) + ("%s\n%s" % (view, turn)).encode())

    def _exchange(self, kind, payload):
        self._connection.call(kind, payload, "S", self._view)
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
        return self._connection.call("V", struct.pack("<I", game), "T").decode()

    def close(self):
        self._is_closed = True
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class _Space:
    """What the spaces of this module have in common with Gymnasium's, which replace them if installed."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype if numpy is None or dtype is None else numpy.dtype(dtype)
        self._rng = random.Random()

    def seed(self, seed=None):
        """Seed the samples of this space."""
        self._rng.seed(seed)
        return seed

    def __contains__(self, x):
        return self.contains(x)

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()


class Discrete(_Space):
    """The space of the integers from 0 to n-1."""

    def __init__(self, n):
        super().__init__((), "int64")
        self.n = n

    def _key(self):
        return self.n

    def sample(self, mask=None):
        """Return a random element, one whose element of the mask is 1; 0 if the mask has none."""
        elements = [a for a in range(self.n) if mask is None or mask[a]]
        return self._rng.choice(elements) if elements else 0

    def contains(self, x):
        return isinstance(x, numbers.Integral) and 0 <= x < self.n


class Box(_Space):
    """The space of the vectors of one length with numbers from low to high."""

    def __init__(self, low, high, shape, dtype):
        super().__init__(shape, dtype)
        self.low, self.high = low, high

    def _key(self):
        return self.low, self.high, self.shape, self.dtype

    def sample(self):
        """Return a random vector of integers."""
        values = [self._rng.randint(self.low, self.high) for _ in range(self.shape[0])]
        return _vector(values, "int8" if str(self.dtype) == "int8" else "float32")

    def contains(self, x):
        return len(x) == self.shape[0] and all(self.low <= v <= self.high for v in x)


class Dict(_Space):
    """The space of the dictionaries with an element of a space for each key."""

    def __init__(self, spaces):
        super().__init__(None, None)
        self.spaces = spaces

    def _key(self):
        return self.spaces

    def __getitem__(self, key):
        return self.spaces[key]

    def seed(self, seed=None):
        for key, space in self.spaces.items():
            space.seed(None if seed is None else "%r %s" % (seed, key))
        return seed

    def sample(self):
        return {key: space.sample() for key, space in self.spaces.items()}

    def contains(self, x):
        return isinstance(x, dict) and x.keys() == self.spaces.keys() and all(self.spaces[k].contains(v) for k, v in x.items())


if gymnasium is not None:
    Discrete, Box, Dict = gymnasium.spaces.Discrete, gymnasium.spaces.Box, gymnasium.spaces.Dict


def _vector(values, kind):
    if numpy is not None:
        return numpy.asarray(values, kind)
    return array.array({"float32": "f", "int8": "b"}[kind], values)


class _One(_Remade):
    """What Gym, AEC and Parallel have in common: a Batch of one game.

    An observation is {"observation": vector, "action_mask": mask}; after the end of a game both
    are all zeros. reset() without a seed begins the next deal of the same match. Games end by
    their rules alone, so nothing is ever truncated.

    An action that is in its space but is not legal ends the game, as it does in a match: the seat
    gets illegal_reward, the others 0, and its info says "illegal". With illegal_reward=None it
    raises TimbaError, and the game goes on.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1, "is_parallelizable": False}

    def __init__(self, game, illegal_reward=-1.0, render_mode=None, **settings):
        if render_mode not in (None, "ansi"):
            raise ValueError("render_mode cannot be %r: try ansi" % (render_mode,))
        self.batch = Batch(game, games=1, auto=False, arrays=("legal", "mask", "observation"), **settings)
        self.metadata = dict(self.metadata, name="timba_%s" % game)
        self.render_mode, self._illegal_reward = render_mode, illegal_reward
        layout = self.batch.layout
        self._width = sum(p["size"] for p in layout["planes"]) + len(layout["numbers"])
        self._seed, self._illegal = None, None  # why the game has ended by an action

    def _new_action_space(self):
        return Discrete(len(self.batch.actions))

    def _new_observation_space(self):
        return Dict({"observation": Box(-32768, 32767, (self._width,), "float32"),
                     "action_mask": Box(0, 1, (len(self.batch.actions),), "int8")})

    def _deal(self, seed):
        """Begin the next deal; with a seed, the first of its match. A deal that ends at once is skipped."""
        self._illegal = None
        if seed is not None or self._seed is None or self.batch._connection.failure():
            self._seed = secrets.token_bytes(32) if seed is None else seed_bytes(seed)
            self.batch.reset(self._seed)
        else:
            self.batch.next([True])
        while self.batch.over[0]:  # won by the deal alone
            self.batch.next([True])

    def _mover(self):
        return "seat_%d" % self.batch.turn[0]

    def _is_over(self):
        return self._illegal is not None or bool(self.batch.over[0])

    def _observation(self, known=True):
        """The planes and the numbers as one vector, and the mask; zeros unless they are known."""
        b = self.batch
        if not known or self._is_over():
            return {"observation": _vector([0] * self._width, "float32"), "action_mask": _vector([0] * len(b.actions), "int8")}
        values = numpy.concatenate((b.planes[0], b.numbers[0])) if numpy is not None else list(b.planes[0]) + list(b.numbers[0])
        return {"observation": _vector(values, "float32"), "action_mask": _vector(b.mask[0], "int8")}

    def _info(self):
        b = self.batch
        info = {"deal": int(b.deal[0]), "ply": int(b.ply[0]), "seat": int(b.turn[0]),
                "legal_actions": [] if self._is_over() else [int(a) for a in b.legal[0][:b.count[0]]],
                "points": [float(p) for p in b.points[0]], "ranks": [int(r) for r in b.ranks[0]]}
        if self._illegal is not None:
            info["illegal"] = self._illegal
        return info

    def _act(self, action):
        """Make an action and return the rewards by seat."""
        b = self.batch
        if self._seed is None or self._is_over():
            raise TimbaError("there is no game: begin one with reset")
        _action_bytes([action], 1, len(b.actions))
        if b.mask[0][action] or self._illegal_reward is None:
            b.step([action])
            return [float(r) for r in b.rewards[0]]
        self._illegal = "action %d (%s) is not legal" % (action, b.actions[action] or "no move")
        return [self._illegal_reward if seat == b.turn[0] else 0.0 for seat in range(b.players)]

    @property
    def unwrapped(self):
        return self

    def render(self):
        return self.batch.render()

    def close(self):
        self.batch.close()


class Gym(_One, gymnasium.Env if gymnasium else object):
    """One seat as a gymnasium.Env; house bots play the others."""

    def __init__(self, game, seat=0, bot="@random", players=None, options=None, **settings):
        options = dict(options or {})
        if players is not None:
            options["players"] = players
        if "bots" not in settings:
            n = int(options.get("players", {"podrida": 4}.get(game, 2)))
            settings["bots"] = {s: bot for s in range(n) if s != seat}
        super().__init__(game, options=options, **settings)
        self.seat, self.action_space, self.observation_space = seat, self._new_action_space(), self._new_observation_space()

    def reset(self, *, seed=None, options=None):
        if gymnasium is not None:
            super().reset(seed=None if seed is None else int.from_bytes(seed_bytes(seed), "big"))
        self._deal(seed)
        return self._observation(), self._info()

    def step(self, action):
        reward = self._act(action)[self.seat]
        return self._observation(), reward, self._is_over(), False, self._info()


class _Agents(_One):
    """What AEC and Parallel have in common: the agents seat_0, seat_1, ... House bots are no agents."""

    def __init__(self, game, **settings):
        super().__init__(game, **settings)
        self.possible_agents = ["seat_%d" % seat for seat in self.batch.seats]
        self.agents = []
        self.action_spaces = {agent: self._new_action_space() for agent in self.possible_agents}
        self.observation_spaces = {agent: self._new_observation_space() for agent in self.possible_agents}

    def action_space(self, agent):
        return self.action_spaces[agent]

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    @property
    def num_agents(self):
        return len(self.agents)

    @property
    def max_num_agents(self):
        return len(self.possible_agents)

    def __str__(self):
        return self.metadata["name"]

    def observe(self, agent):
        """Return what an agent sees: all zeros unless it has to act."""
        return self._observation(agent == self._mover())


class AEC(_Agents, pettingzoo.AECEnv if pettingzoo else object):
    """One game as a pettingzoo.AECEnv.

    The agent to act is agent_selection. Only its observation is known.
    """

    agent_selection = None

    def reset(self, seed=None, options=None):
        self._deal(seed)
        self.agents = self.possible_agents[:]
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._follow()

    def _follow(self):
        """Select the agent to act, or after the end the first that is left."""
        info = self._info()
        if self._is_over():
            for agent in self.agents:
                self.terminations[agent], self.infos[agent] = True, info
            self.agent_selection = self.agents[0]
            return
        self.agent_selection = self._mover()
        self.infos[self.agent_selection] = info

    def last(self, observe=True):
        agent = self._selected()
        return (self.observe(agent) if observe else None, self._cumulative_rewards[agent],
                self.terminations[agent], self.truncations[agent], self.infos[agent])

    def _selected(self):
        if not self.agents:
            raise TimbaError("no agent is left: begin a game with reset")
        return self.agent_selection

    def step(self, action):
        agent = self._selected()
        if self.terminations[agent]:
            if action is not None:
                raise ValueError("the game is over: the action of %s must be None, not %r" % (agent, action))
            self.agents.remove(agent)
            for known in (self.rewards, self._cumulative_rewards, self.terminations, self.truncations, self.infos):
                del known[agent]
            self.rewards = dict.fromkeys(self.agents, 0.0)
            if self.agents:
                self.agent_selection = self.agents[0]
            return
        rewards = self._act(action)
        self._cumulative_rewards[agent] = 0.0
        for other in self.agents:
            self.rewards[other] = rewards[int(other[5:])]
            self._cumulative_rewards[other] += self.rewards[other]
        self._follow()

    def agent_iter(self, max_iter=1 << 62):
        while self.agents and max_iter > 0:
            yield self.agent_selection
            max_iter -= 1


class Parallel(_Agents, pettingzoo.ParallelEnv if pettingzoo else object):
    """One game as a pettingzoo.ParallelEnv.

    Each step makes the action of the agent that has the turn, the only one with a legal action.
    The actions of the others are ignored.
    """

    def reset(self, seed=None, options=None):
        self._deal(seed)
        self.agents = self.possible_agents[:]
        return {agent: self.observe(agent) for agent in self.agents}, self._infos()

    def _infos(self):
        info = self._info()
        return {agent: info if self._is_over() or agent == self._mover() else {} for agent in self.agents}

    def step(self, actions):
        if not self.agents:
            raise TimbaError("no agent is left: begin a game with reset")
        mover = self._mover()
        if mover not in actions:
            raise ValueError("the actions %r have none of %s, which has the turn" % (actions, mover))
        rewards, agents = self._act(actions[mover]), self.agents
        result = ({agent: self.observe(agent) for agent in agents}, {agent: rewards[int(agent[5:])] for agent in agents},
                  dict.fromkeys(agents, self._is_over()), dict.fromkeys(agents, False), self._infos())
        if self._is_over():
            self.agents = []
        return result


def play(policy):
    """Play matches as a bot: read the referee's lines from stdin and write moves to stdout.

    policy is a function of an observation and an info, as Gym gives them, that returns an action.
    What it prints goes to stderr, the bot's log. "timba match brisca 'python3 bot.py' @greedy"
    plays a bot whose program calls play.
    """
    out, sys.stdout = sys.stdout, sys.stderr
    env = seat = view = None
    known, environments = {}, {}  # options by game; environments by game and options
    for line in sys.stdin:
        line = line.rstrip("\r\n")
        verb, _, rest = line.partition(" ")
        if verb == "timba":
            print("ready", file=out, flush=True)
        elif verb == "game":
            name, *pairs = rest.split(" ")
            given = dict(pair.split("=", 1) for pair in pairs)
            seat = int(given["seat"])
            if name not in known:
                with Batch(name) as batch:
                    known[name] = batch.layout["options"]
            options = {key: given[key] for key in known[name] if key in given}
            key = (name, tuple(options.items()))
            if key not in environments:
                environments[key] = _One(name, options=options)
            env = environments[key]
        elif verb == "view":
            view = line
        elif verb == "turn":
            env.batch.observe(seat, view, line)
            info = env._info()
            del info["deal"]
            action = policy(env._observation(), info)
            if action not in info["legal_actions"]:
                raise ValueError("the policy chose %r of the legal actions %r" % (action, info["legal_actions"]))
            print("move", env.batch.actions[action], file=out, flush=True)
        elif verb == "bye":
            break


if gymnasium is not None:
    for _game in ("brisca", "tute", "podrida", "tebes", "teeko"):
        gymnasium.register("timba/%s-v0" % _game, "timba_env:Gym", kwargs={"game": _game})
