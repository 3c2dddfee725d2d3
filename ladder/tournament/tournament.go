// Package tournament plays matches between any number of bots: it pairs them by
// a format, plays the matches side by side, keeps every finished game in a
// directory from which an interrupted tournament resumes, and adds up the results.
package tournament

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

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
	Workers []int        // as in referee.Match; matches share them
	SPRT    *rating.SPRT // ends the only match of two bots early
	Dir     *Dir         // keeps the games; nil for none

	Adjudication referee.Adjudication // ends games by the bots' own scores

	// Done is called with each finished game, Void with each game played again,
	// one call at a time; Trace with every line.
	Done  func(*Match, *referee.Result)
	Void  func(m *Match, deal, rotation int, err error)
	Busy  func(used time.Duration) // see referee.Match; at most once a minute for all matches
	Trace func(m *Match, t referee.Traffic)

	calls   sync.Mutex // one call of Done, Void or Busy at a time
	told    time.Time  // when Busy was called
	mu      sync.Mutex // of what follows and of the matches' results
	matches []*Match
	began   bool       // a game may have been played in this run
	files   [][]string // of the programs of the bots
}

// Match is one match of a tournament.
type Match struct {
	Number int   // from 0, in the order of the tournament
	Round  int   // from 0
	Bots   []int // of the tournament, in the order of their seats; one alone has a bye
	Tally  *referee.Tally
	// Progress of the sequential test, which the deals after its end no longer change.
	Progress *rating.Progress
	// Exhausted is how many deals in a row were repeated when the sequential test
	// ended without a verdict, for want of new ones; 0 where it did not.
	Exhausted int

	sheets  []rating.Sheet            // by deal
	prints  [][]rating.Fingerprint    // by deal, of the games finished
	repeats rating.Repeats            // in the deals counted
	whole   int                       // deals played in all rotations
	counted int                       // deals, from the first, that are in the sequential test
	held    map[int][]*referee.Result // by deal, games that the test has not come to; only where there is one
	test    rating.Tally
	earlier []referee.Played // before this run
}

// Check returns an error unless the tournament can be played.
func (t *Tournament) Check() error {
	if len(t.Bots) == 0 {
		return errors.New("tournament: there are no bots: name at least one")
	}
	if t.Deals < 1 {
		return fmt.Errorf("tournament: deals cannot be %d: try 1 or more", t.Deals)
	}
	if t.SPRT != nil {
		if err := t.SPRT.Check(); err != nil {
			return err
		}
		if len(t.Bots) != 2 || rules.Sides(t.Variant) != 2 {
			return fmt.Errorf("sprt: it compares two bots at a game of two sides, not %d bots at one of %d", len(t.Bots), rules.Sides(t.Variant))
		}
	}
	if err := t.Adjudication.Check(); err != nil {
		return err
	}
	return t.Format.check(t)
}

// Matches returns all matches that are known so far.
func (t *Tournament) Matches() []*Match {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.matches)
}

// Resumed counts the games that were played before this run.
func (t *Tournament) Resumed() (games int) {
	for _, m := range t.Matches() {
		games += len(m.earlier)
	}
	return games
}

// DealsPlayed counts the deals whose games have all been played, in all matches.
func (t *Tournament) DealsPlayed() (deals int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range t.matches {
		deals += m.whole
	}
	return deals
}

// Play plays the tournament, or the games that its directory does not have yet. An error after
// it has begun to play is an *Early.
func (t *Tournament) Play(ctx context.Context) error {
	err := t.play(ctx)
	if err != nil && t.began {
		return &Early{err}
	}
	return err
}

func (t *Tournament) play(ctx context.Context) error {
	if err := t.Check(); err != nil {
		return err
	}
	t.files = programFiles(t.Bots)
	t.told = time.Now() // short matches tell of a busy machine, too
	if t.Dir != nil && !t.Dir.FaultsOnly {
		unlock, err := t.Dir.lock()
		if err != nil {
			return err
		}
		defer unlock()
		t.Dir.sweep()
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
	matches = slices.DeleteFunc(matches, t.Finished)
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
	m.prints = make([][]rating.Fingerprint, t.Deals)
	m.held = map[int][]*referee.Result{}
	return m
}

// takeUp adds the games that the directory has of a match.
func (t *Tournament) takeUp(m *Match) error {
	m.earlier = nil
	if t.Dir == nil {
		return nil
	}
	games, unreadable := t.Dir.games(t, m)
	for _, g := range games {
		m.earlier = append(m.earlier, g.Played())
		t.add(m, g)
	}
	if unreadable == nil && m.ended() {
		return t.Dir.drop(m, t.Variant.Players())
	}
	return unreadable
}

// ended reports whether a match's sequential test has come to its end.
func (m *Match) ended() bool {
	return m.Progress != nil && m.Progress.Verdict != rating.Continue || m.Exhausted > 0
}

// Finished reports whether a match needs no more games.
func (t *Tournament) Finished(m *Match) bool {
	if len(m.Bots) == 1 && len(t.Bots) > 1 { // a bye
		return true
	}
	return m.Tally.Games == t.Deals*len(m.Bots) || m.ended()
}

// playAll plays matches side by side: each has a worker, and the last ones share
// those that are left over.
func (t *Tournament) playAll(ctx context.Context, matches []*Match) error {
	t.began = t.began || len(matches) > 0
	workers := t.Workers
	if len(workers) == 0 {
		workers = []int{referee.AnyCore}
	}
	free := make(chan int, len(workers))
	for _, core := range workers {
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
		for share := len(workers) / (len(matches) - i); len(own) < min(share, len(m.Bots)); {
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
	if first == nil && !t.allFinished(matches) {
		first = ctx.Err()
	}
	return first
}

// errEnded ends a match whose sequential test has come to its end.
var errEnded = errors.New("the test has ended")

func (t *Tournament) playMatch(ctx context.Context, m *Match, workers []int) error {
	match := &referee.Match{
		Variant: t.Variant,
		Deals:   t.Deals,
		Seed:    t.seedOf(m),
		Clock:   t.Clock,
		Workers: workers,
		Earlier: m.earlier,

		Adjudication: t.Adjudication,
		Done: func(g *referee.Result) error {
			return t.done(m, g)
		},
		Busy: func(used time.Duration) {
			t.calls.Lock()
			defer t.calls.Unlock()
			if now := time.Now(); t.Busy != nil && now.Sub(t.told) >= time.Minute {
				t.told = now
				t.Busy(used)
			}
		},
		Void: func(deal, rotation int, err error) {
			t.calls.Lock()
			defer t.calls.Unlock()
			if t.Void != nil {
				t.Void(m, deal, rotation, err)
			}
		},
	}
	for _, b := range m.Bots {
		match.Bots = append(match.Bots, t.Bots[b])
	}
	if t.Trace != nil {
		match.Trace = func(traffic referee.Traffic) { t.Trace(m, traffic) }
	}
	if err := match.Play(ctx); !errors.Is(err, errEnded) {
		return err
	}
	return nil
}

// seedOf returns a match's seed: the tournament's own where there is only one match.
func (t *Tournament) seedOf(m *Match) rules.Seed {
	if t.Format == Single {
		return t.Seed
	}
	return t.Seed.Derive(fmt.Sprintf("match/%d", m.Number))
}

func (t *Tournament) done(m *Match, g *referee.Result) error {
	t.calls.Lock()
	defer t.calls.Unlock()
	if m.ended() { // on another worker, while this game was played
		return errEnded
	}
	if err := t.vanished(m, g); err != nil {
		return err
	}
	g.Reveal(t.seedOf(m)) // whoever keeps the replays here knows it already
	if t.Dir != nil {
		if err := t.Dir.keep(m, g); err != nil {
			return err
		}
	}
	t.add(m, g)
	if t.Done != nil {
		t.Done(m, g)
	}
	if !m.ended() {
		return nil
	}
	if t.Dir != nil {
		if err := t.Dir.drop(m, t.Variant.Players()); err != nil {
			return err
		}
	}
	return errEnded
}

// add takes a game into the match's results. With a sequential test a game counts
// when the test has come to its deal, so that the results do not depend on how
// far other workers were when it ended.
func (t *Tournament) add(m *Match, g *referee.Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	deal := g.Match.Deal
	if t.SPRT == nil {
		m.Tally.Add(g)
	} else {
		m.held[deal] = append(m.held[deal], g)
	}
	var seats []rating.Seat
	var bots []int
	for seat, bot := range g.Bots {
		seats = append(seats, rating.Seat{Bot: m.Bots[bot], Side: t.Variant.Side(seat), Rank: g.Ranks[seat], Points: g.Points[seat]})
		bots = append(bots, m.Bots[bot])
	}
	m.sheets[deal].Add(seats)
	if m.prints[deal] = append(m.prints[deal], g.Fingerprint(t.Variant, bots)); len(m.prints[deal]) == len(m.Bots) {
		m.whole++
	}
	t.test(m)
}

// test asks the sequential test after each deal, in the order of the deals.
func (t *Tournament) test(m *Match) {
	if t.SPRT == nil {
		return
	}
	for m.counted < t.Deals && len(m.prints[m.counted]) == len(m.Bots) {
		if m.ended() {
			return
		}
		for _, g := range m.held[m.counted] {
			m.Tally.Add(g)
		}
		delete(m.held, m.counted)
		deal := m.counted
		m.counted++
		if !m.repeats.Add(m.prints[deal]) {
			if m.repeats.Exhausted() {
				m.Exhausted = m.repeats.Row
			}
			continue
		}
		for _, duel := range m.sheets[deal].Deal() {
			m.test.Add(duel)
		}
		p := t.SPRT.Test(&m.test)
		m.Progress = &p
	}
}

// finishedDeals yields the match's finished deals, all rotations of each, with the
// fingerprints of their games; those after the end of a sequential test do not
// count.
func (m *Match) finishedDeals() iter.Seq2[rating.Deal, []rating.Fingerprint] {
	return func(yield func(rating.Deal, []rating.Fingerprint) bool) {
		for deal, prints := range m.prints {
			if len(prints) < len(m.Bots) || m.ended() && deal >= m.counted {
				continue
			}
			if !yield(m.sheets[deal].Deal(), prints) {
				return
			}
		}
	}
}
