package tournament

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/house"
)

// TestMain lets the test binary be a bot in real processes: a house bot, or
// "moody", which fails in about every third game.
func TestMain(m *testing.M) {
	refereetest.Main(m, refereetest.Modes{"bot": func(name string) error {
		if name == "moody" {
			return protocol.Serve(os.Stdin, os.Stdout, "moody", "1", moody)
		}
		return refereetest.RunHouseBot(name)
	}}, nil)
}

func moody(t *protocol.Turn) protocol.Answer {
	if t.Ply > 3 && t.Game.Seed%3 == 0 {
		fmt.Fprintln(os.Stderr, "moody: not in the mood")
		return protocol.Answer{Move: []byte("nothing")}
	}
	return protocol.Answer{Move: t.Moves.Token(0)}
}

// named returns n entrants without programs.
func named(n int) (bots []Entrant) {
	for i := range n {
		bots = append(bots, Entrant{program.BotSpec{Name: fmt.Sprintf("bot%d", i)}, strings.Repeat("0", 64)})
	}
	return bots
}

// processes returns bots with processes: house bots, and "moody", which is in the test binary.
func processes(t testing.TB, names ...string) (bots []match.Contestant) {
	t.Helper()
	kit.Slow(t)
	for i, name := range names {
		program := house.Executable
		if name == "moody" {
			program = os.Executable
		}
		bots = append(bots, match.Contestant{
			Name:    fmt.Sprintf("%d-%s", i, name),
			Command: []string{kit.Get[string](t)(program()), "bot", name},
			Hash:    fmt.Sprintf("%064d", i),
		})
	}
	return bots
}

// patient is a clock that no test exceeds.
var patient = referee.Clock{Move: time.Minute, Margin: 50 * time.Millisecond, Startup: time.Minute}

// begun returns a tournament at a game with options from "key=value key=value".
func begun(t testing.TB, game, options string, c Config) *State {
	t.Helper()
	v := refereetest.Variant(t, game, options)
	c.Game, c.Options, c.Clock = v.Game.Name, v.Settings.Map(), patient
	return kit.Get[*State](t)(New(c))
}

// local is a tournament with its bots.
type local struct {
	*State
	bots    []match.Contestant
	dir     *Dir
	workers int
}

// between returns a tournament between bots that stores only games with faults.
func between(t testing.TB, game, options string, c Config, bots ...match.Contestant) *local {
	t.Helper()
	for _, b := range bots {
		c.Bots = append(c.Bots, Entrant{program.BotSpec{Name: b.Name}, b.Hash})
	}
	return &local{begun(t, game, options, c), bots, &Dir{Path: t.TempDir(), FaultsOnly: true}, 1}
}

// in makes the tournament play in a new directory.
func (l *local) in(t testing.TB, path string) *local {
	t.Helper()
	l.dir = kit.Get[*Dir](t)(CreateDir(path, l.Config))
	t.Cleanup(func() { l.dir.Close() })
	return l
}

// again makes the tournament play in an existing directory.
func (l *local) again(dir *Dir) *local {
	l.dir = dir
	return l
}

// run plays the tournament, and calls done after each game.
func (l *local) run(ctx context.Context, done func()) error {
	return Play(ctx, l.State, l.dir, l.bots, slices.Repeat([]int{cores.Any}, l.workers), Hooks{
		OnGame: func(*Match, *referee.GameResult) { done() },
		Notice: func(string) {},
	})
}

// play plays a tournament, and fails the test on an error.
func play(t testing.TB, l *local) {
	t.Helper()
	kit.Must(t, l.run(t.Context(), func() {}))
}

// playUntil plays a tournament, and cancels it after a number of games.
func playUntil(t testing.TB, l *local, games int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if games == 0 {
		cancel()
	}
	n := 0
	err := l.run(ctx, func() {
		if n++; n >= games {
			cancel()
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// played plays a tournament without processes. result returns the ranks and points by seat, from the bots in
// the seats.
func played(s *State, result func(m *Match, deal int, bots []int) ([]int, []float64)) *State {
	for matches := s.Next(); len(matches) > 0; matches = s.Next() {
		for _, m := range matches {
			for deal := range s.Deals {
				for rotation := range m.Bots {
					if s.IsFinished(m) {
						break
					}
					s.Add(m, fakeGame(s, m, deal, rotation, result))
				}
			}
		}
	}
	return s
}

// fakeGame returns a game with one move, which differs between deals.
func fakeGame(s *State, m *Match, deal, rotation int, result func(m *Match, deal int, bots []int) ([]int, []float64)) *referee.GameResult {
	g := &referee.GameResult{Replay: referee.Replay{
		Match: referee.ReplayMatch{Deal: deal, Rotation: rotation},
		Moves: []referee.ReplayMove{{Move: fmt.Sprintf("%d/%d", m.Number, deal)}},
	}}
	var bots []int // of the tournament
	for seat := range s.Variant.Players {
		bot := rules.BotAt(seat, rotation, len(m.Bots))
		g.Bots = append(g.Bots, bot)
		g.Seats = append(g.Seats, referee.ReplaySeat{})
		bots = append(bots, m.Bots[bot])
	}
	g.Ranks, g.Points = result(m, deal, bots)
	return g
}

// favourite makes bots with lower numbers win.
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
