package tournament

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
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
			tour := begun(t, name, options, Config{Bots: named(c.bots), Format: c.format, Rounds: c.rounds, Deals: 2})
			deals, games := tour.Total()
			played(tour, favourite)
			wantDeals, wantGames, rounds := 0, 0, 0
			for _, m := range tour.Matches() {
				rounds = m.Round + 1
				if wantGames += m.Tally.Games; m.Tally.Games > 0 {
					wantDeals += tour.Deals
				}
				if lacks := tour.MissingGames(m); lacks != 0 {
					t.Errorf("match %d lacks %d games", m.Number, lacks)
				}
			}
			if deals != wantDeals || games != wantGames || rounds != tour.LastRound() {
				t.Errorf("%d deals, %d games and %d rounds were foretold, and %d, %d and %d played", deals, games, tour.LastRound(), wantDeals, wantGames, rounds)
			}
		})
	}
}

// A tournament that has begun ends early with what is missing; one that could not begin, that is
// called off while it reads its games, or that has been played, does not.
func TestEarly(t *testing.T) {
	t.Parallel()
	pair := func(deals int) *local {
		return between(t, "teeko", "limit=12", Config{Format: Single, Deals: deals}, processes(t, "first", "random")...)
	}
	tour := pair(3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var early *EarlyEndError
	if err := tour.run(ctx, cancel); !errors.As(err, &early) || !errors.Is(early.Cause, context.Canceled) {
		t.Errorf("after a game it ends with %v", err)
	}
	if m := tour.Matches()[0]; tour.MissingGames(m) != 5 || m.Tally.Games != 1 {
		t.Errorf("%d games are missing and %d were played", tour.MissingGames(m), m.Tally.Games)
	}

	whole := pair(1)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	games := 0
	err := whole.run(ctx, func() {
		if games++; games == 2 {
			cancel()
		}
	})
	if err != nil {
		t.Errorf("cancelled after the last game, it ends with %v", err)
	}

	wrong := pair(1).in(t, t.TempDir())
	kit.Must(t, os.WriteFile(wrong.dir.ReplayPath(0, 0, 0), nil, 0o644))
	if err := wrong.run(t.Context(), func() {}); err == nil || errors.As(err, &early) {
		t.Errorf("one that cannot begin ends with %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := wrong.run(ctx, func() {}); !errors.Is(err, context.Canceled) || errors.As(err, &early) {
		t.Errorf("cancelled before its games are read, it ends with %v", err)
	}
}

// A game that was lost because a file of the bot is no longer there is no game.
func TestVanished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kit.Must(t, os.WriteFile(filepath.Join(dir, "bot.sh"), nil, 0o644))
	bots := []match.Contestant{{Name: "here", Command: []string{"sh", "bot.sh", "--fast"}, Dir: dir}}
	tour := &run{bots: bots, files: programFiles(bots)}
	lose := func(r fault.Reason) error {
		g := referee.GameResult{Replay: referee.Replay{Faults: []referee.Fault{fault.New(0, 0, r)}}, Bots: []int{0}}
		return tour.checkProgramFiles(&Match{Bots: []int{0}}, &g)
	}
	lost := []fault.Reason{{Kind: fault.NotStarted}, {Kind: fault.Exited, BeforeReady: true}}
	for _, r := range lost {
		if err := lose(r); err != nil {
			t.Errorf("%v with the file there: %v", r, err)
		}
	}
	kit.Must(t, os.Remove(filepath.Join(dir, "bot.sh")))
	for _, r := range lost {
		if err := lose(r); err == nil {
			t.Errorf("%v without the file is a fault of the bot", r)
		}
	}
	for _, r := range []fault.Reason{{Kind: fault.Exited}, {Kind: fault.Disqualified}} {
		if err := lose(r); err != nil {
			t.Errorf("%v is the bot's own doing, and is an error: %v", r, err)
		}
	}
}

// A file that cannot be written whole leaves nothing behind.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	dir := &Dir{Path: t.TempDir()}
	kit.Must(t, os.Mkdir(filepath.Join(dir.Path, resultFile), 0o755))
	if err := dir.StoreResult([]byte("{}")); err == nil {
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
		if text := CrowdingNotice(n); text != "" {
			t.Errorf("%d on %d cores: %s", n, cores, text)
		}
	}
	if text := CrowdingNotice(cores + 1); !strings.HasPrefix(text, fmt.Sprintf("--concurrency %d is more than the ", cores+1)) ||
		!strings.HasSuffix(text, fmt.Sprintf("choose --concurrency %d or leave it out", cores)) {
		t.Errorf("%d on %d cores: %s", cores+1, cores, text)
	}
}

// A game that is played again is told of and counted, and a busy machine is told of.
func TestVoid(t *testing.T) {
	var told []string
	r := &run{State: new(State), events: Hooks{Notice: func(text string) { told = append(told, text) }}}
	r.reportTrouble(&Match{Number: 3}, &match.VoidError{Deal: 2, Rotation: 1, Err: errors.New("the disk is full")})
	want := "[match 3, deal 2, rotation 1 is void and played again: the disk is full]"
	if fmt.Sprint(told) != want || fmt.Sprint(r.Voids) != want {
		t.Errorf("told %q and kept %q, want %s", told, r.Voids, want)
	}
	if r.StarvedVoids != 0 {
		t.Errorf("a full disk is counted as a core that others used")
	}
	r.reportTrouble(&Match{Number: 4}, &match.VoidError{Err: fmt.Errorf("wrapped: %w", &match.StarvedError{Bot: "mine"})})
	if r.StarvedVoids != 1 || len(r.Voids) != 2 {
		t.Errorf("%d games of %q are counted as void because others used the core", r.StarvedVoids, r.Voids)
	}
	if want := "match 4, deal 0, rotation 0 is void and will be played again after the others: "; !strings.HasPrefix(told[1], want) {
		t.Errorf("told %q, want %q", told[1], want)
	}
	r.reportTrouble(nil, &match.BusyError{OthersCPU: 340 * time.Millisecond})
	r.reportTrouble(nil, &match.BusyError{OthersCPU: 350 * time.Millisecond}) // less than a minute later
	if want := "the machine is busy: other programs used 340 of 1,000 ms"; told[2] != want || len(told) != 3 {
		t.Errorf("told %q, want %q", told[2:], want)
	}
}
