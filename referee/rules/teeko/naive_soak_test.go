//go:build soak

package teeko

import "testing"

func TestTeekoAgainstNaiveLong(t *testing.T) { teekoAgainstNaive(t, 80) }

func TestTeekoOpeningsLong(t *testing.T) { teekoOpenings(t, 60) }
