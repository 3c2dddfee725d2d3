//go:build soak

package tute

import "testing"

func TestTuteAgainstNaiveLong(t *testing.T) { tuteAgainstNaive(t, 60) }
