package ismcts

import (
	"math"

	"github.com/timba-arena/timba/rules"
)

// node is a node of the search tree. It stands for a sequence of moves: those of its parent and one more.
type node struct {
	parent     uint32 // index of the parent in the arena
	generation uint32 // number of the search that added it; nodes of earlier searches are empty slots
	visits     uint32 // number of iterations through this node
	// chances is the number of iterations that reached the parent and in which the move was legal. If the memory is
	// full, selectByGuess may count an iteration twice.
	chances uint32
	score   float64 // sum, over the visits, of the score of the seat that made the move
	move    rules.Move
}

const (
	nodeSize = 32
	root     = ^uint32(0) // index that stands for the parent of the first moves, which has no entry
	noNode   = root - 1   // index that stands for a node that does not exist
)

// arena has the nodes of one tree, in a hash table whose key is the parent and the move. Many moves can follow a
// node, depending on the hidden cards. The time to look up the moves that are legal now does not depend on the
// others. The table never grows.
type arena struct {
	nodes      []node
	shift      uint8
	generation uint32
	used       int
	maxNodes   int // limit below the size of the table, because a fuller table would be slow
}

// newArena returns an arena of at most the given size in bytes. Sizes below 16 KiB are raised to 16 KiB.
func newArena(bytes int) arena {
	a := arena{nodes: nil, shift: 64}
	n := 1
	for n < 2*rules.MaxMoves || n*2*nodeSize <= bytes {
		n *= 2
		a.shift--
	}
	a.nodes, a.maxNodes = make([]node, n), n*3/4
	a.clear()
	return a
}

// clear removes all nodes. It increases the generation, so that existing entries count as empty. It writes to the
// table only when the generation overflows.
func (a *arena) clear() {
	a.used = 0
	if a.generation++; a.generation == 0 {
		clear(a.nodes)
		a.generation = 1
	}
}

// find looks for the child of the node parent that belongs to move m. If the child exists, place is its index and
// free is noNode. Otherwise place is noNode, and free is an index at which the child may be added.
func (a *arena) find(parent uint32, m rules.Move) (place, free uint32) {
	mask := uint32(len(a.nodes) - 1)
	h := (uint64(parent)<<16 | uint64(m)) * 0x9e3779b97f4a7c15
	for i := uint32(h >> a.shift); ; i++ {
		n := &a.nodes[i&mask]
		if n.generation != a.generation {
			return noNode, i & mask
		}
		if n.parent == parent && n.move == m {
			return i & mask, noNode
		}
	}
}

// add adds a child of the node parent, for move m, and returns its index. The child must not exist yet. If the
// arena is full, add returns noNode.
func (a *arena) add(parent uint32, m rules.Move) uint32 {
	if a.used == a.maxNodes {
		return noNode
	}
	a.used++
	_, free := a.find(parent, m)
	a.nodes[free] = node{parent: parent, generation: a.generation, chances: 1, move: m}
	return free
}

// mostVisited returns the index of the child of parent with the most visits. Among several it returns the one with
// the highest score. If there is no child, it returns noNode.
func (a *arena) mostVisited(parent uint32) uint32 {
	best := noNode
	for m := range rules.Move(maxMove) {
		i, _ := a.find(parent, m)
		if i == noNode {
			continue
		}
		if best == noNode {
			best = i
		}
		n, b := &a.nodes[i], &a.nodes[best]
		if n.visits > b.visits || n.visits == b.visits && n.score > b.score {
			best = i
		}
	}
	return best
}

// logs has the natural logarithms of small whole numbers, by number. For 0 it has 0.
var logs = func() (l [1 << 12]float32) {
	for i := range l {
		l[i] = float32(math.Log(float64(max(i, 1))))
	}
	return l
}()

func log(n uint32) float32 {
	if n < uint32(len(logs)) {
		return logs[n]
	}
	return float32(math.Log(float64(n)))
}
