package rating

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// Entry is the state of one version on a ladder: its rating, and its numbers of matches, wins, draws, losses and
// faults. Every match changes it.
type Entry struct {
	VersionID int64
	Player
	Matches int
	rules.Record
	Faults int
}

// NewEntry returns the entry of a version that is new on a ladder. predecessor is the entry of the bot's previous
// version on the ladder, whose Elo the new version takes over; it may be nil. If anchor is true, the version instead
// gets the fixed Elo f.Anchor.
func (f Formula) NewEntry(versionID int64, predecessor *Entry, anchor bool) Entry {
	e := Entry{VersionID: versionID, Player: Player{Elo: f.Start, Uncertainty: f.Newcomer}}
	switch {
	case anchor:
		e.Player = Player{Elo: f.Anchor, Fixed: true}
	case predecessor != nil:
		e.Elo = predecessor.Elo
	}
	return e
}

// PairChange is what a match adds to the results between two versions, A and B. The ID A is smaller than the ID B.
type PairChange struct {
	A, B                  int64        // IDs of the versions
	Deals, Score, Squares float64      // as in stats.Pair: number of deals, and sums of A's scores and of their squares
	Games                 rules.Record // of A against B: a win is a game in which A had the better rank
}

// Outcome is the effect of a finished match on its ladder: the new ratings and totals of the versions that played,
// and what the match adds to the results of each pair of these versions.
type Outcome struct {
	Entries  []Entry         // the versions' entries after the match, by slot
	Changes  []ladder.Change // the changes of their ratings, by slot
	Pairs    []PairChange
	Distinct int // number of deals that count
}

// Outcome returns how the finished match m changes its ladder. v has the rules of its game, before has the entries of
// the versions in m, and games has all games of the match, in any order. Outcome does not check whether games are
// missing; CheckComplete does. It returns an error if a game cannot belong to the match, or if a deal has no games.
//
// A deal does not count if all its games are marked as Repeated. The smaller the part of the deals that count, the
// smaller are the changes of the ratings; if none counts, the ratings stay. If the match ended early, only complete
// deals count, and the deal in which a connection was lost.
func (f Formula) Outcome(m ladder.Match, v *rules.Variant, before []Entry, games []ladder.FinishedGame) (Outcome, error) {
	sides, err := ladder.SlotSides(v, len(before))
	if err != nil {
		return Outcome{}, err
	}
	all, err := dealsOf(m.Deals, v, len(before), games)
	if err != nil {
		return Outcome{}, err
	}
	whole := completeDeals(m.Deals, len(before), games)
	deals := markedDeals(all, distinctDeals(whole, games))
	out := Outcome{Distinct: len(deals)}
	if len(deals) == 0 {
		deals = markedDeals(all, whole) // the changes have a score even if they change nothing
	}
	if slices.ContainsFunc(deals, func(d stats.Deal) bool { return len(d) == 0 }) {
		return Outcome{}, errors.New("rating: a deal has no games")
	}
	out.moveRatings(f, m, before, sides, deals)
	for _, g := range games {
		out.countGame(v, g)
	}
	out.addPairs(before, sides, deals, games)
	return out, nil
}

// dealsOf returns the result of each deal, over all seatings of the versions. deals and slots are the numbers of
// deals and of versions in the match. It returns an error if a game cannot belong to the match.
func dealsOf(deals int, v *rules.Variant, slots int, games []ladder.FinishedGame) ([]stats.Deal, error) {
	results := make([]stats.DealResult, deals)
	for _, g := range games {
		if err := checkGame(g, deals, v.Players, slots); err != nil {
			return nil, err
		}
		slots, ranks, points := seatValues(g)
		results[g.Deal].Add(stats.Seats(slots, v.Side, ranks, points))
	}
	out := make([]stats.Deal, deals)
	for i := range results {
		out[i] = results[i].Deal()
	}
	return out, nil
}

// completeDeals returns for each deal whether it counts as complete. If no connection was lost, all deals do.
// Otherwise a deal is complete if it has a game for each of the rotations (seatings of the versions), or if the
// connection was lost in one of its games.
func completeDeals(deals, rotations int, games []ladder.FinishedGame) []bool {
	if !slices.ContainsFunc(games, isLost) {
		return slices.Repeat([]bool{true}, deals)
	}
	played, whole := make([]int, deals), make([]bool, deals)
	for _, g := range games {
		played[g.Deal]++
		if played[g.Deal] == rotations || g.Lost {
			whole[g.Deal] = true
		}
	}
	return whole
}

func isLost(g ladder.FinishedGame) bool { return g.Lost }

// markedDeals returns the elements deals[i] for which marked[i] is true.
func markedDeals(deals []stats.Deal, marked []bool) (out []stats.Deal) {
	for i, d := range deals {
		if marked[i] {
			out = append(out, d)
		}
	}
	return out
}

// distinctDeals returns for each deal whether it counts: it must be marked and have a game that does not repeat an
// earlier one. A marked deal without any game also counts; Outcome then returns an error.
func distinctDeals(marked []bool, games []ladder.FinishedGame) []bool {
	fresh, repeated := make([]bool, len(marked)), make([]bool, len(marked))
	for _, g := range games {
		fresh[g.Deal] = fresh[g.Deal] || !g.Repeated
		repeated[g.Deal] = repeated[g.Deal] || g.Repeated
	}
	out := make([]bool, len(marked))
	for i := range out {
		out[i] = marked[i] && (fresh[i] || !repeated[i])
	}
	return out
}

// CheckComplete returns an error unless games has one game for each deal and rotation (seating of the versions) of a
// match, in order. deals and rotations are their numbers. If a connection was lost in one of the games, the match
// ended early, and other games may be missing.
func CheckComplete(deals, rotations int, games []ladder.FinishedGame) error {
	want := deals * rotations
	if len(games) > want || len(games) < want && !slices.ContainsFunc(games, isLost) {
		return fmt.Errorf("there are %d games, not %d deals in %d rotations", len(games), deals, rotations)
	}
	last := -1
	for i, g := range games {
		place := g.Deal*rotations + g.Rotation
		if g.Deal < 0 || g.Deal >= deals || g.Rotation < 0 || g.Rotation >= rotations || place <= last || len(games) == want && place != i {
			return fmt.Errorf("deal %d, rotation %d is there where deal %d, rotation %d is due", g.Deal, g.Rotation, (last+1)/rotations, (last+1)%rotations)
		}
		last = place
	}
	return nil
}

// checkGame returns an error if the game g cannot belong to a match. deals and slots are the numbers of deals and of
// versions in the match, and players is the number of players of a game.
func checkGame(g ladder.FinishedGame, deals, players, slots int) error {
	if g.Deal < 0 || g.Deal >= deals || len(g.Seats) != players {
		return fmt.Errorf("rating: a game of deal %d with %d seats is not one of %d deals with %d seats", g.Deal, len(g.Seats), deals, players)
	}
	for i, s := range g.Seats {
		if s.Seat != i || s.Slot < 0 || s.Slot >= slots {
			return fmt.Errorf("rating: deal %d, rotation %d: seat %d of slot %d is where seat %d of one of the %d slots is due", g.Deal, g.Rotation, s.Seat, s.Slot, i, slots)
		}
		if math.IsNaN(s.Points) || math.IsInf(s.Points, 0) {
			return fmt.Errorf("rating: deal %d, rotation %d: seat %d has %v points, not a finite number", g.Deal, g.Rotation, i, s.Points)
		}
	}
	return nil
}

// moveRatings computes the ratings after the match m and stores the changes in o.Changes and the entries after the
// match in o.Entries. before has the entries before the match. deals are the deals that count; o.Distinct must be
// their number. sides has the side of each version.
func (o *Outcome) moveRatings(f Formula, m ladder.Match, before []Entry, sides []int, deals []stats.Deal) {
	players := make([]Player, len(before))
	for slot, e := range before {
		players[slot] = e.Player
	}
	o.Changes = f.matchChanges(players, sides, deals, float64(o.Distinct)/float64(m.Deals))
	for slot, e := range before {
		c := &o.Changes[slot]
		e.Elo, e.Uncertainty = c.EloAfter, c.Uncertainty
		e.Matches++
		o.Entries = append(o.Entries, e)
		c.MatchID, c.Ladder, c.VersionID, c.Slot, c.Number, c.Deals = m.ID, m.Ladder, e.VersionID, slot, e.Matches, o.Distinct
	}
}

// countGame adds a game to the wins, draws, losses and faults of each version.
func (o *Outcome) countGame(v *rules.Variant, g ladder.FinishedGame) {
	for _, s := range g.Seats {
		o.Entries[s.Slot].Faults += s.Faults
	}
	slots, ranks, _ := seatValues(g)
	for slot, record := range rules.Records(v, slots, ranks) {
		o.Entries[slot].Record.Add(record)
	}
}

func seatValues(g ladder.FinishedGame) (slots, ranks []int, points []float64) {
	for _, s := range g.Seats {
		slots, ranks, points = append(slots, s.Slot), append(ranks, s.Rank), append(points, s.Points)
	}
	return slots, ranks, points
}

// addPairs sets o.Pairs: what the match adds to the results of each pair of opponents. If no deal counts, it adds
// only games.
func (o *Outcome) addPairs(before []Entry, sides []int, deals []stats.Deal, games []ladder.FinishedGame) {
	for _, p := range pairCounts(deals, sides) {
		met := meetingRecord(games, p.A, p.B)
		if o.Distinct == 0 {
			p.Deals, p.Score, p.Squares = 0, 0, 0
		}
		a, b := before[p.A].VersionID, before[p.B].VersionID
		if a > b {
			a, b, p = b, a, p.Reverse()
			met.Wins, met.Losses = met.Losses, met.Wins
		}
		o.Pairs = append(o.Pairs, PairChange{A: a, B: b, Deals: p.Deals, Score: p.Score, Squares: p.Squares, Games: met})
	}
}

// meetingRecord returns the wins, draws and losses of slot a against slot b. A slot is the place of a version in the
// match, and b must play for another side than a. All seats of a slot have the same side and rank.
func meetingRecord(games []ladder.FinishedGame, a, b int) (out rules.Record) {
	for _, g := range games {
		ahead := g.Seats[seatOf(g, b)].Rank - g.Seats[seatOf(g, a)].Rank
		out.Games++
		switch {
		case ahead > 0:
			out.Wins++
		case ahead < 0:
			out.Losses++
		default:
			out.Draws++
		}
	}
	return out
}

func seatOf(g ladder.FinishedGame, slot int) int {
	return slices.IndexFunc(g.Seats, func(s ladder.GameSeat) bool { return s.Slot == slot })
}
