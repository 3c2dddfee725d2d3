import sys

for line in sys.stdin:
    words = line.split()
    if words[0] == "timba":
        print("ready", flush=True)
    elif words[0] == "turn":
        moves = words[3:]
        scores = {}
        best = scores[moves[0]]
        print("move", best, flush=True)
    elif words[0] == "bye":
        break
