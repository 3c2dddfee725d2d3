//go:build soak

package brisca

import "testing"

func TestBriscaAgainstNaiveLong(t *testing.T) { briscaAgainstNaive(t, 80) }

func TestBriscaFromViewReachLong(t *testing.T) { briscaFromViewReach(t, 20) }
