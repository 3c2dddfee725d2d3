package ladder

import (
	"time"

	"github.com/timba-arena/timba/internal/phrase"
)

// MachineState says whether a machine gets matches.
type MachineState string

// The states of machines.
const (
	MachineReady     MachineState = "ready"
	MachinePaused    MachineState = "paused"   // for a while, after it failed
	MachineDraining  MachineState = "draining" // it finishes what it plays, and leaves
	MachineRefused   MachineState = "refused"
	MachineSuspended MachineState = "suspended" // it handed in what cannot be
	MachineAway      MachineState = "away"      // it has credentials, and is not connected
)

// MachineStates returns all states of machines.
func MachineStates() []MachineState {
	return []MachineState{MachineReady, MachinePaused, MachineDraining, MachineRefused, MachineSuspended, MachineAway}
}

// Machine describes a machine that plays matches: the server itself or a worker. Its counts begin with the start of
// the server.
type Machine struct {
	Name        string
	Local       bool // it is the server's own
	State       MachineState
	Reason      phrase.Text // why it gets no matches; empty if it gets some. Everybody can see it
	PausedUntil time.Time   // when a paused machine gets matches again

	// The machine reports the following about itself. They are empty while it is away.
	Version      string // of timba
	Protocol     int    // of the messages between server and worker
	OS, Arch     string
	Sandbox      string            // its best level
	Interpreters map[string]string // versions by name
	Cores        int               // where it plays, one match at a time on each
	Memory       int64             // bytes for all its bots together

	LastReportAt time.Time // when its last report came; zero if none came
	AddedAt      time.Time // when it was given credentials; zero for the server's own
	Playing      []MachineMatch

	FinishedMatches int64 // matches
	MatchesLastHour int   // of Finished, those of the last hour
	VoidGames       int64 // games that were played again
	StarvedGames    int64 // of Void, those because other programs used the core
	BrokenAttempts  int64 // attempts that ended without a result because of the machine
}

// MachineMatch is a match that a machine plays now.
type MachineMatch struct {
	Match     int64
	Attempt   int
	Ladder    string // "" for an unrated one
	Bots      []string
	Numbers   []int // of the bots' versions
	StartedAt time.Time
}
