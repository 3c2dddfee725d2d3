package cluster

import (
	"time"

	"github.com/nats-io/nats.go"
)

// attemptState is the progress of a match that another machine plays, until its result is stored.
type attemptState int

const (
	preparing    attemptState = iota // its bots are being packed; the machine does not know it, and it cannot be lost
	sent                             // its job was sent, and is sent again until a heartbeat names it
	acknowledged                     // a heartbeat has named it, or an earlier server has sent it
	received                         // its result is complete, and is being checked and stored
	lost                             // no heartbeat has named it for AckTime
)

// awaitedAttempt is a match on another machine whose result the dispatcher waits for. It ends when the result has
// been stored or refused, or when the match is cancelled or lost; a later result is refused. If the server stops
// before that, the match goes on, and the next server waits for its result.
type awaitedAttempt struct {
	attemptKey
	machine     string
	expectation Expectation
	hashes      []string // of the bots that the machine fetches
	job         []byte   // the encoded command; nil if it is not to be sent again
	state       attemptState
	sentAt      time.Time // when the job was last sent
	namedAt     time.Time // when a heartbeat last named it, or when it was sent
	upload      upload
	lastPart    *nats.Msg     // last part of the result; the answer to it says that the machine may forget the result
	result      chan Delivery // gets the result when it is complete
	loss        chan struct{} // closed when the attempt is lost
}

// lose marks a match as lost, because its machine no longer reports it. The caller must hold the lock of the
// dispatcher.
func (a *awaitedAttempt) lose() {
	a.state = lost
	close(a.loss)
}

// awaitedAttempts has the matches on other machines whose results a dispatcher waits for. It also has matches whose
// results may still arrive although the dispatcher does not wait for them. The lock of the dispatcher guards it.
type awaitedAttempts struct {
	all       map[attemptKey]*awaitedAttempt
	byMachine map[string]map[attemptKey]*awaitedAttempt // the attempts of all, by machine
	// adoptionEnd is the time after which this server takes over no more matches that an earlier server process
	// started.
	adoptionEnd      time.Time
	detachedAttempts map[attemptKey]bool // attempts that are left to the next server
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

// remove makes the dispatcher stop waiting for the result of a. If over is true, the result is no longer needed. If
// it is false, the result may still arrive, and the server waits for it again after its next start.
func (s *awaitedAttempts) remove(a *awaitedAttempt, over bool) {
	delete(s.all, a.attemptKey)
	attempts := s.byMachine[a.machine]
	if delete(attempts, a.attemptKey); len(attempts) == 0 {
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

// mayArrive reports whether a result that this server does not wait for is still useful: this server may wait for
// it soon, or the next server may.
func (s *awaitedAttempts) mayArrive(key attemptKey) bool {
	return s.detachedAttempts[key] || time.Now().Before(s.adoptionEnd) && !s.endedAttempts[key]
}

// uploadSize returns the total size, in bytes, of the results of a machine that are arriving or wait to be stored.
func (s *awaitedAttempts) uploadSize(machine string) (bytes int) {
	for _, a := range s.byMachine[machine] {
		bytes += a.upload.Size
	}
	return bytes
}
