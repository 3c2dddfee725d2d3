package bench

import (
	"context"
	"fmt"
	"io"
	"maps"
	"strconv"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

// noChanceGames lists the games whose deal involves no chance.
var noChanceGames = []struct {
	title, game string
	options     map[string]string
}{
	{"Tebes", "tebes", nil},
	{"Tebes, 4 by 4", "tebes", map[string]string{"size": "4"}},
	{"Teeko, placed", "teeko", map[string]string{"start": "drop"}},
}

// The first maxExamined openings (random first moves) of each length are examined: the bot @greedy plays
// balanceGames games against itself after each. An opening is lopsided if one side scores at least lopsidedScore in
// these games. This happens by chance in 1 of 2,500 cases.
const (
	balanceGames  = 20
	lopsidedScore = 18
	maxExamined   = 100
)

// Openings measures random openings of board games. For each length it counts the different openings, and
// those in which one side has a great advantage.
type Openings struct {
	Deals int    // number of deals for each game and length
	Seed  string // in the form that referee.ParseSeed reads
}

func (b Openings) Run(ctx context.Context, log io.Writer) (*Report, error) {
	seed, err := referee.ParseSeed(b.Seed)
	if err != nil {
		return nil, err
	}
	t := newTable(fmt.Sprintf("game|N|distinct openings of %d|distinct deals of @greedy and @first|score of the first player|lopsided", b.Deals))
	for _, c := range noChanceGames {
		fmt.Fprintf(log, "measuring %s\n", c.title)
		for plies := range rules.MaxOpening + 1 {
			given := map[string]string{rules.OpeningOption.Name: strconv.Itoa(plies)}
			maps.Copy(given, c.options)
			v, err := resolve(c.game, given)
			if err != nil {
				return nil, err
			}
			o, err := b.measure(ctx, v, seed)
			if err != nil {
				return nil, err
			}
			looked := float64(min(b.Deals, maxExamined))
			t.add(c.title, plies, o.starts, o.deals,
				figure{"%.1f %%", 100 * o.firstScore / (looked * balanceGames)}, figure{"%.1f %%", 100 * float64(o.lopsidedCount) / looked})
		}
	}
	return newReport(t), nil
}

func resolve(game string, options map[string]string) (*rules.Variant, error) {
	g, err := games.Find(game)
	if err != nil {
		return nil, err
	}
	return g.Resolve(options)
}

// openings has the results of the measurement for one game and one length. An opening is a sequence of random first
// moves.
type openings struct {
	starts        int     // number of different first positions
	deals         int     // number of deals that differ in the moves of the two games between @greedy and @first
	firstScore    float64 // total score of the seat that moves first, in the games between two @greedy
	lopsidedCount int     // number of examined openings that are lopsided
}

func (b Openings) measure(ctx context.Context, v *rules.Variant, seed rules.Seed) (o openings, err error) {
	starts, played := map[string]bool{}, map[string]bool{}
	r := rules.NewRand(1)
	for deal := range b.Deals {
		if err := ctx.Err(); err != nil {
			return o, err
		}
		stream := rules.NewStream(referee.DealSeed(seed, deal))
		start := v.Deal(&stream)
		starts[fmt.Sprintf("%s %d", start.View(nil, 0), start.Turn())] = true
		var record []byte
		for _, bots := range [...][2]string{{"greedy", "first"}, {"first", "greedy"}} {
			end := start.Clone()
			if record, err = playGame(v, end, bots, 0, append(record, '/')); err != nil {
				return o, err
			}
		}
		played[string(record)] = true
		if deal >= maxExamined {
			continue
		}
		sum := 0.0
		for range balanceGames {
			end := start.Clone()
			if _, err = playGame(v, end, [2]string{"greedy", "greedy"}, r.Uint64(), nil); err != nil {
				return o, err
			}
			sum += score(end, start.Turn())
		}
		o.firstScore += sum
		if sum >= lopsidedScore || sum <= balanceGames-lopsidedScore {
			o.lopsidedCount++
		}
	}
	o.starts, o.deals = len(starts), len(played)
	return o, nil
}

// score returns the score of a seat in a finished game of two: 1 for a win, 0.5 for a draw, 0 for a loss.
func score(s rules.State, seat int) float64 {
	points := s.Points()
	return 0.5 + (points[seat]-points[1-seat])/2
}

// playGame plays from s to the end of the game, and changes s. The bot with the name bots[i] plays seat i. Its
// random choices depend only on seed. playGame appends the moves as text to record and returns the result.
func playGame(v *rules.Variant, s rules.State, bots [2]string, seed uint64, record []byte) ([]byte, error) {
	var seats [2]*house.LocalSeat
	for seat, name := range bots {
		var err error
		if seats[seat], err = house.NewSeat(name); err != nil {
			return nil, err
		}
		seats[seat].StartGame(v, seat, seed+uint64(seat), 0)
	}
	for s.Turn() != rules.Over {
		m, err := seats[s.Turn()].Move(s)
		if err != nil {
			return nil, err
		}
		record = append(s.MoveText(record, m), ' ')
		s.Apply(m, nil)
	}
	return record, nil
}
