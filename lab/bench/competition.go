package bench

import (
	"context"
	"fmt"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
)

// addBots adds bots of invented people to s. The first bot has 1 version, the next 2 and so on up to maxVersions,
// then again 1. Each version replaces the previous one on the ladders. buildInfo returns the build result of a
// version; both of its arguments count from 0. live has the ID of each bot's last version.
func addBots(ctx context.Context, s *store.Store, bots, botsPerPerson, maxVersions int, buildInfo func(bot, version int) store.BuildInfo) (live []int64, err error) {
	unlimited := ladder.Limits{Bots: 1 << 20, Versions: 1 << 20}
	var person ladder.Person
	for bot := range bots {
		if bot%botsPerPerson == 0 {
			if person, err = s.People.Add(ctx, fmt.Sprintf("person-%d", bot), false); err != nil {
				return nil, err
			}
		}
		var v ladder.Version
		for version := range 1 + bot%maxVersions {
			b := buildInfo(bot, version)
			if v, err = s.Versions.Add(ctx, person.ID, store.NewVersion{Bot: fmt.Sprintf("bot-%d", bot), Bundle: b.Hash}, unlimited); err != nil {
				return nil, err
			}
			if err := s.Versions.SetBuildInfo(ctx, v.ID, b); err != nil {
				return nil, err
			}
			if err := s.Versions.Promote(ctx, v.ID); err != nil {
				return nil, err
			}
		}
		live = append(live, v.ID)
	}
	return live, nil
}

type playedMatch struct {
	store.NewMatch
	attempt.Result
}

func playLadder(l ladder.Ladder) (playedMatch, error) {
	j := attempt.Job{Game: l.Game, Options: l.Options, Deals: l.Deals, Clock: l.Clock, Seed: referee.Hex(referee.NewSeed())}
	for slot := range l.Bots {
		j.Bots = append(j.Bots, attempt.Entrant{Name: fmt.Sprintf("bot-%d", slot), Hash: fakeHash(0)})
	}
	r := attempt.PlayAtRandom(j)
	if r.Failure != nil {
		return playedMatch{}, r.Failure
	}
	return playedMatch{store.NewMatch{Ladder: l.Name}, r}, nil
}
