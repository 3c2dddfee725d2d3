package attempt

import (
	"fmt"
	"slices"

	"github.com/timba-arena/timba/referee"
)

// Bots write as much as the referee allows, and the store never deletes anything:
// these are the limits of what it stores of a match.
const (
	MaxLog  = maxGameLog + maxCutNote // bytes of one bot's log of a game
	MaxInfo = 32 << 10                // of the info that a seat sends in one game, by InfoSize

	// MaxMatchInfo is how much of the info of all seats of a match is kept, by InfoSize. With it the replays of a match
	// stay far below what the store can read again.
	MaxMatchInfo = 64 << 20

	maxGameLog  = 16 << 10
	maxMatchLog = 96 << 10 // of all logs of a bot in a match
)

// InfoSize returns what an info line counts against MaxInfo and MaxMatchInfo, in bytes: its text, and what it takes in
// memory beside it.
func InfoSize(text string) int { return 32 + len(text) }

// maxCutNote is more than the note on what was cut of a log takes.
const maxCutNote = 64

// cutLog returns the beginning and the end of a log, with a note between them on what
// was cut.
func cutLog(log []byte, most int) []byte {
	if len(log) <= most+maxCutNote {
		return log
	}
	text := fmt.Sprintf("\n[%d bytes cut]\n", len(log)-most)
	head := most / 2
	cut := append([]byte{}, log[:head]...)
	cut = append(cut, text...)
	return append(cut, log[len(log)-(most-head):]...)
}

// cutInfo drops what seats send about their moves beyond MaxInfo. What is needed to
// rebuild a position stays.
func cutInfo(r *referee.Replay) {
	said := make([]int, len(r.Seats))
	for i := range r.Moves {
		m := &r.Moves[i]
		for j, text := range m.Info {
			if said[m.Seat] += InfoSize(text); said[m.Seat] > MaxInfo {
				m.Info = m.Info[:j:j]
				break
			}
		}
		if len(m.Info) == 0 {
			m.Info = nil
		}
	}
}

// Cut brings the games of a match between some bots into the order of the deals, and cuts their logs
// and infos: each bot has a share of the logs, and one with a fault its log of that game in any case; infos
// are kept from the first games on. Cutting twice is the same as cutting once.
func Cut(games []*referee.Result, bots int) { cut(games, bots, MaxMatchInfo) }

// cut is Cut with a maximum for the info of a match.
func cut(games []*referee.Result, bots, maxInfo int) {
	slices.SortFunc(games, func(a, b *referee.Result) int { return a.Match.Compare(b.Match) })
	left := slices.Repeat([]int{maxMatchLog}, bots)
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
			most := maxGameLog
			if !slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Seat == seat }) {
				most = min(most, left[bot])
			}
			g.Logs[seat] = cutLog(g.Logs[seat], most)
			left[bot] = max(0, left[bot]-len(g.Logs[seat]))
		}
	}
}
