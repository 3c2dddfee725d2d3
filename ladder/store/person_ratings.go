package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/rules"
)

func (tx *Tx) ratePlay(ctx context.Context, id string, p ladder.Play, v *rules.Variant, ranks []int) error {
	last, err := tx.LastRated(ctx)
	if err == nil {
		err = tx.RatePlay(ctx, nullID(last+1), id)
	}
	if err != nil {
		return err
	}
	rows := make([]queries.PersonRating, len(p.Seats))
	before := make([]rating.Glicko, len(p.Seats))
	for seat, s := range p.Seats {
		r, err := tx.PersonRating(ctx, v.Game.Name, s.PersonID)
		before[seat] = rating.Glicko{Rating: r.Rating, Deviation: r.Deviation, Volatility: r.Volatility}
		if errors.Is(err, sql.ErrNoRows) {
			before[seat], err = tx.formula.Person, nil
		}
		if err != nil {
			return err
		}
		rows[seat] = r
	}
	for seat, after := range tx.formula.People(v, before, ranks) {
		err := tx.RatePlaySeat(ctx, queries.RatePlaySeatParams{
			RatingBefore: someFloat(before[seat].Rating), RatingAfter: someFloat(after.Rating), PlayID: id, Seat: int64(seat),
		})
		if err != nil {
			return err
		}
		r, record := rows[seat], rules.RecordOf(v, ranks, seat)
		err = tx.SetPersonRating(ctx, queries.SetPersonRatingParams{
			Game: v.Game.Name, PersonID: p.Seats[seat].PersonID, Rating: after.Rating, Deviation: after.Deviation, Volatility: after.Volatility,
			Wins: r.Wins + int64(record.Wins), Draws: r.Draws + int64(record.Draws), Losses: r.Losses + int64(record.Losses),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func someFloat(x float64) sql.NullFloat64 { return sql.NullFloat64{Float64: x, Valid: true} }

// RatingsOf returns the ratings of a person, by game.
func (s People) RatingsOf(ctx context.Context, personID int64) (list []ladder.PersonRating, err error) {
	rows, err := s.read.RatingsOf(ctx, personID)
	return convertRows(rows, personRating), machineError(err)
}

// CountRated returns the number of rated people who are not blocked, by game.
func (s People) CountRated(ctx context.Context) (map[string]int, error) {
	rows, err := s.read.CountRated(ctx)
	people := map[string]int{}
	for _, r := range rows {
		people[r.Game] = int(r.People)
	}
	return people, machineError(err)
}

// RatedPeople returns the ratings of people in a game: at most n, without the first skip. The highest ratings come
// first; provisional ratings, whose deviation is large, come after all others. Blocked people are left out.
func (s People) RatedPeople(ctx context.Context, game string, skip, n int) (list []ladder.PersonRating, err error) {
	rows, err := s.read.RatedPeople(ctx, game, int64(n), int64(skip))
	for _, r := range rows {
		p := personRating(r.PersonRating)
		p.Person = r.Name
		list = append(list, p)
	}
	return list, machineError(err)
}

func personRating(r queries.PersonRating) ladder.PersonRating {
	return ladder.PersonRating{
		Game: r.Game, Rating: r.Rating, Deviation: r.Deviation, Provisional: r.Provisional != 0,
		Record: recordOf(r.Wins, r.Draws, r.Losses),
	}
}
