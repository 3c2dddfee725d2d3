package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/rules"
)

// addBots adds bots of people, so many each, and their versions, which become live one after the other:
// one, two and so on up to most, in turn. It returns the last version of each bot.
func addBots(ctx context.Context, s *store.Store, bots, each, most int, built func(bot, version int) store.Built) (live []int64, err error) {
	unlimited := ladder.Limits{Bots: 1 << 20, Versions: 1 << 20}
	var person ladder.Person
	for bot := range bots {
		if bot%each == 0 {
			if person, err = s.AddPerson(ctx, fmt.Sprintf("person-%d", bot), false); err != nil {
				return nil, err
			}
		}
		var v ladder.Version
		for version := range 1 + bot%most {
			b := built(bot, version)
			if v, err = s.AddVersion(ctx, person.ID, store.NewVersion{Bot: fmt.Sprintf("bot-%d", bot), Bundle: b.Hash}, unlimited); err != nil {
				return nil, err
			}
			if err := s.SetBuilt(ctx, v.ID, b); err != nil {
				return nil, err
			}
			if err := s.Promote(ctx, v.ID); err != nil {
				return nil, err
			}
		}
		live = append(live, v.ID)
	}
	return live, nil
}

// played is a match that was played.
type played struct {
	store.NewMatch
	seed  rules.Seed
	games []*referee.Result
}

// playLadder plays a match of a ladder between bots.
func playLadder(ctx context.Context, l ladder.Ladder, bot func(slot int) match.Bot) (p played, err error) {
	p.Ladder, p.seed = l.Name, referee.NewSeed()
	v, err := l.Variant()
	if err != nil {
		return p, err
	}
	m := match.Match{Variant: v, Deals: l.Deals, Seed: p.seed, Clock: l.Clock, Done: func(g *referee.Result) error {
		g.Reveal(p.seed)
		p.games = append(p.games, g)
		return nil
	}}
	for slot := range l.Bots {
		b := bot(slot)
		b.Name = fmt.Sprintf("%s-%d", b.Name, slot)
		m.Bots = append(m.Bots, b)
	}
	err = m.Play(ctx)
	slices.SortFunc(p.games, func(a, b *referee.Result) int { return a.Match.Compare(b.Match) })
	return p, err
}
