package server

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/timba-arena/timba/internal/size"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
)

// Cores returns the numbers of n cores of this machine, one for each worker. If n is 0, it returns all usable
// cores. It returns an error if the machine has fewer than n.
func Cores(n int) ([]int, error) {
	all := cores.All()
	for len(all) < runtime.NumCPU() && !bindsCores() {
		all = append(all, cores.Any)
	}
	// The quota of a container may be less than the number of its cores.
	most := max(1, min(len(all), runtime.GOMAXPROCS(0)))
	switch {
	case n < 0 || n > most:
		return nil, fmt.Errorf("workers cannot be %d: this machine has %s, and each worker needs one: try 1 to %d", n, text.Count(most, "core"), most)
	case n == 0:
		n = most
	}
	return all[:n], nil
}

func bindsCores() bool { return runtime.GOOS == "linux" }

// RequireLevel returns the level (strictness) of the sandbox that this machine supports. If it is lower than least,
// RequireLevel also returns an error, which says what is missing.
func RequireLevel(least sandbox.Level) (sandbox.Level, error) {
	report := sandbox.Probe()
	if report.Level >= least {
		return report.Level, nil
	}
	var lacks []string
	for _, l := range report.Layers {
		if !l.OK {
			lacks = append(lacks, fmt.Sprintf("%s: %s: %s", l.Name, l.Error, l.Fix))
		}
	}
	return report.Level, fmt.Errorf("sandbox: this machine has level %s, and a server needs %s: %s; timba doctor shows more",
		report.Level, least, strings.Join(lacks, "; "))
}

// serverMemory is the memory in bytes that BotMemory leaves to the server itself. On a machine with less than
// twice this size it leaves half.
const serverMemory = 512 << 20

// BotMemory returns the default amount of memory for all bots together, in bytes, on a machine that has
// machine bytes of memory.
func BotMemory(machine int64) int64 { return max(machine/2, machine-serverMemory) }

// minBotMemory is the smallest memory limit of one bot, in bytes, that lowerBotMemory sets, because
// interpreters need some memory.
const minBotMemory = 128 << 20

// lowerBotMemory lowers the memory limit for one bot so that a match of every ladder fits into room.Total. It changes
// the limit in c and in room. It does nothing if the operator has set the limit. notice tells the operator about the
// change; it is "" if there is none.
func lowerBotMemory(c *config.Config, room *ladder.MemoryBudget) (notice string, err error) {
	beside := room.Bot - int64(c.Limits.Memory) // what a bot uses in addition to its memory limit
	least := int64(c.Limits.Memory)
	for _, l := range c.Ladders {
		v, err := l.Variant()
		if err != nil {
			return "", err
		}
		least = min(least, (room.Total/int64(v.Players)-beside)>>20<<20)
	}
	if !c.MemoryUnset || room.Bot == 0 || least >= int64(c.Limits.Memory) || least < minBotMemory {
		return "", nil
	}
	notice = fmt.Sprintf("a bot may use %d MiB of memory, not %d: all bots together have %d MiB; limits.memory in %s sets it",
		least>>20, c.Limits.Memory>>20, room.Total>>20, datadir.ConfigFile)
	c.Limits.Memory, room.Bot = size.Bytes(least), least+beside
	return notice, nil
}

// memoryOf returns how much memory bots may use. By default this depends on the memory of the machine; the
// configuration can set it. level is the level of the sandbox. If the limit for one bot had to be lowered, notice
// tells the operator about that. memoryOf returns an error if a match of some ladder does not fit.
func memoryOf(c *config.Config, level sandbox.Level) (room ladder.MemoryBudget, notice string, err error) {
	machine := sandbox.MachineMemory()
	room.Total = int64(c.Memory)
	switch {
	case machine > 0 && int64(c.Memory) > machine:
		return room, "", fmt.Errorf("memory cannot be %d MiB: this machine or its cgroup has %d MiB, for the server as well", c.Memory>>20, machine>>20)
	case c.Memory == 0:
		room.Total = BotMemory(machine)
	}
	if c.Sandbox != sandbox.LevelNone {
		room.Bot = c.BotLimit().MaxMemory(level)
	}
	if notice, err = lowerBotMemory(c, &room); err != nil {
		return room, "", err
	}
	for _, l := range c.Ladders {
		v, err := l.Variant()
		if err != nil {
			return room, "", err
		}
		if err := room.Check("ladder "+l.Name, v, make([]bool, l.Bots)); err != nil {
			return room, "", fmt.Errorf("%w: %s", err, memoryAdvice(room, c, v.Players))
		}
	}
	return room, notice, nil
}

// The bots in games of people get 1/playShare of the memory of all bots. They get less if matches of ladders
// need more, but at least minPlayMemory bytes.
const (
	playShare     = 8
	minPlayMemory = 4 * ladder.HouseMemory
)

// reservePlayMemory reserves memory for the games of people, and returns its size in bytes. It subtracts the size
// from the total in room, so that room then has the memory for matches. It returns 0, which means no limit, if people
// cannot play or the memory of bots is unlimited.
func reservePlayMemory(c *config.Config, room *ladder.MemoryBudget) int64 {
	if c.Play.Games == 0 || room.Total == 0 {
		return 0
	}
	spare := room.Total
	for _, x := range c.Ladders {
		if v, err := x.Variant(); err == nil { // memoryOf has checked it
			spare = min(spare, room.Total-room.RotationMemory(v, make([]bool, x.Bots)))
		}
	}
	memory := max(min(room.Total/playShare, spare), minPlayMemory)
	room.Total -= max(0, min(memory, spare))
	return memory
}

// memoryAdvice returns the end of an error message about a match that does not fit into room: what the operator can
// change. bots is the number of bots in the match.
func memoryAdvice(room ladder.MemoryBudget, c *config.Config, bots int) string {
	beside := room.Bot - int64(c.Limits.Memory)
	parts := []string{fmt.Sprintf("give them more with memory or --memory, %d MiB at least", int64(bots)*room.Bot>>20)}
	if fits := size.Bytes(room.Total/int64(bots)-beside) >> 20 << 20; fits >= config.MinMemory {
		parts = append([]string{fmt.Sprintf("lower limits.memory to %q", fits)}, parts...)
	}
	return strings.Join(append(parts, "or leave the ladder out"), ", ")
}
