package referee

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/rules"
)

// Circumstances returns what a replay, and the seat's log of that game, contain about one
// of its faults, for advice. They are incomplete if there is an error.
func (r *Replay) Circumstances(g rules.Game, f Fault, log []byte) (fault.Circumstances, error) {
	c := fault.Circumstances{
		Ply: f.Ply, Games: r.Match.Deal + 1,
		Stderr: fault.Lines(log),
	}
	if f.Seat >= 0 && f.Seat < len(r.Seats) {
		c.Movetime = r.ClockOf(f.Seat).Movetime
	}
	list := func(s rules.State) (moves []string) {
		for _, m := range s.Legal(nil) {
			moves = append(moves, string(s.MoveText(nil, m)))
		}
		return moves
	}
	v, err := r.Resolve(g)
	if err != nil {
		return c, err
	}
	for s, err := range r.Walk(v, nil) {
		if err != nil {
			return c, err
		}
		if m := s.Next; m != nil && s.State.Ply() < f.Ply && m.Seat == f.Seat && !m.StandIn {
			c.Turns++
			c.Last, c.Before, c.Longest = m.Move, list(s.State), max(c.Longest, m.MS)
		}
		if s.State.Ply() == f.Ply && s.State.Turn() == f.Seat && !f.BeforeGame() {
			c.Legal = list(s.State)
		}
	}
	if f.Reason.Kind == fault.MoveUnasked && c.Turns > 0 && string(f.Reason.Line) == "move "+c.Last {
		c.Did = fault.Moved
	}
	return c, nil
}

// Describe adds what is known of a bot to the circumstances of its fault. files is whether
// its author may know which files this machine has.
func (b Bot) Describe(c fault.Circumstances, files bool) fault.Circumstances {
	c.Language, c.Bare = b.Language, b.Sandbox == nil
	if b.Sandbox != nil {
		c.Memory, c.Processes = b.Sandbox.Limit.Memory>>20, int64(b.Sandbox.Limit.Processes)
	}
	if files && b.Sandbox != nil {
		c.Hidden = b.hidden
	}
	return c
}

// hidden reports whether a file exists on this machine but not for the sandboxed bot,
// whose home is its directory for temporary files.
func (b Bot) hidden(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	paths := []string{path}
	home, err := os.UserHomeDir()
	for _, theirs := range []string{"/tmp/", "/scratch/"} {
		if rest, ok := strings.CutPrefix(path, theirs); ok && err == nil {
			paths = append(paths, filepath.Join(home, rest))
		}
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil && (b.Dir == "" || !strings.HasPrefix(path, b.Dir+"/"))
	})
}
