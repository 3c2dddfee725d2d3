package ladder

import (
	"time"

	"github.com/timba-arena/timba/internal/phrase"
)

// MachineState is whether a machine gets matches.
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

// Machine is what the server knows of a machine that plays matches. What is counted begins with the
// start of the server.
type Machine struct {
	Name   string
	Local  bool // it is the server's own
	State  MachineState
	Reason phrase.Text // why it gets no matches; empty for no reason. It is public
	Until  time.Time   // end of its rest

	// What follows is what the machine says of itself; empty while it is away.
	Version      string // of timba
	Protocol     int    // of the messages between server and worker
	OS, Arch     string
	Sandbox      string            // its best level
	Interpreters map[string]string // versions by name
	Cores        int               // where it plays, one match at a time on each
	Memory       int64             // bytes that all its bots have together

	Seen    time.Time // when it last told of itself; zero for never
	Added   time.Time // when it was given credentials; zero for the server's own
	Playing []MachineMatch

	Finished int64 // matches
	LastHour int   // of them, those of the last hour
	Void     int64 // games that were played again
	Starved  int64 // of them, those because others used the core
	Broken   int64 // attempts that ended without a result because of the machine
}

// MachineMatch is a match that a machine plays.
type MachineMatch struct {
	Match   int64
	Attempt int
	Ladder  string // "" for an unrated one
	Bots    []string
	Numbers []int // of the bots' versions
	Began   time.Time
}
