package brisca

import (
	"testing"

	"github.com/timba-arena/timba/referee/rules/rulestest"
)

func TestBriscaConformance(t *testing.T) {
	rulestest.Run(t, Game{}, rulestest.Options{Hidden: true})
}
