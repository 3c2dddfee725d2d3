package fleet

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/timba-arena/timba/internal/kit"
)

// small mounts a small disk over a directory until the test ends. It reports false where this user
// may not.
func small(t testing.TB, dir, size string) bool {
	t.Helper()
	if err := syscall.Mount("test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Logf("no small disk can be mounted: %v", err)
		return false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return true
}

// fill writes into a file until the disk is full.
func fill(t testing.TB, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// chatty is a bot whose log cannot be compressed: its result needs room of its own.
var chatty = script("test $verb = turn && head -c 8000 /dev/urandom | base64 >&2")

// noise returns text of at least so many bytes that cannot be compressed to much less.
func noise(bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(rand.Text())
	}
	return b.String()
}

// On a full disk NATS closes its streams. The worker keeps its result, the hub tells, and opens the
// streams again when there is room: the result comes, once, and matches go on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if !small(t, dir, "64m") {
		return
	}
	var told atomic.Int32
	a := newArena(t, func(o *HubOptions) {
		o.Dir = dir
		o.Registerer = prometheus.NewPedanticRegistry()
		o.Trouble = func(error) { told.Add(1) }
	})
	p := a.worker("lab-1")
	a.there("lab-1")
	bot := a.bot(2, chatty)
	first := job(1, 1, greedy, bot)
	d, err := a.Play(t.Context(), "lab-1", first)
	a.complete(first, d, err)
	if err := a.Err(); err != nil {
		t.Errorf("there is trouble before there is any: %v", err)
	}

	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	second := job(2, 1, greedy, bot) // its files are there already
	out := a.playing(t.Context(), "lab-1", second)
	kit.Until(t, "the hub tells of the full disk", func() bool {
		fill(t, filler)
		return a.Err() != nil
	})
	if text := a.Err().Error(); !strings.Contains(text, "no space left on device") {
		t.Errorf("it tells: %s", text)
	}
	if n := testutil.ToFloat64(a.metrics.down); n != 1 {
		t.Errorf("timba_fleet_down is %v", n)
	}
	kit.Until(t, "the worker keeps its result", func() bool {
		kept, err := filepath.Glob(filepath.Join(p.settings.Dir, "results", "*"+parcelSuffix))
		a.must(err)
		return len(kept) == 1
	})
	// Its files cannot be compressed: they need room in the object store.
	third := job(3, 1, greedy, a.bot(4, chatty+"\n# "+noise(64<<10)+"\n"))
	if _, err := a.Play(t.Context(), "lab-1", third); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a match with a new bot gave %v", err)
	}

	a.must(os.Remove(filler))
	got := <-out
	a.complete(second, got.Delivery, got.err)
	kit.Until(t, "the hub goes on", func() bool { return a.Err() == nil })
	third.Attempt++
	d, err = a.Play(t.Context(), "lab-1", third)
	a.complete(third, d, err)
	if n := testutil.ToFloat64(a.metrics.down); n != 0 {
		t.Errorf("timba_fleet_down is %v", n)
	}
	if n := told.Load(); n == 0 {
		t.Error("nobody was told of it")
	}
	if !strings.Contains(a.log.String(), "the fleet cannot go on") || !strings.Contains(a.log.String(), "the streams are open again") {
		t.Error("the log says nothing of it")
	}
	kit.Until(t, "no result waits", func() bool {
		info, err := a.stream(resultsStream).Info(t.Context())
		a.must(err)
		return info.State.Msgs == 0
	})
	select {
	case d := <-a.Unclaimed():
		t.Errorf("match %d comes once more", d.Match)
	default:
	}
	a.must(a.Close())
	a.open(func(o *HubOptions) { o.Dir = dir })
	if n := a.stream(resultsStream).CachedInfo().State.Msgs; n != 0 {
		t.Errorf("%d results are left", n)
	}
}
