//go:build !race || slowrace

package store

import (
	"errors"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
)

// TestUpdatePanics checks that a function that panics releases the turn.
func TestUpdatePanics(t *testing.T) {
	t.Parallel()
	c := openStore(t, t.TempDir())
	failed := errors.New("failed")
	func() {
		defer func() {
			if r := recover(); r != failed {
				t.Errorf("recovered %v", r)
			}
		}()
		c.update(bg, func(tx *Tx) error {
			tx.SessionByPublic(bg, "")
			panic(failed)
		})
	}()
	kit.Must(t, c.update(bg, func(tx *Tx) error {
		_, err := tx.SessionByPublic(bg, "")
		return ifNoRows(err, nil)
	}))
}
