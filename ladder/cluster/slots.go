package cluster

import "sync"

// checkSlots limits how many results are checked at the same time, because a check needs much memory. The
// results of one machine use at most half of the slots, so that no machine can block the others.
type checkSlots struct {
	all chan struct{} // has an element for each running check
	mu  sync.Mutex
	// machines has the machines with results that are being checked or wait for a check, by machine name.
	machines map[string]*machineSlots
}

type machineSlots struct {
	slots chan struct{} // has an element for each running check of the machine
	users int           // results of the machine that are being checked or wait
}

func newCheckSlots(n int) *checkSlots {
	return &checkSlots{all: make(chan struct{}, n), machines: map[string]*machineSlots{}}
}

// acquire waits until a result of the given machine may be checked. The caller must call release after the check.
func (s *checkSlots) acquire(machine string) (release func()) {
	s.mu.Lock()
	m := s.machines[machine]
	if m == nil {
		m = &machineSlots{slots: make(chan struct{}, max(1, cap(s.all)/2))}
		s.machines[machine] = m
	}
	m.users++
	s.mu.Unlock()
	m.slots <- struct{}{}
	s.all <- struct{}{}
	return func() {
		<-s.all
		<-m.slots
		s.mu.Lock()
		defer s.mu.Unlock()
		if m.users--; m.users == 0 {
			delete(s.machines, machine)
		}
	}
}
