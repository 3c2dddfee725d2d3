package laddertest

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/store"
)

// TestDir checks that every directory has its own database.
func TestDir(t *testing.T) {
	for range 2 {
		s, err := store.Open(Dir(t), store.Options{Server: true, NoSync: true})
		kit.Must(t, err)
		defer s.Close()
		_, err = s.People.Add(t.Context(), "anna", false) // fails if the directories share a database
		kit.Must(t, err)
	}
}
