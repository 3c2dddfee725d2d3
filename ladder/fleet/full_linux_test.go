package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// fill writes into a file until the disk is full.
func fill(t testing.TB, path string) {
	t.Helper()
	f := kit.Get[*os.File](t)(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	defer f.Close()
	var err error
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// On a full disk NATS closes its streams. The worker keeps its result, the hub tells, and opens the
// streams again when there is room: the result comes.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("test", dir, "tmpfs", 0, "size=64m"); err != nil {
		kit.Lacks(t, "the right to mount a small disk")
	}
	t.Cleanup(func() { kit.Must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	var told atomic.Int32
	a := newArena(t, func(o *HubOptions) {
		o.Dir = dir
		o.Trouble = func(error) { told.Add(1) }
	})
	p := a.worker("lab-1")
	// Its log cannot be compressed: a result needs room of its own.
	bot := a.bot(2, script("test $verb = turn && head -c 8000 /dev/urandom | base64 >&2"))
	j := job(1, 1, greedy, bot)
	d, err := a.Play(t.Context(), "lab-1", j)
	a.complete(j, d, err)

	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	j = job(2, 1, greedy, bot) // its files are there already
	out := a.playing(t.Context(), "lab-1", j)
	kit.Until(t, "the hub tells of the full disk", func() bool {
		fill(t, filler)
		return a.Err() != nil
	})
	if text := a.Err().Error(); !strings.Contains(text, "no space left on device") || told.Load() == 0 {
		t.Errorf("it tells %d times: %s", told.Load(), text)
	}
	kit.Until(t, "the worker keeps its result", func() bool {
		kept := kit.Get[[]string](t)(filepath.Glob(filepath.Join(p.settings.Dir, "results", "*"+parcelSuffix)))
		return len(kept) == 1
	})
	a.must(os.Remove(filler))
	got := <-out
	a.complete(j, got.Delivery, got.err)
	kit.Until(t, "the hub goes on", func() bool { return a.Err() == nil })
	if !strings.Contains(a.log.String(), "the streams are open again") {
		t.Error("the log says nothing of it")
	}
}
