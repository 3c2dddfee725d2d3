// Package admission limits what people and network addresses may do: Places limit how many things they do at
// the same time, and a Rate limits how many requests they make in a minute.
package admission

import (
	"net/netip"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// Limits bound how many things of one kind, such as uploads, may go on at the same time. Person is the limit for one
// signed-in person. Address is the limit for all anonymous clients at one network address; 0 means no limit. Total is
// the limit for all people and clients together.
type Limits struct {
	Person, Address, Total int

	Subject phrase.Text   // names the things in error messages, in the plural
	Hint    phrase.Text   // what to try when a limit is reached
	Retry   time.Duration // the time after which to try again
}

// Check returns an error if a visitor could not start one more thing without exceeding a limit. The arguments say how
// many things go on now: those of the person, those from the network address, and all of them.
func (l Limits) Check(ofPerson, fromAddress, all int) error {
	var text phrase.Text
	switch {
	case ofPerson >= l.Person:
		text = phrase.New("the limit for one person is %d %s at the same time", l.Person, l.Subject)
	case l.Address > 0 && fromAddress >= l.Address:
		text = phrase.New("the limit for one address is %d %s at the same time", l.Address, l.Subject)
	case all >= l.Total:
		text = phrase.New("the limit is %d %s at the same time", l.Total, l.Subject)
	default:
		return nil
	}
	return &ladder.Error{Code: ladder.TooMany, Text: text, Hint: l.Hint, Retry: l.Retry}
}

// Visitor is somebody whose actions are limited: a signed-in person, or an anonymous client at a network address.
type Visitor struct {
	Person  int64 // ID of the person; 0 if nobody is signed in
	Address netip.Addr
}

// LimitKey returns the visitor to whom limits on v apply: the person alone, or the address alone if nobody is signed
// in. So people who share one address, such as a class, do not use up each other's limits.
func (v Visitor) LimitKey() Visitor {
	if v.Person != 0 {
		return Visitor{Person: v.Person}
	}
	return v
}

// Places counts things that go on at the same time, such as uploads, and keeps them within Limits. It is safe
// for concurrent use.
type Places struct {
	limits Limits
	mu     sync.Mutex
	total  int
	counts map[Visitor]int
}

// NewPlaces returns a Places with the limits l. Nothing goes on in it yet.
func NewPlaces(l Limits) *Places { return &Places{limits: l, counts: map[Visitor]int{}} }

// Enter counts one more thing that visitor does, until leave is called. If it would exceed a limit, Enter returns an
// error and does not count it.
func (p *Places) Enter(visitor Visitor) (leave func(), err error) {
	visitor = visitor.LimitKey()
	p.mu.Lock()
	defer p.mu.Unlock()
	ofPerson, fromAddress := p.counts[visitor], 0
	if visitor.Person == 0 {
		ofPerson, fromAddress = 0, p.counts[visitor]
	}
	if err := p.limits.Check(ofPerson, fromAddress, p.total); err != nil {
		return nil, err
	}
	p.add(1, visitor)
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.add(-1, visitor)
	}), nil
}

func (p *Places) add(n int, visitor Visitor) {
	p.total += n
	if p.counts[visitor] += n; p.counts[visitor] == 0 {
		delete(p.counts, visitor)
	}
}

// Count returns how many things are going on.
func (p *Places) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}
