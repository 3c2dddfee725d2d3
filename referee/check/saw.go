package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
)

// saw is what a bot writes beside its answers, over all its processes.
type saw struct {
	comments, infos, crlf int
	log                   int    // bytes on stderr
	most                  int    // the most of them in one game
	first                 string // their first line
	badInfos              []string
}

// line takes a line that is well-formed.
func (s *saw) line(msg protocol.BotLine, line []byte) {
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

// infoTrouble is what keeps an info from being useful, "" for nothing.
func infoTrouble(pairs protocol.Pairs) string {
	if len(pairs) == 0 {
		return "it says nothing: add key=value pairs"
	}
	seen := map[string]bool{}
	for key, value := range pairs.All() {
		k, v := string(key), string(value)
		if seen[k] {
			return fmt.Sprintf("the key %q is there twice", k)
		}
		seen[k] = true
		if k == "score" || k == "depth" || k == "nodes" {
			if _, err := strconv.ParseFloat(v, 64); err != nil {
				return fmt.Sprintf("%s is the word %q: a number can be drawn", k, v)
			}
		}
	}
	return ""
}

// stderr takes what came on stderr; wrote is what there was in this game.
func (s *saw) stderr(data []byte, wrote int) {
	if s.log == 0 && len(data) > 0 {
		s.first, _, _ = strings.Cut(string(data), "\n")
	}
	s.log += len(data)
	s.most = max(s.most, wrote)
}

// note says it in a few words.
func (s *saw) note() string {
	var parts []string
	add := func(n int, one, many, more string) {
		if n > 0 {
			parts = append(parts, count(n, one, many)+more)
		}
	}
	add(s.infos, "info line", "info lines", "")
	add(s.comments, "comment", "comments", "")
	add(s.crlf, "line", "lines", " ended by CR LF, which is allowed")
	add(s.log, "byte", "bytes", fmt.Sprintf(" on stderr, which is its log (%s)", protocol.Quote([]byte(s.first))))
	if parts == nil {
		return "answers only: no infos, no comments, nothing on stderr"
	}
	return strings.Join(parts, ", ")
}

func (s *saw) warnings() (list []string) {
	for _, bad := range s.badInfos {
		list = append(list, "info line "+bad)
	}
	if s.most > referee.MaxLog {
		list = append(list, fmt.Sprintf("%d KiB on stderr in one game: a match keeps the first %d", s.most>>10, referee.MaxLog>>10))
	}
	return list
}
