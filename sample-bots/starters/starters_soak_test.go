//go:build soak

package starters

import "testing"

// The same at every setting of every game.
func TestStartersPlayEverySetting(t *testing.T) { playAlike(t, true) }
