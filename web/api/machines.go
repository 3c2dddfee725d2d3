package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/wire"
)

// MachineDoc returns the JSON document of the API about m. If full is set, it includes the part that only admins
// may see.
func MachineDoc(m ladder.Machine, full bool) wire.Machine {
	doc := wire.Machine{
		Name: m.Name, Local: m.Local, State: string(m.State), Reason: m.Reason.String(), PausedUntil: m.PausedUntil,
		Version: m.Version, Arch: m.Arch, Sandbox: m.Sandbox, Cores: m.Cores, SeenAt: m.LastReportAt,
		Playing: []wire.MachineMatch{}, FinishedMatches: m.FinishedMatches, FinishedLastHour: m.MatchesLastHour, VoidGames: m.VoidGames, StarvedGames: m.StarvedGames,
	}
	for _, p := range m.Playing {
		match := wire.MachineMatch{Match: p.Match, Attempt: p.Attempt, Ladder: p.Ladder, Bots: []string{}, StartedAt: p.StartedAt}
		for slot, bot := range p.Bots {
			match.Bots = append(match.Bots, fmt.Sprintf("%s@%d", bot, p.Numbers[slot]))
		}
		doc.Playing = append(doc.Playing, match)
	}
	if full {
		doc.Operator = &wire.MachineOperator{
			Protocol: m.Protocol, OS: m.OS, Memory: m.Memory, Interpreters: m.Interpreters, AddedAt: m.AddedAt, BrokenAttempts: m.BrokenAttempts,
		}
	}
	return doc
}

// getMachines returns an endpoint that lists the connected machines. If full is true, the endpoint is for
// admins only, and lists all machines with the part that only admins may see.
func (a *API) getMachines(full bool) endpoint {
	return list("machine", func(_ context.Context, by service.Actor) ([]ladder.Machine, error) {
		if full {
			if err := by.CheckAdmin("to list all machines"); err != nil {
				return nil, err
			}
		}
		all, err := a.Machines()
		if err != nil {
			return nil, fmt.Errorf("the machines: %w", err)
		}
		away := func(m ladder.Machine) bool { return !full && m.State == ladder.MachineAway }
		return slices.DeleteFunc(all, away), nil
	}, func(m ladder.Machine) wire.Machine { return MachineDoc(m, full) })
}
