package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules/text"
)

// extras counts the processes and games of a check, and what the bot writes in them besides its answers.
type extras struct {
	processes, games      int // processes that were started, and games that were begun in all of them
	comments, infos, crlf int
	totalLog              int      // bytes on stderr, of all processes
	gameLog               int      // bytes on stderr in the current game, or before the first game
	maxGameLog            int      // the largest gameLog
	firstLine             string   // the first line on stderr
	badInfos              []string // info lines with a mistake, and the mistake; at most 3
}

// addLine counts a line of the bot if it is a comment or an info line, or if it ends in CR LF. line is the line as
// the bot wrote it, and msg the same line after parsing.
func (s *extras) addLine(msg protocol.BotLine, line []byte) {
	if len(line) > 0 && line[len(line)-1] == '\r' {
		s.crlf++
	}
	switch msg.Verb {
	case protocol.Comment:
		s.comments++
	case protocol.Info:
		s.infos++
		if bad := infoTrouble(protocol.Pairs(msg.Text)); bad != "" && len(s.badInfos) < 3 {
			bad = fmt.Sprintf("%s: %s", protocol.Quote(line), bad)
			if !slices.Contains(s.badInfos, bad) {
				s.badInfos = append(s.badInfos, bad)
			}
		}
	}
}

// infoTrouble describes the first mistake in an info line, with which a bot comments on its next move. pairs has the
// keys and values of the line. infoTrouble returns "" if there is no mistake.
func infoTrouble(pairs protocol.Pairs) string {
	if len(pairs) == 0 {
		return "it is empty: add key=value pairs"
	}
	seen := map[string]bool{}
	for key, value := range pairs.All() {
		k, v := string(key), string(value)
		if seen[k] {
			return fmt.Sprintf("the key %q occurs twice", k)
		}
		seen[k] = true
		if k == "score" || k == "depth" || k == "nodes" {
			if _, ok := referee.ParseScore(v); !ok {
				return fmt.Sprintf("%s is %q, not a number: only numbers can be drawn", k, v)
			}
		}
	}
	return ""
}

// addStderr counts the bytes in data, which the bot wrote to stderr, and stores the first line.
func (s *extras) addStderr(data []byte) {
	if s.totalLog == 0 && len(data) > 0 {
		s.firstLine, _, _ = strings.Cut(string(data), "\n")
	}
	s.totalLog, s.gameLog = s.totalLog+len(data), s.gameLog+len(data)
	s.maxGameLog = max(s.maxGameLog, s.gameLog)
}

// note describes the counts in one line of English.
func (s *extras) note() string {
	var parts []string
	add := func(n int, thing, more string) {
		if n > 0 {
			parts = append(parts, text.Count(n, thing)+more)
		}
	}
	add(s.infos, "info line", "")
	add(s.comments, "comment", "")
	add(s.crlf, "line", " ended by CR LF, which is allowed")
	add(s.totalLog, "byte", fmt.Sprintf(" on stderr, which is its log (%s)", protocol.Quote([]byte(s.firstLine))))
	if parts == nil {
		return "answers only: no infos, no comments, nothing on stderr"
	}
	return strings.Join(parts, ", ")
}

func (s *extras) warnings() (list []string) {
	for _, bad := range s.badInfos {
		list = append(list, "info line "+bad)
	}
	if s.maxGameLog > match.MaxLog {
		list = append(list, fmt.Sprintf("%d KiB on stderr in one game: a match keeps only the first %d KiB", s.maxGameLog>>10, match.MaxLog>>10))
	}
	return list
}
