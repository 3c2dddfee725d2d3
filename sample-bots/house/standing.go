package house

// standing are the specs of the bots on the default ladders of a game, the weakest first.
// docs/house-bots.md has their ratings. With the clock of those ladders, each needs some 15 ms at
// most for a move.
var standing = map[string][]string{
	"brisca":  {"random", "champion:level=2", "champion:level=4", "brisca-basic", "brisca-weighted", "greedy", "brisca-plus", "champion"},
	"tute":    {"random", "champion:level=2", "champion:level=4", "greedy", "champion:level=6", "champion"},
	"podrida": {"random", "champion:level=3", "champion:level=5", "podrida-rules", "greedy", "champion:level=6", "podrida-mcts", "champion"},
	"tebes":   {"random", "champion:level=1", "champion:level=2", "tebes-mcts", "champion:level=3", "greedy", "champion:level=6", "tebes-minimax", "champion"},
	"teeko":   {"random", "champion:level=1", "champion:level=2", "champion:level=3", "teeko-lms", "greedy", "champion:level=6", "champion"},
}
