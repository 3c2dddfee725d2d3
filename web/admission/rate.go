package admission

import (
	"fmt"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// Rate limits how many requests may be made in a minute for each key, such as a network address. All of them may be
// made at once. A Rate remembers only the maxKeys keys that were used last.
type Rate[K comparable] struct {
	name    string      // names the limit in the RateLimit headers
	subject phrase.Text // what is limited, in words for people
	minute  int         // requests in a minute
	now     func() time.Time
	keys    *lru.Cache[K, *rate.Limiter]
}

// maxKeys is the largest number of keys in a Rate, which needs about 200 bytes for each.
const maxKeys = 1 << 16

// NewRate returns a Rate. minute is the number of requests that it allows each key in a minute. name identifies the
// limit in the RateLimit headers. subject is what error messages call the limited requests. now returns the current
// time.
func NewRate[K comparable](name string, subject phrase.Text, minute int, now func() time.Time) *Rate[K] {
	keys, err := lru.New[K, *rate.Limiter](maxKeys)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Rate[K]{name: name, subject: subject, minute: minute, now: now, keys: keys}
}

// Admit counts a request of the client that key identifies, and sets the RateLimit headers of the answer. If the
// limit is exceeded, it returns an error.
func (r *Rate[K]) Admit(w http.ResponseWriter, key K) error {
	l, ok := r.keys.Get(key)
	if !ok {
		l = rate.NewLimiter(rate.Limit(float64(r.minute)/60), r.minute)
		if was, there, _ := r.keys.PeekOrAdd(key, l); there {
			l = was
		}
	}
	now := r.now()
	allowed := l.AllowN(now, 1)
	left := max(0, l.TokensAt(now))
	perSecond := float64(r.minute) / 60
	wait := time.Duration((1 - min(1, left)) / perSecond * float64(time.Second))
	full := int((float64(r.minute) - left) / perSecond)
	w.Header().Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=60`, r.name, r.minute))
	w.Header().Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, r.name, int(left), full))
	if allowed {
		return nil
	}
	err := ladder.Errorf(ladder.TooMany, "", "the limit is %d %s", r.minute, r.subject).Try("wait %d s", max(1, int((wait+time.Second-1)/time.Second)))
	err.Retry = wait
	return err
}
