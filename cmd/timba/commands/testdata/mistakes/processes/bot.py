import sys, threading, time
for line in sys.stdin:
    words = line.split()
    if words[0] == "timba":
        print("ready", flush=True)
    elif words[0] == "turn":
        for _ in range(200): threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        print("move", words[3], flush=True)
    elif words[0] == "bye":
        break
