package check

import (
	"testing"

	"github.com/timba-arena/timba/referee/refereetest"
)

// TestMain makes the test binary a bot if its first argument names one.
func TestMain(m *testing.M) {
	modes := refereetest.Modes{"bot": refereetest.RunHouseBot, "hiker": runHiker}
	refereetest.Main(m, modes, nil)
}
