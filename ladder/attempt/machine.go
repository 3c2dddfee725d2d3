package attempt

import (
	"errors"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// Local is the machine name of the server process, when it plays matches itself.
const Local = "local"

// WorkerInfo describes a machine that plays matches. A worker sends it to the server with every heartbeat.
type WorkerInfo struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`  // version of timba
	Protocol     int               `json:"protocol"` // version of the messages between server and worker
	Arch         string            `json:"arch"`     // in the notation of GOARCH
	OS           string            `json:"os"`
	Sandbox      string            `json:"sandbox"`                // the strictest sandbox level that it has
	Interpreters map[string]string `json:"interpreters,omitempty"` // versions by name
	Cores        []int             `json:"cores"`                  // the cores to play on, one match at a time on each
	Memory       int64             `json:"memory"`                 // in bytes, shared by all matches; 0 means no limit
	Draining     bool              `json:"draining,omitempty"`     // it finishes its matches and accepts no others
	Attempts     []ReportedAttempt `json:"playing,omitempty"`
	Local        bool              `json:"-"` // it is the server's own process
	SeenAt       time.Time         `json:"-"` // when its last heartbeat arrived
	Refusal      phrase.Text       `json:"-"` // why it gets no jobs; empty if it gets some
}

// MissingNeeds describes the first need in n that the machine m does not meet. The text is empty if m meets all of
// them.
func (m WorkerInfo) MissingNeeds(n ladder.Needs) (lacks phrase.Text) {
	if n.Arch != "" && n.Arch != m.Arch {
		return phrase.New("a machine with the architecture %s (%s has %s)", n.Arch, m.Name, m.Arch)
	}
	for _, name := range n.Interpreters {
		if !m.hasInterpreter(name) {
			return phrase.New("%s (%s does not have it)", name, m.Name)
		}
	}
	return lacks
}

// hasInterpreter reports whether m has the interpreter called name. A python3 of version 3.12 also counts as
// python3.12. If name is an interpreter that machines do not report, hasInterpreter returns true.
func (m WorkerInfo) hasInterpreter(name string) bool {
	if _, ok := m.Interpreters[name]; ok {
		return true
	}
	base := strings.TrimRight(name, "0123456789.")
	wanted := strings.TrimPrefix(name, base)
	for _, have := range []string{base, base + "3"} {
		if version, ok := m.Interpreters[have]; ok && wanted != "" && strings.HasPrefix(version+".", wanted+".") {
			return true
		}
	}
	return !interpreter.IsWellKnown(base) && !interpreter.IsWellKnown(base+"3") // machines report only the well-known ones
}

// ReportedAttempt identifies a try to play a match that a machine is running.
type ReportedAttempt struct {
	Match   int64 `json:"match"`
	Attempt int   `json:"attempt"`
	Core    int   `json:"core"`
}

// ErrDetach is the cause with which the context of a match on another machine is cancelled when this server stops.
// The machine continues to play the match, and the next server waits for its result.
var ErrDetach = errors.New("the result is left to the next server")

// ErrUnavailable is wrapped by errors of runner.Fleet.Play if no job can be sent to other machines, because NATS
// cannot be reached or the disk of the server is full. The machines are not to blame.
var ErrUnavailable = errors.New("nothing can be handed to other machines")

// ErrLost is the error for a match whose machine has disconnected or no longer reports that it plays the match.
var ErrLost = errors.New("the machine is lost")

// Contradiction is the error for a result that cannot come from the match that was sent to the machine, such as a
// game with an illegal move.
type Contradiction struct{ Text string }

func (c *Contradiction) Error() string { return c.Text }
