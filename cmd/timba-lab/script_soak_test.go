//go:build soak

package main

import "testing"

// TestSoakScripts runs the scripts of testdata/soak: measurements, and experiments with models that
// are trained.
func TestSoakScripts(t *testing.T) { runScripts(t, "testdata/soak") }
