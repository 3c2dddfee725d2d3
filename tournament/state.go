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

// State is a tournament with everything that has been played so far: its matches and the sums of their games. It does
// no I/O and reads no clock; Play uses it. Only one goroutine at a time may use it.
//
// The matches are in the order of their rounds. A round is added when all matches of the previous round are finished,
// because their results may decide which bots meet. The order in which games are added does not change the results.
type State struct {
	Config
	Variant *rules.Variant

	Voids        []string // a text for each void game since the program started, with the reason
	StarvedVoids int      // number of void games whose reason was that other programs used the cores

	matches []*Match
}

// Match is one match of a tournament. Other packages must not change its fields.
type Match struct {
	Number int   // in the tournament, counted from 0
	Round  int   // counted from 0
	Bots   []int // numbers of the bots in the tournament, in the order of their seats in rotation 0; a single bot has a bye
	Tally  *referee.MatchTally
	// Progress is the state of the sequential test. It is nil if there is no test, or no deal has counted yet.
	Progress *stats.Progress

	rotations    int                   // number of rotations of each deal
	results      []stats.DealResult    // by index of the deal
	fingerprints [][]stats.Fingerprint // by index of the deal, one of each finished game
	games        int                   // number of finished games
	wholeDeals   int                   // number of deals whose games in all rotations are finished
	test         sequentialTest
}

// sequentialTest is the state of the statistical test that can end a match early. It counts the deals in the order of
// their numbers, not in the order in which they finish.
type sequentialTest struct {
	countedDeals int                           // number of deals that the test has counted
	pendingGames map[int][]*referee.GameResult // by index of the deal, finished games of deals that the test has not counted yet
	repeats      stats.Repeats                 // repeated games in the counted deals
	tally        stats.Tally
}

// New returns a tournament in which nothing has been played. It returns an error if no tournament can be played by
// the configuration c.
func New(c Config) (*State, error) {
	v, err := c.variant()
	return &State{Config: c, Variant: v}, err
}

// ErrOtherProgram is the error for a tournament with house bots that another timba began.
var ErrOtherProgram = errors.New("this timba is another one than that with which the match began")

// Enter stores the names and hashes of the programs in s, and returns the bots to pass to Play. programs has one
// program for each bot, in the order of Config.Bots. Enter returns an error if a program cannot play the game, or is
// not the one with which the tournament began.
func (s *State) Enter(programs []program.Program) (bots []match.Contestant, err error) {
	for i, p := range programs {
		if err := p.Check(s.Variant); err != nil {
			return nil, err
		}
		if was := s.Bots[i]; was.SHA256 != "" && was.SHA256 != p.Hash {
			if p.House {
				return nil, fmt.Errorf("resume: bot %d, %q, is part of timba, and %w: resume the match with the program that began it, or start a new tournament", i, was.Bot, ErrOtherProgram)
			}
			return nil, fmt.Errorf("resume: bot %d, %q, is not the program that it was: its hash was %.12s and is now %.12s; start a new tournament with it",
				i, was.Bot, was.SHA256, p.Hash)
		}
		s.Bots[i].Name, s.Bots[i].SHA256 = p.Name, p.Hash
		p.Clock = p.Overrides.Clock(s.Clock)
		bots = append(bots, p.Contestant)
	}
	return bots, nil
}

// Matches returns the matches of all rounds that have begun.
func (s *State) Matches() []*Match { return s.matches }

// Next returns the unfinished matches of the current round. If all matches are finished, it adds the next round to s
// and returns its matches. If the tournament is over, the result is empty.
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

func (s *State) rotations(bots int) int {
	if s.Rotation != nil {
		return 1
	}
	return bots
}

// opening returns the moves with which a deal begins, and their number in the list of openings, counted from 1. The
// number is 0 if the tournament has no openings.
func (s *State) opening(deal int) (number int, o referee.DealOpening) {
	if len(s.Openings) == 0 {
		return 0, o
	}
	number = deal%len(s.Openings) + 1
	return number, s.Openings[number-1]
}

// checkBeginning returns an error unless r, a game of the match m, has the seed and the first moves that the
// tournament requires for its deal.
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

// seedOf returns the seed of a match. If the tournament consists of a single match, it is the seed of the tournament.
func (s *State) seedOf(m *Match) rules.Seed {
	if s.Format == Single {
		return rules.Seed(s.Seed)
	}
	return rules.Seed(s.Seed).Derive(fmt.Sprintf("match/%d", m.Number))
}

// Add adds a finished game to the results of its match. If there is a sequential test, it counts games in the order
// of their deals, so that results do not depend on which worker was faster. ended is true if the test is over, so
// that the match needs no more games.
func (s *State) Add(m *Match, g *referee.GameResult) (ended bool) {
	deal := g.Match.Deal - s.FirstDeal
	if s.SPRT == nil {
		m.Tally.Add(g)
	} else {
		m.test.pendingGames[deal] = append(m.test.pendingGames[deal], g)
	}
	var bots []int // by seat, number in the tournament
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

// runTest adds finished deals of a match to its sequential test, in the order of their numbers. It stops at the first
// unfinished deal, or when the test ends.
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

// RepeatedDeals returns the number of the last deals in a row in which all games repeat earlier games. If the
// sequential test did not end because of such repetitions, it returns 0.
func (m *Match) RepeatedDeals() int {
	if !m.test.repeats.IsExhausted() {
		return 0
	}
	return m.test.repeats.InRow
}

// Verdict returns the verdict of all sequential tests together: H0 if any of them accepts H0, H1 if all of them
// accept H1, and otherwise Continue.
func (s *State) Verdict() stats.Verdict {
	all := stats.AcceptH1
	for _, m := range s.matches {
		switch p := m.Progress; {
		case p == nil || p.Verdict == stats.Continue:
			all = stats.Continue
		case p.Verdict == stats.AcceptH0:
			return stats.AcceptH0
		}
	}
	return all
}

func (m *Match) isTestOver() bool {
	return m.Progress != nil && m.Progress.Verdict != stats.Continue || m.test.repeats.IsExhausted()
}

// IsFinished reports whether a match needs no more games.
func (s *State) IsFinished(m *Match) bool {
	return s.isBye(m) || m.Tally.Games == s.Deals*m.rotations || m.isTestOver()
}

// isBye reports whether m is a bye, in which its only bot does not play in this round.
func (s *State) isBye(m *Match) bool { return len(m.Bots) == 1 && len(s.Bots) > 1 }

func (s *State) allFinished(matches []*Match) bool {
	return !slices.ContainsFunc(matches, func(m *Match) bool { return !s.IsFinished(m) })
}

// Teams returns the teams of bots that are partners in every game. A team is a list of the bots' numbers. It returns
// nil if the partners change, or if the game has no partners.
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

// GameCount returns how many games the match would have with the given number of deals.
func (m *Match) GameCount(deals int) int { return deals * m.rotations }

// MissingGames returns the number of games that a match still needs. It is 0 if the match is finished.
func (s *State) MissingGames(m *Match) int {
	if s.IsFinished(m) {
		return 0
	}
	return s.Deals*m.rotations - m.games
}

// PlayedCounts returns two sums over all matches. deals is the number of deals that are finished in all rotations
// (seatings of the bots), and games is the number of finished games.
func (s *State) PlayedCounts() (deals, games int) {
	for _, m := range s.matches {
		deals, games = deals+m.wholeDeals, games+m.games
	}
	return deals, games
}

// finishedDeals yields each deal of the match that is finished in all rotations (seatings of the bots), with the
// fingerprints of its games. It leaves out deals after the end of a sequential test.
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

// readGame decodes data, the replay of a game that was played earlier. It returns an error unless the replay is
// correct and belongs to the given match, deal and rotation (seating of the bots) of this tournament. Its bots,
// options and rules for an early end by the bots' scores must also be those of the tournament.
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

// Points returns the match points of each bot, from 0 to 1, in the order of m.Bots. They are the bot's mean score in
// the duels of all finished deals. A duel compares two bots in one deal; its score is 1 for a win and 0 for a loss. A
// bot without duels has 0 points. That includes a bot with a bye, whose points State.ByePoints returns.
func (m *Match) Points() []float64 {
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

// roundPoints rounds a sum of points to nine decimals, so that sums of the same values in different order are equal.
func roundPoints(points float64) float64 { return math.Round(points*1e9) / 1e9 }

// ByePoints returns, for each bot, the match points that it gets for a bye (a round in which it does not play). They
// are the mean of the bot's matches so far, or 0.5 before its first match. The index is the bot's number.
func (s *State) ByePoints() []float64 {
	points, matches := s.playedPoints()
	for b := range points {
		points[b] = byePoints(points[b], matches[b])
	}
	return points
}

// byePoints returns the match points of a bye for a bot whose matches have given the sum points. Before the bot's
// first match a bye is worth 0.5, so that the bot next meets bots in the middle of the standings.
func byePoints(points float64, matches int) float64 {
	if matches == 0 {
		return 0.5
	}
	return points / float64(matches)
}

// playedPoints returns the sum of each bot's match points without byes, and the number of matches in that sum. Both
// are indexed by the bot's number. Matches without a finished deal do not count.
func (s *State) playedPoints() (points []float64, matches []int) {
	points, matches = make([]float64, len(s.Bots)), make([]int, len(s.Bots))
	for _, m := range s.matches {
		if m.wholeDeals == 0 {
			continue
		}
		for i, p := range m.Points() {
			b := m.Bots[i]
			points[b] = roundPoints(points[b] + p)
			matches[b]++
		}
	}
	return points, matches
}

// matchPoints returns the sum of each bot's match points, including those for byes, indexed by the bot's number.
func (s *State) matchPoints() []float64 {
	points, matches := s.playedPoints()
	byes := make([]float64, len(points))
	for _, m := range s.matches {
		if s.isBye(m) {
			byes[m.Bots[0]]++
		}
	}
	for b := range points {
		points[b] = roundPoints(points[b] + byes[b]*byePoints(points[b], matches[b]))
	}
	return points
}

// Winner returns the number, in the tournament, of the bot with the most match points. Between equal bots, the most
// points in the games decide, and then the order in which the user named the bots.
func (m *Match) Winner() int {
	best, _ := m.winner()
	return m.Bots[best]
}

// TieBreak says in English what decided between several bots that have the most match points. It returns "" if only
// one bot has the most.
func (m *Match) TieBreak() string {
	_, by := m.winner()
	return by
}

// winner returns the index of the winner in m.Bots, and the text that TieBreak returns.
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

// The texts that TieBreak returns.
const (
	byGamePoints = "more points in the games"
	byOrder      = "named first"
)

// Standing is a row of the standings: the result of one bot, final or so far.
type Standing struct {
	referee.Score
	Bot         int            // number of the bot in the tournament
	MatchPoints float64        // sum over all matches; it decides a Swiss tournament
	LostRound   int            // the round in which the bot lost a knockout, counted from 0; -1 if it has not lost
	Rating      stats.Estimate // Elo with its 95 % interval; the mean of all bots is 0
	Byes        int
}

// Results are the results of a tournament, final or so far.
type Results struct {
	Standings []Standing        // the best first
	Pairs     [][]stats.Summary // by the numbers of two bots, the score of the first against the second in the distinct deals
	Deals     int               // number of deals whose games are all finished
	Distinct  int               // number of these deals that do not only repeat earlier games of the same bots
	Champion  int               // number of the winning bot; -1 if the format has no winner or the tournament is not over
}

// Results computes the results from the games so far. It computes ratings only for more than two bots.
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
		if s.isBye(m) {
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
				ratings[bot] = ratings[team[0]] // the rating of the whole team
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

// champion returns the number of the bot that won the tournament. This is the winner of the last match of a knockout,
// or the first bot in the standings of a Swiss tournament. It returns -1 if the tournament is not finished, and for
// other formats.
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

// sort sorts standings, the best first. A knockout is sorted by the round in which the bots lost, and a Swiss
// tournament by match points. Ties and other formats are sorted by rating. Bots that are still equal stay in the
// order in which the user named them.
func (f Format) sort(s []Standing) {
	slices.SortStableFunc(s, func(a, b Standing) int {
		switch f {
		case Single:
			if len(s) < 3 { // two bots stay in the order in which they were named
				return 0
			}
		case Knockout:
			if a.LostRound != b.LostRound {
				return cmp.Compare(uint(b.LostRound), uint(a.LostRound)) // -1 becomes the largest number
			}
		case Swiss:
			if c := cmp.Compare(b.MatchPoints, a.MatchPoints); c != 0 {
				return c
			}
		}
		return cmp.Compare(b.Rating.Value, a.Rating.Value)
	})
}
