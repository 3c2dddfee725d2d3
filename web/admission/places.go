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

	What  phrase.Text   // they are, in the plural
	Hint  phrase.Text   // what to try where there are too many
	Retry time.Duration // after which to try again
}

// Check returns an error if there may be no more beside those that there are.
func (l Limits) Check(ofPerson, fromAddress, all int) error {
	var text phrase.Text
	switch {
	case ofPerson >= l.Person:
		text = phrase.New("the limit for one person is %d %s at the same time", l.Person, l.What)
	case l.Address > 0 && fromAddress >= l.Address:
		text = phrase.New("the limit for one address is %d %s at the same time", l.Address, l.What)
	case all >= l.Total:
		text = phrase.New("the limit is %d %s at the same time", l.Total, l.What)
	default:
		return nil
	}
	return &ladder.Error{Code: ladder.TooMany, Text: text, Hint: l.Hint, Retry: l.Retry}
}

// By is whose a place is.
type By struct {
	Person  int64 // 0: nobody who is signed in
	Address netip.Addr
}

// One returns who is counted: a person, wherever they are, or an address where nobody is signed in. So many people
// behind one address, such as a class, do not take each other's places.
func (by By) One() By {
	if by.Person != 0 {
		return By{Person: by.Person}
	}
	return by
}

// Places are those that are taken, within limits.
type Places struct {
	limits Limits
	mu     sync.Mutex
	all    int
	taken  map[By]int
}

// NewPlaces returns places that nobody has taken.
func NewPlaces(l Limits) *Places { return &Places{limits: l, taken: map[By]int{}} }

// Enter takes a place until leave is called, or returns an error where none is left.
func (p *Places) Enter(by By) (leave func(), err error) {
	by = by.One()
	p.mu.Lock()
	defer p.mu.Unlock()
	ofPerson, fromAddress := p.taken[by], 0
	if by.Person == 0 {
		ofPerson, fromAddress = 0, p.taken[by]
	}
	if err := p.limits.Check(ofPerson, fromAddress, p.all); err != nil {
		return nil, err
	}
	p.count(1, by)
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.count(-1, by)
	}), nil
}

// count counts places of one, and forgets who has none.
func (p *Places) count(n int, by By) {
	p.all += n
	if p.taken[by] += n; p.taken[by] == 0 {
		delete(p.taken, by)
	}
}

// Taken returns how many places are taken.
func (p *Places) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}
