package teeko

import (
	"strconv"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// FuzzPlay plays what the bytes say, against the naive game: one for the
// options, one for the limit, one for the seed, then a move each. A byte below
// 128 picks one of the legal moves; the next hundred name a square; with the
// rest, the two bytes that follow name from and to, legal or not.
func FuzzPlay(f *testing.F) {
	f.Add([]byte{0, 200, 0, 1, 2, 3, 130, 250, 1, 2, 250, 23, 24, 0, 0, 0})
	f.Add([]byte{3, 9, 7, 128, 129, 130, 131, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte("\x02\x00\x05playing whatever these words happen to say"))
	f.Fuzz(func(t *testing.T, data []byte) {
		head := [3]byte{}
		data = data[copy(head[:], data):]
		p := newPair(t, wordRules(uint16(head[1]))[head[0]%4], [32]byte{head[2]})
		for len(data) > 0 && p.Naive.turn >= 0 {
			legal := p.Naive.Legal()
			text := legal[int(data[0])%len(legal)]
			if n := int(data[0]) - 128; n >= 100 && len(data) > 2 {
				text = strconv.Itoa(int(data[1])%26) + "-" + strconv.Itoa(int(data[2])%26)
				data = data[2:]
			} else if n >= 0 {
				text = strconv.Itoa(n % 26)
			}
			data = data[1:]
			kit.Must(t, p.Try(text))
		}
	})
}

// FuzzKit is the fuzz test of the conformance kit.
func FuzzKit(f *testing.F) {
	rulestest.Fuzz(f, Game{}, rulestest.Options{})
}
