package tournament

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Format is how bots are put together.
type Format string

// The formats.
const (
	Single     Format = "single"      // one match between all bots as they are named
	RoundRobin Format = "round-robin" // every group of bots that fills a table meets once
	Gauntlet   Format = "gauntlet"    // the first bot meets every group of the others
	Swiss      Format = "swiss"       // rounds between bots that do equally well and have not met
	Knockout   Format = "knockout"    // rounds from which the winner of each table goes on
)

// Formats are those that a user can name.
var Formats = []Format{RoundRobin, Gauntlet, Swiss, Knockout}

// maxMatches keeps a slip of the hand from filling a disk.
const maxMatches = 100_000

func (f Format) check(t *Tournament) error {
	n, k := len(t.Bots), t.Variant.Sides
	switch f {
	case Single:
		if n > t.Variant.Players {
			return fmt.Errorf("tournament: %d bots are too many for one match at %d seats: choose a format", n, t.Variant.Players)
		}
		return nil
	case RoundRobin, Gauntlet, Swiss:
		if n < k {
			return fmt.Errorf("tournament: %s needs %d bots or more to fill a table, not %d: name more bots or leave the format out", f, k, n)
		}
		if f == RoundRobin && choose(n, k) > maxMatches || f == Gauntlet && choose(n-1, k-1) > maxMatches {
			return fmt.Errorf("tournament: %s with %d bots at tables of %d would be more than %d matches: try --format swiss", f, n, k, maxMatches)
		}
		if t.Rounds < 0 {
			return fmt.Errorf("tournament: rounds cannot be %d: try 1 or more", t.Rounds)
		}
		return nil
	case Knockout:
		if n < 2 {
			return fmt.Errorf("tournament: %s needs two bots or more", f)
		}
		return nil
	}
	var names []string
	for _, f := range Formats {
		names = append(names, string(f))
	}
	return fmt.Errorf("tournament: format %q does not exist: try %s", f, strings.Join(names, ", "))
}

// choose returns n over k, or some number above maxMatches.
func choose(n, k int) int {
	c := 1
	for i := range k {
		if c = c * (n - i) / (i + 1); c > maxMatches*100 {
			break
		}
	}
	return c
}

// round returns the tables of a round: the bots by number in the order of their
// seats, one alone for a bye. There are none when the tournament is over.
func (f Format) round(t *Tournament, round int) [][]int {
	n, k := len(t.Bots), t.Variant.Sides
	switch f {
	case Single:
		if round == 0 {
			return [][]int{upTo(n)}
		}
	case RoundRobin:
		if round == 0 {
			return combinations(upTo(n), k)
		}
	case Gauntlet:
		if round == 0 {
			var tables [][]int
			for _, others := range combinations(upTo(n)[1:], k-1) {
				tables = append(tables, append([]int{0}, others...))
			}
			return tables
		}
	case Swiss:
		if round < t.swissRounds() {
			return swiss(t, k)
		}
	case Knockout:
		return knockout(t, round, k)
	}
	return nil
}

// swissRounds returns how many rounds a Swiss tournament has.
func (t *Tournament) swissRounds() int {
	if t.Rounds > 0 {
		return t.Rounds
	}
	return bits.Len(uint(len(t.Bots)-1)) + 1
}

// champion returns who has won a tournament that has a winner of all and is over:
// the winner of a knockout's last table, the first in the standings of a Swiss
// tournament. It is -1 otherwise.
func (f Format) champion(t *Tournament, s []Standing) int {
	if len(t.matches) == 0 || !t.allFinished(t.matches) {
		return -1
	}
	last := t.matches[len(t.matches)-1]
	switch {
	case f == Swiss && last.Round+1 == t.swissRounds():
		return s[0].Bot
	case f == Knockout && !slices.ContainsFunc(t.matches, func(m *Match) bool { return m != last && m.Round == last.Round }):
		return last.Winner()
	}
	return -1
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// combinations returns all groups of k, each in the order of s.
func combinations(s []int, k int) [][]int {
	if k == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for i := range s {
		for _, rest := range combinations(s[i+1:], k-1) {
			all = append(all, append([]int{s[i]}, rest...))
		}
	}
	return all
}

// knockout seeds the bots in the order in which they were named: the first meet
// the last, and byes go to the first.
func knockout(t *Tournament, round, k int) [][]int {
	alive := upTo(len(t.Bots))
	if round > 0 {
		alive = nil
		for _, m := range t.matches {
			if m.Round == round-1 {
				alive = append(alive, m.Winner())
			}
		}
		slices.Sort(alive)
	}
	if len(alive) == 1 {
		return nil
	}
	tables := knockoutTables(len(alive), k)
	seats := make([][]int, tables)
	for i, b := range alive {
		row, column := i/tables, i%tables
		if row%2 == 1 {
			column = tables - 1 - column
		}
		seats[column] = append(seats[column], b)
	}
	return seats
}

// knockoutTables returns how many tables a round between n bots has: as many as the next lower
// power of k, so that byes come only in the first round.
func knockoutTables(n, k int) int {
	tables := 1
	for tables*k < n {
		tables *= k
	}
	return tables
}

// Points returns the match points of the bots, for standings: the share of the
// duels that each won, over all deals, from 0 to 1; a bye is a whole point.
func (m *Match) Points() []float64 {
	if len(m.Bots) == 1 {
		return []float64{1}
	}
	points, duels := make([]float64, len(m.Bots)), make([]float64, len(m.Bots))
	for deal := range m.finishedDeals() {
		for _, d := range deal {
			a, b := slices.Index(m.Bots, d.A), slices.Index(m.Bots, d.B)
			points[a] += d.Score
			points[b] += 1 - d.Score
			duels[a]++
			duels[b]++
		}
	}
	for i := range points {
		if duels[i] > 0 {
			points[i] /= duels[i]
		}
	}
	return points
}

// Winner returns who goes on, a number of the tournament's: the bot with the most points, then with the most points
// of the game, then the one named first.
func (m *Match) Winner() int {
	best, _ := m.winner()
	return m.Bots[best]
}

// TieBreak says what decided between bots with the most match points each, "" where only one had them.
func (m *Match) TieBreak() string {
	_, by := m.winner()
	return by
}

// winner returns the place of the winner in the match, and what broke the tie.
func (m *Match) winner() (best int, tieBreak string) {
	points := m.Points()
	for i := 1; i < len(m.Bots); i++ {
		score := cmp.Compare(points[i], points[best])
		game := cmp.Compare(m.Tally.Scores[i].Points, m.Tally.Scores[best].Points)
		switch {
		case score > 0:
			tieBreak = ""
		case score == 0 && game == 0:
			tieBreak = byOrder
		case score == 0 && (game > 0 || tieBreak == ""):
			tieBreak = byGamePoints
		}
		if score > 0 || score == 0 && game > 0 {
			best = i
		}
	}
	return best, tieBreak
}

// What breaks a tie in a knockout.
const (
	byGamePoints = "more points in the games"
	byOrder      = "named first"
)
