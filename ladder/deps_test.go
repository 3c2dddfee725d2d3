package ladder

import (
	"testing"

	"github.com/timba-arena/timba/internal/kit/proc"
)

// Package ladder depends on the rules of the games and on what a game is, and on nothing that reads
// configuration, starts programs or plays.
func TestDependencies(t *testing.T) {
	proc.DependsOnly(t, "ladder", "internal/size", "protocol/...", "referee", "referee/fault", "referee/rules/...")
}
