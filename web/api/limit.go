package api

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/ladder"
)

// buckets limits how often each key may ask: so many a minute, all at once if it
// likes. It remembers the keys that asked last; one that is forgotten has been
// silent for longer than many others.
type buckets[K comparable] struct {
	name   string // in the headers
	what   string // is limited, for people
	minute int
	now    func() time.Time
	keys   *lru.Cache[K, *rate.Limiter]
}

// maxKeys bounds the memory of a limit: some 200 bytes a key.
const maxKeys = 1 << 16

func newBuckets[K comparable](name, what string, minute int, now func() time.Time) *buckets[K] {
	keys, err := lru.New[K, *rate.Limiter](maxKeys)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &buckets[K]{name: name, what: what, minute: minute, now: now, keys: keys}
}

// take counts a request and says how much is left, in the headers too.
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
		"there is a limit of %d %s", b.minute, b.what), wait}
}

// slots bounds how many do something at once, and lets nobody have more than half
// of it: K is who.
type slots[K comparable] struct {
	mu    sync.Mutex
	most  int
	all   int
	taken map[K]int
}

func newSlots[K comparable](most int) *slots[K] { return &slots[K]{most: most, taken: map[K]int{}} }

// enter takes a slot, or says that there is none; leave gives it back.
func (s *slots[K]) enter(who K, what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	switch {
	case s.all == s.most:
		text = fmt.Sprintf("there are %d %s already", s.most, what)
	case s.taken[who] == s.most/2:
		text = fmt.Sprintf("there are %d %s of yours already", s.most/2, what)
	default:
		s.all++
		s.taken[who]++
		return nil
	}
	return retryError{ladder.Errorf(ladder.Unavailable, "try again in some seconds", "%s", text), 5 * time.Second}
}

func (s *slots[K]) leave(who K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.taken[who]--; s.taken[who] == 0 {
		delete(s.taken, who)
	}
}
