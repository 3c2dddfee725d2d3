package ladder

import (
	"fmt"
	"math"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Longest returns the most time that the moves of a match between some bots take: each
// deal once for every rotation, each game with all the plies that the rules allow, each
// move with all the time of its clock.
func Longest(v *rules.Variant, c referee.Clock, bots, deals int) time.Duration {
	game := c.Longest(v.MaxPlies, v.Players)
	if games := time.Duration(bots) * time.Duration(deals); game <= math.MaxInt64/games {
		return game * games
	}
	return math.MaxInt64
}

// CheckTime refuses a match that may take longer than most, with what to change.
func CheckTime(v *rules.Variant, c referee.Clock, bots, deals int, most time.Duration) error {
	longest := Longest(v, c, bots, deals)
	if longest <= most {
		return nil
	}
	plies := v.MaxPlies
	hint := fmt.Sprintf("try fewer deals: %d at most", most/Longest(v, c, bots, 1))
	if most < Longest(v, c, bots, 1) {
		hint = "try a clock with less time, or fewer bots"
		if fits := shorter(v, c, bots, most); fits > 0 {
			hint = fmt.Sprintf("try 1 deal with limit=%d or less", fits)
		}
	}
	return Errorf(Invalid, hint, "match: it may take %s, which is over the %s that an unrated match may take: %d deals in %d rotations, games of up to %d plies, %s",
		longest.Round(time.Second), most, deals, bots, plies, c)
}

// shorter returns the option limit of a game with which one deal fits into a time; 0
// where the game has none, or none fits.
func shorter(v *rules.Variant, c referee.Clock, bots int, most time.Duration) int {
	for _, o := range v.Settings {
		if o.Name == "limit" && c.Move > 0 {
			return int(most / (c.Move * time.Duration(bots)))
		}
	}
	return 0
}

// HouseMemory is what a house bot is counted with: it is part of this program and has
// no limit. A search with its usual table takes about as much.
const HouseMemory = 96 << 20

// Room is the memory that all programs of a competition share.
type Room struct {
	Total int64 // bytes; 0: as much as they want
	Bot   int64 // bytes that one bot can use, 0: as a house bot
}

// Rotation returns the memory that one rotation of a match can use, all of its bots
// together. house tells of each slot whether it is a house bot.
func (r Room) Rotation(v *rules.Variant, house []bool) (sum int64) {
	for seat := range v.Players {
		if house[rules.BotAt(seat, 0, len(house))] || r.Bot == 0 {
			sum += HouseMemory
		} else {
			sum += r.Bot
		}
	}
	return sum
}

// Together returns how many rotations of a match are played at the same time, and the
// memory of those: as many as fit into the share of one of some workers, and at least
// one, which the others wait for where it takes more.
func (r Room) Together(v *rules.Variant, house []bool, workers int) (rotations int, memory int64) {
	one := r.Rotation(v, house)
	rotations = len(house)
	if r.Total > 0 {
		rotations = int(max(1, min(int64(rotations), r.Total/int64(workers)/one)))
	}
	return rotations, int64(rotations) * one
}

// Check refuses a match that never fits. what names it.
func (r Room) Check(what string, v *rules.Variant, house []bool) error {
	need := r.Rotation(v, house)
	if r.Total == 0 || need <= r.Total {
		return nil
	}
	return Errorf(Invalid, "", "%s: its %d bots can use %d MiB at once, %d MiB each, and all bots together have %d MiB",
		what, v.Players, need>>20, r.Bot>>20, r.Total>>20)
}
