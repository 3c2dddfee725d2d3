package match

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fairclock"
	"github.com/timba-arena/timba/rules"
)

// rotation is the part of a match in which each bot keeps the same seat: one game for each deal. The bots have other
// processes in each rotation.
type rotation struct {
	match  *Match
	ctx    context.Context
	number int
	table  *table
	seats  []*seat
	// openingSeeds has the seeds of the openings (given first moves) that the present processes of the bots have
	// played.
	openingSeeds map[referee.Hex]bool
}

// newRotation returns the rotation of the match with the given number; a rotation is one assignment of the bots to
// the seats. w measures how much time other programs take from its bots. The rotation calls reportBusy when other
// programs may have taken time from a bot.
func newRotation(ctx context.Context, m *Match, number int, w *fairclock.Monitor, reportBusy func()) *rotation {
	t := &table{patience: m.Patience, anyRemote: m.anyRemote(), reportBusy: reportBusy}
	start := m.start
	if start == nil {
		start = startBot
	}
	t.start = func(b Contestant) (BotConn, error) { return start(ctx, b, w) }
	r := &rotation{match: m, ctx: ctx, number: number, table: t, openingSeeds: map[referee.Hex]bool{}}
	for place := range m.Variant.Players {
		bot := rules.BotAt(place, number, len(m.Bots))
		r.seats = append(r.seats, &seat{Contestant: m.Bots[bot], table: t, number: bot, place: place, clock: m.botClock(bot)})
	}
	return r
}

// playDeal plays one deal (the game that one seed determines) with each bot in its seat of this rotation. out[n] is
// true if bot n of the match is disqualified. If the error is not nil, it is a failure of the referee or the error of
// the context, and the caller must end the bots' processes.
func (r *rotation) playDeal(deal int, out []bool) (result *referee.GameResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("match: panic in deal %d, rotation %d: %v", deal, r.number, v)
		}
	}()
	began := time.Now()
	if own := r.match.opening(deal).Seed; own != nil {
		r.openingSeeds[*own] = true
	}
	g := referee.NewGame(r.match.Variant, r.head(deal), rules.AllSeats)
	for _, s := range r.seats {
		s.log = cutlog.Buffer{Limit: MaxLog}
	}
	r.table.trace = func(seat int, fromBot bool, at time.Time, lines []byte) {
		if r.match.Observer.Trace == nil {
			return
		}
		if fromBot {
			lines = append(bytes.Clone(lines), '\n')
		}
		r.match.Observer.Trace(referee.Traffic{Deal: deal, Rotation: r.number, Seat: seat, FromBot: fromBot, Offset: at.Sub(began), Lines: lines})
	}
	if err := playGame(r.ctx, g, r.match.opening(deal).Moves, r.seats, out, r.match.Observer.Watch); err != nil {
		return nil, err
	}
	result = &referee.GameResult{Replay: g.Record}
	for _, s := range r.seats {
		result.Bots = append(result.Bots, s.number)
		result.Logs = append(result.Logs, s.log.Take())
	}
	result.Took = time.Since(began)
	return result, nil
}

// knowsCards reports whether the bots' processes have already seen the hidden cards of the deal with the given
// number. That is so if an earlier opening had the same seed. The deal must then be played by new processes.
func (r *rotation) knowsCards(deal int) bool {
	own := r.match.opening(deal).Seed
	if own == nil || !r.openingSeeds[*own] {
		return false
	}
	stream := rules.NewStream(rules.Seed(*own))
	_, hidden := r.match.Variant.Deal(&stream).(rules.Redealer)
	return hidden
}

// opening returns the moves with which a deal begins. It is empty if the match has no openings.
func (m *Match) opening(deal int) (o referee.DealOpening) {
	if len(m.Openings) > 0 {
		o = m.Openings[deal%len(m.Openings)]
	}
	return o
}

// head returns the replay of a deal as far as it is known before the game: seeds, seats, clocks and options.
func (r *rotation) head(deal int) referee.Replay {
	m := r.match
	head := referee.Replay{
		Timba:        protocol.Version,
		Program:      referee.Version(),
		Game:         m.Variant.Game.Name,
		Options:      m.Variant.Settings.Map(),
		Seed:         referee.Hex(referee.DealSeed(m.Seed, deal)),
		Commitment:   referee.Commitment(m.Seed),
		Match:        referee.ReplayMatch{Deal: deal, Rotation: r.number},
		Clock:        m.Clock.InReplay(),
		Adjudication: m.Adjudication.InReplay(),
	}
	if len(m.Openings) > 0 {
		head.Match.Opening = deal%len(m.Openings) + 1
		if own := m.opening(deal).Seed; own != nil {
			head.Seed = *own
		}
	}
	for _, s := range r.seats {
		seat := referee.ReplaySeat{Name: s.Name, Version: s.Version, SHA256: s.Hash, Seed: referee.BotSeed(m.Seed, deal, r.number, s.place), Untimed: s.Untimed}
		if s.Contestant.Clock != nil {
			seat.Clock = new(s.Contestant.Clock.InReplay())
		}
		head.Seats = append(head.Seats, seat)
	}
	return head
}
