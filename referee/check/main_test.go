package check

import (
	"testing"

	"github.com/timba-arena/timba/referee/refereetest"
)

// TestMain lets the test binary be a bot in real processes: one of the house's, or
// a beginner's.
func TestMain(m *testing.M) {
	modes := refereetest.Modes{"bot": refereetest.House, "beginner": runBeginner, "hiker": runHiker}
	refereetest.Main(m, modes, nil)
}
