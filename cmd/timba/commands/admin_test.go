package commands

import (
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/wire"
)

// The table of machines shows each with its state and what it plays. Tests of web/api and web/server check
// where the data come from.
func TestShowWorkers(t *testing.T) {
	then := time.Date(2024, 5, 6, 12, 0, 0, 0, time.Local)
	var out strings.Builder
	showWorkers(&out, []wire.Machine{
		{Name: "local", Local: true, State: string(ladder.MachineReady), Version: "1.2", Arch: "amd64", Sandbox: "full", Cores: 4, SeenAt: then, FinishedMatches: 70, FinishedLastHour: 5},
		{
			Name: "lab-1", State: string(ladder.MachineReady), Version: "1.2", Arch: "arm64", Sandbox: "reduced", Cores: 1, SeenAt: then,
			Playing: []wire.MachineMatch{
				{Match: 12, Attempt: 2, Ladder: "tebes", Bots: []string{"ada@3", "@random@1"}, StartedAt: then},
				{Match: 13, Attempt: 1, Bots: []string{"@first@1", "@random@1"}},
			},
			FinishedMatches: 9, FinishedLastHour: 9, VoidGames: 3, StarvedGames: 2, Operator: &wire.MachineOperator{OS: "linux", BrokenAttempts: 1},
		},
		{Name: "lab-2", State: string(ladder.MachineRefused), Reason: `timba 9.9 on "lab-2" has protocol 99, and the server has 1`, Version: "9.9", SeenAt: then},
		{Name: "lab-3", State: string(ladder.MachineAway)},
		{Name: "lab-4", State: string(ladder.MachinePaused), Reason: "it could not play a match", PausedUntil: then, Cores: 2, SeenAt: then},
	})
	kit.Golden(t, "workers.txt", out.String())
}
