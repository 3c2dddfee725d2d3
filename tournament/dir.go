package tournament

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules/text"
	"github.com/timba-arena/timba/sandbox"
)

// Dir is the directory of a tournament, in which each game is stored when it ends. plan.json contains the Config,
// games/ a replay of each game, and logs/ the logs of the bots. The plan, replays and result are written
// atomically, so that a tournament can resume from its directory however the program ended.
//
// A Dir is locked until Close, so that no other process plays in it. The operating system releases the lock if
// the program is killed.
type Dir struct {
	Path string
	// FaultsOnly means that only games in which a bot failed are stored. The directory then has neither plan nor lock,
	// and the tournament cannot be resumed.
	FaultsOnly bool

	lock *flock.Flock
}

// The files of a tournament's directory that contain the Config and the result.
const (
	planFile   = "plan.json"
	resultFile = "result.json"
)

func readPlan(path string) (c Config, err error) {
	data, err := os.ReadFile(filepath.Join(path, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%s has no tournament: %s is missing; start one with --out %s", path, planFile, path)
	}
	if err != nil {
		return c, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("%s: %w: if a newer timba began the tournament, use that", filepath.Join(path, planFile), err)
	}
	return c, nil
}

// OpenDir locks the directory of a tournament that has begun, and returns it with its plan. It returns an error
// if the directory has no plan, or if another process has locked it. The caller must close the Dir.
func OpenDir(path string) (*Dir, Config, error) {
	c, err := readPlan(path) // before the lock, which would make a file also where no tournament is
	if err != nil {
		return nil, c, fmt.Errorf("resume: %w", err)
	}
	d, err := lockDir(path)
	if err != nil {
		return nil, c, err
	}
	if c, err = readPlan(path); err != nil { // another process may have extended it before the lock
		d.Close()
		return nil, c, fmt.Errorf("resume: %w", err)
	}
	d.removeTemporary()
	return d, c, nil
}

// ReadDir returns the directory of a tournament that is over, its plan, and the JSON document of its result. The
// directory is neither locked nor changed.
func ReadDir(path string) (*Dir, Config, []byte, error) {
	c, err := readPlan(path)
	if err != nil {
		return nil, c, nil, err
	}
	result, err := os.ReadFile(filepath.Join(path, resultFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s has no %s, as not all games are played: play the others with timba match --resume %s", path, resultFile, text.Quote(path))
	}
	return &Dir{Path: path}, c, result, err
}

// CreateDir creates and locks the directory of a new tournament, and stores the plan c. It returns an error if
// the directory already has a plan, or if another process has locked it. The caller must close the Dir.
func CreateDir(path string, c Config) (*Dir, error) {
	d, err := ClaimDir(path)
	if err != nil {
		return nil, err
	}
	if err := d.writePlan(c); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// ClaimDir creates and locks a directory for games that do not belong to a tournament and cannot be resumed. It
// returns an error if the directory is locked or already has a plan or games. The caller must close the Dir.
func ClaimDir(path string) (*Dir, error) {
	d := &Dir{Path: path}
	if err := d.make(); err != nil {
		return nil, err
	}
	d, err := lockDir(path)
	if err != nil {
		return nil, err
	}
	if _, err = os.Stat(filepath.Join(path, planFile)); err == nil {
		err = fmt.Errorf("out: %s already has a tournament: resume it with timba match --resume %s, or name another directory", path, text.Quote(path))
	} else if old, _ := os.ReadDir(filepath.Join(path, "games")); len(old) > 0 {
		err = fmt.Errorf("out: %s already has games: name another directory", path)
	} else {
		return d, nil
	}
	d.Close()
	return nil, err
}

func lockDir(path string) (*Dir, error) {
	d := &Dir{Path: path, lock: flock.New(filepath.Join(path, ".lock"))}
	switch ok, err := d.lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("out: locking %s: %w", path, err)
	case !ok:
		return nil, fmt.Errorf("out: another timba is playing in %s: wait for its end, or stop it", path)
	}
	return d, nil
}

// Close releases the lock of the directory. It does nothing if d is nil.
func (d *Dir) Close() error {
	if d == nil || d.lock == nil {
		return nil
	}
	return d.lock.Unlock()
}

// ReplacePlan replaces the stored plan by c, for instance by a plan with more deals, and removes the stored result.
// All games that the directory has must be part of c.
func (d *Dir) ReplacePlan(c Config) error {
	if err := os.Remove(filepath.Join(d.Path, resultFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("out: %w", err)
	}
	return d.writePlan(c)
}

func (d *Dir) writePlan(c Config) error {
	data, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return d.write(planFile, append(data, '\n'))
}

func (d *Dir) make() error {
	for _, dir := range []string{"games", "logs"} {
		if err := os.MkdirAll(filepath.Join(d.Path, dir), 0o755); err != nil {
			return fmt.Errorf("out: %w: name a directory that can be written to", err)
		}
	}
	return nil
}

// GameID identifies a game of a tournament.
type GameID struct{ Match, Deal, Rotation int }

// String returns the name of the game's files, without an extension.
func (g GameID) String() string { return gameName(g.Match, g.Deal, g.Rotation) }

func gameName(match, deal, rotation int) string {
	return fmt.Sprintf("%04d-%05d-%d", match, deal, rotation)
}

// Compare orders games by match, deal and rotation.
func (g GameID) Compare(o GameID) int {
	return cmp.Or(g.Match-o.Match, g.Deal-o.Deal, g.Rotation-o.Rotation)
}

// StoredGames returns the games whose replays are in the directory, ordered by match, deal and rotation.
func (d *Dir) StoredGames() (list []GameID, err error) {
	entries, err := os.ReadDir(filepath.Join(d.Path, "games"))
	for _, e := range entries {
		var g GameID
		if fmt.Sscanf(e.Name(), "%d-%d-%d", &g.Match, &g.Deal, &g.Rotation); e.Name() == g.String()+".json" {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, GameID.Compare)
	return list, err
}

// ReplayPath returns the path at which the replay of a game is or would be stored. match is the number of the game's
// match, deal the number of the deal, and rotation the number of the seating.
func (d *Dir) ReplayPath(match, deal, rotation int) string {
	return filepath.Join(d.Path, "games", gameName(match, deal, rotation)+".json")
}

// ExistingLog returns the path of the log of the bot at a seat in a game. It returns "" if there is no log, because
// the bot wrote nothing. match, deal and rotation (seating) are the numbers that identify the game.
func (d *Dir) ExistingLog(match, deal, rotation, seat int) string {
	path := d.logPath(match, deal, rotation, seat)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (d *Dir) logPath(match, deal, rotation, seat int) string {
	return filepath.Join(d.Path, "logs", fmt.Sprintf("%s-seat%d.log", gameName(match, deal, rotation), seat))
}

// StoreGame writes the logs and then the replay of a finished game. Because the replay comes last, every game that
// has a replay is complete. If FaultsOnly is set and the game has no fault, StoreGame does nothing.
func (d *Dir) StoreGame(m *Match, g *referee.GameResult) error {
	if d.FaultsOnly {
		if len(g.Faults) == 0 {
			return nil
		}
		if err := d.make(); err != nil { // the first fault makes the directory
			return err
		}
	}
	deal, rotation := g.Match.Deal, g.Match.Rotation
	for seat, log := range g.Logs {
		path := d.logPath(m.Number, deal, rotation, seat)
		var err error
		if len(log) > 0 {
			err = os.WriteFile(path, log, 0o644)
		} else {
			err = os.RemoveAll(path) // left over from a game without a replay, which is played again
		}
		if err != nil {
			return fmt.Errorf("out: %w", err)
		}
	}
	return d.write(filepath.Join("games", gameName(m.Number, deal, rotation)+".json"), g.Encode())
}

// StoreResult writes data, the JSON document with the result of the tournament, to its file in the directory.
func (d *Dir) StoreResult(data []byte) error { return d.write(resultFile, data) }

// write writes data atomically to a file in the directory. name is the path of the file relative to the directory.
func (d *Dir) write(name string, data []byte) error {
	path := filepath.Join(d.Path, name)
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	err := os.WriteFile(temp, data, 0o644)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp) // to free its space on a full disk
		return fmt.Errorf("out: %w", err)
	}
	return nil
}

// Games reads and yields the stored games of a match. If a file cannot be read, or its game does not belong to the
// match, Games yields an error and stops.
func (d *Dir) Games(s *State, m *Match) iter.Seq2[*referee.GameResult, error] {
	return func(yield func(*referee.GameResult, error) bool) {
		for rotation := range m.Bots {
			for i := range s.Deals {
				g, err := d.game(s, m, s.FirstDeal+i, rotation)
				if (g != nil || err != nil) && !yield(g, err) || err != nil {
					return
				}
			}
		}
	}
}

// game reads one stored game of a match. If the game is not stored, it returns nil without an error.
func (d *Dir) game(s *State, m *Match, deal, rotation int) (*referee.GameResult, error) {
	if d.FaultsOnly {
		return nil, nil
	}
	path := d.ReplayPath(m.Number, deal, rotation)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	g, err := s.readGame(m, deal, rotation, data)
	if err != nil {
		return nil, fmt.Errorf("resume: %s: %w: delete it to play the game again", path, err)
	}
	return g, nil
}

// RemoveGames removes the replays and logs of a match for all deals whose number is from or higher.
func (d *Dir) RemoveGames(m *Match, from int) error {
	if d.FaultsOnly {
		return nil
	}
	for _, dir := range []string{"games", "logs"} {
		entries, err := os.ReadDir(filepath.Join(d.Path, dir))
		if err != nil {
			return fmt.Errorf("out: %w", err)
		}
		for _, e := range entries {
			var match, deal int
			if n, _ := fmt.Sscanf(e.Name(), "%d-%d-", &match, &deal); n < 2 || match != m.Number || deal < from {
				continue
			}
			if err := os.Remove(filepath.Join(d.Path, dir, e.Name())); err != nil {
				return fmt.Errorf("out: %w", err)
			}
		}
	}
	return nil
}

// removeTemporary removes incomplete files that a program left when it was killed. It ignores errors.
func (d *Dir) removeTemporary() {
	for _, dir := range []string{d.Path, filepath.Join(d.Path, "games")} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".tmp") {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// DescribeBot adds to c, the circumstances of a bot's fault, what the plan of the tournament says about the bot
// called name. It also returns the arguments of the timba command that checks this bot, or nil for a bot that is part
// of timba. replay is the path of a replay in the tournament's directory. If the directory has no plan with this bot,
// c stays as it is, and the arguments have the word BOT in place of the bot.
func DescribeBot(replay, name string, c fault.Circumstances) (fault.Circumstances, []string) {
	if strings.HasPrefix(name, "@") {
		return c, nil
	}
	unknown := []string{"check", "BOT"}
	p, err := readPlan(filepath.Dir(filepath.Dir(replay)))
	if err != nil {
		return c, unknown
	}
	i := slices.IndexFunc(p.Bots, func(b Entrant) bool { return b.Name == name })
	if i < 0 {
		return c, unknown
	}
	c.Language = program.LanguageOf(p.Bots[i].Bot)
	p.Bots[i].DescribeLimits(&c.Sandbox)
	c.Sandbox.Absent = p.Sandbox.Level == sandbox.LevelNone.String()
	return c, check.CommandArgs(p.Bots[i].Bot, p.Game, p.Clock, sandbox.Limit{})
}

// DescribeLimits records in c whether the bot has limits of its own for memory and processes, instead of those of the
// match. These come from its argument on the command line or from its manifest.
func (e Entrant) DescribeLimits(c *fault.Confinement) {
	m, _ := program.ReadManifest(e.Bot) // empty unless the bot is a directory
	c.HasOwnMemory = e.Memory != 0 || m.Match.Memory != 0
	c.HasOwnProcesses = e.Processes != 0 || m.Match.Processes != 0
}
