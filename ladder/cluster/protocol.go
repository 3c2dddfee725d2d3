// Package cluster plays matches on other machines, over NATS. The Dispatcher of a server sends a job to a machine
// and waits for the result. A Worker, the program on such a machine, plays jobs and sends back their results.
//
// A job goes to one machine, on a subject that only this machine may read, because the job contains the seed. The
// worker stores a result on its disk until the server confirms that it has stored the result. Each try to play a
// match (attempt) has a number, and only the result of the newest counts.
package cluster

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee/match"
)

// Protocol is the version of the messages between server and worker. It changes if an old server or worker
// could misunderstand a new one.
const Protocol = 4

// Limits of messages and connections; see docs/operating.md, "What a worker can do".
const (
	// MaxMessage is the largest size of a message, in bytes.
	MaxMessage = 1 << 20
	// MaxPending is how many unread bytes NATS buffers for a connection before it closes the connection.
	MaxPending = 16 << 20
	// PartSize is the size of the parts, in bytes, in which results and the files of bots are sent. Parts are
	// small because they delay the heartbeats on the same connection.
	PartSize = 128 << 10
	// MaxPacked is the largest size of a compressed result, in bytes.
	MaxPacked = 8 << 20
	// MaxUploads limits the results of one machine, in bytes, that the server has in memory before it stores them.
	MaxUploads = 2 * MaxPacked
	// MaxResult is the largest size of an uncompressed result, in bytes. The games of most matches have far less.
	MaxResult = 128 << 20
	// MaxHead is the largest size, in bytes, of the first line of a result. That line says to which match the result
	// belongs.
	MaxHead = 16 << 10
	// MaxHeartbeat is the largest size of a heartbeat, in bytes.
	MaxHeartbeat = 64 << 10
	// MaxWord is the largest length, in bytes, of a text in which a machine describes itself, such as its
	// version of timba.
	MaxWord = 128

	// MaxBotBytes limits the bytes of the packed bots on the server. The least recently used ones are removed
	// first.
	MaxBotBytes = 16 << 30
	// MaxConnections is how many connections the server's NATS accepts.
	MaxConnections = 4096
	// MaxMachineConnections is how many connections NATS accepts from one machine.
	MaxMachineConnections = 4
	// MaxSubscriptions is how many subscriptions one connection of a worker may have.
	MaxSubscriptions = 16
	// MaxHeartbeats is how many heartbeats one machine may send per second on average. It may send four times
	// as many at once.
	MaxHeartbeats = 20
)

// Intervals and timeouts between the server and the machines.
const (
	// HeartbeatTime is the interval between the heartbeats of a machine.
	HeartbeatTime = 3 * time.Second
	// heartbeatGap is the shortest time between two heartbeats. It keeps a worker with many short matches
	// well below MaxHeartbeats.
	heartbeatGap = 4 * time.Second / MaxHeartbeats
	// AckTime is how long a match may be missing from the heartbeats of its machine before it is lost.
	AckTime = 15 * time.Second
	// ResultRetention is how long a worker retains a result for the server.
	ResultRetention = 7 * 24 * time.Hour
	// PartTime is how long a request may take until its answer has arrived.
	PartTime = 30 * time.Second
	// CheckTime is how long the check of a result may take, plus checkGameTime for each game of the match. A
	// machine whose result takes longer is suspended, so the limit is many times what a check takes on a busy
	// server.
	CheckTime     = 5 * time.Minute
	checkGameTime = 100 * time.Millisecond
	// StopTime is how long a machine has to end a match that is no longer wanted.
	StopTime = 5 * time.Second
)

// DefaultCache is the default size of a worker's cache of bots, in bytes.
const DefaultCache = 4 << 30

func jobsSubject(machine string) string { return "jobs." + machine }

func resultsSubject(machine string) string { return "results." + machine }

func filesSubject(machine string) string { return "files." + machine }

func machinesSubject(machine string) string { return "machines." + machine }

func inboxPrefix(machine string) string { return "_INBOX_" + machine }

func machineOf(subject string) string {
	_, machine, _ := strings.Cut(subject, ".")
	return machine
}

var machineName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// checkName returns an error if name is not a valid name for a worker.
func checkName(name string) error {
	if name == attempt.Local {
		return fmt.Errorf("worker: the name %q is that of the server's own: choose another", name)
	}
	if !machineName.MatchString(name) {
		return fmt.Errorf("worker: the name %q is not valid: try up to 40 lower-case letters, digits and hyphens, such as lab-3", name)
	}
	return nil
}

// command is a message of the server to a machine: one of the fields is set.
type command struct {
	Play *order      `json:"play,omitempty"` // the attempt to play
	End  *attemptKey `json:"end,omitempty"`  // the attempt to end
}

// order is a job that is sent to a machine, with the data that the machine needs to play it.
type order struct {
	attempt.Job
	Machine string           `json:"machine"` // the only machine that may play it
	Sandbox *match.Sandbox   `json:"sandbox,omitempty"`
	Builds  map[string]build `json:"builds,omitempty"` // files that it may have to fetch, by attempt.Entrant.Hash
}

// filePart is a machine's request for a part of a bot's packed files.
type filePart struct {
	Tree   string `json:"tree"`   // build.Tree of the bot
	Offset int64  `json:"offset"` // of the part, in bytes
}

// resultPart is the first line of a message with a part of a packed result.
type resultPart struct {
	attemptKey
	Sum    string `json:"sum"`    // SHA-256 of the whole result, in hexadecimal
	Size   int    `json:"size"`   // of the whole result, in bytes
	Offset int    `json:"offset"` // of the part, in bytes
}

// receipt is the server's answer to a part of a result from a machine.
type receipt struct {
	Next   int  `json:"next"`             // offset of the part to send next
	Full   bool `json:"full,omitempty"`   // too many results of this machine wait to be stored: send the part again later
	Forget bool `json:"forget,omitempty"` // the result is stored or refused, and the machine may delete it
}

// attemptKey identifies an attempt, which is one try to play a match.
type attemptKey struct {
	Match   int64 `json:"match"`
	Attempt int   `json:"attempt"`
}

func (a attemptKey) String() string { return fmt.Sprintf("%d-%d", a.Match, a.Attempt) }

// heartbeat is the message that a machine sends every HeartbeatTime, and soon after the list of its matches
// changes.
type heartbeat struct {
	attempt.WorkerInfo
	Session string `json:"session"`           // random ID of this run of the worker
	Leaving bool   `json:"leaving,omitempty"` // whether the worker ends
}

// heartbeatReply is the server's answer to a heartbeat.
type heartbeatReply struct {
	Refusal       string       `json:"refused,omitempty"` // why the machine gets no jobs
	End           bool         `json:"end,omitempty"`     // whether it will never get any, so that the worker exits
	EndedAttempts []attemptKey `json:"over,omitempty"`    // attempts in the heartbeat whose results are not wanted any more
}
