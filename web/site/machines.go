package site

import (
	"fmt"
	"net/http"

	"github.com/timba-arena/timba/ladder"
)

const (
	machineRows    = 50 // on a page
	machineMatches = 4  // of a machine that are named
)

type machinesPage struct {
	Machines []machineRow
	Pager    pager
	// Of all machines:
	Cores    int // that get matches
	Playing  int // matches
	LastHour int
}

// machineRow is a machine in the table.
type machineRow struct {
	ladder.Machine
	More int // matches that it plays and that are not named
}

// getMachines lists the machines that are there, and what they play.
func (s *Site) getMachines(v *visit) error {
	all, err := s.Machines()
	if err != nil {
		return fmt.Errorf("the machines: %w", err)
	}
	var page machinesPage
	var rows []machineRow
	for _, m := range all {
		if m.State == ladder.MachineAway {
			continue
		}
		if m.State == ladder.MachineReady {
			page.Cores += m.Cores
		}
		page.Playing += len(m.Playing)
		page.LastHour += m.MatchesLastHour
		row := machineRow{Machine: m, More: max(0, len(m.Playing)-machineMatches)}
		row.Playing = m.Playing[:min(len(m.Playing), machineMatches)]
		rows = append(rows, row)
	}
	page.Machines, page.Pager = rowsOfPage(v, rows, machineRows)
	return v.showPage(http.StatusOK, "machines", page)
}
