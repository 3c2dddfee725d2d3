package tournament

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"github.com/timba-arena/timba/rules"
)

// Format says which bots of a tournament meet each other.
type Format string

// The formats. A table is a group of bots that play one match, one bot for each side of the game.
const (
	Single     Format = "single"      // one match between all bots
	RoundRobin Format = "round-robin" // every group of bots plays at one table
	Gauntlet   Format = "gauntlet"    // the first bot plays at one table with every group of other bots
	Swiss      Format = "swiss"       // in each round bots meet that have similar results and have not met before
	Knockout   Format = "knockout"    // the winner of each table plays in the next round
)

// Formats are the formats that a user can choose. If the user chooses none, the format is Single.
var Formats = []Format{RoundRobin, Gauntlet, Swiss, Knockout}

// InRounds reports whether a tournament of this format is played in rounds, where the results of one round decide
// which bots meet in the next.
func (f Format) InRounds() bool { return f == Swiss || f == Knockout }

// maxMatches is the largest number of matches of a tournament. It keeps a typing error from filling the disk.
const maxMatches = 100_000

// checkFormat returns an error if the format does not allow the number of bots or of rounds.
func (c *Config) checkFormat(v *rules.Variant) error {
	n, k, f := len(c.Bots), v.Sides, c.Format
	switch f {
	case Single:
		if n > v.Players {
			return fmt.Errorf("tournament: %d bots are too many for one match at %d seats: choose a format", n, v.Players)
		}
		return nil
	case RoundRobin, Gauntlet, Swiss:
		if n < k {
			return fmt.Errorf("tournament: %s needs %d bots or more to fill a table, not %d: name more bots, set fewer players, or leave the format out", f, k, n)
		}
		if f == RoundRobin && tooMany(n, k) || f == Gauntlet && tooMany(n-1, k-1) {
			return fmt.Errorf("tournament: %s with %d bots at tables of %d would be more than %d matches: try --format swiss", f, n, k, maxMatches)
		}
		if c.Rounds < 0 {
			return fmt.Errorf("tournament: rounds cannot be %d: try 1 or more", c.Rounds)
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

func tooMany(n, k int) bool {
	return combin.GeneralizedBinomial(float64(n), float64(k)) > maxMatches+0.5
}

// tables returns the groups of bots that play the matches of a round, called tables. All matches of the previous
// round must be finished. A table lists the numbers of its bots in the order of their seats. A table with one bot
// means that the bot does not play in this round (a bye). If the tournament is over, the result is empty.
func (s *State) tables(round int) [][]int {
	n, k := len(s.Bots), s.Variant.Sides
	switch s.Format {
	case Single:
		if round == 0 {
			return [][]int{upTo(n)}
		}
	case RoundRobin:
		if round == 0 {
			return combin.Combinations(n, k)
		}
	case Gauntlet:
		if round == 0 {
			var tables [][]int
			for _, others := range combin.Combinations(n-1, k-1) {
				table := []int{0}
				for _, b := range others {
					table = append(table, b+1)
				}
				tables = append(tables, table)
			}
			return tables
		}
	case Swiss:
		if round < s.LastRound() {
			return s.swiss(k)
		}
	case Knockout:
		return s.knockout(round, k)
	}
	return nil
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// knockout returns the groups of bots, called tables, that play the matches of a knockout round. Each has at most k
// bots. The order in which the user named the bots is their seeding: the first bots meet the last ones. If the bots
// do not fill all tables, the first bots get a table with fewer opponents or none (a bye).
func (s *State) knockout(round, k int) [][]int {
	alive := upTo(len(s.Bots))
	if round > 0 {
		alive = nil
		for _, m := range s.matches {
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

// knockoutTables returns the number of tables (matches of k bots) in a knockout round with n bots. It is the smallest
// power of k for which the tables have room for all bots, so that tables are incomplete only in the first round.
func knockoutTables(n, k int) int {
	tables := 1
	for tables*k < n {
		tables *= k
	}
	return tables
}

// swiss returns the tables of the next round of a Swiss tournament. A table is the list of the numbers of up to k
// bots that play one match.
func (s *State) swiss(k int) [][]int {
	n := len(s.Bots)
	byes, met := make([]int, n), make([][]int, n)
	for b := range met {
		met[b] = make([]int, n)
	}
	for _, m := range s.matches {
		if len(m.Bots) == 1 {
			byes[m.Bots[0]]++
		}
		for _, a := range m.Bots {
			for _, b := range m.Bots {
				met[a][b]++
			}
		}
	}
	return swissTables(s.matchPoints(), byes, met, k)
}

// swissTables returns the groups of k bots that play the matches of a round of a Swiss tournament. Bots with similar
// match points meet, and repeated meetings are avoided. points and byes have the points and the number of byes of
// each bot; met[a][b] is how often bots a and b have met. If the number of bots is not divisible by k, some bots get
// a bye, a group of one bot. These are the bots with the fewest byes and, among equals, the last ones in the
// standings.
func swissTables(points []float64, byes []int, met [][]int, k int) [][]int {
	standing := upTo(len(points))
	slices.SortStableFunc(standing, func(a, b int) int { return cmp.Compare(points[b], points[a]) })
	var alone [][]int
	for len(standing)%k != 0 {
		last := 0
		for i, b := range standing {
			if byes[b] <= byes[standing[last]] {
				last = i
			}
		}
		alone = append(alone, []int{standing[last]})
		standing = slices.Delete(standing, last, last+1)
	}
	return append(fillTables(standing, k, met), alone...)
}

// maxSteps is the largest number of steps of one search in fillTables for groups without too many repeated meetings.
const maxSteps = 100_000

// fillTables divides bots into groups of k, called tables, with as few repeated meetings as possible. standing lists
// the bots, the best first; bots that are near each other in it get the same table. met[a][b] is how often the bots a
// and b have met. If an exact search takes too many steps, fillTables divides standing in order and improves the
// tables by swaps.
func fillTables(standing []int, k int, met [][]int) [][]int {
	for budget := 0; ; budget++ {
		s := seating{k: k, meetings: met, steps: maxSteps}
		if s.seat(standing, nil, 0, budget) {
			return s.tables
		}
		if s.steps < 0 {
			tables := slices.Collect(slices.Chunk(slices.Clone(standing), k))
			for improveTables(tables, met) {
			}
			return tables
		}
	}
}

// improveTables swaps bots between tables (the groups that play one match) where that reduces the number of repeated
// meetings. met[a][b] is how often the bots a and b have met. It reports whether it swapped any.
func improveTables(tables [][]int, met [][]int) (better bool) {
	// cost counts the meetings of a bot with a table if it takes a place there.
	cost := func(bot int, table []int, place int) (n int) {
		for i, b := range table {
			if i != place {
				n += met[bot][b]
			}
		}
		return n
	}
	for i, a := range tables {
		for _, b := range tables[i+1:] {
			for x := range a {
				for y := range b {
					if cost(b[y], a, x)+cost(a[x], b, y) < cost(a[x], a, x)+cost(b[y], b, y) {
						a[x], b[y] = b[y], a[x]
						better = true
					}
				}
			}
		}
	}
	return better
}

// seating is the state of an exact search that divides bots into tables, groups of k bots that play one match.
type seating struct {
	k        int
	meetings [][]int // by the numbers of two bots, how often they have met
	steps    int     // number of steps that are left
	tables   [][]int
}

// seat searches for tables (groups of k bots) in which at most budget meetings of two bots are repetitions, and
// stores them in s.tables. It first completes table with bots from standing[from:]. Then it divides the remaining
// bots of standing. It returns false if there are no such tables, or if the search takes too many steps.
func (s *seating) seat(standing, table []int, from, budget int) bool {
	if len(table) == s.k {
		s.tables = append(s.tables, slices.Clone(table))
		if s.seat(standing, nil, 0, budget) {
			return true
		}
		s.tables = s.tables[:len(s.tables)-1]
		return false
	}
	if len(standing) == 0 {
		return true
	}
	for i := from; i < len(standing); i++ {
		if s.steps--; s.steps < 0 {
			return false
		}
		cost := 0
		for _, b := range table {
			cost += s.meetings[b][standing[i]]
		}
		if cost <= budget {
			rest := slices.Delete(slices.Clone(standing), i, i+1)
			if s.seat(rest, append(table, standing[i]), i, budget-cost) {
				return true
			}
		}
		if len(table) == 0 {
			return false // the first bot of the standing must be at this table
		}
	}
	return false
}

// Total returns the number of deals and of games in all matches of the tournament, including rounds to come. If
// there is a sequential test, which may end a match early, both are upper bounds.
func (s *State) Total() (deals, games int) {
	n, k := len(s.Bots), s.Variant.Sides
	tables, seats := 1, s.rotations(n)
	switch s.Format {
	case RoundRobin:
		tables = combin.Binomial(n, k)
		seats = tables * k
	case Gauntlet:
		tables = combin.Binomial(n-1, k-1)
		seats = tables * k
	case Swiss:
		tables = n / k * s.LastRound()
		seats = tables * k
	case Knockout:
		tables, seats = 0, 0
		for n > 1 {
			all := knockoutTables(n, k)
			byes := 0
			if n < 2*all { // some tables have only one bot
				byes = 2*all - n
			}
			tables, seats = tables+all-byes, seats+n-byes
			n = all
		}
	}
	return s.Deals * tables, s.Deals * seats
}

// LastRound returns the number of rounds that the tournament has in all, including those to come. It is 1 for a
// format without rounds.
func (s *State) LastRound() int {
	n, k, rounds := len(s.Bots), s.Variant.Sides, 0
	switch s.Format {
	case Swiss:
		if s.Rounds > 0 {
			return s.Rounds
		}
		return bits.Len(uint(n-1)) + 1
	case Knockout:
		for n > 1 {
			n = knockoutTables(n, k)
			rounds++
		}
		return rounds
	}
	return 1
}
