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
	"github.com/timba-arena/timba/web/api/wire"
)

// replay is a game's document byte for byte. It never changes, so that whoever has
// it need not ask again.
func (a *api) replay(w http.ResponseWriter, r *http.Request) error {
	if err := newQuery(r).done(); err != nil {
		return err
	}
	id, err := pathID(r, "game")
	if err != nil {
		return err
	}
	data, err := a.Store.Replay(r.Context(), id)
	if err != nil {
		return err
	}
	tag := etag(data)
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if matches(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`inline; filename="game-%d.json"`, id))
	_, err = w.Write(data)
	return gone(err)
}

// The most replays of one stream.
const (
	defaultReplays = 1000
	maxReplays     = 10_000
)

// errEnough ends a stream that has all that was asked for.
var errEnough = errors.New("enough")

// replays streams all replays after a cursor. Each line has the cursor behind it,
// so that a stream that breaks goes on where it broke.
func (a *api) replays(w http.ResponseWriter, r *http.Request) error {
	q := newQuery(r)
	after := q.cursorID("after", "replay")
	f := store.ReplayFilter{Ladder: q.text("ladder"), Bot: q.text("bot")}
	limit := int(q.number("limit", 1, maxReplays, defaultReplays))
	if err := q.done(); err != nil {
		return err
	}
	if _, err := accepts(r, ndjson); err != nil {
		return err
	}
	return a.stream(w, r, after, f, limit)
}

const ndjson = "application/x-ndjson"

func (a *api) matchReplays(w http.ResponseWriter, r *http.Request) error {
	if err := newQuery(r).done(); err != nil {
		return err
	}
	kind, err := accepts(r, ndjson, "application/zip")
	if err != nil {
		return err
	}
	m, err := a.pathMatch(r)
	if err != nil {
		return err
	}
	if kind == ndjson {
		return a.stream(w, r, 0, store.ReplayFilter{Match: m.ID}, maxReplays)
	}
	return a.zipped(w, r, m)
}

// stream writes a line for each replay. The header waits for the first one, so
// that what is wrong from the start is told as a problem.
func (a *api) stream(w http.ResponseWriter, r *http.Request, after int64, f store.ReplayFilter, limit int) error {
	if err := a.streams.enter(infoOf(r).address, "streams of replays"); err != nil {
		return err
	}
	defer a.streams.leave(infoOf(r).address)
	out := newStream(w)
	n := 0
	err := a.Store.ReplaysAfter(r.Context(), after, f, func(replay store.Replay) error {
		line, err := replayLine(replay)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", ndjson)
		if _, err := out.Write(line); err != nil {
			return gone(err)
		}
		if n++; n == limit {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		return err
	}
	w.Header().Set("Content-Type", ndjson) // there may be nothing
	return nil
}

func replayLine(r store.Replay) ([]byte, error) {
	var doc, line bytes.Buffer
	if err := json.Compact(&doc, r.Data); err != nil {
		return nil, fmt.Errorf("the replay of game %d: %w", r.Game, err)
	}
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(wire.ReplayLine{Cursor: cursorOf("replay", r.Game), Game: r.Game, Match: r.Match, Ladder: r.Ladder, Replay: doc.Bytes()})
	return line.Bytes(), err
}

// zipped writes an archive with the documents of a match byte for byte.
func (a *api) zipped(w http.ResponseWriter, r *http.Request, m ladder.Match) error {
	if err := a.streams.enter(infoOf(r).address, "streams of replays"); err != nil {
		return err
	}
	defer a.streams.leave(infoOf(r).address)
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", "attachment; filename=match-"+strconv.FormatInt(m.ID, 10)+".zip")
	z := zip.NewWriter(newStream(w))
	err := a.Store.ReplaysAfter(r.Context(), 0, store.ReplayFilter{Match: m.ID}, func(replay store.Replay) error {
		f, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("game-%d.json", replay.Game), Method: zip.Deflate, Modified: m.Finished})
		if err != nil {
			return gone(err)
		}
		_, err = f.Write(replay.Data)
		return gone(err)
	})
	if err != nil {
		return err
	}
	return gone(z.Close())
}
