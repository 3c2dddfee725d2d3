package bench

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/config"
)

// The configurations of the servers that are measured are valid.
func TestSettings(t *testing.T) {
	for _, settings := range []string{fairSettings, fleetSettings, remoteLadder} {
		_, err := config.Parse("bench", []byte(settings))
		kit.Must(t, err)
	}
}
