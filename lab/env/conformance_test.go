//go:build !race || slowrace

package env

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
)

// matches has the matches that both the referee and a batch play.
var matches = []struct{ game, options, bots string }{
	{"brisca", "exchange=yes last10=yes blackhand=yes hunt3=yes", "@greedy @random"},
	{"brisca", "players=4 teams=yes", "@random @greedy @first @random"},
	{"tute", "exchange=yes blackhand=yes", "@random @greedy"},
	{"tute", "players=3", "@random @greedy @random"},
	{"podrida", "players=3", "@greedy @random @random"},
	{"tebes", "size=4 opening=4", "@random @greedy"},
	{"teeko", "start=drop", "@random @random"},
}

// TestConformance checks that a match of the referee and a batch with its seed have the same games: with all
// moves from the client, and with house bots, which have the same seeds, in all seats but one.
func TestConformance(t *testing.T) {
	for _, c := range matches {
		t.Run(c.game+" "+c.options, func(t *testing.T) {
			t.Parallel()
			seed := rules.Seed{9, byte(len(c.options))}
			replays := playMatch(t, c.game, c.options, c.bots, seed)
			text := strings.TrimSpace(c.game + " " + c.options)
			follow(t, newTestBatch(t, 1, text, "games", 2, "auto", false), replays, seed)
			for mine := range strings.Fields(c.bots) {
				seats := map[int]string{}
				for seat, bot := range strings.Fields(c.bots) {
					if seat != mine {
						seats[seat] = bot
					}
				}
				follow(t, newTestBatch(t, 1, text, "games", 2, "auto", false, "seats", seats), replays, seed)
			}
		})
	}
}

// playMatch plays two deals, with the house bots named in bots in some seats and others in the rest, all in
// processes. It returns the replays of rotation 0.
func playMatch(t *testing.T, game, options, bots string, seed rules.Seed, others ...match.Contestant) []*referee.Replay {
	t.Helper()
	var specs []program.BotSpec
	for _, bot := range strings.Fields(bots) {
		specs = append(specs, program.BotSpec{Bot: bot})
	}
	programs, err := program.Resolver{}.ResolveAll(t.Context(), specs, true)
	kit.Must(t, err)
	replays := make([]*referee.Replay, 2)
	m := &match.Match{Variant: refereetest.Variant(t, game, options), Deals: 2, Seed: seed}
	m.Clock = referee.Clock{Move: time.Minute, Startup: time.Minute, Margin: time.Minute}
	for i, p := range programs {
		p.Contestant.Name += string(rune('a' + i))
		m.Bots = append(m.Bots, p.Contestant)
	}
	m.Bots = append(m.Bots, others...)
	kit.Must(t, m.Play(t.Context(), func(g *referee.GameResult) error {
		if g.Match.Rotation == 0 {
			replays[g.Match.Deal] = &g.Replay
		}
		return nil
	}))
	for deal, r := range replays {
		if len(r.Faults) > 0 || r.Match.Deal != deal {
			t.Fatalf("deal %d: %+v", deal, r.Faults)
		}
	}
	return replays
}

// follow makes the client's moves of the replays in b, one game for each replay, and compares the resulting games.
func follow(t *testing.T, b *Batch, replays []*referee.Replay, seed rules.Seed) {
	t.Helper()
	kit.Must(t, b.Reset(t.Context(), seed, 0))
	for {
		actions := make([]byte, 2*len(replays))
		running := 0
		for i, r := range replays {
			if one(b, "over", i) == 1 {
				continue
			}
			running++
			move := r.Moves[one(b, "ply", i)]
			action := slices.Index(b.layout.Actions, move.Move)
			if move.Seat != one(b, "turn", i) || action < 0 {
				t.Fatalf("deal %d: ply %d is of seat %d, want %+v", i, one(b, "ply", i), one(b, "turn", i), move)
			}
			binary.LittleEndian.PutUint16(actions[2*i:], uint16(action))
		}
		if running == 0 {
			break
		}
		kit.Must(t, b.Step(t.Context(), actions))
	}
	for i, r := range replays {
		var ranks []int
		for _, rank := range numbersOf(b, "ranks", i) {
			ranks = append(ranks, int(rank))
		}
		if !slices.Equal(ranks, r.Ranks) || !slices.Equal(numbersOf(b, "points", i), r.Points) || one(b, "ply", i) != len(r.Moves) || one(b, "deal", i) != r.Match.Deal {
			t.Errorf("deal %d: ranks %v, points %v, %d plies; want %v, %v, %d", i, ranks, numbersOf(b, "points", i), one(b, "ply", i), r.Ranks, r.Points, len(r.Moves))
		}
	}
}
