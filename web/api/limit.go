package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/ladder"
)

// buckets limits the requests of each key per minute; bursts up to the whole limit are allowed.
// It keeps the maxKeys most recent keys.
type buckets[K comparable] struct {
	name   string // in the headers
	what   string // what is limited, for people
	minute int
	now    func() time.Time
	keys   *lru.Cache[K, *rate.Limiter]
}

// maxKeys bounds the memory of a limit, at about 200 bytes per key.
const maxKeys = 1 << 16

func newBuckets[K comparable](name, what string, minute int, now func() time.Time) *buckets[K] {
	keys, err := lru.New[K, *rate.Limiter](maxKeys)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &buckets[K]{name: name, what: what, minute: minute, now: now, keys: keys}
}

// take counts a request, sets the RateLimit headers, and returns an error above the limit.
func (b *buckets[K]) take(w http.ResponseWriter, key K) error {
	l, ok := b.keys.Get(key)
	if !ok {
		l = rate.NewLimiter(rate.Limit(float64(b.minute)/60), b.minute)
		if was, there, _ := b.keys.PeekOrAdd(key, l); there {
			l = was
		}
	}
	now := b.now()
	allowed := l.AllowN(now, 1)
	left := max(0, l.TokensAt(now))
	perSecond := float64(b.minute) / 60
	wait := time.Duration((1 - min(1, left)) / perSecond * float64(time.Second))
	full := int((float64(b.minute) - left) / perSecond)
	w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=60`, b.name, b.minute))
	w.Header().Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, b.name, int(left), full))
	if allowed {
		return nil
	}
	return retryError{ladder.Errorf(ladder.TooMany, fmt.Sprintf("wait %d s", max(1, int((wait+time.Second-1)/time.Second))),
		"the limit is %d %s", b.minute, b.what), wait}
}

// who is the client of a request; person is 0 without a token.
type who struct {
	person  int64
	address netip.Addr
}

func (in *info) who() who { return who{in.person.ID, in.address} }

// slots limits concurrent requests: of one person, from one address, and in total.
type slots struct {
	person, address, most int

	mu    sync.Mutex
	all   int
	taken map[who]int // with one of its two members
}

func newSlots(person, address, most int) *slots {
	return &slots{person: person, address: address, most: most, taken: map[who]int{}}
}

// enter takes a slot, or returns an error if none is free; leave frees it.
func (s *slots) enter(w who, what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	switch {
	case w.person != 0 && s.taken[who{person: w.person}] >= s.person:
		text = fmt.Sprintf("the limit for one person is %d %s at the same time", s.person, what)
	case s.taken[who{address: w.address}] >= s.address:
		text = fmt.Sprintf("the limit for one address is %d %s at the same time", s.address, what)
	case s.all >= s.most:
		text = fmt.Sprintf("the limit is %d %s at the same time", s.most, what)
	default:
		s.count(w, 1)
		return nil
	}
	return retryError{ladder.Errorf(ladder.Unavailable, "try again in some seconds", "%s", text), 5 * time.Second}
}

func (s *slots) leave(w who) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(w, -1)
}

func (s *slots) count(w who, n int) {
	s.all += n
	keys := []who{{address: w.address}}
	if w.person != 0 {
		keys = append(keys, who{person: w.person})
	}
	for _, k := range keys {
		if s.taken[k] += n; s.taken[k] == 0 {
			delete(s.taken, k)
		}
	}
}
