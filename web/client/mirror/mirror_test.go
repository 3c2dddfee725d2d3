package mirror

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/wire"
)

func line(cursor, ladder string) wire.ReplayLine {
	return wire.ReplayLine{Cursor: cursor, Ladder: ladder, Replay: json.RawMessage(`{}`)}
}

func add(t *testing.T, m *Mirror, lines ...wire.ReplayLine) {
	t.Helper()
	for _, l := range lines {
		kit.Must(t, m.Add(l))
	}
	kit.Must(t, m.Close())
}

// A file is resumed after its last complete line; an incomplete line is downloaded again.
func TestLinesGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.ndjson")
	m, err := Open(path, "teeko", false)
	if err != nil || m.Cursor != "" {
		t.Fatalf("a new file has cursor %q, %v", m.Cursor, err)
	}
	add(t, m, line("one", "teeko"), line("two", "teeko"))
	whole, err := os.ReadFile(path)
	kit.Must(t, err)
	kit.Must(t, os.WriteFile(path, append(bytes.Clone(whole), `{"cursor":"thr`...), 0o644))
	if m, err = Open(path, "teeko", false); err != nil || m.Cursor != "two" {
		t.Fatalf("the cursor is %q, %v, want two", m.Cursor, err)
	}
	add(t, m, line("three", "teeko"))
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, whole) || bytes.Count(data, []byte("\n")) != 3 || !bytes.Contains(data, []byte(`"cursor":"three"`)) {
		t.Errorf("the file has\n%s%v", data, err)
	}
	for other, want := range map[Selection]string{"tebes": "not of ladder tebes", "": "not of all ladders", Select("teeko", "ada"): "not of ladder teeko and bot ada"} {
		if _, err := Open(path, other, false); err == nil || !strings.Contains(err.Error(), "has replays of ladder teeko, "+want+": give another name") {
			t.Errorf("ladder %q: %v", other, err)
		}
	}
	copied := filepath.Join(t.TempDir(), "copied.ndjson")
	kit.Must(t, os.WriteFile(copied, whole, 0o644))
	if _, err := Open(copied, "", false); err == nil || !strings.Contains(err.Error(), "has replays of ladder teeko, not of all ladders") {
		t.Errorf("a file that was copied alone: %v", err)
	}
	if m, err = Open(copied, "teeko", false); err != nil || m.Cursor != "two" {
		t.Errorf("the cursor of a copy is %q, %v", m.Cursor, err)
	}
}

// A file of all ladders is resumed with all ladders, even if it has replays of only one so far.
func TestAllLadders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.ndjson")
	m := kit.Get[*Mirror](t)(Open(path, "", false))
	add(t, m, line("one", "teeko"))
	if _, err := Open(path, "teeko", false); err == nil || !strings.Contains(err.Error(), "has replays of all ladders, not of ladder teeko") {
		t.Errorf("one ladder: %v", err)
	}
	m = kit.Get[*Mirror](t)(Open(path, "", false))
	add(t, m, line("two", "tebes"))
	kit.Must(t, os.Remove(selectionFile(path))) // the lines tell
	if m, err := Open(path, "", false); err != nil || m.Cursor != "two" {
		t.Errorf("the cursor is %q, %v", m.Cursor, err)
	}
}

// A file with the replays of one match cannot be resumed, not even with the ladder of the match.
func TestMatchDoesNotGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "match.ndjson")
	for range 2 {
		m := kit.Get[*Mirror](t)(Open(path, "", true))
		add(t, m, line("seven", "teeko"))
	}
	for _, ladder := range []Selection{"teeko", ""} {
		if m, err := Open(path, ladder, false); err == nil || !strings.Contains(err.Error(), "has replays of one match, not of ") {
			t.Errorf("ladder %q: %v, %v", ladder, m, err)
		}
	}
}

// A directory is resumed after its cursor, only with replays of the same ladder.
func TestDirGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "replays")
	m, err := Open(dir, "teeko", false)
	kit.Must(t, err)
	m.Cursor = "two"
	add(t, m)
	if m, err = Open(dir, "teeko", false); err != nil || m.Cursor != "two" {
		t.Errorf("the cursor is %q, %v, want two", m.Cursor, err)
	}
	if _, err := Open(dir, "", false); err == nil || !strings.Contains(err.Error(), "has replays of ladder teeko, not of all ladders: give another name") {
		t.Errorf("all ladders: %v", err)
	}
	if m, err = Open(dir, "", true); err != nil || m.Cursor != "" {
		t.Errorf("a match has cursor %q, %v", m.Cursor, err)
	}
	add(t, m)
	if data, err := os.ReadFile(filepath.Join(dir, cursorFile)); err != nil || string(data) != "two teeko\n" {
		t.Errorf("after a match the cursor is %q, %v", data, err)
	}
}

// A file has a line for each move, or all that a newer timba wrote if this one would lose a part of it.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "replays")
	m := kit.Get[*Mirror](t)(Open(dir, "teeko", false))
	known := new(bytes.Buffer)
	kit.Must(t, json.Compact(known, (&referee.Replay{Timba: 1, Game: "teeko"}).Encode()))
	newer := strings.Replace(known.String(), `"moves"`, `"mood":{"calm":[1]},"moves"`, 1)
	add(t, m, wire.ReplayLine{Cursor: "one", Game: 1, Replay: known.Bytes()}, wire.ReplayLine{Cursor: "two", Game: 2, Replay: []byte(newer)})
	for game, want := range map[int64]string{1: "{\n \"timba\": 1,\n", 2: newer + "\n"} {
		if data, err := os.ReadFile(filepath.Join(dir, GameFile(game))); err != nil || !strings.HasPrefix(string(data), want) {
			t.Errorf("game %d is\n%s%v", game, data, err)
		}
	}
}

func TestStream(t *testing.T) {
	var out bytes.Buffer
	m := NewStream(&out)
	add(t, m, line("one", ""), line("two", ""))
	if m.Cursor != "two" || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("behind %q the stream has\n%s", m.Cursor, out.String())
	}
}
