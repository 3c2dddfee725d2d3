package sandbox

import (
	"os"
	"testing"
)

// TestMain lets the test binary be a sandbox's init.
func TestMain(m *testing.M) {
	MaybeInit()
	os.Exit(m.Run())
}
