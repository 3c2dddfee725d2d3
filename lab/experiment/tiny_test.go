package experiment

// tiny is an experiment with two matches.
const tiny = `
title = "Tiny"
study = "nobody"
cost = "1 s"
games = 20
game = "teeko"
options = {limit = "40", opening = "2"}
[bots]
greedy = "@greedy"
random = "@random"
[[match]]
bots = ["greedy", "random"]
[[match]]
name = "the same"
bots = ["random", "random"]
fixed = true
[[table]]
number = "1"
title = "won"
measure = "wins"
of = ["greedy", "random"]
published = [[90, 10], [nan, nan]]
[[table]]
number = "2"
title = "turns"
measure = "turns"
published = [[20], [30]]
total = [25.0]
`
