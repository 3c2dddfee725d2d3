package attempt

import (
	"errors"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sandbox/interpreter"
)

// Local is the name of the machine of the server's process.
const Local = "local"

// Machine is what a worker tells of itself.
type Machine struct {
	Name         string            `json:"name"`
	Version      string            `json:"version"`  // of timba
	Protocol     int               `json:"protocol"` // of the messages between server and worker
	Arch         string            `json:"arch"`     // as GOARCH
	OS           string            `json:"os"`
	Sandbox      string            `json:"sandbox"` // its best level
	Interpreters map[string]string `json:"interpreters,omitempty"`
	Cores        []int             `json:"cores"`  // where it plays, one match at a time on each
	Memory       int64             `json:"memory"` // bytes, for all matches together
	Draining     bool              `json:"draining,omitempty"`
	Attempts     []RunningAttempt  `json:"playing,omitempty"`
	Local        bool              `json:"-"` // in the server's process
	SeenAt       time.Time         `json:"-"`
	Refusal      phrase.Text       `json:"-"` // why it gets no job, empty if it does
}

// MissingNeeds returns what the machine lacks to play a version, empty if it can.
func (m Machine) MissingNeeds(n ladder.Needs) (lacks phrase.Text) {
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

// hasInterpreter reports whether a machine has an interpreter: python3.12 is python3 of version 3.12.
func (m Machine) hasInterpreter(name string) bool {
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
	return !interpreter.IsWellKnown(base) && !interpreter.IsWellKnown(base+"3") // machines do not tell of others
}

// RunningAttempt is an attempt that a machine plays.
type RunningAttempt struct {
	Match   int64 `json:"match"`
	Attempt int   `json:"attempt"`
	Core    int   `json:"core"`
}

// ErrDetach is the cause of a context that ends while its match goes on: a server that stops
// leaves the match to the machine, and the next server awaits its result.
var ErrDetach = errors.New("the result is left to the next server")

// ErrUnavailable is in the errors of Play where nothing can be handed out: NATS is away, or the disk is full.
// No machine is at fault.
var ErrUnavailable = errors.New("nothing can be handed to other machines")

// ErrLost is the error of an attempt whose machine is gone, or knows nothing of it.
var ErrLost = errors.New("the machine is lost")

// Contradiction is the error of a result that cannot be one of its attempt.
type Contradiction struct{ Text string }

func (c *Contradiction) Error() string { return c.Text }
