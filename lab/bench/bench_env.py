"""Measure random games through a Batch: bench_env.py GAME ARRAYS GAMES SECONDS, with $TIMBA_LAB.

Plays until the time is over and a game has ended. Prints a JSON object: finished games, moves, seconds, and seconds of CPU of this process and of
the server together. ARRAYS is legal, mask or none: how the random action is chosen, the last
without numpy.
"""

import json
import resource
import sys
import time

import timba_env


def cpu(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def main(game, arrays, games, seconds):
    if arrays == "none":
        timba_env.numpy = None
        arrays = "legal"
    numpy = timba_env.numpy
    rng = numpy.random.default_rng(1) if numpy is not None else None
    batch = timba_env.Batch(game, games, arrays=(arrays, "observation"))
    batch.reset(1)
    began, used = time.monotonic(), cpu(resource.RUSAGE_SELF)
    finished = steps = 0
    while time.monotonic() - began < seconds or not finished:
        for _ in range(8):
            batch.step(batch.sample(rng))
            finished += int(batch.over.sum()) if numpy is not None else sum(batch.over)
        steps += 8
    took, used = time.monotonic() - began, cpu(resource.RUSAGE_SELF) - used
    batch.close()
    print(json.dumps({"games": finished, "moves": steps * games, "seconds": took,
                      "cpu": used + cpu(resource.RUSAGE_CHILDREN)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
