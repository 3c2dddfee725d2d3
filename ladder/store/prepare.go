package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// preparedMatch is a finished match with the data for computing its result again. Its findings are the differences
// that were found while the data were read.
type preparedMatch struct {
	findings
	finishedMatch
	data  []byte                // stored games as JSON
	games []ladder.FinishedGame // stored games; nil if they are damaged
	// results has the games read from the replays. It is nil if a replay is damaged or missing, or if the
	// rebuild does not use replays.
	results []*referee.GameResult
}

func (m *preparedMatch) place(table string, deal, rotation int) string {
	return fmt.Sprintf("%s match_id=%d deal=%d rotation=%d", table, m.id, deal, rotation)
}

// reportFailure reports to the rebuild that the result of the match cannot be computed again. The reason is err.
func (m *preparedMatch) reportFailure(to *rebuild, err error) {
	to.findings.report(fmt.Sprintf("matches id=%d", m.id), "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("match %d: ", m.id)))
}

// prepareMatch reads the match of row. If the rebuild uses replays, it also verifies each replay by playing it again.
func (r *rebuild) prepareMatch(ctx context.Context, row finishedMatch) (*preparedMatch, error) {
	m := &preparedMatch{finishedMatch: row}
	result, err := r.source.read.ResultOf(ctx, m.id)
	if err = ifNoRows(err, nil); err != nil {
		return nil, err
	}
	if result.ID != 0 {
		if m.games, m.data, err = r.source.codec.gamesAndText(result); err != nil {
			m.findings.report(fmt.Sprintf("results match_id=%d", m.id), "%s", err)
		}
	}
	if !r.replays {
		return m, nil
	}
	replays, err := r.parts(ctx, m, replaysKind)
	if err != nil {
		return nil, err
	}
	logs, err := r.parts(ctx, m, logsKind)
	if err != nil {
		return nil, err
	}
	players, err := r.source.read.PlayersOfMatch(ctx, m.id)
	if err != nil || replays == nil || len(players) == 0 {
		return m, err
	}
	m.readResults(replays, players)
	m.checkLogs(logs)
	return m, nil
}

// parts returns the replays (if kind is replaysKind) or the logs (logsKind) of a match. If they are damaged, it adds
// a difference to m.findings and returns nil without an error. It returns an error only if the database cannot be
// read.
func (r *rebuild) parts(ctx context.Context, m *preparedMatch, kind string) ([]part, error) {
	parts, err := r.source.parts(ctx, r.source.read, m.id, kind)
	if d := new(damage); errors.As(err, d) {
		m.findings.report(fmt.Sprintf("documents match_id=%d kind=%s", m.id, kind), "%s", *d)
		return nil, nil
	}
	return append([]part{}, parts...), err
}

// readResults decodes the replays of the match and sets m.results to their games. players has the versions that
// play, by their index in the match. If a replay is missing, damaged or duplicate, readResults adds this to
// m.findings and leaves m.results nil.
func (m *preparedMatch) readResults(replays []part, players []queries.PlayersOfMatchRow) {
	type place struct{ deal, rotation int }
	took, seen, whole := map[place]time.Duration{}, map[place]bool{}, true
	for _, g := range m.games {
		took[place{g.Deal, g.Rotation}] = g.Took
	}
	for _, p := range replays {
		at, where := place{p.Deal, p.Rotation}, m.place("documents", p.Deal, p.Rotation)
		replay, err := referee.DecodeReplay(p.Data)
		switch {
		case seen[at]:
			err = errors.New("there are two replays of the game")
		case err != nil:
		case p.Seat != 0:
			err = fmt.Errorf("the replay is of seat %d", p.Seat)
		case replay.Match.Deal != p.Deal || replay.Match.Rotation != p.Rotation:
			err = fmt.Errorf("the replay is of deal %d, rotation %d", replay.Match.Deal, replay.Match.Rotation)
		}
		seen[at] = true
		if err != nil {
			m.findings.report(where, "%s", err)
			whole = false
			continue
		}
		g := &referee.GameResult{Replay: *replay, Took: took[at]}
		for seat := range replay.Seats {
			g.Bots = append(g.Bots, rules.BotAt(seat, p.Rotation, len(players)))
		}
		m.results = append(m.results, g)
		m.checkReplay(where, g, players)
	}
	for _, g := range m.games {
		if len(replays) < len(m.games) && !seen[place{g.Deal, g.Rotation}] {
			m.findings.report(m.place("documents", g.Deal, g.Rotation), "the replay is missing")
			whole = false
		}
	}
	if !whole {
		m.results = nil
	}
	slices.SortStableFunc(m.results, func(a, b *referee.GameResult) int { return a.Match.Compare(b.Match) })
}

// checkReplay verifies the replay of g by playing it again, and compares its seats with the versions of the match.
// players has the versions that play, by their index in the match. where names the replay in the reported
// differences.
func (m *preparedMatch) checkReplay(where string, g *referee.GameResult, players []queries.PlayersOfMatchRow) {
	m.rerun(where, &g.Replay)
	for seat, s := range g.Seats {
		p := players[g.Bots[seat]]
		m.compareSeat(fmt.Sprintf("%s seat=%d", where, seat), s, seatedBot{p.Name, p.Number, p.Label, p.Hash, p.PersonID.Valid, p.Remote != 0})
	}
}

// checkLogs reports duplicate logs, and logs of games or seats that do not exist.
func (m *preparedMatch) checkLogs(logs []part) {
	seats := map[[2]int]int{}
	for _, g := range m.games {
		seats[[2]int{g.Deal, g.Rotation}] = len(g.Seats)
	}
	seen := map[[3]int]bool{}
	for _, p := range logs {
		key, where := [3]int{p.Deal, p.Rotation, p.Seat}, m.place("documents", p.Deal, p.Rotation)
		if p.Seat >= seats[[2]int{p.Deal, p.Rotation}] {
			m.findings.report(where, "the logs have one of seat %d, which there is not", p.Seat)
		}
		if seen[key] {
			m.findings.report(where, "the logs have seat %d twice", p.Seat)
		}
		seen[key] = true
	}
}

// compareGames compares the stored games of a match with those in the argument again, which were computed from the
// replays. It reports the differences.
func (r *rebuild) compareGames(m *preparedMatch, again []ladder.FinishedGame) {
	if m.games == nil || bytes.Equal(m.data, []byte(jsonText(again))) {
		return
	}
	before := r.total()
	for i := range max(len(m.games), len(again)) {
		switch {
		case i >= len(again):
			r.findings.report(m.place("results", m.games[i].Deal, m.games[i].Rotation), "the game is stored, and there is no such")
			continue
		case i >= len(m.games):
			r.findings.report(m.place("results", again[i].Deal, again[i].Rotation), "the game is missing")
			continue
		}
		got, want := m.games[i], again[i]
		where, seats, due := m.place("results", want.Deal, want.Rotation), got.Seats, want.Seats
		got.ID, got.MatchID, got.Seats, want.Seats = 0, 0, nil, nil
		r.compare(where, got, want)
		if len(seats) != len(due) {
			r.findings.report(where, "there are %d seats where the replay has %d", len(seats), len(due))
		}
		for i := range min(len(seats), len(due)) {
			r.compare(fmt.Sprintf("%s seat=%d", where, i), seats[i], due[i])
		}
	}
	if r.total() == before {
		r.findings.report(fmt.Sprintf("results match_id=%d", m.id), "data has other text than that of its games")
	}
}

// rerun plays the moves of replay r again by the rules of its game, and reports differences. where names the replay
// in them.
func (f *findings) rerun(where string, r *referee.Replay) {
	g, err := games.Find(r.Game)
	if err != nil {
		f.report(where, "%s", err)
		return
	}
	for _, err := range r.Verify(g) {
		f.report(where, "%s", strings.TrimPrefix(err.Error(), "replay: "))
	}
}

// seatedBot describes the version that plays at a seat according to the database.
type seatedBot struct {
	name    string
	number  int64
	label   string
	hash    string
	private bool // it belongs to a person
	remote  bool
}

// compareSeat compares the seat s of a replay with b, the version that plays there according to the database. where
// names the replay in the reported differences. Hashes are compared only for bots of people, because house bots are
// part of this program and change with it.
func (f *findings) compareSeat(where string, s referee.ReplaySeat, b seatedBot) {
	full, _, _ := strings.Cut(s.Name, "#")
	name, number, numbered := strings.Cut(full, "/")
	if name != b.name {
		f.report(where, "%q sat there by the replay, and %q by the version", s.Name, b.name)
	} else if numbered && number != fmt.Sprint(b.number) {
		f.report(where, "version %s of %q sat there by the replay, and version %d by the database", number, name, b.number)
	}
	label := b.label
	if label == "" && !b.remote {
		label = fmt.Sprint(b.number)
	}
	unknown := !b.private && s.Version == "" // a house bot reports its version itself, unless it exits first
	if label != "" && s.Version != label && !unknown {
		f.report(where, "version %q of %q ran by the replay, and %q by the version", s.Version, name, label)
	}
	if b.private && s.SHA256 != b.hash {
		f.report(where, "the program %s ran by the replay, and %s by the version", s.SHA256, b.hash)
	}
}

// preparedPlay is a finished game of people with the data for computing its result again. Its findings are the
// differences that were found while the data were read.
type preparedPlay struct {
	findings
	id      string
	endedAt int64
	variant *rules.Variant // nil if the result cannot be computed again
	ranks   []int
}

func (p *preparedPlay) place() string { return "plays id=" + p.id }

// preparePlay reads the game of people with the given ID and verifies its replay by playing it again.
func (r *rebuild) preparePlay(ctx context.Context, id string) (*preparedPlay, error) {
	p := &preparedPlay{id: id}
	var row queries.PlayRow
	var packed []byte
	var seats []queries.PlayersOfPlayRow
	err := r.source.view(ctx, func(tx *Tx) (err error) {
		if row, err = tx.Play(ctx, id); err != nil {
			return err
		}
		p.endedAt = row.Ended.Int64
		if packed, err = tx.PlayReplay(ctx, id); err != nil {
			return err
		}
		seats, err = tx.PlayersOfPlay(ctx, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	data, err := r.source.codec.unpack(packed)
	var replay *referee.Replay
	if err == nil {
		replay, err = referee.DecodeReplay(data)
	}
	var g *rules.Game
	if err == nil {
		g, err = games.Find(replay.Game)
	}
	var v *rules.Variant
	if err == nil {
		v, err = replay.Resolve(g)
	}
	if err == nil {
		err = checkPlayers(v, replay, int(row.Opener), seats)
	}
	if err != nil {
		p.report(p.place(), "%s", err)
		return p, nil
	}
	p.variant, p.ranks = v, replay.Ranks
	if r.replays {
		p.check(row, replay, seats)
	}
	return p, nil
}

// checkPlayers returns an error unless every seat of the game has a bot or a person, and the seat opener has a
// person. opener is the seat of the person who opened the game.
func checkPlayers(v *rules.Variant, r *referee.Replay, opener int, seats []queries.PlayersOfPlayRow) error {
	if len(r.Ranks) != v.Players {
		return fmt.Errorf("the replay has %d ranks for %d seats", len(r.Ranks), v.Players)
	}
	if len(seats) != v.Players {
		return fmt.Errorf("%d people and bots are not at %d seats", len(seats), v.Players)
	}
	for seat, s := range seats { // sorted by seat, without duplicates
		if int(s.PlaySeat.Seat) != seat {
			return fmt.Errorf("nobody is at seat %d", seat)
		}
	}
	if opener < 0 || opener >= v.Players || seats[opener].PlaySeat.BotID.Valid {
		return fmt.Errorf("no person is at seat %d, from which the table was opened", opener)
	}
	return nil
}

// check compares a game of people with its replay r, and verifies the replay by playing it again. row and seats
// describe the game according to the database.
func (p *preparedPlay) check(row queries.PlayRow, r *referee.Replay, seats []queries.PlayersOfPlayRow) {
	type replayHead struct {
		Game, Commitment string
		Bank             int64
	}
	p.compare(p.place(), replayHead{row.Game, row.Commitment, row.Bank}, replayHead{r.Game, r.Commitment.String(), r.ClockOf(int(row.Opener)).Bank})
	p.rerun(p.place(), r)
	if r.Match.Seed == nil {
		p.report(p.place(), "the replay does not have its seed")
	}
	var options map[string]string
	if err := parse("options", row.Options, &options); err != nil || !maps.Equal(options, r.Options) {
		p.report(p.place(), "the options are %s where the replay has %s", optionsText(options), optionsText(r.Options))
	}
	for seat, s := range seats {
		where := fmt.Sprintf("%s seat=%d", p.place(), seat)
		if s.PlaySeat.BotID.Valid {
			p.compareSeat(where, r.Seats[seat], seatedBot{s.Name, s.Number, s.Label, s.Hash, s.Owner.Valid, s.Remote != 0})
			continue
		}
		// In a replay, a name that is not unique has a suffix.
		name, _, _ := strings.Cut(strings.ReplaceAll(r.Seats[seat].Name, " (person)", ""), "#")
		if want := cmp.Or(s.Name, ladder.GuestName); name != want {
			p.report(where, "%q sat there by the replay, and %q by the database", r.Seats[seat].Name, want)
		}
	}
}
