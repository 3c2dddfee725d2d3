package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/archive"
)

// TestDirectory has what a directory must do. Each test gets an empty directory twice, the second
// as after a start of the program.
func TestDirectory(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, s, again archive.Directory){
		"round trip": roundTrip, "missing": missing, "bounds": bounds, "list": list, "remove": remove, "twice": twice,
		"at once": atOnce, "ended": ended,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "archive")
			test(t, archive.Directory(path), archive.Directory(path))
		})
	}
}

func put(t *testing.T, s archive.Directory, text string) archive.Sum {
	t.Helper()
	sum := kit.Get[archive.Sum](t)(s.Put(t.Context(), []byte(text)))
	if want := archive.SumOf([]byte(text)); sum != want {
		t.Fatalf("the sum is %s, want %s", sum, want)
	}
	return sum
}

func want(t *testing.T, s archive.Directory, sum archive.Sum, start, length int64, text string) {
	t.Helper()
	got := kit.Get[[]byte](t)(s.Read(t.Context(), sum, start, length))
	if string(got) != text {
		t.Errorf("reads %q, want %q", got, text)
	}
}

// What was put is there, whole and in parts, for who opens the store later, too.
func roundTrip(t *testing.T, s, again archive.Directory) {
	big := bytes.Repeat([]byte("timba\x00\xff"), 1<<20)
	sum := kit.Get[archive.Sum](t)(s.Put(t.Context(), big))
	small, empty := put(t, s, "one two three"), put(t, s, "")
	for _, s := range []archive.Directory{s, again} {
		want(t, s, small, 0, 13, "one two three")
		want(t, s, small, 4, 3, "two")
		want(t, s, small, 13, 0, "")
		want(t, s, empty, 0, 0, "")
		got := kit.Get[[]byte](t)(s.Read(t.Context(), sum, 7, int64(len(big))-7))
		if !bytes.Equal(got, big[7:]) {
			t.Error("a big file is another when it is read")
		}
	}
}

func missing(t *testing.T, s, _ archive.Directory) {
	if _, err := s.Read(t.Context(), archive.SumOf([]byte("nothing")), 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file is %v", err)
	}
}

func bounds(t *testing.T, s, _ archive.Directory) {
	sum := put(t, s, "0123456789")
	for _, r := range [][2]int64{{0, 11}, {10, 1}, {11, 0}, {5, 6}, {-1, 2}, {2, -1}, {1, 1<<63 - 1}, {1<<63 - 1, 1}} {
		if got, err := s.Read(t.Context(), sum, r[0], r[1]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes from %d on are %q, %v", r[1], r[0], got, err)
		}
	}
}

func files(t *testing.T, s archive.Directory) (list []archive.File) {
	t.Helper()
	for f, err := range s.List(t.Context()) {
		kit.Must(t, err)
		list = append(list, f)
	}
	return list
}

func list(t *testing.T, s, again archive.Directory) {
	if got := files(t, s); len(got) > 0 {
		t.Errorf("an empty store has %v", got)
	}
	var want []archive.File
	for i := range 30 {
		text := fmt.Sprint("file ", i)
		want = append(want, archive.File{Sum: put(t, s, text), Size: int64(len(text))})
	}
	slices.SortFunc(want, func(a, b archive.File) int { return bytes.Compare(a.Sum[:], b.Sum[:]) })
	for _, s := range []archive.Directory{s, again} {
		if got := files(t, s); !slices.Equal(got, want) {
			t.Errorf("lists %v, want %v", got, want)
		}
	}
	for range s.List(t.Context()) {
		break // ends the list
	}
}

func remove(t *testing.T, s, _ archive.Directory) {
	a, b := put(t, s, "a"), put(t, s, "b")
	for range 2 {
		kit.Must(t, s.Remove(t.Context(), a))
	}
	if _, err := s.Read(t.Context(), a, 0, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file is %v", err)
	}
	want(t, s, b, 0, 1, "b")
	want(t, s, put(t, s, "a"), 0, 1, "a")
	kit.Must(t, s.Clean(t.Context())) // leaves what is whole
	want(t, s, b, 0, 1, "b")
}

func twice(t *testing.T, s, again archive.Directory) {
	put(t, s, "the same")
	put(t, s, "the same")
	put(t, again, "the same")
	if got := files(t, s); len(got) != 1 {
		t.Errorf("one file is there as %v", got)
	}
}

// Many use the store at once, and some put the same file.
func atOnce(t *testing.T, s, _ archive.Directory) {
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			text := []byte(fmt.Sprint("file ", i%8))
			sum, err := s.Put(t.Context(), text)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := s.Read(t.Context(), sum, 0, int64(len(text))); err != nil || !bytes.Equal(got, text) {
				t.Errorf("reads %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if got := files(t, s); len(got) != 8 {
		t.Errorf("8 files are %d", len(got))
	}
}

// Nothing happens once the context has ended.
func ended(t *testing.T, s, _ archive.Directory) {
	sum := put(t, s, "here")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, []byte("more")); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Read(ctx, sum, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if err := s.Remove(ctx, sum); !errors.Is(err, context.Canceled) {
		t.Errorf("remove: %v", err)
	}
	for _, err := range s.List(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("list: %v", err)
		}
	}
	if got := files(t, s); len(got) != 1 {
		t.Errorf("there are %v", got)
	}
}

// What is not a whole file of the store is not listed, and Clean removes what writes have left.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".new-123", "notes.txt"} {
		kit.Must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for f, err := range archive.Directory(dir).List(t.Context()) {
		t.Errorf("lists %v, %v", f, err)
	}
	kit.Must(t, archive.Directory(dir).Clean(t.Context()))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "notes.txt" {
		t.Errorf("%v are left, %v", left, err)
	}
	if err := archive.Directory(filepath.Join(dir, "none")).Clean(t.Context()); err != nil {
		t.Error(err)
	}
}

// A file that a damaged disk has cut is written again.
func TestCut(t *testing.T) {
	dir := t.TempDir()
	s := archive.Directory(dir)
	sum := put(t, s, "whole")
	kit.Must(t, os.Truncate(filepath.Join(dir, sum.String()), 2))
	put(t, s, "whole")
	want(t, s, sum, 0, 5, "whole")
}
