// Package tournament plays matches between any number of bots: it pairs them by
// a format, plays the matches side by side, keeps every finished game in a
// folder from which a broken-off tournament goes on, and adds up the results.
package tournament

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
)

// Tournament is what to play.
type Tournament struct {
	Variant rules.Variant
	Bots    []referee.Bot
	Format  Format
	Rounds  int // of Swiss; 0 for as many as it takes
	Deals   int // of each match
	Seed    rules.Seed
	Clock   referee.Clock
	Lanes   []int        // as in referee.Match; matches share them
	SPRT    *rating.SPRT // ends the only match of two bots early
	Folder  *Folder      // keeps the games; nil for none

	// Done is called with each finished game, Void with each game played again,
	// one call at a time; Trace with every line.
	Done  func(*Match, *referee.Game)
	Void  func(m *Match, deal, rotation int, err error)
	Trace func(m *Match, t referee.Traffic)

	calls   sync.Mutex // one call of Done or Void at a time
	mu      sync.Mutex // of what follows and of the matches' results
	matches []*Match
}

// Match is one match of a tournament.
type Match struct {
	Number int   // from 0, in the order of the tournament
	Round  int   // from 0
	Bots   []int // of the tournament, in the order of their seats; one alone has a bye
	Tally  *referee.Tally
	// Verdict of the sequential test, which the deals after it no longer change.
	Progress *rating.Progress

	sheets  []rating.Sheet          // by deal
	played  []int                   // by deal, games finished
	counted int                     // deals, from the first, that are in the sequential test
	held    map[int][]*referee.Game // by deal, games that the test has not come to; only where there is one
	test    rating.Tally
	earlier [][]int // by rotation, deals played before this run
	faulted [][]int // by the match's bots, the deals of faults before this run
}

// Check refuses what cannot be played.
func (t *Tournament) Check() error {
	if len(t.Bots) == 0 {
		return errors.New("tournament: there are no bots: name at least one")
	}
	if t.SPRT != nil {
		if err := t.SPRT.Check(); err != nil {
			return err
		}
		if len(t.Bots) != 2 || rules.Sides(t.Variant) != 2 {
			return fmt.Errorf("sprt: it compares two bots at a game of two sides, not %d bots at one of %d", len(t.Bots), rules.Sides(t.Variant))
		}
	}
	return t.Format.check(t)
}

// Matches are all matches that are known so far.
func (t *Tournament) Matches() []*Match {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.matches)
}

// Games is how many games the tournament has, as far as is known: the rounds of
// Swiss and knockout tournaments are foretold by their number.
func (t *Tournament) Games() int {
	n := 0
	for _, m := range t.Matches() {
		if len(m.Bots) > 1 || len(t.Bots) == 1 {
			n += t.Deals * len(m.Bots)
		}
	}
	return n
}

// Play plays the tournament, or what the folder does not hold of it yet.
func (t *Tournament) Play(ctx context.Context) error {
	if err := t.Check(); err != nil {
		return err
	}
	if t.Folder != nil && !t.Folder.FaultsOnly {
		unlock, err := t.Folder.lock()
		if err != nil {
			return err
		}
		defer unlock()
		t.Folder.sweep()
	}
	for round := 0; ; round++ {
		pairings := t.Format.round(t, round)
		if len(pairings) == 0 {
			return nil
		}
		if err := t.playRound(ctx, round, pairings); err != nil {
			return err
		}
	}
}

func (t *Tournament) playRound(ctx context.Context, round int, pairings [][]int) error {
	var matches []*Match
	t.mu.Lock()
	for _, bots := range pairings {
		m := t.newMatch(round, bots)
		t.matches = append(t.matches, m)
		matches = append(matches, m)
	}
	t.mu.Unlock()
	for _, m := range matches {
		if err := t.takeUp(m); err != nil {
			return err
		}
	}
	matches = slices.DeleteFunc(matches, t.finished)
	return t.playAll(ctx, matches)
}

func (t *Tournament) newMatch(round int, bots []int) *Match {
	m := &Match{Number: len(t.matches), Round: round, Bots: bots}
	var entrants []referee.Bot
	for _, b := range bots {
		entrants = append(entrants, t.Bots[b])
	}
	m.Tally = referee.NewTally(t.Variant, entrants)
	m.sheets = make([]rating.Sheet, t.Deals)
	m.played = make([]int, t.Deals)
	m.held = map[int][]*referee.Game{}
	return m
}

// takeUp adds the games that the folder has of a match.
func (t *Tournament) takeUp(m *Match) error {
	m.earlier = make([][]int, len(m.Bots))
	m.faulted = make([][]int, len(m.Bots))
	if t.Folder == nil {
		return nil
	}
	games, err := t.Folder.games(t, m)
	if err != nil {
		return err
	}
	for _, g := range games {
		m.earlier[g.Match.Rotation] = append(m.earlier[g.Match.Rotation], g.Match.Deal)
		for _, f := range g.Faults {
			b := g.Bots[f.Seat]
			m.faulted[b] = append(m.faulted[b], g.Match.Deal)
		}
		if err := t.add(m, g); err != nil {
			return err
		}
	}
	if m.decided() {
		return t.Folder.drop(m, t.Variant.Players())
	}
	return nil
}

// decided tells whether a match's sequential test has its verdict.
func (m *Match) decided() bool { return m.Progress != nil && m.Progress.Verdict != rating.Continue }

// finished tells whether a match needs no more games.
func (t *Tournament) finished(m *Match) bool {
	if len(m.Bots) == 1 && len(t.Bots) > 1 { // a bye
		return true
	}
	return m.Tally.Games == t.Deals*len(m.Bots) || m.decided()
}

// playAll plays matches side by side: each has a lane, and the last ones share
// those that are left over.
func (t *Tournament) playAll(ctx context.Context, matches []*Match) error {
	lanes := t.Lanes
	if len(lanes) == 0 {
		lanes = []int{referee.AnyCore}
	}
	free := make(chan int, len(lanes))
	for _, core := range lanes {
		free <- core
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
	)
	for i, m := range matches {
		var own []int
		select {
		case <-ctx.Done():
		case core := <-free:
			own = append(own, core)
		}
		if ctx.Err() != nil {
			break
		}
		for share := len(lanes) / (len(matches) - i); len(own) < min(share, len(m.Bots)); {
			own = append(own, <-free)
		}
		wg.Go(func() {
			err := t.playMatch(ctx, m, own)
			for _, core := range own {
				free <- core
			}
			if err != nil {
				once.Do(func() { first = err; stop() })
			}
		})
	}
	wg.Wait()
	if first == nil {
		first = ctx.Err()
	}
	return first
}

// errVerdict ends a match whose sequential test has its verdict.
var errVerdict = errors.New("the test has its verdict")

func (t *Tournament) playMatch(ctx context.Context, m *Match, lanes []int) error {
	match := &referee.Match{
		Variant: t.Variant,
		Deals:   t.Deals,
		Seed:    t.seedOf(m),
		Clock:   t.Clock,
		Lanes:   lanes,
		Faulted: m.faulted,
		Done: func(g *referee.Game) error {
			return t.done(m, g)
		},
		Void: func(deal, rotation int, err error) {
			t.calls.Lock()
			defer t.calls.Unlock()
			if t.Void != nil {
				t.Void(m, deal, rotation, err)
			}
		},
	}
	for rotation := range m.Bots {
		match.From = append(match.From, len(m.earlier[rotation]))
	}
	for _, b := range m.Bots {
		match.Bots = append(match.Bots, t.Bots[b])
	}
	if t.Trace != nil {
		match.Trace = func(traffic referee.Traffic) { t.Trace(m, traffic) }
	}
	if err := match.Play(ctx); !errors.Is(err, errVerdict) {
		return err
	}
	return nil
}

// seedOf is a match's seed: the tournament's own where there is only one match.
func (t *Tournament) seedOf(m *Match) rules.Seed {
	if t.Format == Single {
		return t.Seed
	}
	return t.Seed.Derive(fmt.Sprintf("match/%d", m.Number))
}

func (t *Tournament) done(m *Match, g *referee.Game) error {
	t.calls.Lock()
	defer t.calls.Unlock()
	if m.decided() { // on another lane, while this game was played
		return errVerdict
	}
	g.Reveal(t.seedOf(m)) // whoever keeps the replays here knows it already
	if t.Folder != nil {
		if err := t.Folder.keep(m, g); err != nil {
			return err
		}
	}
	if err := t.add(m, g); err != nil {
		return err
	}
	if t.Done != nil {
		t.Done(m, g)
	}
	if !m.decided() {
		return nil
	}
	if t.Folder != nil {
		if err := t.Folder.drop(m, t.Variant.Players()); err != nil {
			return err
		}
	}
	return errVerdict
}

// add takes a game into the match's results. With a sequential test a game counts
// when the test has come to its deal, so that the results do not depend on how
// far other lanes were when it ended.
func (t *Tournament) add(m *Match, g *referee.Game) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	deal := g.Match.Deal
	if t.SPRT == nil {
		m.Tally.Add(g)
	} else {
		m.held[deal] = append(m.held[deal], g)
	}
	var seats []rating.Seat
	for seat, bot := range g.Bots {
		seats = append(seats, rating.Seat{Bot: m.Bots[bot], Side: t.Variant.Side(seat), Rank: g.Ranks[seat], Points: g.Points[seat]})
	}
	if err := m.sheets[deal].Add(seats); err != nil {
		return err
	}
	m.played[deal]++
	return t.test(m)
}

// test asks the sequential test after each deal, in the order of the deals.
func (t *Tournament) test(m *Match) error {
	if t.SPRT == nil {
		return nil
	}
	for m.counted < t.Deals && m.played[m.counted] == len(m.Bots) {
		if m.decided() {
			return nil
		}
		for _, g := range m.held[m.counted] {
			m.Tally.Add(g)
		}
		delete(m.held, m.counted)
		for _, duel := range m.sheets[m.counted].Deal() {
			if err := m.test.Add(duel); err != nil {
				return err
			}
		}
		m.counted++
		p, err := t.SPRT.Test(&m.test)
		if err != nil {
			return err
		}
		m.Progress = &p
	}
	return nil
}

// deals are the match's finished deals, all rotations of each; those after a
// verdict do not count.
func (m *Match) deals() (deals []rating.Deal) {
	for deal, n := range m.played {
		if n < len(m.Bots) || m.decided() && deal >= m.counted {
			continue
		}
		deals = append(deals, m.sheets[deal].Deal())
	}
	return deals
}
