package site

import (
	"fmt"
	"net/http"

	"github.com/timba-arena/timba/ladder"
)

const (
	machineRows    = 50 // machines on one page
	machineMatches = 4  // matches listed for each machine
)

type machinesPage struct {
	Machines []machineRow
	Pager    pager
	// Totals of all machines:
	Cores    int // cores of machines that get matches
	Playing  int // matches in progress
	LastHour int // matches finished in the last hour
}

// machineRow is a row of the table of machines. Its field Playing has at most machineMatches of the matches
// in progress.
type machineRow struct {
	ladder.Machine
	More int // the number of its matches in progress that are not listed
}

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
