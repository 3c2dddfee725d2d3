package fleet

import (
	"fmt"

	"github.com/timba-arena/timba/referee"
)

// Bots write as much as the referee allows, and the store never deletes anything:
// these are the limits of what it stores of a match.
const (
	keepGameLog  = 16 << 10 // bytes of one bot's log of a game
	keepMatchLog = 96 << 10 // of all its logs of a match
	keepInfo     = 32 << 10 // of the info that a seat sends in one game
)

// cutLog returns the beginning and the end of a log, with a note between them on what
// was cut.
func cutLog(log []byte, most int) []byte {
	if len(log) <= most {
		return log
	}
	note := fmt.Sprintf("\n[%d bytes cut]\n", len(log)-most)
	head := most / 2
	cut := append([]byte{}, log[:head]...)
	cut = append(cut, note...)
	return append(cut, log[len(log)-(most-head):]...)
}

// cutInfo drops what seats send about their moves beyond keepInfo. What is needed to
// rebuild a position stays.
func cutInfo(r *referee.Replay) {
	said := make([]int, len(r.Seats))
	for i := range r.Moves {
		m := &r.Moves[i]
		for j, text := range m.Info {
			if said[m.Seat] += len(text); said[m.Seat] > keepInfo {
				m.Info = m.Info[:j:j]
				break
			}
		}
		if len(m.Info) == 0 {
			m.Info = nil
		}
	}
}

// logShare is how many bytes of the logs of one slot may still be stored in a match.
type logShare struct{ left int }

// take cuts a log to what is left; a game with a fault always has its share.
func (s *logShare) take(log []byte, faulty bool) []byte {
	most := keepGameLog
	if !faulty {
		most = min(most, s.left)
	}
	log = cutLog(log, most)
	s.left = max(0, s.left-len(log))
	return log
}

// note is more than the note on what was cut of a log takes.
const note = 64

// Trim cuts the logs of a result to what an honest worker hands in, in a match of some slots.
func (r *Result) Trim(slots int) {
	left := make([]int, slots)
	for i := range left {
		left[i] = keepMatchLog + referee.MaxFaults*keepGameLog + note*len(r.Games)
	}
	for _, g := range r.Games {
		for seat, log := range g.Logs {
			if seat >= len(g.Bots) || g.Bots[seat] < 0 || g.Bots[seat] >= slots {
				g.Logs[seat] = nil // the store refuses the game
				continue
			}
			if len(log) > keepGameLog+note {
				log = cutLog(log, keepGameLog)
			}
			if left[g.Bots[seat]] -= len(log); left[g.Bots[seat]] < 0 {
				log = nil
			}
			g.Logs[seat] = log
		}
	}
}
