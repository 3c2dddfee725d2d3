package tournament

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/stats"
)

// deterministic returns two bots that make the same moves in the same positions: the first legal one, and the last.
func deterministic() []match.Contestant {
	hash := strings.Repeat("0", 64)
	bots := []match.Contestant{{Name: "first", Hash: hash}, {Name: "last", Hash: hash}}
	bots[0].Serve = func(in io.Reader, out io.Writer) error { return house.Run("first", in, out) }
	bots[1].Serve = func(in io.Reader, out io.Writer) error {
		return protocol.Serve(in, out, "last", "1", func(t *protocol.Turn) protocol.Answer {
			return protocol.Answer{Move: t.Moves.Token(t.Moves.Len() - 1)}
		})
	}
	return bots
}

// At games without chance deterministic bots play one deal for ever; at games with
// chance no deal repeats another. No figure claims more than the distinct deals hold.
func TestDeterministicBots(t *testing.T) {
	for _, c := range []struct {
		game, options   string
		deals, distinct int
	}{
		{"tebes", "board=standard", 12, 1},
		{"teeko", "start=drop", 12, 1},
		{"tebes", "board=random", 12, 12},
		{"teeko", "start=random", 12, 12},
		{"brisca", "", 12, 12},
		{"tute", "", 12, 12},
		{"podrida", "players=4", 3, 3},
	} {
		t.Run(c.game+" "+c.options, func(t *testing.T) {
			t.Parallel()
			tour := between(t, c.game, c.options, Config{Format: Single, Deals: c.deals}, deterministic()...)
			play(t, tour)
			results := tour.Results()
			s := results.Pairs[0][1]
			if results.Deals != c.deals || results.Distinct != c.distinct || s.Deals != c.distinct || tour.matches[0].Tally.Games != 2*c.deals {
				t.Errorf("%d deals, %d distinct, %d in the figures, want %d and %d", results.Deals, results.Distinct, s.Deals, c.deals, c.distinct)
			}
			if c.distinct == 1 && (s.Elo.Low > -400 || s.Elo.High < 400 || s.LOS < 0.05 || s.LOS > 0.95) {
				t.Errorf("one deal claims %+v", s)
			}
		})
	}
}

// A sequential test of bots that only repeat themselves ends without a verdict, at the
// same deal however many workers there are, and again when it is resumed.
func TestSPRTEndsWithoutNewDeals(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			make := func() *local {
				l := between(t, "tebes", "size=4 board=standard", Config{Format: Single, Deals: 500, SPRT: sprt(t, "elo0=0,elo1=10")}, deterministic()...)
				l.workers = workers
				return l
			}
			first := make().in(t, t.TempDir())
			for i, tour := range []*local{first, make().again(first.dir)} {
				games := 0
				kit.Must(t, tour.run(t.Context(), func() { games++ }))
				m := tour.matches[0]
				if m.RepeatedDeals() != 10 || m.Progress.Verdict != stats.Continue || m.test.countedDeals != 11 || m.Tally.Games != 22 {
					t.Errorf("run %d: after %d deals and %d games, exhausted %d, %+v", i, m.test.countedDeals, m.Tally.Games, m.RepeatedDeals(), m.Progress)
				}
				if i == 1 && games != 0 {
					t.Errorf("%d games were played again", games)
				}
			}
		})
	}
}

// Bots that meet again in a later round and repeat their games tell nothing new.
func TestRepeatsAcrossRounds(t *testing.T) {
	tour := between(t, "tebes", "size=4 board=standard", Config{Format: Swiss, Rounds: 3, Deals: 2}, deterministic()...)
	play(t, tour)
	results := tour.Results()
	// A later round may swap the seats of rotation 0, which is the same deal.
	if results.Deals != 6 || results.Distinct != 1 || results.Standings[0].MatchPoints+results.Standings[1].MatchPoints != 3 {
		t.Errorf("%d deals, %d distinct, %+v", results.Deals, results.Distinct, results.Standings)
	}
	if results.Champion != results.Standings[0].Bot {
		t.Errorf("the champion is %d, the standings are %+v", results.Champion, results.Standings)
	}
}
