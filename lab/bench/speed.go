// Package bench measures the performance of timba on this machine. Each measurement is a struct whose fields
// are its settings. Its method Run returns a Report. Begin with Speed.
package bench

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// Speed measures the time that the referee needs for a turn, and the number of games that it plays per second.
type Speed struct {
	Time time.Duration // approximate time for each number in the report
}

// Run runs the measurement. Without a C compiler it plays with a slower bot and says so in log.
func (b Speed) Run(ctx context.Context, log io.Writer) (*Report, error) {
	turns, err := b.measureTurns(ctx, log)
	if err != nil {
		return nil, err
	}
	games, err := b.measureGames(ctx)
	return newReport(turns, games), err
}

func findBot(ctx context.Context, bot string) (match.Contestant, error) {
	p, err := program.Resolver{}.Resolve(ctx, bot)
	return p.Contestant, err
}

// echoC is the C source of a bot that answers at once with the first legal move. The time of its turns is therefore
// almost only time of the referee.
//
//go:embed echo/echo.c
var echoC []byte

// echoBot compiles the bot in echoC and returns it. Without a C compiler it returns the house bot @first.
func echoBot(ctx context.Context, log io.Writer) (match.Contestant, error) {
	if _, err := exec.LookPath("cc"); err != nil {
		fmt.Fprintln(log, "bench: no C compiler (cc) is installed: @first plays instead of a C bot")
		return findBot(ctx, "@first")
	}
	cache, err := program.CacheDir("bench")
	if err != nil {
		return match.Contestant{}, err
	}
	source, bot := filepath.Join(cache, "echo.c"), filepath.Join(cache, "echo")
	if err := os.WriteFile(source, echoC, 0o644); err != nil {
		return match.Contestant{}, err
	}
	if out, err := exec.Command("cc", "-O2", "-o", bot, source).CombinedOutput(); err != nil {
		return match.Contestant{}, fmt.Errorf("bench: building the C bot: %w\n%s", err, out)
	}
	return findBot(ctx, bot)
}

// measureRounds is how often each measurement is repeated. Measurements to be compared take turns, so that the load
// of the machine affects all of them equally.
const measureRounds = 7

// measureTurns returns a table with the time of a turn in each game, in microseconds: with the referee, and the
// minimal time, in which the same lines are exchanged without a referee.
func (b Speed) measureTurns(ctx context.Context, log io.Writer) (Table, error) {
	t := newTable("turn|referee µs|floor µs|ratio")
	bot, err := echoBot(ctx, log)
	if err != nil {
		return t, err
	}
	for _, g := range games.All() {
		through, floor, err := b.measureTurn(ctx, g, bot)
		if err != nil {
			return t, err
		}
		t.add(g.Name, twoDecimals(quantile(through, 0.5)), twoDecimals(quantile(floor, 0.5)), twoDecimals(quantile(ratios(through, floor), 0.5)))
	}
	return t, nil
}

func (b Speed) measureTurn(ctx context.Context, g *rules.Game, bot match.Contestant) (through, floor []float64, err error) {
	m, err := newMatch(g, bot)
	if err != nil {
		return nil, nil, err
	}
	// The lines that the referee sends are recorded, so that floorTime can exchange the same bytes.
	var script []referee.Traffic
	m.Observer.Trace = func(t referee.Traffic) {
		if t.Rotation == 0 && !t.FromBot {
			t.Lines = slices.Clone(t.Lines)
			script = append(script, t)
		}
	}
	_, once, err := playMatch(ctx, m)
	if err != nil {
		return nil, nil, err
	}
	m.Observer.Trace = nil
	m.Deals = max(2, int(float64(m.Deals)*b.Time.Seconds()/measureRounds/2/once.Seconds())) // the first is not measured
	for range measureRounds {
		n, took, err := playMatch(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		bare, err := floorTime(bot, m.Resources.Workers[0], script, m.Deals*2)
		if err != nil {
			return nil, nil, err
		}
		through = append(through, took.Seconds()/float64(n)*1e6)
		floor = append(floor, bare.Seconds()*1e6)
	}
	return through, floor, nil
}

func ratios(values, to []float64) (list []float64) {
	for i := range values {
		list = append(list, values[i]/to[i])
	}
	return list
}

// newMatch returns a match of a game with default options on one core, with the same bot in all seats.
func newMatch(g *rules.Game, bot match.Contestant) (*match.Match, error) {
	v, err := g.Resolve(nil)
	if err != nil {
		return nil, err
	}
	m := &match.Match{Variant: v, Deals: 20, Seed: rules.Seed{1}, Clock: referee.DefaultClock, Resources: match.Resources{Workers: []int{cores.Any}}}
	if cores := cores.All(); len(cores) > 0 {
		m.Resources.Workers[0] = cores[len(cores)-1]
	}
	for i := range v.Players {
		b := bot
		b.Name = fmt.Sprintf("%s%d", bot.Name, i)
		m.Bots = append(m.Bots, b)
	}
	return m, nil
}

// playMatch plays a match and returns the number of moves and the total duration of its games. In each rotation
// (seating) it does not count the first game, which includes the start of the bots. A fault of a bot is an error.
func playMatch(ctx context.Context, m *match.Match) (moves int, took time.Duration, err error) {
	first := map[int]bool{} // the first game of each rotation starts processes and does not count
	err = m.Play(ctx, func(g *referee.GameResult) error {
		if len(g.Faults) > 0 {
			return fmt.Errorf("bench: a bot had a fault: %v", g.Faults[0])
		}
		if !first[g.Match.Rotation] {
			first[g.Match.Rotation] = true
			return nil
		}
		moves += len(g.Moves)
		took += g.Took
		return nil
	})
	return moves, took, err
}

// quantile returns a quantile of xs. part is between 0 and 1; 0.5 is the median.
func quantile(xs []float64, part float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[min(len(xs)-1, int(part*float64(len(xs))))]
}

// measureGames returns a table with the numbers of games and moves per second that all cores together play. Every
// seat is played by a process of the bot @random.
func (b Speed) measureGames(ctx context.Context) (Table, error) {
	t := newTable("games|games/s|moves/s")
	bot, err := findBot(ctx, "@random")
	if err != nil {
		return t, err
	}
	for _, g := range games.All() {
		m, err := newMatch(g, bot)
		if err != nil {
			return t, err
		}
		if cores := cores.All(); len(cores) > 0 {
			m.Resources.Workers = cores
		}
		for m.Deals = 20; ; m.Deals *= 4 {
			n, moves := 0, 0
			began := time.Now()
			err := m.Play(ctx, func(g *referee.GameResult) error { n++; moves += len(g.Moves); return nil })
			if err != nil {
				return t, err
			}
			if took := time.Since(began); took > b.Time/2 {
				t.add(g.Name, noDecimals(float64(n)/took.Seconds()), noDecimals(float64(moves)/took.Seconds()))
				break
			}
		}
	}
	return t, nil
}
