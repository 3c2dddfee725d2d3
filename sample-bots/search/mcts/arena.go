package mcts

import (
	"math/bits"
	"slices"

	"github.com/timba-arena/timba/rules"
)

// node is a position in the search tree. The children of a node are adjacent to each other and come after it.
type node struct {
	rewards float64 // sum, over the visits, of Reward for the side whose move led to the node
	first   uint32  // index of the first child in the arena
	visits  uint32
	prior   float32
	move    rules.Move
	kids    uint16 // number of children
}

const nodeSize = 24

// value returns the average reward of the visits, from 0 to 1. The prior of the node counts like k further visits.
// k or n.visits must be above 0.
func (n *node) value(k float32) float32 {
	visits := float32(n.visits)
	return (k*n.prior + float32(n.rewards)) / (k + visits)
}

// arena holds the nodes of one tree in a slice that never grows. The root is the first node.
type arena struct {
	nodes         []node
	used          int
	subtreeBits   []uint64 // bit i is set if keepSubtree keeps node i
	subtreeCounts []uint32 // number of kept nodes before each word of subtreeBits
}

// newArena returns an arena of at most the given size in bytes, but with at least enough memory for the root and
// its children.
func newArena(bytes int) arena {
	words := max(bytes/(64*nodeSize+8+4), (1+rules.MaxMoves+63)/64)
	a := arena{nodes: make([]node, 64*words), subtreeBits: make([]uint64, words), subtreeCounts: make([]uint32, words)}
	a.clear()
	return a
}

func (a *arena) clear() { a.nodes[0], a.used = node{}, 1 }

// addChildren adds a child of the node parent for each move. It returns the index of the first child, or false if
// the arena has no room for them.
func (a *arena) addChildren(parent uint32, moves []rules.Move) (uint32, bool) {
	if a.used+len(moves) > len(a.nodes) {
		return 0, false
	}
	first := uint32(a.used)
	a.used += len(moves)
	for i, m := range moves {
		a.nodes[first+uint32(i)] = node{move: m}
	}
	n := &a.nodes[parent]
	n.first, n.kids = first, uint16(len(moves))
	return first, true
}

// hasMoves reports whether the node parent has children for exactly these moves, in this order, or no children yet.
func (a *arena) hasMoves(parent uint32, moves []rules.Move) bool {
	n := &a.nodes[parent]
	return n.kids == 0 || slices.EqualFunc(a.nodes[n.first:n.first+uint32(n.kids)], moves,
		func(kid node, m rules.Move) bool { return kid.move == m })
}

// keepSubtree makes the node with index root the root of the tree and removes all nodes that are not below it.
// Children come after their parents, so that one pass finds the subtree and a second one moves it to the front.
func (a *arena) keepSubtree(root uint32) {
	clear(a.subtreeBits)
	a.subtreeBits[root/64] |= 1 << (root % 64)
	for i := root; i < uint32(a.used); i++ {
		if n := &a.nodes[i]; a.inSubtree(i) {
			for kid := n.first; kid < n.first+uint32(n.kids); kid++ {
				a.subtreeBits[kid/64] |= 1 << (kid % 64)
			}
		}
	}
	sum := uint32(0)
	for w, word := range a.subtreeBits {
		a.subtreeCounts[w] = sum
		sum += uint32(bits.OnesCount64(word))
	}
	to := 0
	for i := root; i < uint32(a.used); i++ {
		if !a.inSubtree(i) {
			continue
		}
		n := a.nodes[i]
		if n.kids > 0 {
			n.first = a.countBefore(n.first)
		}
		a.nodes[to] = n
		to++
	}
	a.used = to
}

func (a *arena) inSubtree(i uint32) bool { return a.subtreeBits[i/64]>>(i%64)&1 != 0 }

func (a *arena) countBefore(i uint32) uint32 {
	return a.subtreeCounts[i/64] + uint32(bits.OnesCount64(a.subtreeBits[i/64]&(1<<(i%64)-1)))
}
