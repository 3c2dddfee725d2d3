package runner

import (
	"fmt"

	"github.com/timba-arena/timba/referee"
)

// Bots write what they like, as much as the referee lets them, and all of it is
// kept for ever: these are the shares of a match that a ladder keeps.
const (
	keepGameLog  = 16 << 10 // bytes of one bot's log of a game
	keepMatchLog = 96 << 10 // of all its logs of a match
	keepInfo     = 32 << 10 // of the thoughts that a seat tells in one game
)

// cutLog keeps the beginning and the end of a log, with a note of what is gone
// between them.
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

// cutInfo drops what seats say about their moves past their share of the replay.
// What a position is rebuilt from stays as it is.
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

// logShare hands out what may be kept of the logs of one slot in a match.
type logShare struct{ left int }

// take cuts a log to what is left; games with a fault always have their share.
func (s *logShare) take(log []byte, faulty bool) []byte {
	most := keepGameLog
	if !faulty {
		most = min(most, s.left)
	}
	log = cutLog(log, most)
	s.left = max(0, s.left-len(log))
	return log
}
