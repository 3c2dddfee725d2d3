package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// checkedPlay is a game of people and bots, and what differs in it.
type checkedPlay struct {
	findings
	where string
	row   queries.Play
	seats []queries.PlayersOfRow

	variant *rules.Variant // of a rated game, as ranks; nil: it is none
	ranks   []int
}

// plays checks the games of people and bots, and then the ratings of people.
func (v *verifier) plays() error {
	var people peopleRatings
	if err := v.store.view(v.ctx, func(tx *Tx) error { return people.read(v.ctx, tx) }); err != nil {
		return err
	}
	err := v.eachPlay(people.add)
	if err == nil {
		people.compare(&v.findings)
	}
	return err
}

// eachPlay checks the games of people and bots, a page of them on all processors.
func (v *verifier) eachPlay(checked func(*checkedPlay)) error {
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
			checked(p)
		}
		last = list[len(list)-1].row.ID
	}
}

// check plays a finished game again, and compares what follows from it; of others nothing does.
func (p *checkedPlay) check(c *codec) {
	want := p.row
	want.Rated = sql.NullInt64{}
	var records map[int]rules.Record
	if p.row.State == string(ladder.PlayFinished) {
		replay, v := p.replay(c)
		if v == nil {
			return // what is wrong has been said
		}
		want.Game, want.Commitment = replay.Game, replay.Commitment.String()
		want.Bank = replay.ClockOf(int(p.row.Opener)).Bank
		records = p.play().Records(v, replay.Ranks)
		if p.play().Rated(v) {
			p.variant, p.ranks, want.Rated = v, replay.Ranks, p.row.Rated
		}
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
		if p.variant == nil {
			want.RatingBefore, want.RatingAfter = sql.NullFloat64{}, sql.NullFloat64{}
		}
		p.compare(fmt.Sprintf("%s, seat %d", p.where, s.PlaySeat.Seat), s.PlaySeat, want)
	}
}

// replay returns the replay with its game; the variant is nil if there is none, or the seats are
// not those of the game.
func (p *checkedPlay) replay(c *codec) (*referee.Replay, *rules.Variant) {
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
		return nil, nil
	}
	return replay, v
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
		out.Seats = append(out.Seats, ladder.PlaySeat{Seat: int(s.PlaySeat.Seat), BotID: s.PlaySeat.BotID.Int64, PersonID: s.PlaySeat.PersonID.Int64})
	}
	return out
}

// peopleRatings are the ratings of people as they were at one moment, and the games that have moved them.
type peopleRatings struct {
	stored []queries.PersonRating
	last   int64 // the order of the last game
	games  []*checkedPlay
}

func (x *peopleRatings) read(ctx context.Context, tx *Tx) (err error) {
	if x.last, err = tx.LastRated(ctx); err != nil {
		return err
	}
	x.stored, err = tx.AllPersonRatings(ctx)
	return err
}

// add adds a game if it is rated, and was not finished later.
func (x *peopleRatings) add(p *checkedPlay) {
	if p.variant == nil || p.row.Rated.Int64 > x.last {
		return
	}
	p.row.Replay = nil // there may be many
	x.games = append(x.games, p)
}

// compare rates all games again in their order, and compares what comes out.
func (x *peopleRatings) compare(found *findings) {
	type key struct {
		game   string
		person int64
	}
	slices.SortFunc(x.games, func(a, b *checkedPlay) int { return cmp.Compare(a.row.Rated.Int64, b.row.Rated.Int64) })
	now, last := map[key]queries.PersonRating{}, int64(0)
	for _, g := range x.games {
		if order := g.row.Rated.Int64; order != last+1 {
			found.differ("ratings of people", "no game has order %d, and %s has %d", last+1, g.where, order)
		}
		last = g.row.Rated.Int64
		var before []queries.PersonRating
		for _, s := range g.seats {
			r, played := now[key{g.row.Game, s.PlaySeat.PersonID.Int64}]
			if !played {
				r = newPersonRating(g.row.Game, s.PlaySeat.PersonID.Int64)
			}
			before = append(before, r)
		}
		for seat, r := range ratePeople(g.variant, before, g.ranks) {
			now[key{r.Game, r.PersonID}] = r
			want := g.seats[seat].PlaySeat
			want.RatingBefore, want.RatingAfter = someFloat(before[seat].Rating), someFloat(r.Rating)
			found.compare(fmt.Sprintf("%s, seat %d", g.where, seat), g.seats[seat].PlaySeat, want)
		}
	}
	for _, r := range x.stored {
		where, k := fmt.Sprintf("rating of person %d in %s", r.PersonID, r.Game), key{r.Game, r.PersonID}
		if want, played := now[k]; played {
			want.Provisional = r.Provisional // which follows from the deviation
			found.compare(where, r, want)
		} else {
			found.differ(where, "they have played no rated game")
		}
		delete(now, k)
	}
	missing := slices.SortedFunc(maps.Keys(now), func(a, b key) int { return cmp.Or(cmp.Compare(a.game, b.game), cmp.Compare(a.person, b.person)) })
	for _, k := range missing {
		found.differ(fmt.Sprintf("rating of person %d in %s", k.person, k.game), "it is missing")
	}
}
