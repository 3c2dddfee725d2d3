// Package admission limits what people and addresses may do: at the same time, by places, and in a
// minute, by a rate.
package admission

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// Limits are how many there may be at the same time.
type Limits struct {
	Person, Address, Total int

	What  string        // they are, in the plural
	Hint  string        // what to try where there are too many
	Retry time.Duration // after which to try again
}

// Check returns an error if there may be no more beside those that there are.
func (l Limits) Check(ofPerson, fromAddress, all int) error {
	most := ""
	switch {
	case ofPerson >= l.Person:
		most = fmt.Sprintf(" for one person is %d", l.Person)
	case fromAddress >= l.Address:
		most = fmt.Sprintf(" for one address is %d", l.Address)
	case all >= l.Total:
		most = fmt.Sprintf(" is %d", l.Total)
	default:
		return nil
	}
	err := ladder.Errorf(ladder.TooMany, l.Hint, "the limit%s %s at the same time", most, l.What)
	err.Retry = l.Retry
	return err
}

// By is whose a place is.
type By struct {
	Person  int64 // 0: nobody who is signed in
	Address netip.Addr
}

// Places are those that are taken, within limits.
type Places struct {
	limits Limits
	mu     sync.Mutex
	all    int
	taken  map[By]int // with one of its members
}

// NewPlaces returns places that nobody has taken.
func NewPlaces(l Limits) *Places { return &Places{limits: l, taken: map[By]int{}} }

// Enter takes a place until leave is called, or returns an error where none is left.
func (p *Places) Enter(by By) (leave func(), err error) {
	address, person := By{Address: by.Address}, By{Person: by.Person}
	p.mu.Lock()
	defer p.mu.Unlock()
	of, own := []By{address}, -1 // of nobody in particular
	if by.Person != 0 {
		of, own = append(of, person), p.taken[person]
	}
	if err := p.limits.Check(own, p.taken[address], p.all); err != nil {
		return nil, err
	}
	p.count(1, of...)
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.count(-1, of...)
	}), nil
}

// count counts a place for each of some, and forgets those that have none.
func (p *Places) count(n int, of ...By) {
	p.all += n
	for _, by := range of {
		if p.taken[by] += n; p.taken[by] == 0 {
			delete(p.taken, by)
		}
	}
}

// Taken returns how many places are taken.
func (p *Places) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}
