package ismcts

import (
	"math"

	"github.com/timba-arena/timba/referee/rules"
)

// node is a sequence of moves. Node 0 is the root, and no node's child.
type node struct {
	first   uint32  // the newest child, 0 for none
	next    uint32  // the sibling that was added before, 0 for none
	visits  uint32  // iterations that went through
	chances uint32  // iterations in which the parent was visited and the move was legal
	score   float64 // of the seat whose move led here, summed over the visits
	move    rules.Move
}

const nodeSize = 32

// arena has the nodes of one tree. It never grows.
type arena struct {
	nodes []node
	used  int
}

// newArena returns an arena of at most so many bytes, but at least the root and its children.
func newArena(bytes int) arena {
	a := arena{nodes: make([]node, max(bytes/nodeSize, 1+rules.MaxMoves))}
	a.clear()
	return a
}

// clear leaves a root alone.
func (a *arena) clear() { a.nodes[0], a.used = node{}, 1 }

// add gives a node one more child, which is about to be visited the first time. It returns 0 if
// there is no room.
func (a *arena) add(parent uint32, m rules.Move) uint32 {
	if a.used == len(a.nodes) {
		return 0
	}
	kid := uint32(a.used)
	a.used++
	a.nodes[kid] = node{next: a.nodes[parent].first, chances: 1, move: m}
	a.nodes[parent].first = kid
	return kid
}

// logs are the logarithms of small numbers.
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
