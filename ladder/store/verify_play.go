package store

import (
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

// checkedPlay is a game between a person and bots, and what differs in it.
type checkedPlay struct {
	findings
	where string
	row   queries.Play
	name  string // of the person, or of a guest
	bots  []queries.PlayersOfRow
}

// plays checks the games between people and bots, a page of them on all processors.
func (v *verifier) plays() error {
	for last := ""; ; {
		var list []*checkedPlay
		err := v.store.view(v.ctx, func(tx *Tx) error {
			rows, err := tx.PlaysAfter(v.ctx, last, page)
			for _, r := range rows {
				p := &checkedPlay{where: "game " + r.Play.ID, row: r.Play, name: r.Person}
				if !r.Play.PersonID.Valid {
					p.name = ladder.GuestName
				}
				if p.bots, err = tx.PlayersOf(v.ctx, r.Play.ID); err != nil {
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
	want.Result, want.Size = sql.NullString{}, sql.NullInt64{}
	var records map[int]rules.Record
	if p.row.State == string(ladder.PlayFinished) {
		replay, v, size := p.replay(c)
		if v == nil {
			return // what is wrong has been said
		}
		want.Game, want.Commitment, want.Size = replay.Game, replay.Commitment.String(), nullID(int64(size))
		result := ladder.PlayResult(rules.RecordOf(v, replay.Ranks, int(p.row.Seat)))
		want.Result = sql.NullString{String: result, Valid: true}
		records = p.play().Records(v, replay.Ranks)
		p.checkReplay(replay, v)
	}
	p.compare(p.where, p.row, want)
	for _, b := range p.bots {
		r, counts := records[int(b.PlaySeat.Seat)]
		want := b.PlaySeat
		want.Wins, want.Draws, want.Losses, want.Ended = int64(r.Wins), int64(r.Draws), int64(r.Losses), sql.NullInt64{}
		if counts {
			want.Ended = p.row.Ended
		}
		p.compare(fmt.Sprintf("%s, seat %d", p.where, b.PlaySeat.Seat), b.PlaySeat, want)
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

// checkSeats returns an error unless a bot is at every seat but the person's.
func (p *checkedPlay) checkSeats(v *rules.Variant, r *referee.Replay) error {
	if len(r.Ranks) != v.Players {
		return fmt.Errorf("the replay has %d ranks for %d seats", len(r.Ranks), v.Players)
	}
	taken := map[int64]bool{p.row.Seat: true}
	for _, b := range p.bots {
		taken[b.PlaySeat.Seat] = true
	}
	if len(taken) != v.Players || len(p.bots) != v.Players-1 {
		return fmt.Errorf("the person at seat %d and %d bots are not at %d seats", p.row.Seat, len(p.bots), v.Players)
	}
	for seat := range v.Players {
		if !taken[int64(seat)] {
			return fmt.Errorf("nobody is at seat %d", seat)
		}
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
	for _, b := range p.bots {
		seat := b.PlaySeat.Seat
		p.sat(fmt.Sprintf("%s, seat %d", p.where, seat), r.Seats[seat], b.Name, b.Hash, b.PersonID.Valid)
	}
	// The name of a bot that is called the same is marked.
	if name := r.Seats[p.row.Seat].Name; strings.ReplaceAll(name, " (person)", "") != p.name {
		p.differ(fmt.Sprintf("%s, seat %d", p.where, p.row.Seat), "%q sat there by the replay, and %q by the database", name, p.name)
	}
}

// play returns the game with its bots.
func (p *checkedPlay) play() ladder.Play {
	out := ladder.Play{Seat: int(p.row.Seat)}
	for _, b := range p.bots {
		out.Bots = append(out.Bots, ladder.PlaySeat{Seat: int(b.PlaySeat.Seat), BotID: b.PlaySeat.BotID})
	}
	return out
}
