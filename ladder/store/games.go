package store

import (
	"context"
	"fmt"
	"iter"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Games returns the games of a finished match in the order of deals and rotations,
// without replays and logs; none of one that is not finished.
func (s *Store) Games(ctx context.Context, matchID int64) (out []ladder.Game, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		if _, err := tx.Match(ctx, matchID); err != nil {
			return none(err, noMatch(matchID))
		}
		out, err = gamesOf(ctx, tx, matchID)
		return err
	})
	return out, err
}

// GamesOfDeals returns the games of the deals from one on and before another, as Games does.
func (s *Store) GamesOfDeals(ctx context.Context, matchID int64, from, before int) (out []ladder.Game, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := tx.GamesOfDeals(ctx, matchID, int64(from), int64(before))
		if err != nil {
			return err
		}
		seats, err := tx.SeatsOfDeals(ctx, matchID, int64(from), int64(before))
		out = seated(rows, seats)
		return err
	})
	return out, err
}

func gamesOf(ctx context.Context, tx *Tx, matchID int64) ([]ladder.Game, error) {
	rows, err := tx.GamesOf(ctx, matchID)
	if err != nil {
		return nil, err
	}
	seats, err := tx.SeatsOfMatch(ctx, matchID)
	if err != nil {
		return nil, err
	}
	return seated(rows, seats), nil
}

// seated returns games with their seats, both in the order of deals and rotations.
func seated(rows []queries.Game, seats []queries.GameSeat) []ladder.Game {
	out := make([]ladder.Game, len(rows))
	for i, r := range rows {
		out[i] = game(r)
		for len(seats) > 0 && seats[0].GameID == r.ID {
			out[i].Seats = append(out[i].Seats, gameSeat(seats[0]))
			seats = seats[1:]
		}
	}
	return out
}

// Game returns one game without its replay and logs.
func (s *Store) Game(ctx context.Context, id int64) (out ladder.Game, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		r, err := tx.Game(ctx, id)
		if err != nil {
			return none(err, noGame(id))
		}
		out = game(r)
		seats, err := tx.SeatsOf(ctx, id)
		for _, r := range seats {
			out.Seats = append(out.Seats, gameSeat(r))
		}
		return err
	})
	return out, err
}

func noGame(id int64) error { return notFound("", "game %d does not exist", id) }

// Replay returns a game's document, byte for byte as it was kept.
func (s *Store) Replay(ctx context.Context, gameID int64) ([]byte, error) {
	data, err := s.document(ctx, gameID, replaysKind, 0)
	if err == nil && data == nil {
		err = fmt.Errorf("data: the replay of game %d is missing", gameID)
	}
	return data, err
}

// Log returns what the bot at a seat wrote in a game, nil if it wrote nothing.
func (s *Store) Log(ctx context.Context, gameID int64, seat int) ([]byte, error) {
	return s.document(ctx, gameID, logsKind, seat)
}

// document returns a document of a game, nil if there is none.
func (s *Store) document(ctx context.Context, gameID int64, kind string, seat int) (data []byte, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		g, err := tx.Game(ctx, gameID)
		if err != nil {
			return none(err, noGame(gameID))
		}
		parts, err := s.parts(ctx, tx, g.MatchID, kind)
		if err != nil {
			return served(err, g.MatchID, kind)
		}
		data = find(parts, g.Deal, g.Rotation, int64(seat))
		return nil
	})
	return data, err
}

// ReplayFilter says which replays; the zero value: all.
type ReplayFilter struct {
	Ladder string
	Bot    string
	Match  int64 // alone
}

// Replay is a game's document with its place.
type Replay struct {
	Game   int64 // the cursor from which to go on
	Match  int64
	Ladder string // "" of an unrated match
	Data   []byte
}

// replayBatch is how many games are looked up at a time, so that a slow reader holds
// no transaction open.
const replayBatch = 64

// ReplaysAfter gives f the replays of all games after a cursor, in the order in
// which they were kept: who comes again with the last one's Game misses none. An
// error of f ends it.
func (s *Store) ReplaysAfter(ctx context.Context, cursor int64, filter ReplayFilter, f func(Replay) error) error {
	var match int64 // whose parts these are
	var parts []part
	for r, err := range s.games(ctx, cursor, filter) {
		if err != nil {
			return explain(err)
		}
		if r.MatchID != match {
			err := s.view(ctx, func(tx *Tx) (err error) {
				parts, err = s.parts(ctx, tx, r.MatchID, replaysKind)
				return err
			})
			if err != nil {
				return served(err, r.MatchID, replaysKind)
			}
			match = r.MatchID
		}
		data := find(parts, r.Deal, r.Rotation, 0)
		if data == nil {
			return fmt.Errorf("data: the replay of game %d is missing", r.ID)
		}
		if err := f(Replay{Game: r.ID, Match: r.MatchID, Ladder: r.Ladder, Data: data}); err != nil {
			return err
		}
	}
	return nil
}

// games returns the rows of a filter after a cursor.
func (s *Store) games(ctx context.Context, cursor int64, f ReplayFilter) iter.Seq2[queries.GamesAfterRow, error] {
	next, err := s.gamePages(ctx, cursor, f)
	return func(yield func(queries.GamesAfterRow, error) bool) {
		for after := cursor; err == nil; {
			var rows []queries.GamesAfterRow
			if rows, err = next(after); err != nil || len(rows) == 0 {
				break
			}
			for _, r := range rows {
				after = max(after, r.ID)
				if r.ID > cursor && !yield(r, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(queries.GamesAfterRow{}, err)
		}
	}
}

// gamePages returns the pages of a filter, each after a game; an empty one is the
// end.
func (s *Store) gamePages(ctx context.Context, cursor int64, f ReplayFilter) (func(after int64) ([]queries.GamesAfterRow, error), error) {
	var ladderID int64
	if f.Ladder != "" {
		l, err := s.read.ladder(ctx, f.Ladder)
		if err != nil {
			return nil, err
		}
		ladderID = l.ID
	}
	switch {
	case f.Match != 0:
		if _, err := s.read.Match(ctx, f.Match); err != nil {
			return nil, none(err, noMatch(f.Match))
		}
		return s.gamesOfMatches(ctx, []int64{f.Match}), nil
	case f.Bot != "":
		b, err := s.read.BotByName(ctx, f.Bot)
		if err != nil {
			return nil, none(err, noBot(f.Bot))
		}
		var on any
		if ladderID != 0 {
			on = ladderID
		}
		rows, err := s.read.PlayedByBot(ctx, b.ID, cursor, on)
		if err != nil {
			return nil, err
		}
		var ids []int64
		for _, r := range rows {
			ids = append(ids, r.MatchID)
		}
		return s.gamesOfMatches(ctx, ids), nil
	case ladderID != 0:
		return func(after int64) ([]queries.GamesAfterRow, error) {
			rows, err := s.read.GamesOnLadderAfter(ctx, nullID(ladderID), after, replayBatch)
			out := make([]queries.GamesAfterRow, len(rows))
			for i, r := range rows {
				out[i] = queries.GamesAfterRow(r)
			}
			return out, err
		}, nil
	}
	return func(after int64) ([]queries.GamesAfterRow, error) {
		return s.read.GamesAfter(ctx, after, replayBatch)
	}, nil
}

// gamesOfMatches returns a page for each match.
func (s *Store) gamesOfMatches(ctx context.Context, ids []int64) func(int64) ([]queries.GamesAfterRow, error) {
	return func(int64) (out []queries.GamesAfterRow, err error) {
		for len(out) == 0 && len(ids) > 0 {
			rows, err := s.read.GamesOfMatch(ctx, ids[0])
			if err != nil {
				return nil, err
			}
			ids = ids[1:]
			for _, r := range rows {
				out = append(out, queries.GamesAfterRow(r))
			}
		}
		return out, nil
	}
}
