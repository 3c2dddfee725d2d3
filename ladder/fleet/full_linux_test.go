package fleet

import (
	"crypto/rand"
	"encoding/hex"
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

// On a full disk NATS closes the stream of bots. The hub tells, and opens it again when there is room.
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
	a.worker("lab-1")
	j := job(1, 1, greedy, a.bot(2, script("")))
	r, err := a.Play(t.Context(), "lab-1", j)
	a.complete(j, r, err)

	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	noise := make([]byte, 1<<17) // which cannot be compressed
	rand.Read(noise)
	j = job(2, 1, greedy, a.bot(3, script("")+"# "+hex.EncodeToString(noise)))
	kit.Until(t, "the hub tells of the full disk", func() bool {
		fill(t, filler)
		if _, err := a.Play(t.Context(), "lab-1", j); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("a bot on a full disk gave %v", err)
		}
		return a.Err() != nil
	})
	if text := a.Err().Error(); !strings.Contains(text, "no space left on device") || told.Load() == 0 {
		t.Errorf("it tells %d times: %s", told.Load(), text)
	}
	a.must(os.Remove(filler))
	kit.Until(t, "the hub goes on", func() bool { return a.Err() == nil })
	r, err = a.Play(t.Context(), "lab-1", j)
	a.complete(j, r, err)
	if !strings.Contains(a.log.String(), "the streams are open again") {
		t.Error("the log says nothing of it")
	}
}
