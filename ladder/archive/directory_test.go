package archive_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/archive"
	"github.com/timba-arena/timba/ladder/laddertest"
)

func TestDirectory(t *testing.T) {
	laddertest.Archive(t, func(t *testing.T) (archive.Store, func() archive.Store) {
		path := filepath.Join(t.TempDir(), "archive")
		return archive.Directory(path), func() archive.Store { return archive.Directory(path) }
	})
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
	sum := kit.Get[archive.Sum](t)(s.Put(t.Context(), []byte("whole")))
	kit.Must(t, os.Truncate(filepath.Join(dir, sum.String()), 2))
	if _, err := s.Put(t.Context(), []byte("whole")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(t.Context(), sum, 0, 5); err != nil || string(got) != "whole" {
		t.Errorf("reads %q, %v", got, err)
	}
}
