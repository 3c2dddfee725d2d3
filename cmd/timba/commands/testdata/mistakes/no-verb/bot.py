import sys

for line in sys.stdin:
    words = line.split()
    if words[0] == "timba":
        print("ready", flush=True)
    elif words[0] == "turn":
        moves = words[3:]
        print(moves[0], flush=True)
    elif words[0] == "bye":
        break
