package refereetest

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

var bots = []string{"alfil", "bruna", "carmela", "duque", "estoque", "farol", "gitana", "hidalgo", "infanta", "jota", "kermes", "lucero"}

// Replay returns the replay of the first deal of a match whose seed is number. No bots play: all moves are random,
// the scores vary, and seat 1 reports no scores. If fault is not nil, the seat that is to move after fault.Ply moves
// forfeits the game for fault.Reason. Equal arguments give equal replays.
func Replay(t testing.TB, game *rules.Game, options map[string]string, number uint64, fault *referee.Fault) *referee.Replay {
	t.Helper()
	v := kit.Get[*rules.Variant](t)(game.Resolve(options))
	var match rules.Seed
	binary.BigEndian.PutUint64(match[24:], number)
	head := referee.Replay{
		Timba: protocol.Version, Game: game.Name, Options: v.Settings.Map(),
		Seed: referee.Hex(referee.DealSeed(match, 0)), Commitment: referee.Commitment(match),
		Clock: referee.Clock{Bank: time.Minute, Margin: 50 * time.Millisecond}.InReplay(),
	}
	head.Reveal(match)
	for seat := range v.Players {
		head.Seats = append(head.Seats, referee.ReplaySeat{
			Name: bots[seat], Version: fmt.Sprintf("1.%d", seat), Seed: referee.BotSeed(match, 0, 0, seat),
			SHA256: referee.Hex(match.Derive(fmt.Sprintf("bot/0/0/%d", seat))).String(),
		})
	}
	g := referee.NewGame(v, head, 0)
	g.Begin()
	random := rules.NewRand(number)
	scores := make([]int, v.Players)
	for !g.IsOver() {
		seat := g.Turn()
		if fault != nil && g.State.Ply() == fault.Ply && !g.HasForfeited(seat) {
			kit.Must(t, g.Forfeit(seat, fault.Reason, time.Duration(fault.Credit)*time.Millisecond))
			continue
		}
		legal := g.State.Legal(nil)
		move := g.State.MoveText(nil, legal[random.Below(len(legal))])
		took := time.Duration(125+random.Below(4000)) * time.Microsecond
		if g.HasForfeited(seat) {
			g.PlayStandIn()
			continue
		}
		var info []string
		if seat != 1 {
			scores[seat] += random.Below(21) - 10
			info = []string{
				fmt.Sprintf("score=%d depth=3", scores[seat]-1),
				fmt.Sprintf("score=%d depth=4 nodes=%d pv=%s", scores[seat], 1000+random.Below(90000), move),
			}
		}
		kit.Must(t, g.Move(move, referee.MoveTime{Took: took}, info))
	}
	g.End()
	return &g.Record
}
