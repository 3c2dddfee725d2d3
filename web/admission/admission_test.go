package admission_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/admission"
)

var limits = admission.Limits{Person: 2, Address: 3, Total: 6, Subject: phrase.Plain("seats"), Hint: phrase.Plain("stand"), Retry: 7 * time.Second}

// from returns an address.
func from(n byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, n}) }

// Places limit a person at all addresses, an address without a signed-in person, and the total. A place that
// is left can be taken again.
func TestPlaces(t *testing.T) {
	p := admission.NewPlaces(limits)
	enter := func(by admission.Visitor, want string) (leave func()) {
		t.Helper()
		leave, err := p.Enter(by)
		var known *ladder.Error
		switch {
		case want == "":
			kit.Must(t, err)
		case err == nil || err.Error() != want+" seats at the same time: stand":
			t.Errorf("%+v gets %v, want %q", by, err, want)
		case !errors.As(err, &known) || known.Code != ladder.TooMany || known.Retry != limits.Retry:
			t.Errorf("%+v gets %+v", by, err)
		}
		return leave
	}
	first := enter(admission.Visitor{Person: 1, Address: from(1)}, "")
	enter(admission.Visitor{Person: 1, Address: from(2)}, "")
	enter(admission.Visitor{Person: 1, Address: from(3)}, "the limit for one person is 2")
	for range 3 {
		enter(admission.Visitor{Address: from(1)}, "")
	}
	enter(admission.Visitor{Address: from(1)}, "the limit for one address is 3")
	enter(admission.Visitor{Person: 2, Address: from(1)}, "")
	enter(admission.Visitor{Address: from(5)}, "the limit is 6")
	first()
	first() // counts once
	if n := p.Count(); n != 5 {
		t.Errorf("%d places are taken, want 5", n)
	}
	enter(admission.Visitor{Person: 1, Address: from(1)}, "")
	enter(admission.Visitor{Address: from(6)}, "the limit is 6")
}

// A visitor without a person and without an address takes one place.
func TestPlacesOfNobody(t *testing.T) {
	p := admission.NewPlaces(limits)
	for range limits.Address {
		kit.Get[func()](t)(p.Enter(admission.Visitor{}))
	}
	if _, err := p.Enter(admission.Visitor{}); err == nil {
		t.Errorf("%d places are one too many", p.Count()+1)
	}
}

// Concurrent calls of Enter never exceed the limits.
func TestPlacesAtOnce(t *testing.T) {
	p := admission.NewPlaces(admission.Limits{Person: 1, Address: 40, Total: 30, Subject: phrase.Plain("seats")})
	var all sync.WaitGroup
	leaves := make(chan func(), 100)
	for range cap(leaves) {
		all.Go(func() {
			if leave, err := p.Enter(admission.Visitor{Address: from(1)}); err == nil {
				leaves <- leave
			}
		})
	}
	all.Wait()
	if len(leaves) != 30 || p.Count() != 30 {
		t.Errorf("%d have come in, and %d places are taken, want 30", len(leaves), p.Count())
	}
	close(leaves)
	for leave := range leaves {
		leave()
	}
	if n := p.Count(); n != 0 {
		t.Errorf("%d places are taken at the end", n)
	}
}

// A rate allows a number of requests in a minute, and that number at once. The headers say what is left, and
// the error when to try again.
func TestRate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := admission.NewRate[string]("person", phrase.Plain("requests a minute for one person"), 3, func() time.Time { return now })
	take := func(key string) (header string, err error) {
		w := httptest.NewRecorder()
		err = r.Admit(w, key)
		return w.Header().Get("RateLimit-Policy") + " " + w.Header().Get("RateLimit"), err
	}
	for left := range 3 {
		header, err := take("anna")
		kit.Must(t, err)
		if want := fmt.Sprintf(`"person";q=3;w=60 "person";r=%d;t=`, 2-left); !strings.HasPrefix(header, want) {
			t.Errorf("the header is %s, want %s", header, want)
		}
	}
	_, err := take("anna")
	var known *ladder.Error
	if !errors.As(err, &known) || known.Code != ladder.TooMany || known.Retry != 20*time.Second || !strings.Contains(err.Error(), "the limit is 3 requests a minute for one person: wait 20 s") {
		t.Errorf("a fourth gets %+v", err)
	}
	if _, err := take("berta"); err != nil {
		t.Errorf("another key: %v", err)
	}
	now = now.Add(20 * time.Second)
	if _, err := take("anna"); err != nil {
		t.Errorf("after 20 s: %v", err)
	}
}
