//go:build !race || slowrace

package store

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// TestBackupRetries checks that a backup starts again if an upload is deleted after the database was copied,
// because its version has failed. A pipe in place of the upload that is copied first stops the backup at that
// point.
func TestBackupRetries(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	p := c.addPeople("anna", "ben")
	first, gone := c.addQueued(p[0].ID, "anna-bot"), c.addQueued(p[1].ID, "ben-bot")
	if first.Bundle > gone.Bundle { // uploads are copied in the order of their hashes
		first, gone = gone, first
	}
	path, err := c.Dir().Bundle(first.Bundle)
	kit.Must(t, err)
	aside := path + ".aside"
	kit.Must(t, os.Rename(path, aside))
	kit.Must(t, syscall.Mkfifo(path, 0o600))

	dir := filepath.Join(t.TempDir(), "backup")
	done := make(chan error, 1)
	go func() { done <- c.Backup(bg, dir, "") }()
	pipe, err := os.OpenFile(path, os.O_WRONLY, 0) // returns when the backup reads it
	kit.Must(t, err)
	kit.Must(t, c.Versions.Fail(bg, gone.ID, phrase.Plain("unpack: for the test")))
	kit.Must(t, os.Rename(aside, path))
	kit.Must(t, pipe.Close())
	kit.Must(t, <-done)

	ro, err := Open(dir, Options{ReadOnly: true})
	kit.Must(t, err)
	defer ro.Close()
	wantSound(t, ro)
	if v, err := ro.Versions.Find(bg, gone.ID); err != nil || v.State != ladder.Failed {
		t.Errorf("the backup is of the moment before: %+v, %v", v, err)
	}
	if needed, err := ro.Versions.Bundles(bg); err != nil || !slices.Equal(needed, []string{first.Bundle}) {
		t.Errorf("the backup needs the uploads %v, %v", needed, err)
	}
}

// addQueued adds a version in the state Queued, with its upload.
func (c *competition) addQueued(person int64, name string) ladder.Version {
	c.tb.Helper()
	v, err := c.Versions.Add(bg, person, NewVersion{Bot: name, Bundle: writeUpload(c.tb, c.Dir(), "upload of "+name)}, noLimits)
	kit.Must(c.tb, err)
	return v
}
