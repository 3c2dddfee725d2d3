package check

import (
	"testing"

	"github.com/timba-arena/timba/referee/refereetest"
)

// TestMain lets the test binary be a bot in real processes.
func TestMain(m *testing.M) {
	modes := refereetest.Modes{"bot": refereetest.RunHouseBot, "hiker": runHiker}
	refereetest.Main(m, modes, nil)
}
