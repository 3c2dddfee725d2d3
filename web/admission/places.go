// Package admission limits what people and addresses may do: at the same time, by places, and in a
// minute, by a rate.
package admission

import (
	"net/netip"
	"sync"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// Limits are how many there may be at the same time: of a person, from an address where nobody is signed in (0:
// as many as in all) and in all.
type Limits struct {
	Person, Address, Total int

	Subject phrase.Text   // they are, in the plural
	Hint    phrase.Text   // what to try where there are too many
	Retry   time.Duration // after which to try again
}

// Check returns an error if there may be no more beside those that there are.
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

// Visitor is whose a place is.
type Visitor struct {
	Person  int64 // 0: nobody who is signed in
	Address netip.Addr
}

// LimitKey returns who is counted: a person, wherever they are, or an address where nobody is signed in. So many people
// behind one address, such as a class, do not take each other's places.
func (by Visitor) LimitKey() Visitor {
	if by.Person != 0 {
		return Visitor{Person: by.Person}
	}
	return by
}

// Places are those that are taken, within limits.
type Places struct {
	limits Limits
	mu     sync.Mutex
	total  int
	counts map[Visitor]int
}

// NewPlaces returns places that nobody has taken.
func NewPlaces(l Limits) *Places { return &Places{limits: l, counts: map[Visitor]int{}} }

// Enter takes a place until leave is called, or returns an error where none is left.
func (p *Places) Enter(by Visitor) (leave func(), err error) {
	by = by.LimitKey()
	p.mu.Lock()
	defer p.mu.Unlock()
	ofPerson, fromAddress := p.counts[by], 0
	if by.Person == 0 {
		ofPerson, fromAddress = 0, p.counts[by]
	}
	if err := p.limits.Check(ofPerson, fromAddress, p.total); err != nil {
		return nil, err
	}
	p.add(1, by)
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.add(-1, by)
	}), nil
}

// add counts places of one, and forgets who has none.
func (p *Places) add(n int, by Visitor) {
	p.total += n
	if p.counts[by] += n; p.counts[by] == 0 {
		delete(p.counts, by)
	}
}

// Count returns how many places are taken.
func (p *Places) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total
}
