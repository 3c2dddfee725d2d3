
import sys
print("ready", flush=True) if input() else 0
def ask():
    while True:
        words = input().split()
        if words[0] == "bye": sys.exit()
        if words[0] == "turn": return words[3:]
while True:
    moves = ask()
    print("Your move: ", end="")
    print(moves[0], flush=True)
