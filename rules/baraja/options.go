package baraja

import (
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
)

var noYes = []string{"no", "yes"}

// TableOptions returns the options that Brisca and Tute share.
func TableOptions() []rules.Option {
	return []rules.Option{
		{Name: "players", Min: 2, Max: TableSeats, Default: 2, Help: "how many seats play"},
		{Name: "teams", Values: noYes, Help: "with four players: seats 0 and 2 play together against 1 and 3"},
		{Name: "exchange", Values: noYes, Help: "the trump card may be taken for the 7 of trumps, a low one for the 2"},
		{Name: "last10", Values: noYes, Help: "the last trick is worth 10 points more"},
		{Name: "blackhand", Values: noYes, Help: "1, 3 and 12 of trumps in one hand win at once"},
		{Name: "hunt3", Values: noYes, Help: "with two players: the 1 of trumps put on a 3 of trumps that was led wins at once"},
		{Name: "without2", Values: noYes, Help: "with three players: without the 2 of oros, so that the trump card is drawn"},
	}
}

// TableRules holds the option values of a game of Brisca or Tute, one field for each option that TableOptions
// returns. TableRules values can be compared with ==.
type TableRules struct {
	Players   uint8 // 2 to 4
	Teams     bool  // two against two; only with four players
	Exchange  bool
	Last10    bool
	BlackHand bool
	Hunt3     bool // capturing the 3 of trumps with the 1 wins at once; only with two players
	Without2  bool // the pack has no 2 of oros; only with three players
}

const (
	// AllPoints is the sum of the points of all cards. A side that wins at once also gets this number of points.
	AllPoints = 120
	// LastBonus is the number of points that the last trick is worth in addition to its cards if the option
	// last10 is set.
	LastBonus = 10
)

// ReadTableRules returns the rules that the option values in s stand for. It returns an error if teams is set and the
// number of players is not four, if hunt3 (capturing the 3 of trumps with the 1 wins) is set and it is not two, or if
// without2 (the pack has no 2 of oros) is set and it is not three.
func ReadTableRules(s rules.Settings) (TableRules, error) {
	r := TableRules{uint8(s.Int("players")), s.Is("teams"), s.Is("exchange"), s.Is("last10"), s.Is("blackhand"), s.Is("hunt3"), s.Is("without2")}
	if r.Teams && r.Players != 4 {
		return r, phrase.Errorf("option teams cannot be \"yes\" with players=%d: try players=4 or teams=no", r.Players)
	}
	if r.Hunt3 && r.Players != 2 {
		return r, phrase.Errorf("option hunt3 cannot be \"yes\" with players=%d: try players=2 or hunt3=no", r.Players)
	}
	if r.Without2 && r.Players != 3 {
		return r, phrase.Errorf("option without2 cannot be \"yes\" with players=%d: try players=3 or without2=no", r.Players)
	}
	return r, nil
}

// Pack returns the cards of the game in pack order. They must not be modified.
func (r TableRules) Pack() []Card {
	if r.Without2 {
		return pack39
	}
	return Pack40
}

// Sides returns the number of sides that play against each other: 2 in a game of teams, otherwise the number of
// players.
func (r TableRules) Sides() int {
	if r.Teams {
		return 2
	}
	return int(r.Players)
}

// MaxPlies returns the maximum number of moves in a game: one for each card, and two exchanges of the trump
// card if the option allows them.
func (r TableRules) MaxPlies() int {
	if r.Exchange {
		return len(r.Pack()) + 2
	}
	return len(r.Pack())
}

// Bonus returns the points that the last trick is worth in addition to its cards: LastBonus or 0.
func (r TableRules) Bonus() int16 {
	if r.Last10 {
		return LastBonus
	}
	return 0
}
