package store

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store/queries"
	"github.com/timba-arena/timba/referee"
)

// The kinds of documents of a match: one with all replays, and one with all logs.
const (
	replaysKind = "replays"
	logsKind    = "logs"
)

// part is one replay of a match, or the log of one seat in one game.
type part struct {
	Deal, Rotation int
	Seat           int // whose log it is; 0 for a replay
	Data           []byte
}

// packParts compresses parts into one document, which it returns as a list with one element. If there are no parts,
// it returns nil. kind says what the parts are: all replays (replaysKind) or all logs (logsKind) of a match.
func (s *db) packParts(kind string, parts []part) []queries.AddDocumentParams {
	if len(parts) == 0 {
		return nil
	}
	joined := joinParts(parts)
	data := s.codec.pack(joined)
	sum := digestOf(data)
	return []queries.AddDocumentParams{{Kind: kind, Size: int64(len(joined)), Hash: sum[:], Data: data}}
}

func joinParts(parts []part) []byte {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(parts); err != nil {
		panic("store: " + err.Error())
	}
	return out.Bytes()
}

// packGames compresses the replays of a match into one document, and its logs into another.
func (s *db) packGames(games []*referee.GameResult) []queries.AddDocumentParams {
	var replays, logs []part
	for _, g := range games {
		replays = append(replays, part{Deal: g.Match.Deal, Rotation: g.Match.Rotation, Data: g.Encode()})
		for seat, log := range g.Logs {
			if len(log) > 0 {
				logs = append(logs, part{g.Match.Deal, g.Match.Rotation, seat, log})
			}
		}
	}
	return append(s.packParts(replaysKind, replays), s.packParts(logsKind, logs)...)
}

// damage is the error for stored replays or logs that are missing or not as they were written.
type damage struct{ error }

func (d damage) Unwrap() error { return d.error }

// damageError adds the match ID to err, the error of reading the replays or logs (kind) of a match. If err is nil, it
// returns nil. If the data are damaged, the text of the result is short, for users, and the wrapped error has the
// details for the log.
func damageError(err error, matchID int64, kind string) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("data: match %d: %w", matchID, err)
	if !errors.As(err, new(damage)) {
		return err
	}
	return &ladder.Error{
		Code: ladder.Unavailable, Err: err,
		Text: phrase.New("the %s of match %d are damaged on the server, and are not shown", kind, matchID),
		Hint: phrase.New(ladder.HintOperator),
	}
}

func damagef(format string, args ...any) error { return damage{fmt.Errorf(format, args...)} }

// parts returns the replays (if kind is replaysKind) or the logs (logsKind) of a match, from the database or from
// archive files. If the match has none, it returns nil. If they are missing or changed, the error is of type damage.
func (s *db) parts(ctx context.Context, tx *Tx, matchID int64, kind string) ([]part, error) {
	row, err := tx.Document(ctx, matchID, kind)
	if err != nil {
		return nil, ifNoRows(err, nil)
	}
	data, where := row.Data, kind
	if len(row.Archive) > 0 {
		sum := digest(row.Archive)
		where = fmt.Sprintf("%s in %s", kind, sum)
		if data, err = s.archive.read(sum, row.Start.Int64, row.Length.Int64); err != nil {
			return nil, damagef("%s cannot be read: %w", where, err)
		}
	}
	if sum := digestOf(data); string(sum[:]) != string(row.Hash) {
		return nil, damagef("%s have the SHA-256 %s where it was %x", where, sum, row.Hash)
	}
	joined, err := s.codec.unpack(data)
	if err != nil {
		return nil, damagef("%s: %w", where, err)
	}
	if int64(len(joined)) != row.Size {
		return nil, damagef("%s have %d bytes, and had %d", where, len(joined), row.Size)
	}
	var parts []part
	rest := bytes.NewReader(joined)
	if err := gob.NewDecoder(rest).Decode(&parts); err != nil {
		return nil, damagef("%s: %w", where, err)
	}
	if rest.Len() > 0 {
		return nil, damagef("%s have %d bytes after the last part", where, rest.Len())
	}
	return parts, nil
}

// findPart returns a part of the parts of a document: the replay of a game (seat is 0), or the log of a seat in a
// game. deal and rotation (seating) identify the game. It returns nil if there is no such part.
func findPart(parts []part, deal, rotation, seat int) []byte {
	for _, p := range parts {
		if p.Deal == deal && p.Rotation == rotation && p.Seat == seat {
			return p.Data
		}
	}
	return nil
}
