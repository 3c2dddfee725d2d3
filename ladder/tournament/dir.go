package tournament

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/text"
)

// Directory keeps a tournament's games as they end: plan.json says what is played,
// games/ has a replay of each, logs/ what bots wrote beside it. A file is there
// whole or not at all, so that a tournament can go on from what is there after
// any end of its program.
type Dir struct {
	Path string
	// FaultsOnly keeps only games with faults; such a directory cannot be resumed.
	FaultsOnly bool
}

// planFile says what a directory's tournament is, resultFile how it ended.
const (
	planFile   = "plan.json"
	resultFile = "result.json"
)

// Begin writes the plan to a directory that has no tournament yet.
func (f *Dir) Begin(p Plan) error {
	if err := f.make(); err != nil {
		return err
	}
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(filepath.Join(f.Path, planFile)); err == nil {
		return fmt.Errorf("out: %s already has a tournament: resume it with --resume %s, or name another directory", f.Path, text.Quote(f.Path))
	}
	return f.writePlan(p)
}

// Replace writes another plan, of which the directory's games are a part, and removes
// the result, which no longer holds.
func (f *Dir) Replace(p Plan) error {
	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(filepath.Join(f.Path, resultFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("out: %w", err)
	}
	return f.writePlan(p)
}

func (f *Dir) writePlan(p Plan) error {
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	return f.write(planFile, append(data, '\n'))
}

func (f *Dir) make() error {
	for _, dir := range []string{"games", "logs"} {
		if err := os.MkdirAll(filepath.Join(f.Path, dir), 0o755); err != nil {
			return fmt.Errorf("out: %w: name a directory that can be written to", err)
		}
	}
	return nil
}

// ReadPlan returns what a directory was begun with.
func (f *Dir) ReadPlan() (Plan, error) {
	var p Plan
	data, err := os.ReadFile(filepath.Join(f.Path, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("resume: %s has no tournament: %s is missing; start one with --out %s", f.Path, planFile, f.Path)
	}
	if err != nil {
		return p, fmt.Errorf("resume: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("resume: %s: %w", filepath.Join(f.Path, planFile), err)
	}
	return p, nil
}

func gameName(match, deal, rotation int) string {
	return fmt.Sprintf("%04d-%05d-%d", match, deal, rotation)
}

// lock keeps other runs of the program out of the directory while it plays. The
// system gives the lock back however the program ends.
func (f *Dir) lock() (unlock func() error, err error) {
	l := flock.New(filepath.Join(f.Path, ".lock"))
	switch ok, err := l.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("out: locking %s: %w", f.Path, err)
	case !ok:
		return nil, fmt.Errorf("out: another timba is playing in %s: wait for its end, or stop it", f.Path)
	}
	return l.Unlock, nil
}

// Replay returns the path of a game's replay.
func (f *Dir) Replay(match, deal, rotation int) string {
	return filepath.Join(f.Path, "games", gameName(match, deal, rotation)+".json")
}

// Log returns the path of what a seat wrote in a game, "" where it wrote nothing.
func (f *Dir) Log(match, deal, rotation, seat int) string {
	path := f.logPath(match, deal, rotation, seat)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (f *Dir) logPath(match, deal, rotation, seat int) string {
	return filepath.Join(f.Path, "logs", fmt.Sprintf("%s-seat%d.log", gameName(match, deal, rotation), seat))
}

// keep writes a finished game: its logs first, so that where there is a replay
// there is all of it.
func (f *Dir) keep(m *Match, g *referee.Result) error {
	if f.FaultsOnly {
		if len(g.Faults) == 0 {
			return nil
		}
		if err := f.make(); err != nil { // the first fault makes the directory
			return err
		}
	}
	deal, rotation := g.Match.Deal, g.Match.Rotation
	for seat, log := range g.Logs {
		if len(log) == 0 {
			continue
		}
		if err := os.WriteFile(f.logPath(m.Number, deal, rotation, seat), log, 0o644); err != nil {
			return fmt.Errorf("out: %w", err)
		}
	}
	return f.write(filepath.Join("games", gameName(m.Number, deal, rotation)+".json"), g.Encode())
}

// Result keeps a document beside the games.
func (f *Dir) Result(data []byte) error { return f.write(resultFile, data) }

// write makes a file appear whole.
func (f *Dir) write(name string, data []byte) error {
	path := filepath.Join(f.Path, name)
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	err := os.WriteFile(temp, data, 0o644)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp) // on a full disk its room is needed
		return fmt.Errorf("out: %w", err)
	}
	return nil
}

// games reads what there is of a match. With an error, it returns the games before the one that
// is wrong.
func (f *Dir) games(t *Tournament, m *Match) ([]*referee.Result, error) {
	if f.FaultsOnly {
		return nil, nil
	}
	var games []*referee.Result
	for rotation := range m.Bots {
		for deal := range t.Deals {
			path := f.Replay(m.Number, deal, rotation)
			data, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return games, fmt.Errorf("resume: %w", err)
			}
			g, err := t.readGame(m, deal, rotation, data)
			if err != nil {
				return games, fmt.Errorf("resume: %s: %w: delete it to play the game again", path, err)
			}
			games = append(games, g)
		}
	}
	return games, nil
}

// readGame reads a game that was played earlier, which must be the one that the
// match has at that deal and rotation.
func (t *Tournament) readGame(m *Match, deal, rotation int, data []byte) (*referee.Result, error) {
	r, err := referee.DecodeReplay(data)
	if err != nil {
		return nil, err
	}
	switch seed := r.Match.Seed; {
	case seed == nil || *seed != referee.Hex(t.seedOf(m)):
		return nil, errors.New("it is of another match")
	case r.Match.Deal != deal || r.Match.Rotation != rotation:
		return nil, fmt.Errorf("it is of deal %d, rotation %d", r.Match.Deal, r.Match.Rotation)
	}
	if differences := r.Verify(t.Variant.Game()); len(differences) > 0 {
		return nil, differences[0]
	}
	if v, err := r.Resolve(t.Variant.Game()); err != nil || !slices.Equal(v.Settings(), t.Variant.Settings()) {
		return nil, fmt.Errorf("it was played with other options: %v", r.Options)
	}
	var by referee.Adjudication
	if r.Adjudication != nil {
		by = *r.Adjudication
	}
	if !by.Equal(t.Adjudication) {
		return nil, fmt.Errorf("it was played with the adjudication %q, not %q", by, t.Adjudication)
	}
	g := &referee.Result{Replay: *r}
	for seat, s := range r.Seats {
		bot := rules.BotAt(seat, rotation, len(m.Bots))
		if b := t.Bots[m.Bots[bot]]; s.Name != b.Name || s.SHA256 != b.Hash {
			return nil, fmt.Errorf("seat %d was played by %q, not by the %q of this tournament", seat, s.Name, b.Name)
		}
		g.Bots = append(g.Bots, bot)
	}
	return g, nil
}

// drop removes the games of a match that were played past the end of its test.
func (f *Dir) drop(m *Match, seats int) error {
	if f.FaultsOnly {
		return nil
	}
	for deal := m.counted; deal < len(m.prints); deal++ {
		if len(m.prints[deal]) == 0 {
			continue
		}
		for rotation := range m.Bots {
			paths := []string{f.Replay(m.Number, deal, rotation)}
			for seat := range seats {
				paths = append(paths, f.logPath(m.Number, deal, rotation, seat))
			}
			for _, path := range paths {
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("out: %w", err)
				}
			}
		}
	}
	return nil
}

// sweep removes files that were incomplete when the program ended.
func (f *Dir) sweep() {
	for _, dir := range []string{f.Path, filepath.Join(f.Path, "games")} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp") {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}
