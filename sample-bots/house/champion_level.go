package house

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
)

// topLevel is the number of the strongest level, which is the unlimited champion. Lower levels are weaker and faster.
const topLevel = 8

const levelName = "level"

// ChampionLevel is an opponent for people: the champion or a weaker form of it.
type ChampionLevel struct {
	Number int // from 1, the weakest
	Name   string
	Spec   string
}

// DefaultLevel is the number of the level of difficulty for people who do not choose one.
const DefaultLevel = 4

var levelNames = [topLevel]string{"beginner", "learner", "amateur", "intermediate", "advanced", "expert", "master", "champion"}

// Levels returns the levels of difficulty of the bot champion, the weakest first. At every level it can play all
// games of the champion. The caller must not change the slice.
var Levels = sync.OnceValue(func() (list []ChampionLevel) {
	for i, name := range levelNames {
		l := ChampionLevel{Number: i + 1, Name: name, Spec: "champion"}
		if l.Number < topLevel {
			l.Spec += fmt.Sprintf(":%s=%d", levelName, l.Number)
		}
		list = append(list, l)
	}
	return list
})

// FindLevel returns the level of difficulty whose name or number is text, such as "expert" or "6". If there is
// none, the error lists the levels.
func FindLevel(text string) (ChampionLevel, error) {
	var all []string
	for _, l := range Levels() {
		if text == l.Name || text == strconv.Itoa(l.Number) {
			return l, nil
		}
		all = append(all, l.Name)
	}
	return ChampionLevel{}, fmt.Errorf("level %q does not exist: try 1 to %d, or %s", text, topLevel, strings.Join(all, ", "))
}

// levelMemory is the maximum size in bytes of the table or tree of a search below the top level of difficulty.
// The few nodes of these levels need no more.
const levelMemory = 4 << 20

// grade says how the bot champion is weakened in one game at one level of difficulty.
type grade struct {
	nodes         uint64 // maximum number of search nodes for a move
	randomPercent int    // percentage of random moves
	sight         sight
}

// sight says which wins in one move a weakened bot never overlooks, although it searches few nodes. It applies only
// to games without hidden cards.
type sight int

const (
	blind      sight = iota // may overlook everything
	seesWin                 // always plays a move that wins at once
	seesThreat              // also avoids random moves after which the other side can win at once
)

// levelGrades says, by the name of a game, how the bot champion is weakened at each level of difficulty: the first
// entry is for level 1, the last for the level below the top. With these entries, the ratings of all neighboring
// levels differ by about the same amount. docs/house-bots.md has the measurements.
var levelGrades = map[string][topLevel - 1]grade{
	"brisca":  {{1, 90, blind}, {1, 66, blind}, {1, 44, blind}, {1, 26, blind}, {1, 9, blind}, {20, 0, blind}, {150, 0, blind}},
	"tute":    {{1, 85, blind}, {1, 27, blind}, {1, 0, blind}, {11, 0, blind}, {20, 0, blind}, {60, 0, blind}, {200, 0, blind}},
	"podrida": {{1, 0, blind}, {2, 0, blind}, {3, 0, blind}, {5, 0, blind}, {11, 0, blind}, {38, 0, blind}, {120, 0, blind}},
	"tebes":   {{10, 90, blind}, {10, 70, blind}, {10, 50, seesWin}, {10, 20, seesThreat}, {120, 0, seesWin}, {600, 0, seesWin}, {8000, 0, seesWin}},
	"teeko":   {{10, 90, blind}, {10, 70, blind}, {10, 60, seesWin}, {10, 20, seesThreat}, {110, 0, seesWin}, {550, 0, seesWin}, {3500, 0, seesWin}},
}

// weaken returns a weaker form of a thinker, with at most the search nodes of g, at most levelMemory bytes, and the
// random moves of g. It calls search with the reduced limits and memory (in bytes) to create the thinker.
func (g grade) weaken(l limits, memory int, search func(limits, int) thinker) thinker {
	if l.nodes == 0 || l.nodes > g.nodes {
		l.nodes = g.nodes
	}
	return &weakThinker{thinker: search(l, min(memory, levelMemory)), grade: g}
}

// weakThinker makes random moves in some turns. Otherwise it makes the moves of the thinker that it contains.
type weakThinker struct {
	thinker
	grade
	legal, replies, safeMoves []rules.Move
}

func (c *weakThinker) think(t *protocol.Turn, s rules.State, r *rules.Rand, info []byte) (rules.Move, []byte) {
	slip := c.randomPercent > r.Below(100)
	c.legal = s.Legal(c.legal[:0])
	if c.sight >= seesWin {
		if i := winningMove(s, c.legal); i >= 0 {
			return c.legal[i], info
		}
	}
	if !slip {
		return c.thinker.think(t, s, r, info)
	}
	moves := c.legal
	if c.sight >= seesThreat {
		if safe := c.findSafeMoves(s); len(safe) > 0 {
			moves = safe
		}
	}
	return moves[r.Below(len(moves))], info
}

// findSafeMoves returns the legal moves of s after which the other side cannot win with its next move. c.legal must
// have the legal moves. The slice is valid until the next call.
func (c *weakThinker) findSafeMoves(s rules.State) []rules.Move {
	c.safeMoves = c.safeMoves[:0]
	for _, m := range c.legal {
		if next := afterMove(s, m); next.Turn() == s.Turn() || winningMove(next, c.legalReplies(next)) < 0 {
			c.safeMoves = append(c.safeMoves, m)
		}
	}
	return c.safeMoves
}

func (c *weakThinker) legalReplies(s rules.State) []rules.Move {
	c.replies = s.Legal(c.replies[:0])
	return c.replies
}

// winningMove returns the index in moves of a move with which the seat to move in s wins at once. If there is none,
// it returns -1.
func winningMove(s rules.State, moves []rules.Move) int {
	for i, m := range moves {
		if next := afterMove(s, m); next.Turn() == rules.Over && next.Points()[s.Turn()] == 1 {
			return i
		}
	}
	return -1
}

func afterMove(s rules.State, m rules.Move) rules.State {
	next := s.Clone()
	next.Apply(m, nil)
	return next
}
