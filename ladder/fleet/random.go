package fleet

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
)

// PlayAtRandom plays a match without its bots, with random moves: for a worker that tests a server. Its
// result is one that the bots could have.
func (m *Match) PlayAtRandom() error {
	v, err := ladder.Ladder{Game: m.Game, Options: m.Options}.Variant()
	if err != nil {
		return err
	}
	for deal := range m.Deals {
		for rotation := range m.Bots {
			g, err := m.randomGame(v, deal, rotation)
			if err != nil {
				return err
			}
			m.games = append(m.games, g)
		}
	}
	return nil
}

func (m *Match) randomGame(v *rules.Variant, deal, rotation int) (*referee.Result, error) {
	seed := rules.Seed(m.Seed)
	head := referee.Replay{
		Timba: protocol.Version, Game: m.Game, Options: v.Settings.Map(),
		Seed: referee.Hex(referee.DealSeed(seed, deal)), Commitment: referee.Commitment(seed),
		Match: referee.ReplayMatch{Deal: deal, Rotation: rotation}, Clock: m.Clock.InReplay(),
	}
	r := &referee.Result{Logs: make([][]byte, v.Players), Took: time.Millisecond}
	for seat := range v.Players {
		slot := rules.BotAt(seat, rotation, len(m.Bots))
		b := m.Bots[slot]
		hash := b.Hash
		if b.House != "" {
			hash = strings.Repeat("0", len(referee.Hex{}.String()))
		}
		r.Bots = append(r.Bots, slot)
		head.Seats = append(head.Seats, referee.ReplaySeat{
			Name: b.Name, Version: b.Label, SHA256: hash, Seed: referee.BotSeed(seed, deal, rotation, seat),
		})
	}
	g := referee.NewGame(v, head, 0)
	var legal []rules.Move
	for g.Begin(); !g.Over(); {
		legal = g.State.Legal(legal[:0])
		move := g.State.MoveText(nil, legal[rand.IntN(len(legal))])
		if err := g.Move(move, referee.Spent{Took: time.Millisecond}, nil); err != nil {
			return nil, err
		}
	}
	g.End()
	r.Replay = g.Record
	return r, nil
}
