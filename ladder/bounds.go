package ladder

import (
	"fmt"
	"math"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// MaxMatchTime returns the longest time that a match of variant v with clock c can take, without the start-up of bots
// and the margin of the clock. Every deal (starting position) is played in every seating of the bots. Each game may
// be as long as the rules allow, and each bot may use all its time.
func MaxMatchTime(v *rules.Variant, c referee.Clock, bots, deals int) time.Duration {
	game := c.Longest(v.MaxPlies, v.Players)
	if games := time.Duration(bots) * time.Duration(deals); game <= math.MaxInt64/games {
		return game * games
	}
	return math.MaxInt64
}

// CheckMatchTime returns an error if MaxMatchTime is longer than limit. The error proposes a change that would
// suffice: fewer deals, a value of the game's option "limit", or a clock with less time or fewer bots.
func CheckMatchTime(v *rules.Variant, c referee.Clock, bots, deals int, limit time.Duration) error {
	longest := MaxMatchTime(v, c, bots, deals)
	if longest <= limit {
		return nil
	}
	plies := v.MaxPlies
	hint := fmt.Sprintf("try fewer deals: %d at most", limit/MaxMatchTime(v, c, bots, 1))
	if limit < MaxMatchTime(v, c, bots, 1) {
		hint = "try a clock with less time, or fewer bots"
		if fits := maxLimitOption(v, c, bots, limit); fits > 0 {
			hint = fmt.Sprintf("try 1 deal with limit=%d or less", fits)
		}
	}
	return Errorf(Invalid, hint, "the match may take %s, which is over the %s that an unrated match may take: %d deals in %d rotations, games of up to %d plies, %s",
		longest.Round(time.Second), limit, deals, bots, plies, c)
}

// maxLimitOption returns the largest value of the game's option "limit" (a number of moves) for which one deal takes
// at most the time limit. If the game has no such option, or the clock has no time per move, it returns 0.
func maxLimitOption(v *rules.Variant, c referee.Clock, bots int, limit time.Duration) int {
	for _, o := range v.Settings {
		if o.Name == "limit" && c.Move > 0 {
			return int(limit / (c.Move * time.Duration(bots)))
		}
	}
	return 0
}

// HouseMemory is the memory, in bytes, that is reserved for a house bot. House bots are part of this program and have
// no memory limit. A house bot that searches for moves uses about this much.
const HouseMemory = 96 << 20

// MemoryBudget is the memory that the bots of a competition may use.
type MemoryBudget struct {
	Total int64 // bytes for all of them together; 0 means no limit
	Bot   int64 // bytes for one bot; 0 means as much as a house bot
}

// RotationMemory returns the memory, in bytes, that the bots in one game of variant v can use together. houseOrRemote
// has an element for each bot of the match: true for a bot that is part of timba or runs on its owner's machine.
// These bots count with HouseMemory each, the others with r.Bot.
func (r MemoryBudget) RotationMemory(v *rules.Variant, houseOrRemote []bool) (sum int64) {
	for seat := range v.Players {
		if houseOrRemote[rules.BotAt(seat, 0, len(houseOrRemote))] || r.Bot == 0 {
			sum += HouseMemory
		} else {
			sum += r.Bot
		}
	}
	return sum
}

// ParallelRotations returns how many seatings of the bots are played at the same time in a match, and the memory in
// bytes that they need. It is as many as fit into an equal share of r.Total for each of workers, but at least 1. For
// houseOrRemote see RotationMemory.
func (r MemoryBudget) ParallelRotations(v *rules.Variant, houseOrRemote []bool, workers int) (rotations int, memory int64) {
	one := r.RotationMemory(v, houseOrRemote)
	rotations = len(houseOrRemote)
	if r.Total > 0 {
		rotations = int(max(1, min(int64(rotations), r.Total/int64(workers)/one)))
	}
	return rotations, int64(rotations) * one
}

// Check returns an error if one game of variant v needs more memory than r.Total. what is the beginning of the error
// message, such as "match". houseOrRemote is explained at RotationMemory.
func (r MemoryBudget) Check(what string, v *rules.Variant, houseOrRemote []bool) error {
	need := r.RotationMemory(v, houseOrRemote)
	if r.Total == 0 || need <= r.Total {
		return nil
	}
	return Errorf(Invalid, "", "%s: its %d bots can use %d MiB at once, %d MiB each, and all bots together have %d MiB",
		what, v.Players, need>>20, r.Bot>>20, r.Total>>20)
}
