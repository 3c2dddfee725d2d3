package tournament

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
)

// The number of deals and games is known before a tournament begins, also of rounds that are paired
// later, and nothing is missing once they have been played.
func TestTotal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format Format
		game   string
		bots   int
		rounds int
	}{
		{Single, "teeko", 1, 0}, {Single, "teeko", 2, 0}, {Single, "podrida players=4", 3, 0},
		{RoundRobin, "teeko", 5, 0}, {RoundRobin, "podrida players=3", 5, 0},
		{Gauntlet, "teeko", 4, 0}, {Gauntlet, "podrida players=3", 5, 0},
		{Swiss, "teeko", 4, 3}, {Swiss, "teeko", 7, 0}, {Swiss, "podrida players=3", 7, 2},
		{Knockout, "teeko", 2, 0}, {Knockout, "teeko", 3, 0}, {Knockout, "teeko", 8, 0}, {Knockout, "teeko", 11, 0},
		{Knockout, "podrida players=3", 2, 0}, {Knockout, "podrida players=3", 4, 0}, {Knockout, "podrida players=3", 9, 0},
		{Knockout, "podrida players=4", 5, 0}, {Knockout, "podrida players=4", 14, 0}, {Knockout, "podrida players=4", 21, 0},
	} {
		t.Run(fmt.Sprintf("%s %d at %s", c.format, c.bots, c.game), func(t *testing.T) {
			name, options, _ := strings.Cut(c.game, " ")
			tour := &Tournament{Variant: variant(t, name, options), Bots: named(c.bots), Format: c.format, Rounds: c.rounds, Deals: 2}
			deals, games := tour.Total()
			played(t, tour, favourite)
			wantDeals, wantGames, rounds := 0, 0, 0
			for _, m := range tour.Matches() {
				rounds = m.Round + 1
				if wantGames += m.Tally.Games; m.Tally.Games > 0 {
					wantDeals += tour.Deals
				}
				if lacks := tour.Lacks(m); lacks != 0 {
					t.Errorf("match %d lacks %d games", m.Number, lacks)
				}
			}
			if deals != wantDeals || games != wantGames || rounds != tour.LastRound() {
				t.Errorf("%d deals, %d games and %d rounds were foretold, and %d, %d and %d played", deals, games, tour.LastRound(), wantDeals, wantGames, rounds)
			}
		})
	}
}

// A tournament that has begun ends early with what is missing; one that could not begin, or that
// has been played, does not.
func TestEarly(t *testing.T) {
	t.Parallel()
	tour := &Tournament{Variant: variant(t, "teeko", "limit=12"), Bots: processes(t, "first", "random"), Format: Single, Deals: 3, Clock: patient}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tour.Done = func(*Match, *referee.Result) { cancel() }
	var early *Early
	if err := tour.Play(ctx); !errors.As(err, &early) || !referee.IsCancelled(early.Why) {
		t.Errorf("after a game it ends with %v", err)
	}
	if m := tour.Matches()[0]; tour.Lacks(m) != 5 || m.Tally.Games != 1 {
		t.Errorf("%d games are missing and %d were played", tour.Lacks(m), m.Tally.Games)
	}

	whole := &Tournament{Variant: tour.Variant, Bots: tour.Bots, Format: Single, Deals: 1, Clock: patient}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	games := 0
	whole.Done = func(*Match, *referee.Result) {
		if games++; games == 2 {
			cancel()
		}
	}
	if err := whole.Play(ctx); err != nil {
		t.Errorf("cancelled after the last game, it ends with %v", err)
	}

	wrong := &Tournament{Variant: tour.Variant, Bots: tour.Bots, Format: "ladder", Deals: 1, Clock: patient}
	if err := wrong.Play(t.Context()); err == nil || errors.As(err, &early) {
		t.Errorf("one that cannot begin ends with %v", err)
	}
}

// A game that was lost because a file of the bot is no longer there is no game.
func TestVanished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kit.Must(t, os.WriteFile(filepath.Join(dir, "bot.sh"), nil, 0o644))
	tour := &Tournament{Bots: []referee.Bot{{Name: "here", Command: []string{"sh", "bot.sh", "--fast"}, Dir: dir}, {Name: "other", Command: []string{"true"}}}}
	tour.files = programFiles(tour.Bots)
	m := &Match{Bots: []int{1, 0}}
	game := func(r fault.Reason) *referee.Result {
		f := fault.New(0, 0, r)
		f.Seat = 1
		return &referee.Result{Bots: []int{0, 1}, Replay: referee.Replay{Faults: []referee.Fault{f}}}
	}
	lost := []fault.Reason{{Kind: fault.NotStarted}, {Kind: fault.Exited, BeforeReady: true}}
	for _, r := range lost {
		if err := tour.vanished(m, game(r)); err != nil {
			t.Errorf("%v with the file there: %v", r, err)
		}
	}
	kit.Must(t, os.Remove(filepath.Join(dir, "bot.sh")))
	for _, r := range lost {
		if err := tour.vanished(m, game(r)); err == nil || !strings.Contains(err.Error(), `bot "here" cannot be started any more`) {
			t.Errorf("%v without the file: %v", r, err)
		}
	}
	for _, r := range []fault.Reason{{Kind: fault.Exited}, {Kind: fault.Disqualified}} {
		if err := tour.vanished(m, game(r)); err != nil {
			t.Errorf("%v is the bot's own doing, and is an error: %v", r, err)
		}
	}
}

// Of two that begin in the same directory at the same time, one writes the plan.
func TestBeginAlone(t *testing.T) {
	t.Parallel()
	first, second := &Dir{Path: t.TempDir()}, &Dir{}
	second.Path = first.Path
	unlock := kit.Get[func() error](t)(first.lock())
	if err := second.Begin(Plan{Game: "teeko"}); err == nil || !strings.Contains(err.Error(), "another timba is playing") {
		t.Errorf("beside another it begins with %v", err)
	}
	if _, err := os.Stat(filepath.Join(first.Path, planFile)); err == nil {
		t.Error("beside another it writes a plan")
	}
	kit.Must(t, unlock())
	kit.Must(t, second.Begin(Plan{Game: "teeko"}))
	kit.Must(t, first.Replace(Plan{Game: "teeko"})) // the lock is given back
}

// A file that cannot be written whole leaves nothing behind.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	dir := &Dir{Path: t.TempDir()}
	kit.Must(t, os.Mkdir(filepath.Join(dir.Path, resultFile), 0o755))
	if err := dir.Result([]byte("{}")); err == nil {
		t.Error("a directory is replaced by a file")
	}
	if names := kit.Get[[]string](t)(filepath.Glob(filepath.Join(dir.Path, ".*"))); len(names) > 0 {
		t.Errorf("it leaves %q", names)
	}
}

// More games at the same time than there are cores are told.
func TestCrowded(t *testing.T) {
	t.Parallel()
	cores := len(kit.Get[[]int](t)(Workers(0, "off")))
	for n := range cores + 1 {
		if text := Crowded(n); text != "" {
			t.Errorf("%d on %d cores: %s", n, cores, text)
		}
	}
	if text := Crowded(cores + 1); !strings.HasPrefix(text, fmt.Sprintf("--concurrency %d is more than the ", cores+1)) ||
		!strings.HasSuffix(text, fmt.Sprintf("choose --concurrency %d or leave it out", cores)) {
		t.Errorf("%d on %d cores: %s", cores+1, cores, text)
	}
}
