//go:build !race || slowrace

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// newArchive returns an archive whose directory does not exist yet.
func newArchive(t *testing.T) archive { return archive(filepath.Join(t.TempDir(), "archive")) }

func putText(t *testing.T, s archive, text string) digest {
	t.Helper()
	sum := kit.Get[digest](t)(s.put([]byte(text)))
	if want := digestOf([]byte(text)); sum != want {
		t.Fatalf("the sum is %s, want %s", sum, want)
	}
	return sum
}

func wantText(t *testing.T, s archive, sum digest, start, length int64, text string) {
	t.Helper()
	got := kit.Get[[]byte](t)(s.read(sum, start, length))
	if string(got) != text {
		t.Errorf("reads %q, want %q", got, text)
	}
}

// TestArchiveRoundTrip checks that a stored file can be read as a whole and in parts.
func TestArchiveRoundTrip(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	big := bytes.Repeat([]byte("timba\x00\xff"), 1<<20)
	sum := kit.Get[digest](t)(s.put(big))
	small, empty := putText(t, s, "one two three"), putText(t, s, "")
	wantText(t, s, small, 0, 13, "one two three")
	wantText(t, s, small, 4, 3, "two")
	wantText(t, s, small, 13, 0, "")
	wantText(t, s, empty, 0, 0, "")
	got := kit.Get[[]byte](t)(s.read(sum, 7, int64(len(big))-7))
	if !bytes.Equal(got, big[7:]) {
		t.Error("a big file is another when it is read")
	}
}

func TestArchiveMissing(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	if _, err := s.read(digestOf([]byte("nothing")), 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is %v", err)
	}
}

func TestArchiveBounds(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	sum := putText(t, s, "0123456789")
	for _, r := range [][2]int64{{0, 11}, {10, 1}, {11, 0}, {5, 6}, {-1, 2}, {2, -1}, {1, 1<<63 - 1}, {1<<63 - 1, 1}} {
		if got, err := s.read(sum, r[0], r[1]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes from %d on are %q, %v", r[1], r[0], got, err)
		}
	}
}

func (a archive) count(t *testing.T) int {
	return len(kit.Get[[]os.DirEntry](t)(os.ReadDir(string(a))))
}

func TestArchivePutTwice(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	putText(t, s, "the same")
	putText(t, s, "the same")
	if got := s.count(t); got != 1 {
		t.Errorf("one file is there as %v", got)
	}
}

// TestArchiveConcurrently checks that several goroutines may write at the same time, even the same file.
func TestArchiveConcurrently(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			text := []byte(fmt.Sprint("file ", i%8))
			sum, err := s.put(text)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := s.read(sum, 0, int64(len(text))); err != nil || !bytes.Equal(got, text) {
				t.Errorf("reads %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if got := s.count(t); got != 8 {
		t.Errorf("8 files are %d", got)
	}
}

// TestArchiveTruncated checks that put replaces a file that a damaged disk has truncated.
func TestArchiveTruncated(t *testing.T) {
	t.Parallel()
	s := newArchive(t)
	sum := putText(t, s, "whole")
	kit.Must(t, os.Truncate(s.path(sum), 2))
	putText(t, s, "whole")
	wantText(t, s, sum, 0, 5, "whole")
}
