package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// gameIDFactor is larger than the number of games of any match. The ID of a game is the ID of the match's result,
// times gameIDFactor, plus the index of the game in the match.
const gameIDFactor = 100_000

// games returns the games that are stored in row r. If they cannot be read, the error is of type damage.
func (c *codec) games(r queries.ResultRow) ([]ladder.FinishedGame, error) {
	games, _, err := c.gamesAndText(r)
	return games, err
}

// gamesAndText returns the games of a result and the JSON in which they are stored.
func (c *codec) gamesAndText(r queries.ResultRow) (games []ladder.FinishedGame, text []byte, err error) {
	text, err = c.unpack(r.Data)
	if err == nil {
		err = json.Unmarshal(text, &games)
	}
	if err != nil {
		return nil, nil, damagef("the result: %w", err)
	}
	for i := range games {
		games[i].ID, games[i].MatchID = r.ID*gameIDFactor+int64(i), r.MatchID
	}
	return games, text, nil
}

// Games returns the games of a match, sorted by deal and then by rotation (seating). It returns none if the match
// has no result.
func (s Matches) Games(ctx context.Context, matchID int64) (out []ladder.FinishedGame, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		if _, err := tx.Match(ctx, matchID); err != nil {
			return ifNoRows(err, noMatchError(matchID))
		}
		var err error
		out, err = s.gamesOf(ctx, tx, matchID)
		return err
	})
	return out, err
}

// gamesOf returns the games of a match, or nil if it has no result.
func (s Matches) gamesOf(ctx context.Context, tx *Tx, matchID int64) ([]ladder.FinishedGame, error) {
	r, err := tx.ResultOf(ctx, matchID)
	if err != nil {
		return nil, ifNoRows(err, nil)
	}
	games, err := s.codec.games(r)
	return games, damageError(err, matchID, "results")
}

// GamesByMatch returns the games of each match, by match ID. Matches without a result are omitted.
func (s Matches) GamesByMatch(ctx context.Context, matches []int64) (map[int64][]ladder.FinishedGame, error) {
	out := make(map[int64][]ladder.FinishedGame, len(matches))
	err := s.view(ctx, func(tx *Tx) error {
		for _, id := range matches {
			games, err := s.gamesOf(ctx, tx, id)
			if err != nil {
				return err
			}
			if games != nil {
				out[id] = games
			}
		}
		return nil
	})
	return out, err
}

// Game returns the game with the given ID.
func (s Matches) Game(ctx context.Context, id int64) (out ladder.FinishedGame, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		out, err = s.game(ctx, tx, id)
		return err
	})
	return out, err
}

func (s Matches) game(ctx context.Context, tx *Tx, id int64) (out ladder.FinishedGame, err error) {
	missing := notFound("", "game %d does not exist", id)
	r, err := tx.Result(ctx, id/gameIDFactor)
	if err != nil {
		return out, ifNoRows(err, missing)
	}
	games, err := s.codec.games(r)
	if err != nil {
		return out, damageError(err, r.MatchID, "results")
	}
	if place := int(id % gameIDFactor); place < len(games) {
		return games[place], nil
	}
	return out, missing
}

// Replay returns the replay of a game, byte for byte as it was stored.
func (s Matches) Replay(ctx context.Context, gameID int64) ([]byte, error) {
	data, err := s.document(ctx, gameID, replaysKind, 0)
	if err == nil && data == nil {
		err = fmt.Errorf("data: the replay of game %d is missing", gameID)
	}
	return data, err
}

// Log returns what the bot at a seat wrote to standard error in a game. It returns nil if the bot wrote nothing.
func (s Matches) Log(ctx context.Context, gameID int64, seat int) ([]byte, error) {
	return s.document(ctx, gameID, logsKind, seat)
}

// document returns the replay of a game or, if kind is logsKind, the log of a seat in it. It returns nil if
// there is none.
func (s Matches) document(ctx context.Context, gameID int64, kind string, seat int) (data []byte, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		g, err := s.game(ctx, tx, gameID)
		if err != nil {
			return err
		}
		parts, err := s.parts(ctx, tx, g.MatchID, kind)
		data = findPart(parts, g.Deal, g.Rotation, seat)
		return damageError(err, g.MatchID, kind)
	})
	return data, err
}

// ReplayFilter selects replays. An empty field does not restrict the selection.
type ReplayFilter struct {
	Ladder string // name of the ladder
	Bot    string // name of a bot that plays
	Match  int64  // ID of the match; if it is not 0, the other fields are ignored
}

// StoredReplay is the replay of one game.
type StoredReplay struct {
	Game   int64 // ID of the game, which is also the cursor for ReplaysAfter
	Match  int64
	Ladder string // empty for an unrated match
	Data   []byte
}

const resultsPage = 64 // results that are read at a time

// ReplaysAfter calls f for each replay that filter selects, if the ID of its game is greater than cursor. The replays
// come in the order in which they were stored. To continue later, pass the Game of the last replay as cursor. If f
// returns an error, ReplaysAfter stops and returns it.
func (s Matches) ReplaysAfter(ctx context.Context, cursor int64, filter ReplayFilter, f func(StoredReplay) error) error {
	return machineError(s.eachResult(ctx, cursor/gameIDFactor, filter, func(r queries.ResultRow) error {
		list, err := s.replaysOf(ctx, r)
		for _, replay := range list {
			if err == nil && replay.Game > cursor {
				err = f(replay)
			}
		}
		return err
	}))
}

func (s Matches) replaysOf(ctx context.Context, r queries.ResultRow) (out []StoredReplay, err error) {
	games, err := s.codec.games(r)
	if err != nil {
		return nil, damageError(err, r.MatchID, "results")
	}
	parts, err := s.parts(ctx, s.read, r.MatchID, replaysKind)
	if err != nil {
		return nil, damageError(err, r.MatchID, replaysKind)
	}
	for _, g := range games {
		data := findPart(parts, g.Deal, g.Rotation, 0)
		if data == nil {
			return nil, fmt.Errorf("data: the replay of game %d is missing", g.ID)
		}
		out = append(out, StoredReplay{Game: g.ID, Match: g.MatchID, Ladder: r.Ladder, Data: data})
	}
	return out, nil
}

// eachResult calls do, in order of ID, for each result that f selects and whose ID is at least id. It stops at
// the first error.
func (s Matches) eachResult(ctx context.Context, id int64, f ReplayFilter, do func(queries.ResultRow) error) error {
	if f.Match != 0 {
		if _, err := s.read.Match(ctx, f.Match); err != nil {
			return ifNoRows(err, noMatchError(f.Match))
		}
		r, err := s.read.ResultOf(ctx, f.Match)
		if err != nil {
			return ifNoRows(err, nil)
		}
		return do(r)
	}
	var on queries.Ladder // the zero value means all ladders
	if f.Ladder != "" {
		var err error
		if on, err = s.read.ladder(ctx, f.Ladder); err != nil {
			return err
		}
	}
	if f.Bot != "" {
		return s.eachResultOfBot(ctx, f.Bot, id, on.ID, do)
	}
	for {
		var rows []queries.ResultRow
		var err error
		if on.ID == 0 {
			rows, err = s.read.ResultsFrom(ctx, id, resultsPage)
		} else {
			rows, err = s.read.ResultsOnLadder(ctx, nullID(on.ID), id, resultsPage)
		}
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			if err := do(r); err != nil {
				return err
			}
		}
		id = rows[len(rows)-1].ID + 1
	}
}

// eachResultOfBot calls do for the results of the matches of a bot, in order of ID. first is the smallest ID to
// consider. bot is the name of the bot. ladderID selects one ladder; 0 selects all. The first error of do ends the
// loop and is returned.
func (s Matches) eachResultOfBot(ctx context.Context, bot string, first, ladderID int64, do func(queries.ResultRow) error) error {
	b, err := s.read.BotByName(ctx, bot)
	if err != nil {
		return ifNoRows(err, noBotError(bot))
	}
	ids, err := s.read.ResultsOfBot(ctx, b.ID, first, nullID(ladderID))
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := s.read.Result(ctx, id)
		if err == nil {
			err = do(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
