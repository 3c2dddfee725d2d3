//go:build !race || slowrace

package experiment

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// TestInterrupted checks that an interrupted experiment reports the finished games.
func TestInterrupted(t *testing.T) {
	kit.Slow(t)
	e := parse(t, tiny)
	ctx, cancel := context.WithCancelCause(t.Context())
	signal := errors.New("a signal")
	o := options(1)
	o.Progress = func(_, _ string, games, all int) {
		if games == 3 && all == 40 {
			cancel(signal)
		}
	}
	r, err := e.Run(ctx, o)
	if !errors.Is(err, signal) || r == nil || !r.Interrupted || r.Games < 3 || r.Games > 20 {
		t.Fatalf("%+v, %v", r, err)
	}
	var b strings.Builder
	r.Write(&b)
	if !strings.Contains(b.String(), " games of 40: interrupted") || strings.Contains(b.String(), " 0.0 to 100.0") { // of no games
		t.Error(b.String())
	}
}

// keeping returns options with which an experiment stores the results in a file.
func keeping(t *testing.T) (o Options) {
	t.Helper()
	o = options(1)
	o.GamesFile = filepath.Join(t.TempDir(), "games.jsonl")
	return o
}

// timeless returns the findings in JSON, without the times.
func timeless(t *testing.T, r *Findings) string {
	t.Helper()
	r.Seconds = 0
	return asJSON(t, r)
}

// TestGamesResume checks that an experiment interrupted after each block resumes and gives the same report.
func TestGamesResume(t *testing.T) {
	kit.Slow(t)
	e := parse(t, tiny)
	want := timeless(t, kit.Get[*Findings](t)(e.Run(t.Context(), options(1))))
	o := keeping(t)
	for runs := 1; ; runs++ {
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = func(_, _ string, games, _ int) {
			if games == 10*runs+1 {
				cancel()
			}
		}
		r, err := e.Run(ctx, o)
		cancel()
		if err == nil {
			if got := timeless(t, r); runs != 4 || got != want {
				t.Errorf("after %d runs %s", runs, cmp.Diff(want, got))
			}
			return
		}
		if !errors.Is(err, context.Canceled) || r.Games < 10*runs || r.Games > 10*runs+10 {
			t.Fatalf("run %d: %+v, %v", runs, r, err)
		}
	}
}

// TestGamesKeepTheLastBlock checks that a block is stored if the interruption comes in its last game.
func TestGamesKeepTheLastBlock(t *testing.T) {
	kit.Slow(t)
	o := keeping(t)
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(_, _ string, games, _ int) {
		if games == 10 {
			cancel()
		}
	}
	if _, err := parse(t, tiny).Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := bytes.Count(kit.Get[[]byte](t)(os.ReadFile(o.GamesFile)), []byte{'\n'}); n != 1 {
		t.Errorf("%d blocks are kept, not 1", n)
	}
}

// TestNothingAfterACutLine checks that nothing is written after a failed write, which may have left part of a line.
func TestNothingAfterACutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	k := kit.Get[*resultsFile](t)(openResults(path))
	good := k.file
	k.file = kit.Get[*os.File](t)(os.Open(path)) // it cannot be written
	defer k.close()
	first := k.add(resultsLine{Games: 1})
	k.file.Close()
	k.file = good
	if second := k.add(resultsLine{Games: 2}); first == nil || second == nil {
		t.Errorf("%v, then %v", first, second)
	}
	if data := kit.Get[[]byte](t)(os.ReadFile(path)); len(data) > 0 {
		t.Errorf("after a line that was not written there is %q", data)
	}
}

// TestGamesKept checks that only the missing games are played if the last line is incomplete or a match has
// changed, and that a damaged line and a file in use are errors.
func TestGamesKept(t *testing.T) {
	kit.Slow(t)
	o := keeping(t)
	played := 0
	o.Progress = func(_, _ string, _, _ int) { played++ }
	run := func(text string, want int) *Findings {
		t.Helper()
		played = 0
		r := kit.Get[*Findings](t)(parse(t, text).Run(t.Context(), o))
		if played != want || r.Games != 40 {
			t.Errorf("%d games played, not %d, of %d", played, want, r.Games)
		}
		return r
	}
	want := timeless(t, run(tiny, 40))
	run(tiny, 0)
	data := kit.Get[[]byte](t)(os.ReadFile(o.GamesFile))
	kit.Must(t, os.WriteFile(o.GamesFile, data[:len(data)-5], 0o644))
	if got := timeless(t, run(tiny, 10)); got != want {
		t.Error(cmp.Diff(want, got))
	}
	run(strings.Replace(tiny, "fixed = true", "fixed = true\noptions = {limit = \"50\"}", 1), 20)
	if got := timeless(t, run(tiny, 0)); got != want {
		t.Error(cmp.Diff(want, got))
	}
	lock := kit.Get[*resultsFile](t)(openResults(o.GamesFile))
	if _, err := parse(t, tiny).Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "in use by another experiment") {
		t.Error(err)
	}
	lock.close()
	kit.Must(t, os.WriteFile(o.GamesFile, append(data[:len(data)/2:len(data)/2], data...), 0o644))
	if _, err := parse(t, tiny).Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is damaged: remove it") {
		t.Error(err)
	}
}

// TestTebes checks the measures of games of Tebes: wins, endings, nodes and times.
func TestTebes(t *testing.T) {
	kit.Slow(t)
	e := parse(t, `
title = "Depths"
study = "nobody"
cost = "1 s"
games = 4
game = "tebes"
options = {size = "4", opening = "0"}
grid = ["1", "3"]
[bots]
1 = "@tebes-minimax:depth=1,h=1,memory=1"
3 = "@tebes-minimax:depth=3,h=1,memory=1"
[[table]]
number = "a"
title = "won"
measure = "wins"
of = ["seat 0"]
published = [[50, 10], [90, 50]]
plot = true
[[table]]
number = "b"
title = "endings"
measure = "endings"
published = [[100, 0, 0], [100, 0, 0], [100, 0, 0], [100, 0, 0]]
[[table]]
number = "c"
title = "nodes"
measure = "nodes"
published = [[1, 1], [1, 1]]
[[table]]
number = "d"
title = "time"
measure = "game-time"
published = [[1, 1], [1, 1]]
`)
	r, err := e.Run(t.Context(), options(2))
	kit.Must(t, err)
	if shallow, deep := r.Tables[2].Figures[0].OurEstimate.Value, r.Tables[2].Figures[3].OurEstimate.Value; shallow < 5 || deep < 5*shallow {
		t.Errorf("depth 1 has %v nodes, depth 3 %v", shallow, deep)
	}
	for row := range 4 {
		sum := 0.0
		for column := range 3 {
			sum += r.Tables[1].Figures[3*row+column].OurEstimate.Value
		}
		if sum+float64(r.Draws) < 99.9 || sum > 100.1 {
			t.Errorf("row %d: the endings are %v %% of the games", row, sum)
		}
	}
	if time := r.Tables[3].Figures[0]; time.OurEstimate.Value <= 0 || time.Verdict != NotCompared {
		t.Errorf("the time is %+v", time)
	}
	dir := t.TempDir()
	files, err := r.Save(dir)
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "tiny-1.svg")); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Error(err)
	}
	f, err := os.Open(files[0])
	kit.Must(t, err)
	defer f.Close()
	table := csv.NewReader(f)
	table.Comment = '#'
	if records, err := table.ReadAll(); err != nil || len(records) != 1+4+12+4+4 {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// TestTrainings checks the figures and the curves of trainings.
func TestTrainings(t *testing.T) {
	kit.Slow(t)
	e := kit.Get[*Experiment](t)(Find("teeko-5"))
	r := kit.Get[*Findings](t)(e.Run(t.Context(), options(1)))
	if r.Games != 4000 || len(r.Curves) != 8 || len(r.Curves[0].Games) != 5 || len(r.Notes) != 8 {
		t.Errorf("%d games, %d curves, %q", r.Games, len(r.Curves), r.Notes)
	}
	if won := r.Tables[0].Figures[3]; won.Row != "mu 0.01" || won.Column != "won" || won.OurEstimate.Value < 90 {
		t.Errorf("%+v", won)
	}
	dir := t.TempDir()
	if files, err := r.Save(dir); err != nil || len(files) != 3 {
		t.Error(files, err)
	}
}

// TestTeams checks that partners win together, that a match has its own options, and that permuted bots sit
// in every order.
func TestTeams(t *testing.T) {
	kit.Slow(t)
	e := parse(t, `
title = "Teams"
study = "nobody"
cost = "1 s"
games = 24
game = "brisca"
options = {players = "4"}
[bots]
greedy = "@greedy"
random = "@random"
first = "@first"
[[match]]
name = "teams"
bots = ["greedy", "random", "greedy", "random"]
options = {teams = "yes"}
[[match]]
name = "all"
bots = ["greedy", "random", "first", "random"]
permuted = true
[[table]]
number = "1"
title = "won"
measure = "wins"
of = ["greedy", "random"]
[[table]]
number = "2"
title = "first"
measure = "first"
of = ["greedy", "random"]
`)
	r := kit.Get[*Findings](t)(e.Run(t.Context(), options(2)))
	if r.Games != 48 || r.Draws > 6 {
		t.Errorf("%d of %d games are drawn", r.Draws, r.Games)
	}
	won, first := r.Tables[0].Figures, r.Tables[1].Figures
	if sum := won[0].OurEstimate.Value + won[1].OurEstimate.Value; sum < 80 || sum > 100.001 || won[0].OurEstimate.Value < won[1].OurEstimate.Value {
		t.Errorf("the teams won %v %% and %v %%", won[0].OurEstimate.Value, won[1].OurEstimate.Value)
	}
	for i := range won {
		if first[i].OurEstimate.Value < won[i].OurEstimate.Value {
			t.Errorf("%+v: alone more often than at all, %v %%", first[i], won[i].OurEstimate.Value)
		}
	}
}
