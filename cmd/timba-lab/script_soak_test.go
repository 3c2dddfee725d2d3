//go:build soak

package main

import "testing"

// TestSoakScripts runs the scripts of testdata/soak: measurements, and experiments that train models.
func TestSoakScripts(t *testing.T) { runScripts(t, "testdata/soak") }
