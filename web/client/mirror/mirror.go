// Package mirror saves the replays of a competition in a directory, in a file of lines, or to a stream. It
// can continue a directory or file after its last replay.
package mirror

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/wire"
)

// GameFile returns the name of the file of a game's replay in a directory.
func GameFile(id int64) string { return fmt.Sprintf("game-%d.json", id) }

const cursorFile = ".cursor"

// Mirror saves replays in a directory, in a file or to a stream.
type Mirror struct {
	Cursor string // position after the last saved replay, for the server

	dir           string
	selection     Selection
	withoutCursor bool     // the directory gets no file with a cursor
	file          *os.File // nil for a stream
	w             *bufio.Writer
}

// NewStream returns a mirror that writes lines to w.
func NewStream(w io.Writer) *Mirror { return &Mirror{w: bufio.NewWriter(w)} }

// Open opens a mirror in a directory, or in a file with the extension .ndjson or .jsonl, to continue after its last
// replay. selection says which replays it is for. whole is true if the replays are those of one match, which are
// always downloaded from the start.
func Open(path string, selection Selection, whole bool) (*Mirror, error) {
	ext := strings.ToLower(filepath.Ext(path))
	switch {
	case ext != ".ndjson" && ext != ".jsonl":
		return openDir(path, selection, whole)
	case whole:
		file, err := os.Create(path)
		if err != nil {
			return nil, fmt.Errorf("out: %w", err)
		}
		if err := writeAtomically(selectionFile(path), []byte(oneMatch+"\n")); err != nil {
			file.Close()
			return nil, err
		}
		return &Mirror{file: file, w: bufio.NewWriter(file)}, nil
	}
	return openLines(path, selection)
}

func openDir(path string, selection Selection, whole bool) (*Mirror, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("out: %w: name a directory, or a file ending in .ndjson or .jsonl", err)
	}
	m := &Mirror{dir: path, selection: selection, withoutCursor: whole}
	data, err := os.ReadFile(filepath.Join(path, cursorFile))
	if errors.Is(err, fs.ErrNotExist) || whole {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	cursor, of, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	m.Cursor = cursor
	return m, sameSelection(path, Selection(of), selection)
}

// Selection says which replays are mirrored. It is the name of a ladder, "bot=" with the name of a bot, or both with
// a space between them. "" means all replays.
type Selection string

// Select returns the selection of the replays of a ladder and a bot; "" means all ladders or all bots.
func Select(ladder, bot string) Selection {
	if bot != "" {
		bot = "bot=" + bot
	}
	return Selection(strings.TrimSpace(ladder + " " + bot))
}

// describe returns the selection as words of an error.
func (s Selection) describe() string {
	ladder, bot, hasBot := strings.Cut(" "+string(s), " bot=")
	switch ladder = strings.TrimSpace(ladder); ladder {
	case "":
		ladder = "all ladders"
	case oneMatch:
	default:
		ladder = "ladder " + ladder
	}
	if hasBot {
		return ladder + " and bot " + bot
	}
	return ladder
}

// sameSelection returns an error if two selections differ. have is the selection of the replays that exist at path,
// and want the selection that the user asks for.
func sameSelection(path string, have, want Selection) error {
	if have == want {
		return nil
	}
	return fmt.Errorf("out: %s has replays of %s, not of %s: give another name", path, have.describe(), want.describe())
}

// oneMatch is stored in place of a selection if the replays are those of one match, so that no other
// download continues there. No ladder has this name, because names have no spaces.
const oneMatch = "one match"

// selectionFile returns the path of the file that stores the selection of the replays in the file at path.
func selectionFile(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".selection")
}

// openLines opens a file of lines to continue after its last complete line. The selection of its replays is in the
// file selectionFile(path). If that file is missing, openLines derives the selection from the ladders in the lines;
// if there are several, it is all ladders.
func openLines(path string, selection Selection) (*Mirror, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("out: %w", err)
	}
	m := &Mirror{file: f, w: bufio.NewWriterSize(f, 1<<16)}
	cursor, of, end, err := scan(f)
	if said, err := os.ReadFile(selectionFile(path)); err == nil {
		of = strings.TrimSpace(string(said))
	}
	if err == nil && cursor != "" {
		m.Cursor = cursor
		err = sameSelection(path, Selection(of), selection)
	}
	if err == nil {
		err = writeAtomically(selectionFile(path), []byte(selection+"\n"))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(end, io.SeekStart)
	if err = errors.Join(f.Truncate(end), err); err != nil {
		f.Close()
		return nil, fmt.Errorf("out: %w", err)
	}
	return m, nil
}

// scan reads a file of lines. cursor is the cursor of the last complete line, or "" if there is none. ladder is the
// ladder of all complete lines, or "" if they differ. end is the offset of their end. An incomplete line after end is
// from an interrupted download.
func scan(f *os.File) (cursor, ladder string, end int64, err error) {
	in := bufio.NewReaderSize(f, 1<<16)
	for {
		data, err := in.ReadBytes('\n')
		if err == io.EOF {
			return cursor, ladder, end, nil
		}
		if err != nil {
			return "", "", 0, fmt.Errorf("out: %w", err)
		}
		var line wire.ReplayLine
		if err := json.Unmarshal(data, &line); err != nil || line.Cursor == "" {
			return "", "", 0, fmt.Errorf("out: a line of %s is not a replay: name another file", f.Name())
		}
		if end == 0 {
			ladder = line.Ladder
		} else if line.Ladder != ladder {
			ladder = ""
		}
		cursor, end = line.Cursor, end+int64(len(data))
	}
}

// Add saves a replay and advances the cursor.
func (m *Mirror) Add(line wire.ReplayLine) error {
	if m.dir == "" {
		data, err := compactLine(line)
		if err != nil {
			return err
		}
		if _, err := m.w.Write(data); err != nil {
			return fmt.Errorf("out: %w", err)
		}
		m.Cursor = line.Cursor
		return nil
	}
	r, err := referee.DecodeReplay(line.Replay)
	if err != nil {
		return fmt.Errorf("game %d: %w", line.Game, err)
	}
	data, text := r.Encode(), new(bytes.Buffer)
	if json.Compact(text, data); !bytes.Equal(text.Bytes(), line.Replay) { // it has members of a newer timba, which Encode leaves out
		data = append(line.Replay, '\n')
	}
	if err := writeAtomically(filepath.Join(m.dir, GameFile(line.Game)), data); err != nil {
		return err
	}
	m.Cursor = line.Cursor
	return nil
}

func compactLine(line wire.ReplayLine) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(line)
	return b.Bytes(), err
}

// writeAtomically writes a file completely or not at all.
func writeAtomically(path string, data []byte) error {
	tmp := path + ".tmp"
	err := os.WriteFile(tmp, data, 0o644)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("out: %w", err)
	}
	return nil
}

// Close saves the cursor. It does so also after an error of Add, as all replays before the cursor are complete.
func (m *Mirror) Close() error {
	var errs []error
	if m.w != nil {
		errs = append(errs, m.w.Flush())
	}
	if m.file != nil {
		errs = append(errs, m.file.Close())
	}
	if m.dir != "" && m.Cursor != "" && !m.withoutCursor {
		errs = append(errs, writeAtomically(filepath.Join(m.dir, cursorFile), []byte(strings.TrimSpace(m.Cursor+" "+string(m.selection))+"\n")))
	}
	return errors.Join(errs...)
}
