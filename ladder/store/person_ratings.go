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

// newPersonRating returns the rating of a person who has played no rated game.
func newPersonRating(game string, person int64) queries.PersonRating {
	p := rating.NewPerson
	return queries.PersonRating{Game: game, PersonID: person, Rating: p.Rating, Deviation: p.Deviation, Volatility: p.Volatility}
}

// ratePeople returns the ratings of people after a rated game, by seat.
func ratePeople(v *rules.Variant, before []queries.PersonRating, ranks []int) (after []queries.PersonRating) {
	people := make([]rating.Person, len(before))
	for seat, r := range before {
		people[seat] = rating.Person{Rating: r.Rating, Deviation: r.Deviation, Volatility: r.Volatility}
	}
	for seat, p := range rating.People(v, people, ranks) {
		r, record := before[seat], rules.RecordOf(v, ranks, seat)
		r.Rating, r.Deviation, r.Volatility = p.Rating, p.Deviation, p.Volatility
		r.Wins += int64(record.Wins)
		r.Draws += int64(record.Draws)
		r.Losses += int64(record.Losses)
		after = append(after, r)
	}
	return after
}

// ratePlay moves the ratings of the people of a rated game.
func ratePlay(ctx context.Context, tx *Tx, id string, p ladder.Play, v *rules.Variant, ranks []int) error {
	last, err := tx.LastRated(ctx)
	if err == nil {
		err = tx.RatePlay(ctx, nullID(last+1), id)
	}
	if err != nil {
		return err
	}
	var before []queries.PersonRating
	for _, s := range p.Seats {
		r, err := tx.PersonRating(ctx, v.Game.Name, s.PersonID)
		if errors.Is(err, sql.ErrNoRows) {
			r, err = newPersonRating(v.Game.Name, s.PersonID), nil
		}
		if err != nil {
			return err
		}
		before = append(before, r)
	}
	for seat, r := range ratePeople(v, before, ranks) {
		err := tx.RatePlaySeat(ctx, queries.RatePlaySeatParams{
			RatingBefore: someFloat(before[seat].Rating), RatingAfter: someFloat(r.Rating), PlayID: id, Seat: int64(seat),
		})
		if err != nil {
			return err
		}
		err = tx.SetPersonRating(ctx, queries.SetPersonRatingParams{
			Game: r.Game, PersonID: r.PersonID, Rating: r.Rating, Deviation: r.Deviation, Volatility: r.Volatility,
			Wins: r.Wins, Draws: r.Draws, Losses: r.Losses,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func someFloat(x float64) sql.NullFloat64 { return sql.NullFloat64{Float64: x, Valid: true} }

// RatingsOf returns the ratings of a person, by game.
func (s *Store) RatingsOf(ctx context.Context, personID int64) (list []ladder.PersonRating, err error) {
	rows, err := s.read.RatingsOf(ctx, personID)
	return each(rows, personRating), explain(err)
}

// CountRated returns how many people have a rating, by game: of those who are not blocked.
func (s *Store) CountRated(ctx context.Context) (map[string]int, error) {
	rows, err := s.read.CountRated(ctx)
	people := map[string]int{}
	for _, r := range rows {
		people[r.Game] = int(r.People)
	}
	return people, explain(err)
}

// RatedPeople returns the ratings of a game, the highest first and the provisional ones last, at most n from skip on: of
// people who are not blocked.
func (s *Store) RatedPeople(ctx context.Context, game string, skip, n int) (list []ladder.PersonRating, err error) {
	rows, err := s.read.RatedPeople(ctx, game, int64(n), int64(skip))
	for _, r := range rows {
		p := personRating(r.PersonRating)
		p.Person = r.Name
		list = append(list, p)
	}
	return list, explain(err)
}

func personRating(r queries.PersonRating) ladder.PersonRating {
	return ladder.PersonRating{
		Game: r.Game, Rating: r.Rating, Deviation: r.Deviation, Provisional: r.Provisional != 0,
		Record: recordOf(r.Wins, r.Draws, r.Losses),
	}
}
