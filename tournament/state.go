package tournament

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/stats"
)

// State is a tournament as far as it has been played: its matches, and what their games add up to. It
// reads no files and no clocks and starts nothing; one goroutine at a time uses it.
//
// The matches are in the order of their rounds. A round is there once all matches of the round before
// it are finished, since its tables may follow from their results. Whatever the order in which the
// games of a match are added, the results are the same.
type State struct {
	Config
	Variant *rules.Variant

	Voids        []string // games of this run that are played again, each with the reason
	StarvedVoids int      // how many of Voids others' use of the cores brought about, not a failure

	matches []*Match
}

// Match is one match of a tournament. Its fields are only read outside of this package.
type Match struct {
	Number int   // from 0, in the order of the tournament
	Round  int   // from 0
	Bots   []int // of the tournament, in the order of their seats; one alone has a bye
	Tally  *referee.MatchTally
	// Progress of the sequential test, which the deals after its end no longer change.
	Progress *stats.Progress

	rotations    int                   // that are played of each deal
	results      []stats.DealResult    // by deal, from the first one played
	fingerprints [][]stats.Fingerprint // by deal, of the games finished
	games        int                   // finished
	wholeDeals   int                   // deals played in all rotations
	test         sequentialTest
}

// sequentialTest takes in the deals of a match in their order, in whatever order they are finished.
type sequentialTest struct {
	countedDeals int                           // taken in, from the first
	pendingGames map[int][]*referee.GameResult // by deal, games of those to come
	repeats      stats.Repeats                 // in the deals taken in
	tally        stats.Tally
}

// New returns a tournament of which nothing has been played.
func New(c Config) (*State, error) {
	v, err := c.variant()
	return &State{Config: c, Variant: v}, err
}

// Enter notes the names and hashes of the programs of the bots, and returns the bots that play. A bot
// that has a hash must be the same program.
func (s *State) Enter(programs []program.Program) (bots []match.Contestant, err error) {
	for i, p := range programs {
		if err := p.Check(s.Variant); err != nil {
			return nil, err
		}
		if was := s.Bots[i]; was.SHA256 != "" && was.SHA256 != p.Hash {
			return nil, fmt.Errorf("resume: bot %d, %q, is not the program that it was: its hash was %.12s and is now %.12s; start a new tournament with it",
				i, was.Bot, was.SHA256, p.Hash)
		}
		s.Bots[i].Name, s.Bots[i].SHA256 = p.Name, p.Hash
		p.Clock = p.Overrides.Clock(s.Clock)
		bots = append(bots, p.Contestant)
	}
	return bots, nil
}

// Matches returns all matches that are known so far.
func (s *State) Matches() []*Match { return s.matches }

// Next returns the matches to play now: those of the last round that need games, else those of the round
// after it. There are none when the tournament is over.
func (s *State) Next() []*Match {
	if s.allFinished(s.matches) {
		round := 0
		if n := len(s.matches); n > 0 {
			round = s.matches[n-1].Round + 1
		}
		for _, bots := range s.tables(round) {
			s.matches = append(s.matches, s.newMatch(round, bots))
		}
	}
	return slices.DeleteFunc(slices.Clone(s.matches), s.IsFinished)
}

func (s *State) newMatch(round int, bots []int) *Match {
	var entrants []referee.ReplaySeat
	for _, b := range bots {
		entrants = append(entrants, referee.ReplaySeat{Name: s.Bots[b].Name, SHA256: s.Bots[b].SHA256})
	}
	return &Match{
		Number: len(s.matches), Round: round, Bots: bots, Tally: referee.NewTally(s.Variant, entrants), rotations: s.rotations(len(bots)),
		results: make([]stats.DealResult, s.Deals), fingerprints: make([][]stats.Fingerprint, s.Deals), test: sequentialTest{pendingGames: map[int][]*referee.GameResult{}},
	}
}

// rotations returns how many rotations of a match with so many bots are played.
func (s *State) rotations(bots int) int {
	if s.Rotation != nil {
		return 1
	}
	return bots
}

// opening returns the opening of a deal, by the number that replays have, and whether there is one.
func (s *State) opening(deal int) (number int, o referee.DealOpening) {
	if len(s.Openings) == 0 {
		return 0, o
	}
	number = deal%len(s.Openings) + 1
	return number, s.Openings[number-1]
}

// checkBeginning returns an error unless a game of a deal begins as it has to.
func (s *State) checkBeginning(m *Match, r *referee.Replay) error {
	number, o := s.opening(r.Match.Deal)
	seed := referee.Hex(referee.DealSeed(s.seedOf(m), r.Match.Deal))
	if o.Seed != nil {
		seed = *o.Seed
	}
	var given []string
	for _, move := range r.Moves {
		if move.Given {
			given = append(given, move.Move)
		}
	}
	if r.Match.Opening != number || r.Seed != seed || len(r.Moves) > 0 && !slices.Equal(given, o.Moves) {
		return fmt.Errorf("it does not begin with opening %d of this tournament", number)
	}
	return nil
}

// seedOf returns a match's seed: the tournament's own where there is only one match.
func (s *State) seedOf(m *Match) rules.Seed {
	if s.Format == Single {
		return rules.Seed(s.Seed)
	}
	return rules.Seed(s.Seed).Derive(fmt.Sprintf("match/%d", m.Number))
}

// Add takes a game into the results of its match, whose bots are those of the match by number. With a
// sequential test a game counts when the test has come to its deal, so that the results do not depend
// on how far other workers were when it ended. Add reports whether the test has ended, and the match
// needs no more games.
func (s *State) Add(m *Match, g *referee.GameResult) (ended bool) {
	deal := g.Match.Deal - s.FirstDeal
	if s.SPRT == nil {
		m.Tally.Add(g)
	} else {
		m.test.pendingGames[deal] = append(m.test.pendingGames[deal], g)
	}
	var bots []int // of the tournament
	for _, bot := range g.Bots {
		bots = append(bots, m.Bots[bot])
	}
	m.results[deal].Add(stats.Seats(bots, s.Variant.Side, g.Ranks, g.Points))
	m.games++
	if m.fingerprints[deal] = append(m.fingerprints[deal], g.Fingerprint(s.Variant, bots)); len(m.fingerprints[deal]) == m.rotations {
		m.wholeDeals++
	}
	if s.SPRT != nil {
		s.runTest(m)
	}
	return m.isTestOver()
}

// runTest asks the sequential test after each deal, in the order of the deals.
func (s *State) runTest(m *Match) {
	t := &m.test
	for t.countedDeals < s.Deals && len(m.fingerprints[t.countedDeals]) == m.rotations && !m.isTestOver() {
		deal := t.countedDeals
		t.countedDeals++
		for _, g := range t.pendingGames[deal] {
			m.Tally.Add(g)
		}
		delete(t.pendingGames, deal)
		if !t.repeats.Add(m.fingerprints[deal]) {
			continue
		}
		for _, duel := range m.results[deal].Deal() {
			t.tally.Add(duel)
		}
		p := s.SPRT.Test(&t.tally)
		m.Progress = &p
	}
}

// RepeatedDeals returns how many deals in a row were repeated when the sequential test ended without a verdict,
// for want of new ones; 0 where it did not.
func (m *Match) RepeatedDeals() int {
	if !m.test.repeats.IsExhausted() {
		return 0
	}
	return m.test.repeats.InRow
}

// isTestOver reports whether a match's sequential test has come to its end.
func (m *Match) isTestOver() bool {
	return m.Progress != nil && m.Progress.Verdict != stats.Continue || m.test.repeats.IsExhausted()
}

// IsFinished reports whether a match needs no more games.
func (s *State) IsFinished(m *Match) bool {
	if len(m.Bots) == 1 && len(s.Bots) > 1 { // a bye
		return true
	}
	return m.Tally.Games == s.Deals*m.rotations || m.isTestOver()
}

func (s *State) allFinished(matches []*Match) bool {
	return !slices.ContainsFunc(matches, func(m *Match) bool { return !s.IsFinished(m) })
}

// Teams returns the bots, by number, that play on the same side in every game; none where partners change, or
// there are none.
func (s *State) Teams() (teams [][]int) {
	sides := s.Variant.Sides
	if s.Format != Single || len(s.Bots) <= sides || len(s.Bots)%sides != 0 {
		return nil
	}
	for side := range sides {
		var team []int
		for bot := side; bot < len(s.Bots); bot += sides {
			team = append(team, bot)
		}
		teams = append(teams, team)
	}
	return teams
}

// GameCount returns how many games a match with so many deals has.
func (m *Match) GameCount(deals int) int { return deals * m.rotations }

// MissingGames returns how many of a match's games have not been played; none where it needs no more.
func (s *State) MissingGames(m *Match) int {
	if s.IsFinished(m) {
		return 0
	}
	return s.Deals*m.rotations - m.games
}

// PlayedCounts counts the deals whose games have all been played, and the games, in all matches.
func (s *State) PlayedCounts() (deals, games int) {
	for _, m := range s.matches {
		deals, games = deals+m.wholeDeals, games+m.games
	}
	return deals, games
}

// finishedDeals yields the match's finished deals, all rotations of each, with the
// fingerprints of their games; those after the end of a sequential test do not
// count.
func (m *Match) finishedDeals() iter.Seq2[stats.Deal, []stats.Fingerprint] {
	return func(yield func(stats.Deal, []stats.Fingerprint) bool) {
		for deal, prints := range m.fingerprints {
			if len(prints) < m.rotations || m.isTestOver() && deal >= m.test.countedDeals {
				continue
			}
			if !yield(m.results[deal].Deal(), prints) {
				return
			}
		}
	}
}

// readGame reads a game that was played earlier, which must be the one that the
// match has at that deal and rotation.
func (s *State) readGame(m *Match, deal, rotation int, data []byte) (*referee.GameResult, error) {
	r, err := referee.DecodeReplay(data)
	if err != nil {
		return nil, err
	}
	switch seed := r.Match.Seed; {
	case seed == nil || *seed != referee.Hex(s.seedOf(m)):
		return nil, errors.New("it is of another match")
	case r.Match.Deal != deal || r.Match.Rotation != rotation:
		return nil, fmt.Errorf("it is of deal %d, rotation %d", r.Match.Deal, r.Match.Rotation)
	}
	if differences := r.Verify(s.Variant.Game); len(differences) > 0 {
		return nil, differences[0]
	}
	if err := s.checkBeginning(m, r); err != nil {
		return nil, err
	}
	if v, err := r.Resolve(s.Variant.Game); err != nil || !slices.Equal(v.Settings, s.Variant.Settings) {
		return nil, fmt.Errorf("it was played with other options: %v", r.Options)
	}
	var by referee.Adjudication
	if r.Adjudication != nil {
		by = *r.Adjudication
	}
	if by.String() != s.Adjudication.String() {
		return nil, fmt.Errorf("it was played with the adjudication %q, not %q", by, s.Adjudication)
	}
	g := &referee.GameResult{Replay: *r}
	for seat, sat := range r.Seats {
		bot := rules.BotAt(seat, rotation, len(m.Bots))
		if b := s.Bots[m.Bots[bot]]; sat.Name != b.Name || sat.SHA256 != b.SHA256 {
			return nil, fmt.Errorf("seat %d was played by %q, not by the %q of this tournament", seat, sat.Name, b.Name)
		}
		g.Bots = append(g.Bots, bot)
	}
	return g, nil
}

// Points returns the match points of the bots, for standings: the share of the
// duels that each won, over all deals, from 0 to 1; a bye is a whole point.
func (m *Match) Points() []float64 {
	if len(m.Bots) == 1 {
		return []float64{1}
	}
	points, duels := make([]float64, len(m.Bots)), make([]float64, len(m.Bots))
	for deal := range m.finishedDeals() {
		for _, d := range deal {
			a, b := slices.Index(m.Bots, d.A), slices.Index(m.Bots, d.B)
			points[a] += d.Score
			points[b] += 1 - d.Score
			duels[a]++
			duels[b]++
		}
	}
	for i := range points {
		if duels[i] > 0 {
			points[i] = roundPoints(points[i] / duels[i])
		}
	}
	return points
}

// roundPoints returns a sum of points without the last bits, which depend on what was added first: bots with
// equal points are equal.
func roundPoints(points float64) float64 { return math.Round(points*1e9) / 1e9 }

// matchPoints returns the match points of the bots of all matches so far, by number.
func (s *State) matchPoints() []float64 {
	points := make([]float64, len(s.Bots))
	for _, m := range s.matches {
		for i, p := range m.Points() {
			points[m.Bots[i]] = roundPoints(points[m.Bots[i]] + p)
		}
	}
	return points
}

// Winner returns who goes on, a number of the tournament's: the bot with the most points, then with the most points
// of the game, then the one named first.
func (m *Match) Winner() int {
	best, _ := m.winner()
	return m.Bots[best]
}

// TieBreak says what decided between bots with the most match points each, "" where only one had them.
func (m *Match) TieBreak() string {
	_, by := m.winner()
	return by
}

// winner returns the place of the winner in the match, and what broke the tie.
func (m *Match) winner() (best int, tieBreak string) {
	points := m.Points()
	for i := 1; i < len(m.Bots); i++ {
		score := cmp.Compare(points[i], points[best])
		game := cmp.Compare(roundPoints(m.Tally.Scores[i].Points), roundPoints(m.Tally.Scores[best].Points))
		switch {
		case score > 0:
			tieBreak = ""
		case score == 0 && game == 0:
			tieBreak = byOrder
		case score == 0 && (game > 0 || tieBreak == ""):
			tieBreak = byGamePoints
		}
		if score > 0 || score == 0 && game > 0 {
			best = i
		}
	}
	return best, tieBreak
}

// What breaks a tie in a knockout.
const (
	byGamePoints = "more points in the games"
	byOrder      = "named first"
)

// Standing is what a bot has made of a tournament.
type Standing struct {
	referee.Score
	Bot         int            // by number
	MatchPoints float64        // match points: what Swiss tournaments go by
	LostRound   int            // the round of a knockout that the bot did not survive, from 0; -1 if none
	Rating      stats.Estimate // Elo with mean 0, ± 95 %
	Byes        int
}

// Results are a tournament's figures.
type Results struct {
	Standings []Standing        // the best first
	Pairs     [][]stats.Summary // by bot and bot, from the distinct deals
	Deals     int               // finished
	Distinct  int               // of them, those that repeat no games of the same bots
	Champion  int               // by number; -1 where there is none, or none yet
}

// Results adds up what has been played. Ratings are there when there are more
// than two bots.
func (s *State) Results() Results {
	r := Results{Standings: make([]Standing, len(s.Bots))}
	points := s.matchPoints()
	for i, b := range s.Bots {
		r.Standings[i] = Standing{Bot: i, LostRound: -1, MatchPoints: points[i], Score: referee.Score{Name: b.Name, Hash: b.SHA256}}
	}
	var deals []stats.Deal // distinct
	var repeats stats.Repeats
	for _, m := range s.matches {
		for deal, games := range m.finishedDeals() {
			r.Deals++
			if repeats.Add(games) {
				deals = append(deals, deal)
			}
		}
		if len(m.Bots) == 1 && len(s.Bots) > 1 {
			r.Standings[m.Bots[0]].Byes++
		}
		for i, bot := range m.Bots {
			standing := &r.Standings[bot]
			if s.Format == Knockout && s.IsFinished(m) && m.Winner() != bot {
				standing.LostRound = m.Round
			}
			standing.add(m.Tally.Scores[i])
		}
	}
	r.Distinct = repeats.Distinct
	r.Pairs = stats.Table(len(s.Bots), deals)
	if len(s.Bots) > 2 && len(deals) > 0 {
		ratings := stats.Bootstrap(len(s.Bots), deals)
		for _, team := range s.Teams() {
			for _, bot := range team {
				ratings[bot] = ratings[team[0]] // which is that of the team
			}
		}
		for i, e := range ratings {
			r.Standings[i].Rating = e
		}
	}
	s.Format.sort(r.Standings)
	r.Champion = s.champion(r.Standings)
	return r
}

// champion returns who has won a tournament that has a winner of all and is over:
// the winner of a knockout's last table, the first in the standings of a Swiss
// tournament. It is -1 otherwise.
func (s *State) champion(standings []Standing) int {
	if len(s.matches) == 0 || !s.allFinished(s.matches) {
		return -1
	}
	last := s.matches[len(s.matches)-1]
	switch {
	case last.Round+1 < s.LastRound():
	case s.Format == Swiss:
		return standings[0].Bot
	case s.Format == Knockout:
		return last.Winner()
	}
	return -1
}

func (s *Standing) add(o referee.Score) {
	s.Record.Add(o.Record)
	s.Points += o.Points
	s.Faults += o.Faults
	s.Credit += o.Credit
}

// sort puts the best first: in a knockout by the round that they were out in, in a
// Swiss tournament by match points, elsewhere, and among equals, by rating; then bots
// named first come first.
func (f Format) sort(s []Standing) {
	slices.SortStableFunc(s, func(a, b Standing) int {
		switch f {
		case Single:
			if len(s) < 3 { // two bots stay as they were named
				return 0
			}
		case Knockout:
			if a.LostRound != b.LostRound {
				return cmp.Compare(uint(b.LostRound), uint(a.LostRound)) // -1 is above all
			}
		case Swiss:
			if c := cmp.Compare(b.MatchPoints, a.MatchPoints); c != 0 {
				return c
			}
		}
		return cmp.Compare(b.Rating.Value, a.Rating.Value)
	})
}
