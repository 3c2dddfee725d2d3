package bench

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/timba-arena/timba/lab/env"
	"github.com/timba-arena/timba/referee/rules/brisca"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Env measures random games through the client of timba-lab env in Python.
type Env struct {
	Time time.Duration // approximate time for each figure
}

// Run measures. It tells log if numpy is missing.
func (b Env) Run(ctx context.Context, log io.Writer) (*Report, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, g := range games.All() {
		names = append(names, g.Name)
	}
	rates, err := env.Bench(ctx, self, names, b.Time, log)
	if err != nil {
		return nil, err
	}
	t := newTable("env|actions chosen by|games/s|games/s of CPU|moves/s of CPU|study's games/s|ratio|of CPU")
	for _, r := range rates {
		wall, cpu := float64(r.Games)/r.Wall, float64(r.Games)/r.CPU
		row := []any{r.Game, r.Way, whole(wall), whole(cpu), whole(float64(r.Moves) / r.CPU)}
		if r.Game == brisca.Game.Name {
			row = append(row, env.StudyRate, whole(wall/env.StudyRate), whole(cpu/env.StudyRate))
		}
		t.add(row...)
	}
	return newReport(t), nil
}
