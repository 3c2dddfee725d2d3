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

// Rate limits the requests of each key in a minute; bursts up to the whole limit are allowed.
// It keeps the maxKeys most recent keys.
type Rate[K comparable] struct {
	name    string      // in the headers
	subject phrase.Text // what is limited, for people
	minute  int
	now     func() time.Time
	keys    *lru.Cache[K, *rate.Limiter]
}

// maxKeys bounds the memory of a limit, at about 200 bytes per key.
const maxKeys = 1 << 16

// NewRate returns a limit of so many requests a minute. name is that in the headers; what is what is
// limited, for people.
func NewRate[K comparable](name string, what phrase.Text, minute int, now func() time.Time) *Rate[K] {
	keys, err := lru.New[K, *rate.Limiter](maxKeys)
	if err != nil {
		panic(err) // only for a size below 1
	}
	return &Rate[K]{name: name, subject: what, minute: minute, now: now, keys: keys}
}

// Admit counts a request, sets the RateLimit headers, and returns an error above the limit.
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
