package api

import (
	"fmt"
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/parameters"
)

// MachineDoc returns the document of a machine; full is with what only admins see.
func MachineDoc(m ladder.Machine, full bool) wire.Machine {
	doc := wire.Machine{
		Name: m.Name, Local: m.Local, State: string(m.State), Reason: m.Reason, Until: m.Until,
		Version: m.Version, Arch: m.Arch, Sandbox: m.Sandbox, Cores: m.Cores, Seen: m.Seen,
		Playing: []wire.MachineMatch{}, Finished: m.Finished, LastHour: m.LastHour, Void: m.Void, Starved: m.Starved,
	}
	for _, p := range m.Playing {
		match := wire.MachineMatch{Match: p.Match, Attempt: p.Attempt, Ladder: p.Ladder, Bots: []string{}, Began: p.Began}
		for slot, bot := range p.Bots {
			match.Bots = append(match.Bots, fmt.Sprintf("%s@%d", bot, p.Numbers[slot]))
		}
		doc.Playing = append(doc.Playing, match)
	}
	if full {
		doc.Operator = &wire.MachineOperator{
			Protocol: m.Protocol, OS: m.OS, Memory: m.Memory, Interpreters: m.Interpreters, Added: m.Added, Broken: m.Broken,
		}
	}
	return doc
}

// machines lists the machines that are there, for everybody.
func (a *api) machines(w http.ResponseWriter, r *http.Request) error {
	return a.listMachines(w, r, false)
}

// adminMachines lists all machines with all that is known of them.
func (a *api) adminMachines(w http.ResponseWriter, r *http.Request) error {
	return a.listMachines(w, r, true)
}

func (a *api) listMachines(w http.ResponseWriter, r *http.Request, full bool) error {
	q := parameters.New(r)
	from, limit := q.CursorID("cursor", "machine"), q.Limit()
	if err := q.Done(); err != nil {
		return err
	}
	all, err := a.Machines()
	if err != nil {
		return fmt.Errorf("the machines: %w", err)
	}
	docs := []wire.Machine{}
	for _, m := range all {
		if full || m.State != ladder.MachineAway {
			docs = append(docs, MachineDoc(m, full))
		}
	}
	return respond(w, http.StatusOK, cut(docs, from, limit, "machine"))
}
