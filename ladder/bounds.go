package ladder

import (
	"fmt"
	"math"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// MaxMatchTime returns the largest time that the moves of a match can take: of each deal in every rotation, with all plies
// that the rules allow, and all the time of the clock.
func MaxMatchTime(v *rules.Variant, c referee.Clock, bots, deals int) time.Duration {
	game := c.Longest(v.MaxPlies, v.Players)
	if games := time.Duration(bots) * time.Duration(deals); game <= math.MaxInt64/games {
		return game * games
	}
	return math.MaxInt64
}

// CheckMatchTime returns an error if a match may take longer than most. The error says what to change.
func CheckMatchTime(v *rules.Variant, c referee.Clock, bots, deals int, most time.Duration) error {
	longest := MaxMatchTime(v, c, bots, deals)
	if longest <= most {
		return nil
	}
	plies := v.MaxPlies
	hint := fmt.Sprintf("try fewer deals: %d at most", most/MaxMatchTime(v, c, bots, 1))
	if most < MaxMatchTime(v, c, bots, 1) {
		hint = "try a clock with less time, or fewer bots"
		if fits := maxLimitOption(v, c, bots, most); fits > 0 {
			hint = fmt.Sprintf("try 1 deal with limit=%d or less", fits)
		}
	}
	return Errorf(Invalid, hint, "match: it may take %s, which is over the %s that an unrated match may take: %d deals in %d rotations, games of up to %d plies, %s",
		longest.Round(time.Second), most, deals, bots, plies, c)
}

// maxLimitOption returns the largest value of the option "limit" with which a deal takes at most the time most, or 0 if the
// game has no such option.
func maxLimitOption(v *rules.Variant, c referee.Clock, bots int, most time.Duration) int {
	for _, o := range v.Settings {
		if o.Name == "limit" && c.Move > 0 {
			return int(most / (c.Move * time.Duration(bots)))
		}
	}
	return 0
}

// HouseMemory is the memory that is reserved for a house bot. House bots are part of this program and have no limit;
// one that searches uses about this much.
const HouseMemory = 96 << 20

// MemoryBudget is the memory for all programs of a competition together.
type MemoryBudget struct {
	Total int64 // bytes; 0: as much as they want
	Bot   int64 // bytes that one bot can use, 0: as a house bot
}

// RotationMemory returns the memory that the bots of one rotation can use together. house says for each slot whether it
// needs no memory of its own.
func (r MemoryBudget) RotationMemory(v *rules.Variant, house []bool) (sum int64) {
	for seat := range v.Players {
		if house[rules.BotAt(seat, 0, len(house))] || r.Bot == 0 {
			sum += HouseMemory
		} else {
			sum += r.Bot
		}
	}
	return sum
}

// ParallelRotations returns how many rotations of a match are played at the same time, and the memory that they need: as many
// as fit into the share of one of the workers, but at least one. A single rotation that needs more waits until there
// is room.
func (r MemoryBudget) ParallelRotations(v *rules.Variant, house []bool, workers int) (rotations int, memory int64) {
	one := r.RotationMemory(v, house)
	rotations = len(house)
	if r.Total > 0 {
		rotations = int(max(1, min(int64(rotations), r.Total/int64(workers)/one)))
	}
	return rotations, int64(rotations) * one
}

// Check returns an error if a match can never fit. what names the match in the error.
func (r MemoryBudget) Check(what string, v *rules.Variant, house []bool) error {
	need := r.RotationMemory(v, house)
	if r.Total == 0 || need <= r.Total {
		return nil
	}
	return Errorf(Invalid, "", "%s: its %d bots can use %d MiB at once, %d MiB each, and all bots together have %d MiB",
		what, v.Players, need>>20, r.Bot>>20, r.Total>>20)
}
