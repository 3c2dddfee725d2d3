package baraja

import (
	"fmt"

	"github.com/timba-arena/timba/referee/rules"
)

var noYes = []string{"no", "yes"}

// TableOptions is the options that Brisca and Tute have in common.
func TableOptions() []rules.Option {
	return []rules.Option{
		{Name: "players", Min: 2, Max: TableSeats, Default: 2, Help: "how many seats play"},
		{Name: "teams", Values: noYes, Help: "with four players: seats 0 and 2 play together against 1 and 3"},
		{Name: "exchange", Values: noYes, Help: "the trump card may be had for the 7 of trumps, a low one for the 2"},
		{Name: "last10", Values: noYes, Help: "the last trick is worth 10 points more"},
		{Name: "blackhand", Values: noYes, Help: "1, 3 and 12 of trumps in one hand win at once"},
		{Name: "hunt3", Values: noYes, Help: "with two players: the 1 of trumps put on a 3 of trumps that was led wins at once"},
	}
}

// CheckTableOptions refuses what those options cannot be together.
func CheckTableOptions(game string, s rules.Settings) error {
	players := s.Int("players")
	if s.Is("teams") && players != 4 {
		return fmt.Errorf("%s: option teams cannot be \"yes\" with players=%d: try players=4 or teams=no", game, players)
	}
	if s.Is("hunt3") && players != 2 {
		return fmt.Errorf("%s: option hunt3 cannot be \"yes\" with players=%d: try players=2 or hunt3=no", game, players)
	}
	return nil
}

// YesNo is the word for an option's value.
func YesNo(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}
