package ladder

import (
	"time"

	"github.com/timba-arena/timba/internal/phrase"
)

// MachineState says whether a machine gets matches to play and, if not, why.
type MachineState string

// The states of machines.
const (
	MachineReady     MachineState = "ready"
	MachinePaused    MachineState = "paused"    // gets no matches for a while after a failure
	MachineDraining  MachineState = "draining"  // finishes its matches, gets no more and disconnects
	MachineRefused   MachineState = "refused"   // gets no matches because it does not meet the server's requirements
	MachineSuspended MachineState = "suspended" // gets no matches after an impossible or overdue result, until a restart
	MachineAway      MachineState = "away"      // has credentials but is not connected
)

// MachineStates returns all states of machines.
func MachineStates() []MachineState {
	return []MachineState{MachineReady, MachinePaused, MachineDraining, MachineRefused, MachineSuspended, MachineAway}
}

// Machine describes a machine that plays matches: the server itself or a worker. Its counts start at zero when
// the server starts.
type Machine struct {
	Name        string
	Local       bool // true for the server's own machine
	State       MachineState
	Reason      phrase.Text // why it gets no matches; empty if it gets some; visible to everybody
	PausedUntil time.Time   // when a paused machine gets matches again

	// The fields from Version to Memory are what the machine reports about itself. They are empty while it is
	// disconnected.
	Version      string // of timba
	Protocol     int    // version of the protocol between server and worker
	OS, Arch     string
	Sandbox      string            // best sandbox level that it supports
	Interpreters map[string]string // version of each interpreter, by name
	Cores        int               // cores for matches; each plays one match at a time
	Memory       int64             // bytes for all its bots together

	LastReportAt time.Time // zero if it has not reported
	AddedAt      time.Time // when it got credentials; zero for the server's own machine
	Playing      []MachineMatch

	FinishedMatches int64
	MatchesLastHour int   // finished within the last hour
	VoidGames       int64 // games that were discarded and played again
	StarvedGames    int64 // void games whose core other programs used too much
	BrokenAttempts  int64 // attempts that had no result because of the machine
}

// MachineMatch is a match that a machine is playing.
type MachineMatch struct {
	Match     int64
	Attempt   int
	Ladder    string // empty for an unrated match
	Bots      []string
	Numbers   []int // version numbers of the bots
	StartedAt time.Time
}
