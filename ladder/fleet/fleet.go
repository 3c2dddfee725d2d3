// Package fleet plays attempts at matches: Play on this machine, and a Hub on others, over NATS. The hub
// hands a job to a machine and waits for its result; a Worker takes, plays and hands in.
//
// A job goes to one machine, on a subject that only this machine may read, because it has the
// seed. The worker keeps a result on its disk until the server has stored it, and says so. Attempts have
// numbers, and only the result of the newest one counts.
package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/timba-arena/timba/referee"
)

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
	Playing      []Playing         `json:"playing,omitempty"`
	Local        bool              `json:"-"` // in the server's process
	Seen         time.Time         `json:"-"`
	Refused      string            `json:"-"` // why it gets no job, "" if it does
}

// Playing is an attempt that a machine plays.
type Playing struct {
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

// Fleet is what a runner plays matches on other machines with. Hub is one.
type Fleet interface {
	// Machines returns the machines that are there, the refused and the draining included.
	Machines() []Machine
	// Changed receives, without blocking the fleet, after machines came, left or changed.
	Changed() <-chan struct{}
	// Play hands a job to a machine and gives its result to keep, once. An error of keep says that the
	// result cannot be stored now: then the machine keeps it for the next server. Play returns that
	// error, a *Contradiction for what cannot be a result of the job, and an error when the context
	// ends (the machine is told to stop, and has a moment to do so) or the machine is lost (ErrLost):
	// then the attempt is over, and a result of it that still comes is refused. With the cause
	// ErrDetach the attempt is not over. What cannot be handed out at all is a *Failure, or
	// ErrUnavailable.
	Play(ctx context.Context, machine string, j Job, keep func(Result) error) error
	// Adopt is Play of an attempt that an earlier server has handed out: j has no seed, but a
	// commitment to it is known.
	Adopt(ctx context.Context, machine string, j Job, commitment referee.Hex, keep func(Result) error) error
}
