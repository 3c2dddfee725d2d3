package tictactoe

import (
	"testing"

	"github.com/timba-arena/timba/rules/rulestest"
)

func TestKit(t *testing.T) { rulestest.Run(t, Game, rulestest.Options{}) }
