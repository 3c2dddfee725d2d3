package cluster

import (
	"time"

	"github.com/nats-io/nats.go"
)

// attemptState is how far an attempt is on its way to a result.
type attemptState int

const (
	preparing    attemptState = iota // its bots are packed: its machine does not know of it, and it cannot be lost
	sent                             // its job is sent to the machine, again until a heartbeat names it
	acknowledged                     // a heartbeat has named it, or an earlier server has handed it out
	received                         // its result is complete, and is checked and stored
	lost                             // no heartbeat has named it for AckTime, unless its result came in the same moment
)

// awaitedAttempt is an attempt that the hub waits for, until its result is stored or refused, it is cancelled, or it is lost. Then
// it is over, and a result that still comes is refused. An attempt that is detached instead is left to the next server.
type awaitedAttempt struct {
	attemptKey
	machine     string
	expectation Expectation
	hashes      []string // of the bots that the machine fetches
	job         []byte   // as it goes to the machine; nil where it is not to be sent again
	state       attemptState
	sentAt      time.Time // last
	namedAt     time.Time // last, by a heartbeat, or when it was sent
	upload      upload
	lastPart    *nats.Msg     // of the result: its answer says that the machine may forget it
	result      chan Delivery // has room for one
	loss        chan struct{} // closed when the attempt is lost
}

// lose marks an attempt as lost. The caller holds the lock of the hub.
func (a *awaitedAttempt) lose() {
	a.state = lost
	close(a.loss)
}

// awaitedAttempts has the attempts that a hub waits for, and remembers others whose results may still come. The lock of the hub
// guards it.
type awaitedAttempts struct {
	all       map[attemptKey]*awaitedAttempt
	byMachine map[string]map[attemptKey]*awaitedAttempt // the same attempts
	// adoptionEnd is when this server waits for all attempts of an earlier one that it will ever adopt.
	adoptionEnd      time.Time
	detachedAttempts map[attemptKey]bool // left to the next server
	endedAttempts    map[attemptKey]bool // ended before adoptionEnd
}

func newAwaitedSet() awaitedAttempts {
	return awaitedAttempts{
		all: map[attemptKey]*awaitedAttempt{}, byMachine: map[string]map[attemptKey]*awaitedAttempt{},
		detachedAttempts: map[attemptKey]bool{}, endedAttempts: map[attemptKey]bool{},
	}
}

func (s *awaitedAttempts) add(a *awaitedAttempt) {
	s.all[a.attemptKey] = a
	if s.byMachine[a.machine] == nil {
		s.byMachine[a.machine] = map[attemptKey]*awaitedAttempt{}
	}
	s.byMachine[a.machine][a.attemptKey] = a
}

// remove removes an attempt that is over, or else detached.
func (s *awaitedAttempts) remove(a *awaitedAttempt, over bool) {
	delete(s.all, a.attemptKey)
	of := s.byMachine[a.machine]
	if delete(of, a.attemptKey); len(of) == 0 {
		delete(s.byMachine, a.machine)
	}
	if !over {
		s.detachedAttempts[a.attemptKey] = true
		return
	}
	delete(s.detachedAttempts, a.attemptKey)
	if time.Now().Before(s.adoptionEnd) {
		s.endedAttempts[a.attemptKey] = true
	}
}

// mayCome reports whether somebody may still wait for an attempt that nobody waits for: this server in a moment, or the
// next one.
func (s *awaitedAttempts) mayCome(key attemptKey) bool {
	return s.detachedAttempts[key] || time.Now().Before(s.adoptionEnd) && !s.endedAttempts[key]
}

// uploadSize returns how many bytes the results have that a machine hands in.
func (s *awaitedAttempts) uploadSize(machine string) (bytes int) {
	for _, a := range s.byMachine[machine] {
		bytes += a.upload.Size
	}
	return bytes
}
