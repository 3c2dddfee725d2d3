package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// checkedPlay is a game of people and bots, and what differs in it.
type checkedPlay struct {
	findings
	where string
	row   queries.Play
	seats []queries.PlayersOfRow
}

// plays checks the games of people and bots, a page of them on all processors.
func (v *verifier) plays() error {
	for last := ""; ; {
		var list []*checkedPlay
		err := v.store.view(v.ctx, func(tx *Tx) error {
			rows, err := tx.PlaysAfter(v.ctx, last, page)
			for _, r := range rows {
				p := &checkedPlay{where: "game " + r.ID, row: r}
				if p.seats, err = tx.PlayersOf(v.ctx, r.ID); err != nil {
					return err
				}
				list = append(list, p)
			}
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		err = onAllCores(v.ctx, len(list), func(_ context.Context, i int) error {
			list[i].check(v.store.codec)
			return nil
		})
		if err != nil {
			return err
		}
		for _, p := range list {
			v.findings = append(v.findings, p.findings...)
		}
		last = list[len(list)-1].row.ID
	}
}

// check plays a finished game again, and compares what follows from it; of others nothing does.
func (p *checkedPlay) check(c *codec) {
	want := p.row
	want.Size = sql.NullInt64{}
	var records map[int]rules.Record
	if p.row.State == string(ladder.PlayFinished) {
		replay, v, size := p.replay(c)
		if v == nil {
			return // what is wrong has been said
		}
		want.Game, want.Commitment, want.Size = replay.Game, replay.Commitment.String(), nullID(int64(size))
		want.Bank = replay.ClockOf(int(p.row.Opener)).Bank
		records = p.play().Records(v, replay.Ranks)
		p.checkReplay(replay, v)
	}
	p.compare(p.where, p.row, want)
	for _, s := range p.seats {
		r, counts := records[int(s.PlaySeat.Seat)]
		want := s.PlaySeat
		want.Wins, want.Draws, want.Losses, want.Ended = int64(r.Wins), int64(r.Draws), int64(r.Losses), sql.NullInt64{}
		if counts {
			want.Ended = p.row.Ended
		}
		p.compare(fmt.Sprintf("%s, seat %d", p.where, s.PlaySeat.Seat), s.PlaySeat, want)
	}
}

// replay returns the replay with its game and its bytes; the variant is nil if there is none, or the seats are
// not those of the game.
func (p *checkedPlay) replay(c *codec) (*referee.Replay, *rules.Variant, int) {
	data, err := c.unpack(p.row.Replay)
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
		err = p.checkSeats(v, replay)
	}
	if err != nil {
		p.differ(p.where, "%s", err)
		return nil, nil, 0
	}
	return replay, v, len(data)
}

// checkSeats returns an error unless a bot or a person is at every seat, and a person at that of who opened the table.
func (p *checkedPlay) checkSeats(v *rules.Variant, r *referee.Replay) error {
	if len(r.Ranks) != v.Players {
		return fmt.Errorf("the replay has %d ranks for %d seats", len(r.Ranks), v.Players)
	}
	if len(p.seats) != v.Players {
		return fmt.Errorf("%d people and bots are not at %d seats", len(p.seats), v.Players)
	}
	for seat, s := range p.seats { // in order, each once
		if int(s.PlaySeat.Seat) != seat {
			return fmt.Errorf("nobody is at seat %d", seat)
		}
	}
	if opener := int(p.row.Opener); opener < 0 || opener >= v.Players || p.seats[opener].PlaySeat.BotID.Valid {
		return fmt.Errorf("no person is at seat %d, from which the table was opened", opener)
	}
	return nil
}

// checkReplay compares the replay with the rules and with who sat there.
func (p *checkedPlay) checkReplay(r *referee.Replay, v *rules.Variant) {
	for _, err := range r.Verify(v.Game) {
		p.differ(p.where, "%s", strings.TrimPrefix(err.Error(), "replay: "))
	}
	if r.Match.Seed == nil {
		p.differ(p.where, "the replay does not have its seed")
	}
	var options map[string]string
	if err := parse("options", p.row.Options, &options); err != nil || !maps.Equal(options, r.Options) {
		p.differ(p.where, "the options are %s where the replay has %s", optionsText(options), optionsText(r.Options))
	}
	for seat, s := range p.seats {
		where := fmt.Sprintf("%s, seat %d", p.where, seat)
		if s.PlaySeat.BotID.Valid {
			p.sat(where, r.Seats[seat], s.Name, s.Hash, s.Owner.Valid)
			continue
		}
		// A name that others have, too, is marked.
		name, _, _ := strings.Cut(strings.ReplaceAll(r.Seats[seat].Name, " (person)", ""), "#")
		if want := cmp.Or(s.Name, ladder.GuestName); name != want {
			p.differ(where, "%q sat there by the replay, and %q by the database", r.Seats[seat].Name, want)
		}
	}
}

// play returns the game with its seats.
func (p *checkedPlay) play() (out ladder.Play) {
	for _, s := range p.seats {
		out.Seats = append(out.Seats, ladder.PlaySeat{Seat: int(s.PlaySeat.Seat), BotID: s.PlaySeat.BotID.Int64})
	}
	return out
}
