package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"net"
	"sync"
	"testing"

	"golang.org/x/time/rate"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/referee"
)

// slowLine carries the connections of a worker like a slow line, on which heartbeats are delayed by long
// messages. It cuts a connection that sends more than burst bytes before it receives any.
type slowLine struct {
	burst    int64
	maxBytes int64 // bytes after which a connection is cut in any case; 0 means no limit
	// speed is the number of bytes per second in each direction; 0 means no limit.
	speed rate.Limit

	mu   sync.Mutex
	cuts int
}

// urlTo returns a URL that leads to a server over the line.
func (l *slowLine) urlTo(t *testing.T, server string) (url string) {
	t.Helper()
	listener := kit.Get[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				near.Close()
				continue
			}
			counts := new([2]int64)
			var total int64
			for i, ends := range [2][2]net.Conn{{near, far}, {far, near}} {
				go l.carry(ends[0], ends[1], &counts[i], &counts[1-i], &total)
			}
		}
	}()
	return "nats://" + listener.Addr().String()
}

// carry forwards the bytes of one direction.
func (l *slowLine) carry(from, to net.Conn, sent, heard, total *int64) {
	defer from.Close()
	defer to.Close()
	speed := rate.NewLimiter(cmp.Or(l.speed, rate.Inf), 4096)
	for buffer := make([]byte, 4096); ; {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		l.mu.Lock()
		*sent, *heard, *total = *sent+int64(n), 0, *total+int64(n)
		cut := *sent > l.burst || l.maxBytes > 0 && *total > l.maxBytes
		if cut {
			l.cuts++
		}
		l.mu.Unlock()
		if cut || speed.WaitN(context.Background(), n) != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// largeResult returns a failed result with about that many bytes when it is packed. Being failed, it is not
// replayed.
func largeResult(j attempt.Job, bytes int) attempt.Result {
	noise := make([]byte, bytes)
	rand.Read(noise)
	r := attempt.Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed, Failure: &attempt.Failure{Kind: attempt.FailedReferee, Text: phrase.Plain("made up")}}
	r.Games = []*referee.GameResult{{Logs: [][]byte{noise}}}
	return r
}

// newArena returns an arena with a worker behind the line. If play is not nil, it replaces attempt.Play.
func (l *slowLine) newArena(t *testing.T, play func(context.Context, attempt.Job, attempt.Options) attempt.Result) *arena {
	t.Helper()
	a := newArena(t, nil)
	o := settings{Dir: t.TempDir()}.options(a.DispatcherOptions.Log)
	o.Play = play
	a.runWorker(kit.Get[*Link](t)(Dial(t.Context(), l.urlTo(t, a.address), a.creds("lab-1"), a.DispatcherOptions.Log)), o)
	return a
}

// requireFetch checks that the worker can fetch a bot of that many bytes over the line.
func (l *slowLine) requireFetch(t *testing.T, bytes int) {
	t.Parallel()
	a := l.newArena(t, nil)
	j := job(1, 1, greedy, a.incompressibleBot(2, bytes))
	r, err := a.Play(t.Context(), "lab-1", j)
	a.checkComplete(j, r, err)
	l.checkCuts(t)
}

// requireResult checks that the worker can send a result of that many bytes over the line.
func (l *slowLine) requireResult(t *testing.T, bytes int) {
	t.Parallel()
	a := l.newArena(t, func(_ context.Context, j attempt.Job, _ attempt.Options) attempt.Result { return largeResult(j, bytes) })
	r, err := a.Play(t.Context(), "lab-1", job(1, 1, greedy, greedy2))
	a.must(err)
	if r.Failure == nil || r.Failure.Kind != attempt.FailedReferee {
		t.Errorf("it gave %+v", r.Failure)
	}
	l.checkCuts(t)
}

// checkCuts checks that a line with a limit was cut.
func (l *slowLine) checkCuts(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if got := l.cuts > 0; got != (l.maxBytes > 0) {
		t.Errorf("the line was cut %d times", l.cuts)
	}
}

// A large bot and a large result arrive over a slow line, even over one that is cut again and again.
func TestSlowLine(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int64{"slow": 0, "cut": 2 << 20} {
		t.Run(name+" fetches", func(t *testing.T) { (&slowLine{burst: 1 << 19, maxBytes: most}).requireFetch(t, 3<<20) })
		t.Run(name+" hands in", func(t *testing.T) { (&slowLine{burst: 1 << 19, maxBytes: most}).requireResult(t, 3<<20) })
	}
}
