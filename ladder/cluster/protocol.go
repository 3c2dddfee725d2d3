// Package cluster plays attempts at matches on other machines, over NATS. The Hub of a server hands a job to a
// machine and waits for its result; a Worker takes, plays and hands in.
//
// A job goes to one machine, on a subject that only this machine may read, because it has the
// seed. The worker keeps a result on its disk until the server has stored it, and says so. Attempts have
// numbers, and only the result of the newest one counts.
package cluster

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee/match"
)

// Protocol is the number of the messages between server and worker. It changes when either
// could misunderstand the other.
const Protocol = 4

// What the messages may take; docs/operating.md, "What a worker can do", tells of them.
const (
	// MaxMessage is the largest message in bytes.
	MaxMessage = 1 << 20
	// MaxPending is how many bytes NATS keeps for a connection that does not read them, before it ends that.
	MaxPending = 16 << 20
	// PartSize is how many bytes go over a line at once of what is too large for one message. The heartbeats
	// of a connection wait behind them.
	PartSize = 128 << 10
	// MaxPacked is the largest result in bytes as it is handed in.
	MaxPacked = 8 << 20
	// MaxUploads is how many bytes of results the server keeps of one machine until they are stored.
	MaxUploads = 2 * MaxPacked
	// MaxResult is the largest result in bytes before it is compressed. The games of most matches have far less.
	MaxResult = 128 << 20
	// MaxHead is the largest line in bytes in which a result tells of its attempt.
	MaxHead = 16 << 10
	// MaxHeartbeat is the largest message in bytes of a heartbeat.
	MaxHeartbeat = 64 << 10
	// MaxWord is the longest word in bytes that a machine may say of itself, such as its version
	// of timba.
	MaxWord = 128

	// MaxBotBytes is how many bytes the packed bots may have on the server. Those that were not
	// needed for the longest time make room for others.
	MaxBotBytes = 16 << 30
	// MaxConnections is how many connections the server's NATS accepts.
	MaxConnections = 4096
	// MaxMachineConnections is how many of them one machine may have: its account allows no more.
	MaxMachineConnections = 4
	// MaxSubscriptions is how many subscriptions one connection of a worker may have.
	MaxSubscriptions = 16
	// MaxHeartbeats is how many heartbeats a second one machine may send on average, and
	// four times as many at once.
	MaxHeartbeats = 20
)

// Times between the server and the machines.
const (
	// HeartbeatTime is how often a machine sends a heartbeat.
	HeartbeatTime = 3 * time.Second
	// heartbeatGap is the shortest time between two heartbeats: a worker that plays many short matches keeps
	// well below MaxHeartbeats.
	heartbeatGap = 4 * time.Second / MaxHeartbeats
	// AckTime is how long a machine may not name an attempt before that is lost.
	AckTime = 15 * time.Second
	// ResultRetention is how long a worker keeps a result for the server.
	ResultRetention = 7 * 24 * time.Hour
	// PartTime is how long a part may take to be there and answered.
	PartTime = 30 * time.Second
	// CheckTime is how long the check of a result may take at most, plus checkGameTime for each game of the match: many
	// times as long as a check takes on a busy machine, because a machine whose check takes longer is suspended.
	CheckTime     = 5 * time.Minute
	checkGameTime = 100 * time.Millisecond
	// StopTime is how long a machine has to end a match that is not wanted any more.
	StopTime = 5 * time.Second
)

// DefaultCache is the size in bytes of a worker's cache of bots if none is given.
const DefaultCache = 4 << 30

// jobsSubject returns the subject by which a machine gets its jobs.
func jobsSubject(machine string) string { return "jobs." + machine }

// resultsSubject returns the subject by which a machine sends its results.
func resultsSubject(machine string) string { return "results." + machine }

// filesSubject returns the subject by which a machine asks for the files of bots.
func filesSubject(machine string) string { return "files." + machine }

// machinesSubject returns the subject of a machine's heartbeats.
func machinesSubject(machine string) string { return "machines." + machine }

// inboxPrefix returns what the subjects of all answers to a machine begin with.
func inboxPrefix(machine string) string { return "_INBOX_" + machine }

// machineOf returns the machine of a subject.
func machineOf(subject string) string {
	_, machine, _ := strings.Cut(subject, ".")
	return machine
}

var machineName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// checkName returns an error for what cannot be the name of a worker.
func checkName(name string) error {
	if name == attempt.Local {
		return fmt.Errorf("worker: the name %q is that of the server's own: choose another", name)
	}
	if !machineName.MatchString(name) {
		return fmt.Errorf("worker: the name %q is not valid: try up to 40 lower-case letters, digits and hyphens, such as lab-3", name)
	}
	return nil
}

// command is what the server sends to a machine: an attempt to play, or one to end.
type command struct {
	Play *order      `json:"play,omitempty"`
	End  *attemptKey `json:"end,omitempty"`
}

// order is a job on its way to a machine.
type order struct {
	attempt.Job
	Machine string           `json:"machine"` // nobody else may play it
	Sandbox *match.Sandbox   `json:"sandbox,omitempty"`
	Builds  map[string]build `json:"builds,omitempty"` // by Bot.Hash
}

// filePart is what a machine asks for of the packed files of a bot.
type filePart struct {
	Tree   string `json:"tree"`
	Offset int64  `json:"offset"`
}

// resultPart is the line before a part of a packed result.
type resultPart struct {
	attemptKey
	Sum    string `json:"sum"`  // SHA-256 of the whole, in hexadecimal
	Size   int    `json:"size"` // of the whole
	Offset int    `json:"offset"`
}

// receipt is what the server answers to a part of a result.
type receipt struct {
	Next   int  `json:"next"`             // offset of the part that it wants
	Full   bool `json:"full,omitempty"`   // it has enough of this machine's results: again later
	Forget bool `json:"forget,omitempty"` // the result is stored, or will never be
}

// attemptKey names an attempt.
type attemptKey struct {
	Match   int64 `json:"match"`
	Attempt int   `json:"attempt"`
}

func (a attemptKey) String() string { return fmt.Sprintf("%d-%d", a.Match, a.Attempt) }

// heartbeat is what a machine sends every few seconds, and when it changes.
type heartbeat struct {
	attempt.Machine
	Session string `json:"session"` // of this run of the worker
	Leaving bool   `json:"leaving,omitempty"`
}

// heartbeatReply is the server's answer.
type heartbeatReply struct {
	Refusal       string       `json:"refused,omitempty"` // why the machine gets no jobs
	End           bool         `json:"end,omitempty"`     // it never will
	EndedAttempts []attemptKey `json:"over,omitempty"`    // attempts of the heartbeat that have ended
}
