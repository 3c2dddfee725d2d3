package explain

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/terminal/draw"
	"github.com/timba-arena/timba/terminal/playback"
)

// ReplayFile is the replay of one game, read from a file.
type ReplayFile struct {
	Path   string
	Match  string // number of the match in its tournament, otherwise the beginning of the match's seed
	Replay *referee.Replay
	Rules  *rules.Game
}

// Open reads the replays with the given paths. A directory stands for all replays in it, in the order of their
// games. read reads one file and returns the replay with the rules of its game.
func Open(paths []string, read func(path string) (*referee.Replay, *rules.Game, error)) ([]*ReplayFile, error) {
	files, err := playback.Files(paths)
	if err != nil {
		return nil, err
	}
	var games []*ReplayFile
	for _, p := range files {
		r, g, err := read(p)
		if err != nil {
			return nil, err
		}
		if _, err := r.Resolve(g); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		games = append(games, &ReplayFile{p, matchOf(p, r), r, g})
	}
	return games, nil
}

// matchOf returns a text that identifies the match of a replay. If the file at path has a name that timba match
// gives, this is the number of the match, otherwise the beginning of the match's seed.
func matchOf(path string, r *referee.Replay) string {
	match, ok := numberOf(path)
	if !ok && r.Match.Seed != nil {
		return r.Match.Seed.String()[:8]
	}
	return match
}

// numberOf returns the number of a match with which the file name of a replay begins. If the name does not begin
// with a number, as in a competition, ok is false.
func numberOf(path string) (number string, ok bool) {
	number, _, _ = strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
	_, err := strconv.Atoi(number)
	return number, err == nil
}

// endReason makes the moves of the replay g again and returns why the game ended, as a short text of the game's rules
// such as "line". It returns "" if the game was not played to an end by its rules, if the rules give no reasons, or if
// a move of the replay is not valid.
func (g *ReplayFile) endReason() (reason string) {
	v, err := g.Replay.Resolve(g.Rules)
	if err != nil {
		return ""
	}
	for step, err := range g.Replay.Walk(v, nil) {
		end, ok := step.State.(rules.Ender)
		if err != nil || !ok {
			return ""
		}
		reason = end.EndReason()
	}
	return reason
}

func (g *ReplayFile) name(seat int) string {
	if seat < 0 || seat >= len(g.Replay.Seats) {
		return fmt.Sprintf("seat %d", seat)
	}
	return draw.Clean(g.Replay.Seats[seat].Name)
}

func (g *ReplayFile) logPath(seat int) string {
	base := strings.TrimSuffix(filepath.Base(g.Path), ".json")
	return filepath.Join(filepath.Dir(g.Path), "..", "logs", fmt.Sprintf("%s-seat%d.log", base, seat))
}
