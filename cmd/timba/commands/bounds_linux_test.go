package commands

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/tournament"
)

// A local match prints a notice if its bots can use more memory than the machine has, and plays. So do
// matches that are played at the same time.
func TestNoticeMemory(t *testing.T) {
	const each = 512 << 20
	rotation := 1
	for _, c := range []struct {
		name, game, players         string
		format                      tournament.Format
		rotation                    *int
		bots, house, workers, count int // count: of processes with a limit
		less                        string
	}{
		{"one match", "podrida", "players=12", tournament.Single, nil, 12, 3, 4, 108, "--memory"},
		{"one rotation", "podrida", "players=12", tournament.Single, &rotation, 12, 3, 4, 9, "--memory"},
		{"a bot for two seats", "tute", "players=4", tournament.Single, nil, 2, 0, 1, 8, "--memory"},
		{"round-robin", "teeko", "", tournament.RoundRobin, nil, 8, 0, 8, 32, "--memory or --concurrency"},
		{"round-robin of few", "teeko", "", tournament.RoundRobin, nil, 3, 0, 8, 12, "--memory or --concurrency"},
		{"round-robin, one by one", "teeko", "", tournament.RoundRobin, nil, 8, 0, 1, 4, "--memory"},
		{"those with the most", "teeko", "", tournament.RoundRobin, nil, 4, 2, 2, 6, "--memory or --concurrency"},
	} {
		var set []string
		if c.players != "" {
			set = []string{c.players}
		}
		v, err := resolveGame(c.game, set, 0)
		kit.Must(t, err)
		config := tournament.Config{
			Game: c.game, Options: v.Settings.Map(), Format: c.format, Deals: 1, Rotation: c.rotation, Clock: referee.DefaultClock,
		}
		bots := make([]match.Contestant, c.bots)
		for i := range bots {
			config.Bots = append(config.Bots, tournament.Entrant{BotSpec: program.BotSpec{Name: fmt.Sprint(i)}})
			if i >= c.house {
				bots[i].Sandbox = &match.Sandbox{Level: sandbox.LevelFull, Limit: sandbox.Limit{Memory: each}}
			}
		}
		tour := kit.Get[*tournament.State](t)(tournament.New(config))
		need := int64(c.count) * each
		want := fmt.Sprintf("notice: %d processes of bots can use %d MiB at once, 512 MiB each, and this machine has %d MiB: "+
			"try a smaller %s, or memory= of a bot that has its own\n", c.count, need>>20, need>>20-1, c.less)
		for machine, want := range map[int64]string{need: "", 0: "", need - 1: want} {
			var b bytes.Buffer
			if noticeMemory(&b, tour, bots, c.workers, machine); b.String() != want {
				t.Errorf("%s, %d: %q, want %q", c.name, machine, b.String(), want)
			}
		}
	}
}
