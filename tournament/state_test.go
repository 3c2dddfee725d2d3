package tournament

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/referee"
)

// line returns a standing as text.
func line(s Standing) string {
	return fmt.Sprintf("%s games=%d %d-%d-%d points=%g match=%g byes=%d", s.Name, s.Games, s.Wins, s.Draws, s.Losses, s.Points, s.MatchPoints, s.Byes)
}

func TestStandings(t *testing.T) {
	for _, c := range []struct {
		name   string
		format Format
		k, n   int
		want   []string
	}{
		{"two stay as they were named", Single, 2, 2, []string{
			"bot0 games=4 4-0-0 points=0 match=1 byes=0",
			"bot1 games=4 0-0-4 points=-4 match=0 byes=0",
		}},
		{"round-robin by rating", RoundRobin, 2, 3, []string{
			"bot0 games=8 8-0-0 points=0 match=2 byes=0",
			"bot1 games=8 4-0-4 points=-8 match=1 byes=0",
			"bot2 games=8 0-0-8 points=-16 match=0 byes=0",
		}},
		{"tables of three", RoundRobin, 3, 3, []string{
			"bot0 games=6 6-0-0 points=0 match=1 byes=0",
			"bot1 games=6 0-0-6 points=-6 match=0.5 byes=0",
			"bot2 games=6 0-0-6 points=-12 match=0 byes=0",
		}},
		{"Swiss by match points", Swiss, 2, 3, []string{
			"bot0 games=8 8-0-0 points=0 match=3 byes=1",
			"bot1 games=8 4-0-4 points=-8 match=1.5 byes=1",
			"bot2 games=8 0-0-8 points=-16 match=0 byes=1",
		}},
		{"knockout by the last round", Knockout, 2, 5, []string{
			"bot0 games=8 8-0-0 points=0 match=3 byes=1",
			"bot1 games=8 4-0-4 points=-8 match=1.5 byes=1",
			"bot2 games=4 0-0-4 points=-8 match=0 byes=1",
			"bot3 games=8 4-0-4 points=-24 match=1 byes=0",
			"bot4 games=4 0-0-4 points=-16 match=0 byes=0",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tour := played(seated(t, c.k, Config{Bots: named(c.n), Format: c.format, Deals: 2}), favourite)
			results := tour.Results()
			var got []string
			for _, s := range results.Standings {
				got = append(got, line(s))
			}
			if c.format == Knockout { // bots that left in the same round stand by rating
				slices.Sort(got[2:4])
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			games := 0
			for _, m := range tour.Matches() {
				games += m.Tally.Games
			}
			if _, all := tour.Total(); games != all {
				t.Errorf("%d games were foretold and %d played", all, games)
			}
		})
	}
}

// A random order has every opening once, another one for each seed, and the same one for the same seed.
func TestShuffledOpenings(t *testing.T) {
	order := func(seed byte) (moves []string) {
		c := Config{Seed: referee.Hex{seed}}
		for i := range 100 {
			c.Openings = append(c.Openings, referee.DealOpening{Moves: []string{fmt.Sprintf("%02d", i)}})
		}
		c.ShuffleOpenings()
		for _, o := range c.Openings {
			moves = append(moves, o.Moves...)
		}
		return moves
	}
	one, two := order(1), order(2)
	if !slices.Equal(one, order(1)) || slices.Equal(one, two) || slices.IsSorted(one) {
		t.Errorf("seed 1: %q, seed 2: %q", one, two)
	}
	if slices.Sort(one); len(slices.Compact(one)) != 100 {
		t.Errorf("not every opening once: %q", one)
	}
}
