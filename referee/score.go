package referee

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Score returns the bot's own score of the position that it moved in: the last of its infos
// with a number as score. SPEC.md, "Lines from the bot", has its meaning and unit.
func (m *ReplayMove) Score() (float64, bool) {
	for _, info := range slices.Backward(m.Info) {
		for pair := range strings.SplitSeq(info, " ") {
			if value, found := strings.CutPrefix(pair, "score="); found {
				if score, ok := ParseScore(value); ok {
					return score, true
				}
				break // as in protocol.Pairs, the first value of a key counts
			}
		}
	}
	return 0, false
}

// ParseScore parses a score as bots write it: a decimal number such as -3, 0.25 or 1e3.
func ParseScore(text string) (float64, bool) {
	if strings.Trim(text, "+-.0123456789eE") != "" { // hexadecimal, infinite, no number at all
		return 0, false
	}
	score, err := strconv.ParseFloat(text, 64)
	return score, err == nil && !math.IsInf(score, 0)
}
