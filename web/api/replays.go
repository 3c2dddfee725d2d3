package api

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// getReplay answers with the stored replay of a game, byte for byte. A replay never changes, so clients may
// cache it forever.
func (a *API) getReplay(w http.ResponseWriter, r *http.Request) error {
	id, err := middleware.PathID(r, "game")
	if err != nil {
		return err
	}
	data, err := a.Store.Matches.Replay(r.Context(), id)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`inline; filename="game-%d.json"`, id))
	return respondWithETag(w, r, data)
}

// maxReplays is the largest number of replays in one stream.
const maxReplays = 10_000

// errStreamLimit ends the loop over the replays when a stream has reached its limit. No client gets it.
var errStreamLimit = errors.New("enough")

type replaysQuery struct {
	After  cursor `query:"after" length:"64" doc:"The cursor of the last line that you have."`
	Ladder string `query:"ladder" ref:"Name"`
	Bot    string `query:"bot" length:"64"`
	Limit  int    `query:"limit" min:"1" max:"10000" default:"1000"`
}

// getReplays streams the replays after a cursor. Each line contains a cursor, so that a client can resume the stream
// after that line.
func (a *API) getReplays(w http.ResponseWriter, r *http.Request, q replaysQuery) error {
	if _, err := preferredType(r, ndjson); err != nil {
		return err
	}
	return a.streamReplays(w, r, int64(q.After), store.ReplayFilter{Ladder: q.Ladder, Bot: q.Bot}, q.Limit)
}

const ndjson = "application/x-ndjson"

func (a *API) getMatchReplays(w http.ResponseWriter, r *http.Request) error {
	kind, err := preferredType(r, ndjson, "application/zip")
	if err != nil {
		return err
	}
	m, err := a.pathMatch(r)
	if err != nil {
		return err
	}
	if kind == ndjson {
		return a.streamReplays(w, r, 0, store.ReplayFilter{Match: m.ID}, maxReplays)
	}
	return a.writeZip(w, r, m)
}

// streamReplays writes a line for each replay that f selects, at most limit lines. after is the ID of a game: only
// replays of games with greater IDs are written. It sends the header together with the first line, so that an earlier
// error is answered with a problem document.
func (a *API) streamReplays(w http.ResponseWriter, r *http.Request, after int64, f store.ReplayFilter, limit int) error {
	leave, err := a.Middleware.StartStream(r)
	if err != nil {
		return err
	}
	defer leave()
	n := 0
	err = a.Store.Matches.ReplaysAfter(r.Context(), after, f, func(replay store.StoredReplay) error {
		line, err := replayLine(replay)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", ndjson)
		if _, err := w.Write(line); err != nil {
			return abortOnError(err)
		}
		if n++; n == limit {
			return errStreamLimit
		}
		return nil
	})
	if err != nil && err != errStreamLimit {
		return err
	}
	w.Header().Set("Content-Type", ndjson) // also for an empty stream
	return nil
}

func replayLine(r store.StoredReplay) ([]byte, error) {
	var doc, line bytes.Buffer
	if err := json.Compact(&doc, r.Data); err != nil {
		return nil, fmt.Errorf("the replay of game %d: %w", r.Game, err)
	}
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(wire.ReplayLine{Cursor: middleware.CursorOf("replay", r.Game), Game: r.Game, Match: r.Match, Ladder: r.Ladder, Replay: doc.Bytes()})
	return line.Bytes(), err
}

// writeZip answers with an archive of the replays of m. Each file has the bytes of a stored replay.
func (a *API) writeZip(w http.ResponseWriter, r *http.Request, m ladder.Match) error {
	leave, err := a.Middleware.StartStream(r)
	if err != nil {
		return err
	}
	defer leave()
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", "attachment; filename=match-"+strconv.FormatInt(m.ID, 10)+".zip")
	z := zip.NewWriter(w)
	err = a.Store.Matches.ReplaysAfter(r.Context(), 0, store.ReplayFilter{Match: m.ID}, func(replay store.StoredReplay) error {
		f, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("game-%d.json", replay.Game), Method: zip.Deflate, Modified: m.FinishedAt})
		if err != nil {
			return abortOnError(err)
		}
		_, err = f.Write(replay.Data)
		return abortOnError(err)
	})
	if err != nil {
		return err
	}
	return abortOnError(z.Close())
}
