package tute

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules/rulestest"
)

func TestTuteConformance(t *testing.T) {
	rulestest.Run(t, Game{}, rulestest.Options{Hidden: true})
}
