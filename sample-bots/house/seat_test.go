package house

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// TestSeat checks that in one game after another a seat makes the moves of its bot by the protocol. A bot
// that does not exist is an error.
func TestSeat(t *testing.T) {
	tb := resolve(t, kit.Get[*rules.Game](t)(games.Find("tute")), "players=4 teams=yes")
	const spec = "greedy:noise=30"
	var seats []*LocalSeat
	for range tb.variant.Players {
		seats = append(seats, kit.Get[*LocalSeat](t)(NewSeat(spec)))
	}
	for deal := range uint64(3) {
		_, want := tb.play(t, deal, []string{spec, spec, spec, spec})
		var seed rules.Seed
		binary.BigEndian.PutUint64(seed[:], deal)
		stream := rules.NewStream(seed)
		s := tb.variant.Deal(&stream)
		for i, seat := range seats {
			seat.StartGame(tb.variant, i, deal*16+uint64(i), 0) // the seeds that play uses
		}
		var moves []string
		for s.Turn() != rules.Over {
			m := kit.Get[rules.Move](t)(seats[s.Turn()].Move(s))
			moves = append(moves, string(s.MoveText(nil, m)))
			s.Apply(m, nil)
		}
		if g := seats[2].game; g.Name != "tute" || g.Number != int(deal)+1 || g.Seat != 2 || g.Players != 4 || g.Seed != deal*16+2 || g.Settings.Map()["teams"] != "yes" {
			t.Errorf("a seat is told of the game %+v", g)
		}
		if got := strings.Join(moves, " "); got != want {
			t.Errorf("the seats play %s\nby the protocol %s", got, want)
		}
	}
	if _, err := NewSeat("gredy"); err == nil || !strings.HasPrefix(err.Error(), `house bot "gredy" does not exist`) {
		t.Errorf("a bot that does not exist: error %v", err)
	}
}
