// Package attempttest makes up results of matches for tests: it plays a match (a job of package attempt) with random
// moves, without its bots.
package attempttest

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// PlayAtRandom returns a result of the match j in which every move is a random legal move. It starts no bots. The moves
// differ from call to call. If the game or its options are not valid, the result has a Failure and no games.
func PlayAtRandom(j attempt.Job) attempt.Result {
	r := attempt.Result{Match: j.Match, Attempt: j.Attempt, Seed: j.Seed}
	v, err := ladder.Ladder{Game: j.Game, Options: j.Options}.Variant()
	if err != nil {
		return attempt.FailedResult(j, err)
	}
	for deal := range j.Deals {
		for rotation := range j.Bots {
			g, err := randomGame(j, v, deal, rotation)
			if err != nil {
				return attempt.FailedResult(j, err)
			}
			g.Reveal(rules.Seed(j.Seed))
			r.Games = append(r.Games, g)
		}
	}
	return r
}

func randomGame(j attempt.Job, v *rules.Variant, deal, rotation int) (*referee.GameResult, error) {
	seed := rules.Seed(j.Seed)
	head := referee.Replay{
		Timba: protocol.Version, Game: j.Game, Options: v.Settings.Map(),
		Seed: referee.Hex(referee.DealSeed(seed, deal)), Commitment: referee.Commitment(seed),
		Match: referee.ReplayMatch{Deal: deal, Rotation: rotation}, Clock: j.Clock.InReplay(),
	}
	r := &referee.GameResult{Logs: make([][]byte, v.Players), Took: time.Millisecond}
	for seat := range v.Players {
		slot := rules.BotAt(seat, rotation, len(j.Bots))
		b := j.Bots[slot]
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
	for g.Begin(); !g.IsOver(); {
		legal = g.State.Legal(legal[:0])
		move := g.State.MoveText(nil, legal[rand.IntN(len(legal))])
		if err := g.Move(move, referee.MoveTime{Took: time.Millisecond}, nil); err != nil {
			return nil, err
		}
	}
	g.End()
	r.Replay = g.Record
	return r, nil
}
