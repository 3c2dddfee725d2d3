package cluster

import "sync"

// checkSlots limits how many results are checked at the same time, because a check needs much memory. The
// results of one machine have at most half of the slots, and at least one.
type checkSlots struct {
	all chan struct{} // has an element for each running check
	mu  sync.Mutex
	// machines has the machines with checks that run or wait.
	machines map[string]*machineSlots
}

type machineSlots struct {
	slots chan struct{} // has an element for each running check of the machine
	users int           // checks that run or wait
}

func newCheckSlots(n int) *checkSlots {
	return &checkSlots{all: make(chan struct{}, n), machines: map[string]*machineSlots{}}
}

// acquire waits for a slot for a result of machine. The caller must call release after the check.
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
