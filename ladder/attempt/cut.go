package attempt

import (
	"slices"

	"github.com/timba-arena/timba/internal/cutlog"
	"github.com/timba-arena/timba/referee"
)

// Limits for the output of bots in a match. The store keeps this output forever.
const (
	MaxLog  = maxGameLog + cutlog.MaxNote // size in bytes of what a bot writes on stderr in one game
	MaxInfo = 32 << 10                    // size in bytes of the info lines of a seat in one game; see InfoSize

	// MaxMatchInfo limits the info in a match, which is what the bots say about their moves: the sum for all seats,
	// in bytes; see InfoSize. It keeps the replays of a match far below the size that the store can read.
	MaxMatchInfo = 64 << 20

	maxGameLog  = 16 << 10
	maxMatchLog = 96 << 10 // of all logs of a bot in a match
)

// InfoSize returns for how many bytes a line of info (what a bot says about a move) counts in MaxInfo and
// MaxMatchInfo. This is the length of its text and its overhead in memory.
func InfoSize(text string) int { return 32 + len(text) }

// cutInfo shortens the info in r, which is what the bots say about their moves. It keeps the first lines of each
// seat, at most MaxInfo bytes, and removes the others. The moves stay.
func cutInfo(r *referee.Replay) {
	sizes := make([]int, len(r.Seats))
	for i := range r.Moves {
		m := &r.Moves[i]
		for j, text := range m.Info {
			if sizes[m.Seat] += InfoSize(text); sizes[m.Seat] > MaxInfo {
				m.Info = m.Info[:j:j]
				break
			}
		}
		if len(m.Info) == 0 {
			m.Info = nil
		}
	}
}

// Cut sorts the games of a match by deal and rotation (seating), and shortens in place what the bots wrote. bots is
// the number of bots in the match.
//
//   - The logs of a bot in all games together have a limit. Games in which the bot had a fault are exempt.
//   - If the info about moves is too long in all games together, that of the last games is removed.
//
// A second Cut changes nothing.
func Cut(games []*referee.GameResult, bots int) { cut(games, bots, MaxMatchInfo) }

func cut(games []*referee.GameResult, bots, maxInfo int) {
	slices.SortFunc(games, func(a, b *referee.GameResult) int { return a.Match.Compare(b.Match) })
	remaining := slices.Repeat([]int{maxMatchLog}, bots)
	info := 0
	for _, g := range games {
		for i, m := range g.Moves {
			for _, text := range m.Info {
				info += InfoSize(text)
			}
			if info > maxInfo {
				g.Moves[i].Info = nil
			}
		}
		for seat, bot := range g.Bots {
			limit := maxGameLog
			if !slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Seat == seat }) {
				limit = min(limit, remaining[bot])
			}
			g.Logs[seat] = cutlog.Cut(g.Logs[seat], limit)
			remaining[bot] = max(0, remaining[bot]-len(g.Logs[seat]))
		}
	}
}
