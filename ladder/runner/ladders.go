package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules"
)

// ladders is a Source of new matches of the ladders.
//
//   - The ladder that has used the least core time recently comes first. Ladders on which only house bots play come
//     last.
//   - If all versions of a ladder have had enough matches (ladder.EnoughMatches), its matches start Limits.Pause
//     apart. Matches in which only house bots with enough matches play start Limits.Idle apart.
//   - A match is stored when it starts. Until then, the ladder's matchmaking.Pool knows it by a negative number.
type ladders struct {
	store          Store
	list           []ladder.Ladder
	catalog        *catalog
	costs          *costs
	rand           *rand.Rand
	variants       map[string]*rules.Variant // by ladder
	lastStart      map[string]time.Time      // by ladder, when its last match got a core
	lastHouseStart map[string]time.Time      // the same for its last match between house bots with enough matches
	poolNumber     int64                     // number that the last chosen match got in its pool, below 0
}

// newLadders returns the source of the matches of the ladders in list. from is the store, known knows which machine
// can play which version, and spent records the time that ladders use. It returns an error if one of the ladders
// cannot be played.
func newLadders(list []ladder.Ladder, from Store, known *catalog, spent *costs) (ladders, error) {
	l := ladders{
		store: from, list: list, catalog: known, costs: spent,
		rand:     rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		variants: map[string]*rules.Variant{}, lastStart: map[string]time.Time{}, lastHouseStart: map[string]time.Time{},
	}
	for _, x := range list {
		v, err := x.Variant()
		if err == nil {
			_, err = ladder.SlotSides(v, x.Bots)
		}
		if err != nil {
			return l, err
		}
		l.variants[x.Name] = v
	}
	return l, nil
}

func (l *ladders) Next(ctx context.Context, c Core) (Job, error) {
	l.costs.fade(c.now)
	canPlay := func(p *matchmaking.Candidate) bool { return l.catalog.canPlay(ctx, c, p.ID, p.Remote) }
	var houses []ladder.Ladder
	for _, x := range l.costs.order(l.list) {
		if l.catalog.backoffs.isBackingOff(ladderName(x.Name), c.now) {
			continue
		}
		p, err := l.store.Ladders.Pool(ctx, x.Name)
		if err != nil {
			return nil, fmt.Errorf("ladder %s: %w", x.Name, err)
		}
		if p == nil { // an admin has paused it
			continue
		}
		people := p.Contains(func(p *matchmaking.Candidate) bool { return !p.House && canPlay(p) })
		if l.catalog.roomOf(c).Check("", l.variants[x.Name], slices.Repeat([]bool{!people}, x.Bots)) != nil {
			continue
		}
		if !people {
			houses = append(houses, x)
			continue
		}
		if j, err := l.nextMatch(ctx, c, x, canPlay); j != nil || err != nil {
			return j, err
		}
	}
	for _, x := range houses {
		if j, err := l.nextMatch(ctx, c, x, canPlay); j != nil || err != nil {
			return j, err
		}
	}
	return nil, nil
}

// nextMatch returns a job that plays a new match of ladder x on core c. It returns nil if an admin has paused the
// ladder, if its next match must wait (see mustWait), or if canPlay accepts too few versions.
func (l *ladders) nextMatch(ctx context.Context, c Core, x ladder.Ladder, canPlay func(*matchmaking.Candidate) bool) (Job, error) {
	choice := matchmaking.Constraints{CanPlay: canPlay}
	if c.now.Before(l.lastHouseStart[x.Name].Add(l.catalog.limits.Idle)) {
		choice.IsIdle = isKnownHouse
	}
	for {
		p, err := l.store.Ladders.Pool(ctx, x.Name)
		if err != nil {
			return nil, fmt.Errorf("ladder %s: %w", x.Name, err)
		}
		if p == nil || l.mustWait(x.Name, p, canPlay, c.now) {
			return nil, nil
		}
		slots, unknown := p.Next(choice, l.rand)
		if slots != nil {
			return l.newMatch(ctx, c, x, p, slots)
		}
		if unknown == 0 {
			return nil, nil
		}
		if err := l.store.Ladders.LoadPoolOpponents(ctx, x.Name, unknown); err != nil {
			return nil, fmt.Errorf("ladder %s: counting meetings: %w", x.Name, err)
		}
	}
}

// isKnownHouse reports whether p is a house bot (part of timba) with at least ladder.EnoughMatches matches.
func isKnownHouse(p *matchmaking.Candidate) bool { return p.House && p.Matches >= ladder.EnoughMatches }

// newMatch returns a job for a match of ladder x between the versions whose IDs are in slots. The match is not stored
// yet.
func (l *ladders) newMatch(ctx context.Context, c Core, x ladder.Ladder, p *matchmaking.Pool, slots []int64) (Job, error) {
	l.poolNumber--
	m := &ladder.Match{
		Ladder: x.Name, Rated: true, Game: x.Game, Options: x.Options, Clock: x.Clock, Deals: x.Deals, Versions: slots, State: ladder.Waiting,
	}
	fresh := &freshMatch{
		entry:    store.NewMatch{Ladder: x.Name, Versions: slots, Allowance: l.catalog.limits.Allowance},
		chosenAt: c.now, pool: p, poolNumber: l.poolNumber,
		onlyHouses: !p.Contains(func(p *matchmaking.Candidate) bool { return slices.Contains(slots, p.ID) && !isKnownHouse(p) }),
	}
	for _, id := range slots {
		v, err := l.catalog.version(ctx, id)
		if err != nil {
			return nil, err
		}
		fresh.versions = append(fresh.versions, v.Version)
		m.Bots, m.Numbers, m.Remote = append(m.Bots, v.Bot), append(m.Numbers, v.Number), append(m.Remote, v.Remote)
	}
	j, err := l.catalog.job(ctx, m, c)
	if err != nil {
		return nil, err
	}
	j.fresh = fresh
	return j, nil
}

func (l *ladders) RecordStart(j Job) {
	m := j.(*matchJob)
	if l.lastStart[m.match.Ladder] = m.fresh.chosenAt; m.fresh.onlyHouses {
		l.lastHouseStart[m.match.Ladder] = m.fresh.chosenAt
	}
	m.fresh.pool.Open(m.fresh.poolNumber, m.match.Versions)
}

// mustWait reports whether the ladder called name must wait before its next match. It must if its last match started
// less than Limits.Pause ago, unless a version that can play has had fewer than ladder.EnoughMatches matches. pool
// has the versions of the ladder. canPlay reports whether a version can play now.
func (l *ladders) mustWait(name string, pool *matchmaking.Pool, canPlay func(*matchmaking.Candidate) bool, now time.Time) bool {
	last, played := l.lastStart[name]
	return played && now.Before(last.Add(l.catalog.limits.Pause)) &&
		!pool.Contains(func(p *matchmaking.Candidate) bool { return p.Matches < ladder.EnoughMatches && canPlay(p) })
}

// pauseEnd returns the earliest time after now at which a ladder need no longer wait for Limits.Pause or
// Limits.Idle. It returns the zero time if no ladder waits.
func (l *ladders) pauseEnd(now time.Time) (first time.Time) {
	limits := l.catalog.limits
	if limits.Pause == 0 && limits.Idle == 0 {
		return first
	}
	for name, last := range l.lastStart {
		for _, until := range []time.Time{last.Add(limits.Pause), l.lastHouseStart[name].Add(limits.Idle)} {
			if until.After(now) {
				first = earliest(first, until)
			}
		}
	}
	return first
}
