package tournament

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/referee/rules"
)

// TestMain lets the test binary be a bot in real processes: a house bot, or
// "moody", which fails in about every third game.
func TestMain(m *testing.M) {
	refereetest.Main(m, refereetest.Modes{"bot": func(name string) error {
		if name == "moody" {
			return protocol.Serve(os.Stdin, os.Stdout, "moody", "1", moody)
		}
		return refereetest.House(name)
	}}, nil)
}

func moody(t *protocol.Turn) protocol.Answer {
	if t.Ply > 3 && t.Game.Seed%3 == 0 {
		fmt.Fprintln(os.Stderr, "moody: not in the mood")
		return protocol.Answer{Move: []byte("nothing")}
	}
	return protocol.Answer{Move: t.Moves.At(0)}
}

// variant is a game with options from "key=value key=value".
var variant = refereetest.Variant

// named returns bots without programs.
func named(n int) (bots []referee.Bot) {
	for i := range n {
		bots = append(bots, referee.Bot{Name: fmt.Sprintf("bot%d", i), Hash: strings.Repeat("0", 64)})
	}
	return bots
}

// processes returns bots that the test binary is.
func processes(t testing.TB, names ...string) (bots []referee.Bot) {
	t.Helper()
	kit.Slow(t)
	self := kit.Get[string](t)(os.Executable())
	for i, name := range names {
		bots = append(bots, referee.Bot{
			Name:    fmt.Sprintf("%d-%s", i, name),
			Command: []string{self, "bot", name},
			Hash:    fmt.Sprintf("%064d", i),
		})
	}
	return bots
}

// patient is a clock that no test runs down.
var patient = referee.Clock{Move: time.Minute, Margin: 50 * time.Millisecond, Startup: time.Minute}

// played is a tournament whose games come out as result says: the ranks and
// points of the seats, from who sits there. No process is started.
func played(t testing.TB, tour *Tournament, result func(m *Match, deal int, bots []int) ([]int, []float64)) {
	t.Helper()
	kit.Must(t, tour.Check())
	for round := 0; ; round++ {
		pairings := tour.Format.round(tour, round)
		if len(pairings) == 0 {
			return
		}
		for _, bots := range pairings {
			m := tour.newMatch(round, bots)
			tour.matches = append(tour.matches, m)
			for deal := range tour.Deals {
				for rotation := range bots {
					if tour.Finished(m) {
						break
					}
					tour.add(m, fakeGame(tour, m, deal, rotation, result))
				}
			}
		}
	}
}

// fakeGame returns a game with one move, which is another in each deal.
func fakeGame(tour *Tournament, m *Match, deal, rotation int, result func(m *Match, deal int, bots []int) ([]int, []float64)) *referee.Result {
	g := &referee.Result{Replay: referee.Replay{
		Match: referee.ReplayMatch{Deal: deal, Rotation: rotation},
		Moves: []referee.ReplayMove{{Move: fmt.Sprintf("%d/%d", m.Number, deal)}},
	}}
	var bots []int // of the tournament
	for seat := range tour.Variant.Players() {
		bot := rules.BotAt(seat, rotation, len(m.Bots))
		g.Bots = append(g.Bots, bot)
		g.Seats = append(g.Seats, referee.ReplaySeat{})
		bots = append(bots, m.Bots[bot])
	}
	g.Ranks, g.Points = result(m, deal, bots)
	return g
}

// favourite lets bots with lower numbers win.
func favourite(_ *Match, _ int, bots []int) (ranks []int, points []float64) {
	for _, a := range bots {
		rank := 1
		better := map[int]bool{}
		for _, b := range bots {
			if b < a && !better[b] {
				better[b] = true
				rank++
			}
		}
		ranks, points = append(ranks, rank), append(points, float64(-a))
	}
	return ranks, points
}

// play plays a tournament and fails the test where that fails.
func play(t testing.TB, tour *Tournament) {
	t.Helper()
	kit.Must(t, tour.Play(t.Context()))
}

// playUntil plays a tournament and calls it off after some games.
func playUntil(t testing.TB, tour *Tournament, games int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	tour.Done = func(*Match, *referee.Result) {
		if n++; n >= games {
			cancel()
		}
	}
	if games == 0 {
		cancel()
	}
	if err := tour.Play(ctx); err != nil && !referee.IsCancelled(err) {
		t.Fatal(err)
	}
}
