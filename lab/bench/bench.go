// Package bench measures the speed of timba on a machine, with the sample bots: turns,
// playouts, games and sandboxes.
package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
	"github.com/timba-arena/timba/sample-bots/search"
)

// Bench is the settings of a measurement.
type Bench struct {
	Time time.Duration // approximate time for each figure
	Log  io.Writer     // gets notices on what is missing on this machine
}

// program returns the program of a BOT argument.
func (b Bench) program(ctx context.Context, bot string) (program.Program, error) {
	return program.Resolver{Builtins: house.Registry{}, Log: b.Log}.Resolve(ctx, bot)
}

// echo builds the C bot that answers at once; without a C compiler it returns the house bot
// @first.
func (b Bench) echo(ctx context.Context) (program.Program, error) {
	if _, err := exec.LookPath("cc"); err != nil {
		fmt.Fprintln(b.Log, "bench: no C compiler (cc) is installed: @first plays instead of a C bot")
		return b.program(ctx, "@first")
	}
	cache, err := program.CacheDir("bench")
	if err != nil {
		return program.Program{}, err
	}
	source, bot := filepath.Join(cache, "echo.c"), filepath.Join(cache, "echo")
	if err := os.WriteFile(source, echoC, 0o644); err != nil {
		return program.Program{}, err
	}
	if out, err := exec.Command("cc", "-O2", "-o", bot, source).CombinedOutput(); err != nil {
		return program.Program{}, fmt.Errorf("bench: building the C bot: %w\n%s", err, out)
	}
	return b.program(ctx, bot)
}

// Turn is the time of a turn at a game, in microseconds.
type Turn struct {
	Game           string
	Referee, Floor float64 // medians
	Ratio          float64 // the median of the rounds' ratios
}

// rounds is how often compared measurements alternate, so that the machine's load affects all
// of them.
const rounds = 7

// Turns measures turns at every game, in the same games with and without the referee.
func (b Bench) Turns(ctx context.Context) ([]Turn, error) {
	bot, err := b.echo(ctx)
	if err != nil {
		return nil, err
	}
	var turns []Turn
	for _, g := range games.All() {
		t, err := b.turn(ctx, g, bot.Bot)
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	return turns, nil
}

func (b Bench) turn(ctx context.Context, g *rules.Game, bot referee.Bot) (Turn, error) {
	m, err := newMatch(g, bot)
	if err != nil {
		return Turn{}, err
	}
	// Record the blocks that the referee sends, to exchange the same bytes.
	var script []referee.Traffic
	m.Trace = func(t referee.Traffic) {
		if t.Rotation == 0 && !t.FromBot {
			t.Lines = slices.Clone(t.Lines)
			script = append(script, t)
		}
	}
	_, once, err := play(ctx, m)
	if err != nil {
		return Turn{}, err
	}
	m.Trace = nil
	m.Deals = max(2, int(float64(m.Deals)*b.Time.Seconds()/rounds/2/once.Seconds())) // the first does not count
	var through, floor, ratios []float64
	for range rounds {
		n, took, err := play(ctx, m)
		if err != nil {
			return Turn{}, err
		}
		bare, err := referee.Floor(bot, m.Workers[0], script, m.Deals*2)
		if err != nil {
			return Turn{}, err
		}
		through = append(through, took.Seconds()/float64(n)*1e6)
		floor = append(floor, bare.Seconds()*1e6)
		ratios = append(ratios, through[len(through)-1]/floor[len(floor)-1])
	}
	return Turn{g.Name, quantile(through, 0.5), quantile(floor, 0.5), quantile(ratios, 0.5)}, nil
}

// newMatch returns a match at a game's defaults on one core, with one bot at all seats.
func newMatch(g *rules.Game, bot referee.Bot) (*referee.Match, error) {
	v, err := g.Resolve(nil)
	if err != nil {
		return nil, err
	}
	m := &referee.Match{Variant: v, Deals: 20, Seed: rules.Seed{1}, Clock: referee.DefaultClock, Workers: []int{referee.AnyCore}}
	if cores := referee.Cores(); len(cores) > 0 {
		m.Workers[0] = cores[len(cores)-1]
	}
	for i := range v.Players {
		b := bot
		b.Name = fmt.Sprintf("%s%d", bot.Name, i)
		m.Bots = append(m.Bots, b)
	}
	return m, nil
}

// play plays a match and returns the number of its moves and the time of its games, without the
// start of processes.
func play(ctx context.Context, m *referee.Match) (moves int, took time.Duration, err error) {
	first := map[int]bool{} // the first game of each rotation starts processes and does not count
	m.Done = func(g *referee.Result) error {
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
	}
	err = m.Play(ctx)
	return moves, took, err
}

// quantile returns a quantile of some values.
func quantile(xs []float64, part float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return xs[min(len(xs)-1, int(part*float64(len(xs))))]
}

// Rate is the number of games and moves per second at a game.
type Rate struct {
	Game         string
	Games, Moves float64 // a second
}

// Playouts measures random games through the rules on one core, including the deals.
func (b Bench) Playouts(ctx context.Context) ([]Rate, error) {
	var rates []Rate
	for _, g := range games.All() {
		v, err := g.Resolve(nil)
		if err != nil {
			return nil, err
		}
		r, space := rules.NewRand(1), make([]rules.Move, rules.MaxMoves)
		n, moves := 0, 0
		began := time.Now()
		for time.Since(began) < b.Time {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for range 16 {
				stream := rules.FastStream(r)
				s := v.Deal(&stream)
				search.Playout(s, r, space)
				n++
				moves += s.Ply()
			}
		}
		s := time.Since(began).Seconds()
		rates = append(rates, Rate{g.Name, float64(n) / s, float64(moves) / s})
	}
	return rates, nil
}

// Games measures whole games between processes of @random on all cores.
func (b Bench) Games(ctx context.Context) ([]Rate, error) {
	bot, err := b.program(ctx, "@random")
	if err != nil {
		return nil, err
	}
	var rates []Rate
	for _, g := range games.All() {
		m, err := newMatch(g, bot.Bot)
		if err != nil {
			return nil, err
		}
		if cores := referee.Cores(); len(cores) > 0 {
			m.Workers = cores
		}
		for m.Deals = 20; ; m.Deals *= 4 {
			n, moves := 0, 0
			m.Done = func(g *referee.Result) error { n++; moves += len(g.Moves); return nil }
			began := time.Now()
			if err := m.Play(ctx); err != nil {
				return nil, err
			}
			if took := time.Since(began); took > b.Time/2 {
				rates = append(rates, Rate{g.Name, float64(n) / took.Seconds(), float64(moves) / took.Seconds()})
				break
			}
		}
	}
	return rates, nil
}

// Restart is the speed of matches whose processes are kept between games, and of those with new
// processes for each game.
type Restart struct {
	Games      int
	Kept, Anew float64 // games a second: with a process for a bot and rotation, and for each game
}

// Restart measures the same games at Teeko twice: with one process for each bot and rotation, as
// timba plays, and in matches of one deal, so that each game has new processes.
func (b Bench) Restart(ctx context.Context) (Restart, error) {
	m, err := b.restartMatch(ctx)
	if err != nil {
		return Restart{}, err
	}
	m.Deals = max(1, int(1000*b.Time.Seconds()))
	kept, err := rate(m.Deals*2, func() error { return m.Play(ctx) })
	if err != nil {
		return Restart{}, err
	}
	once := *m
	once.Deals = 1
	n := max(1, m.Deals/10)
	anew, err := rate(n*2, func() error {
		for i := range n {
			once.Seed = m.Seed.Derive(strconv.Itoa(i))
			if err := once.Play(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return Restart{m.Deals * 2, kept, anew}, err
}

// restartMatch returns a match of the C bot against @greedy on all cores.
func (b Bench) restartMatch(ctx context.Context) (*referee.Match, error) {
	echo, err := b.echo(ctx)
	if err != nil {
		return nil, err
	}
	greedy, err := b.program(ctx, "@greedy")
	if err != nil {
		return nil, err
	}
	g, err := games.Find("teeko")
	if err != nil {
		return nil, err
	}
	m, err := newMatch(g, echo.Bot)
	if err != nil {
		return nil, err
	}
	m.Bots[1] = greedy.Bot
	if cores := referee.Cores(); len(cores) > 0 {
		m.Workers = cores
	}
	return m, nil
}

// rate calls do, which does n things, and returns how many that is per second.
func rate(n int, do func() error) (float64, error) {
	began := time.Now()
	err := do()
	return float64(n) / time.Since(began).Seconds(), err
}
