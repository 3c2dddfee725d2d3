package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// playLimitPeriod is the length of time in which the number of a person's games is limited.
const playLimitPeriod = 24 * time.Hour

// Add adds a game of people and bots on the site, which starts now. p.Seats has the seats that are taken: those of
// the bots, with Version and BotID, and the seat of the person who opens the game. For that person, Add does what
// SitDown does; see there for address, perDay, newGuest and the results.
func (s Plays) Add(ctx context.Context, p ladder.Play, address netip.Addr, perDay int, newGuest bool) (key string, session int64, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		err := tx.AddPlay(ctx, queries.AddPlayParams{
			ID: p.ID, Game: p.Game, Options: jsonText(p.Options), Opener: int64(p.Opener), Bank: p.Bank.Milliseconds(), Commitment: p.Commitment, Began: stamp(tx.now),
		})
		for _, x := range p.Seats {
			switch {
			case err != nil:
			case x.BotID != 0:
				err = tx.AddPlaySeat(ctx, queries.AddPlaySeatParams{PlayID: p.ID, Seat: int64(x.Seat), VersionID: nullID(x.Version), BotID: nullID(x.BotID)})
			default:
				key, session, err = tx.sitDown(ctx, p.ID, x, address, perDay, newGuest)
			}
		}
		return err
	})
	return key, session, err
}

// SitDown adds a person at a seat of the open game with the given ID. It returns an error if the person has sat down
// at perDay games in the last 24 hours; 0 means no limit. For a guest, it counts the games of all guests from the
// same network address. If newGuest is true, it starts a session for the guest and returns the ID and the key of the
// session. Only a hash of the key is stored.
func (s Plays) SitDown(ctx context.Context, id string, seat ladder.PlaySeat, address netip.Addr, perDay int, newGuest bool) (key string, session int64, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		if p, err := tx.Play(ctx, id); err != nil || p.State != string(ladder.PlayOpen) {
			return cmp.Or(ifNoRows(err, noPlayError(id)), error(noPlayError(id)))
		}
		key, session, err = tx.sitDown(ctx, id, seat, address, perDay, newGuest)
		return err
	})
	return key, session, err
}

func (tx *Tx) sitDown(ctx context.Context, id string, x ladder.PlaySeat, address netip.Addr, perDay int, newGuest bool) (key string, session int64, err error) {
	if x.PersonID == 0 {
		err = countGuestPlay(ctx, tx, address, tx.now, int64(perDay))
	} else {
		err = checkPlayLimit(ctx, tx, x.PersonID, tx.now, int64(perDay))
	}
	session = x.Session
	if err == nil && newGuest {
		key, session, err = tx.addGuest(ctx)
	}
	if err != nil {
		return "", 0, err
	}
	return key, session, tx.AddPlaySeat(ctx, queries.AddPlaySeatParams{
		PlayID: id, Seat: int64(x.Seat), PersonID: nullID(x.PersonID), Session: session, Sat: nullStamp(tx.now),
	})
}

// ClaimSeat gives the seat of a guest at an open game to the person with the ID personID, as whom the guest has
// signed in. The game then counts toward the person's daily limit, perDay, and no longer toward the limit of the
// guest's network address. If the person has reached the limit already, the game still counts toward the limit of the
// address.
func (s Plays) ClaimSeat(ctx context.Context, id string, seat int, personID int64, address netip.Addr, perDay int) error {
	return s.update(ctx, func(tx *Tx) error {
		over := checkPlayLimit(ctx, tx, personID, tx.now, int64(perDay))
		if over != nil && ladder.CodeOf(over) != ladder.TooMany {
			return over
		}
		n, err := tx.GivePlay(ctx, nullID(personID), id, int64(seat))
		switch {
		case err != nil:
			return err
		case n == 0:
			return noPlayError(id)
		case over != nil:
			return nil
		}
		return tx.ForgetGuestPlay(ctx, address.String(), id, int64(seat))
	})
}

// checkPlayLimit returns an error if a person has sat down at perDay games or more within playLimitPeriod. If
// perDay is 0, there is no limit.
func checkPlayLimit(ctx context.Context, tx *Tx, person int64, now time.Time, perDay int64) error {
	n, err := tx.CountPlaysSince(ctx, nullID(person), nullStamp(now.Add(-playLimitPeriod)))
	if err == nil && perDay > 0 && n >= perDay {
		err = ladder.Errorf(ladder.TooMany, "try again tomorrow", "you have begun %d games within a day, which is the limit", n)
	}
	return err
}

// countGuestPlay records that a guest from an address sits down at a game, and deletes records older than
// playLimitPeriod. If guests from the address have sat down at perDay games within that period, it returns an
// error instead. If perDay is 0, there is no limit.
func countGuestPlay(ctx context.Context, tx *Tx, address netip.Addr, now time.Time, perDay int64) error {
	since := stamp(now.Add(-playLimitPeriod))
	if err := tx.DeleteGuestPlays(ctx, since); err != nil {
		return err
	}
	n, err := tx.CountGuestPlays(ctx, address.String(), since)
	if err != nil {
		return err
	}
	if perDay > 0 && n >= perDay {
		return ladder.Errorf(ladder.TooMany, "try again tomorrow, or with an account", "%d games were begun from your address within a day, which is the limit", n)
	}
	return tx.AddGuestPlay(ctx, address.String(), stamp(now))
}

// Finish stores the ranks, by seat, and the replay of an open game. It updates the records of the people and
// bots who played and, if the game is rated, the ratings of the people.
func (s Plays) Finish(ctx context.Context, id string, v *rules.Variant, ranks []int, replay []byte) error {
	data := s.codec.pack(replay)
	return s.update(ctx, func(tx *Tx) error {
		seats, err := playSeats(ctx, tx, id)
		if err != nil {
			return err
		}
		for _, x := range seats { // somebody may have been removed during the game
			if strings.HasPrefix(x.Person, removedPrefix) {
				data = s.codec.renameSeat(data, x.Seat, x.Person)
			}
		}
		return tx.finishPlay(ctx, id, v, ranks, data)
	})
}

// renameInReplays writes p.Name, a person's new name, into the replays of all finished games of that person.
func (tx *Tx) renameInReplays(ctx context.Context, c *codec, p queries.Person) error {
	rows, err := tx.FinishedPlaysOf(ctx, nullID(p.ID))
	for _, r := range rows {
		if err == nil {
			err = tx.SetPlayReplay(ctx, c.renameSeat(r.Replay, int(r.Seat), p.Name), r.ID)
		}
	}
	return err
}

// renameSeat changes the name of the player at a seat in a compressed replay, and returns the new compressed replay.
// If packed is damaged or has no such seat, it returns packed unchanged.
func (c *codec) renameSeat(packed []byte, seat int, name string) []byte {
	data, err := c.unpack(packed)
	if err != nil {
		return packed
	}
	r, err := referee.DecodeReplay(data)
	if err != nil || seat >= len(r.Seats) {
		return packed
	}
	r.Seats[seat].Name = name
	return c.pack(r.Encode())
}

// finishPlay does the work of Plays.Finish in a transaction. replay is compressed already.
func (tx *Tx) finishPlay(ctx context.Context, id string, v *rules.Variant, ranks []int, replay []byte) error {
	ended := nullStamp(tx.now)
	n, err := tx.FinishPlay(ctx, ended, replay, id)
	if err == nil && n == 0 {
		err = noPlayError(id)
	}
	var p ladder.Play
	if err == nil {
		p.Seats, err = playSeats(ctx, tx, id)
	}
	if err != nil {
		return err
	}
	for seat, r := range p.Records(v, ranks) {
		err := tx.ScorePlaySeat(ctx, queries.ScorePlaySeatParams{Wins: int64(r.Wins), Draws: int64(r.Draws), Losses: int64(r.Losses), Ended: ended, PlayID: id, Seat: int64(seat)})
		if err != nil {
			return err
		}
	}
	if !p.IsRated(v) {
		return nil
	}
	return tx.ratePlay(ctx, id, p, v, ranks)
}

// Break ends an open game without a result. why is the reason, which it stores. A game that has ended is left
// unchanged.
func (s Plays) Break(ctx context.Context, id string, why ladder.BreakReason) error {
	return s.update(ctx, func(tx *Tx) error {
		_, err := tx.BreakPlay(ctx, string(why), nullStamp(tx.now), id)
		return err
	})
}

// BreakAll ends all open games without a result and returns their number. A server that starts calls it to end
// the games of the previous server.
func (s Plays) BreakAll(ctx context.Context) (n int64, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		n, err = tx.BreakPlays(ctx, string(ladder.BrokenByStop), nullStamp(tx.now))
		return err
	})
	return n, err
}

// Find returns the game with the given ID.
func (s Plays) Find(ctx context.Context, id string) (p ladder.Play, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		r, err := tx.Play(ctx, id)
		if err != nil {
			return ifNoRows(err, noPlayError(id))
		}
		p = ladder.Play{
			ID: r.ID, Game: r.Game, Opener: int(r.Opener), Bank: time.Duration(r.Bank) * time.Millisecond, State: ladder.PlayState(r.State),
			BreakReason: ladder.BreakReason(r.Broken), Commitment: r.Commitment, StartedAt: moment(r.Began), EndedAt: nullMoment(r.Ended),
		}
		if err := json.Unmarshal([]byte(r.Options), &p.Options); err != nil {
			return fmt.Errorf("data: the options of game %s: %w", id, err)
		}
		p.Seats, err = playSeats(ctx, tx, id)
		return err
	})
	return p, err
}

func playSeats(ctx context.Context, tx *Tx, id string) (list []ladder.PlaySeat, err error) {
	rows, err := tx.PlaySeats(ctx, id)
	for _, r := range rows {
		x := r.PlaySeat
		list = append(list, ladder.PlaySeat{
			Seat: int(x.Seat), Version: x.VersionID.Int64, BotID: x.BotID.Int64, Bot: r.Bot, Number: int(r.Number),
			PersonID: x.PersonID.Int64, Person: r.Person, Session: x.Session, SatDownAt: nullMoment(x.Sat), Record: recordOf(x.Wins, x.Draws, x.Losses),
			RatingBefore: x.RatingBefore.Float64, RatingAfter: x.RatingAfter.Float64,
		})
	}
	return list, err
}

func recordOf(wins, draws, losses int64) rules.Record {
	return rules.Record{Games: int(wins + draws + losses), Wins: int(wins), Draws: int(draws), Losses: int(losses)}
}

// ListByPerson returns at most n games of a person, the newest first. The argument before, if not 0, is a time in
// microseconds since 1970: only games at which the person sat down earlier are returned. If finished is true, it
// returns only finished games. The options and the seed commitments of the games are not set.
func (s Plays) ListByPerson(ctx context.Context, personID int64, finished bool, before int64, n int) (list []ladder.Play, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := tx.PlaysOf(ctx, queries.PlaysOfParams{PersonID: nullID(personID), Before: someID(upperBound(before)), Finished: boolColumn(finished), N: int64(n)})
		for _, r := range rows {
			p := ladder.Play{ID: r.ID, Game: r.Game, Opener: int(r.Opener), State: ladder.PlayState(r.State), StartedAt: moment(r.Began), EndedAt: nullMoment(r.Ended)}
			if p.Seats, err = playSeats(ctx, tx, r.ID); err != nil {
				return err
			}
			list = append(list, p)
		}
		return err
	})
	return list, err
}

// RecordsOfPerson returns the results of a person in finished games. They are summed up by game and kind of opponent:
// people, or one bot.
func (s Plays) RecordsOfPerson(ctx context.Context, personID int64) (list []ladder.PlayRecord, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := tx.PersonRecords(ctx, nullID(personID))
		for _, r := range rows {
			x := ladder.PlayRecord{Game: r.Game, People: r.People > 0, Rating: r.Rating, Record: recordOf(r.Wins, r.Draws, r.Losses)}
			if r.BotID > 0 {
				b, err := tx.Bot(ctx, r.BotID)
				if err != nil {
					return err
				}
				x.Bot = b.Name
			}
			list = append(list, x)
		}
		return err
	})
	return list, err
}

// ListAgainstBot returns at most n games that count in a bot's record against people, the newest first.
func (s Plays) ListAgainstBot(ctx context.Context, botID int64, n int) (list []ladder.PlayAgainstBot, err error) {
	rows, err := s.read.PlaysAgainst(ctx, nullID(botID), int64(n))
	for _, r := range rows {
		list = append(list, ladder.PlayAgainstBot{
			ID: r.PlayID, Game: r.Game, Person: r.Person, EndedAt: nullMoment(r.Ended),
			Record: recordOf(r.Wins, r.Draws, r.Losses),
		})
	}
	return list, machineError(err)
}

func noPlayError(id string) error { return notFound("", "game %q does not exist", id) }

// Replay returns the replay of a finished game.
func (s Plays) Replay(ctx context.Context, id string) ([]byte, error) {
	packed, err := s.read.PlayReplay(ctx, id)
	if err != nil {
		return nil, machineError(ifNoRows(err, noPlayError(id)))
	}
	data, err := s.codec.unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("data: the replay of game %q: %w", id, err)
	}
	return data, nil
}

// RecordAgainstPeople returns the results of all versions of a bot in games with people.
func (s Plays) RecordAgainstPeople(ctx context.Context, botID int64) (rules.Record, error) {
	r, err := s.read.RecordAgainstPeople(ctx, nullID(botID))
	return recordOf(r.Wins, r.Draws, r.Losses), machineError(err)
}

// ListLive returns at most n versions that play at present and whose owners are not blocked, in the order in
// which their bots were added. It leaves out the house bots that AddHouse has added.
func (s Versions) ListLive(ctx context.Context, n int) ([]ladder.Version, error) {
	rows, err := s.read.LiveVersions(ctx, int64(n))
	if err != nil {
		return nil, machineError(err)
	}
	return versions(rows)
}

// FindLive returns the version with which a bot plays at present. It returns an error if there is none or the
// owner is blocked.
func (s Versions) FindLive(ctx context.Context, bot string) (ladder.Version, error) {
	r, err := s.read.LiveVersionOf(ctx, bot)
	if err != nil {
		return ladder.Version{}, machineError(ifNoRows(err, notFound("choose another", "bot %q does not exist, or does not play now", bot)))
	}
	return version(r)
}
