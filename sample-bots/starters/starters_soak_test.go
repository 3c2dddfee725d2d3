//go:build soak

package starters

import "testing"

// TestStartersPlayEverySetting is TestStartersPlayAlike with every setting of every game.
func TestStartersPlayEverySetting(t *testing.T) { playAlike(t, true) }
