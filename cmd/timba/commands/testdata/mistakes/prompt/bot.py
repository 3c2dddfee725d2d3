while True:
    line = input("> ")
    words = line.split()
    if words[0] == "timba": print("ready")
    elif words[0] == "turn": print("move", words[3])
    elif words[0] == "bye": break
