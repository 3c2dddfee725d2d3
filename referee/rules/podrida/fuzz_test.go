package podrida

import (
	"strconv"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules/baraja"
	"github.com/timba-arena/timba/referee/rules/rulestest"
)

// FuzzPlay plays what the bytes say, against the naive game: three for the
// options, one for the seed, then a move each. A byte below 200 picks one of
// the legal moves; the others name a card or bid, legal or not.
func FuzzPlay(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 1, 200, 0, 1, 0, 210, 0, 220, 248, 255})
	f.Add([]byte{9, 1, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 230, 1, 2, 3, 4, 5})
	f.Add([]byte("\x05\x00\x01\x02playing whatever these words happen to say"))
	f.Fuzz(func(t *testing.T, data []byte) {
		head := [4]byte{}
		data = data[copy(head[:], data):]
		r := Rules{Players: minSeats + head[0]%(maxSeats-minSeats+1), Deck: 48 - head[1]%2*8, UpDown: head[2]%2 == 1}
		p := newPair(t, r, [32]byte{head[3]})
		for i, b := range data {
			if p.Naive.turn < 0 {
				break
			}
			legal := p.Naive.Legal()
			text := legal[int(b)%len(legal)]
			if n := int(b) - 200; n >= baraja.Cards {
				text = "bid:" + strconv.Itoa(n-baraja.Cards+i%16)
			} else if n >= 0 {
				text = baraja.Card(n).String()
			}
			kit.Must(t, p.Try(text))
		}
	})
}

// FuzzKit is the fuzz test of the conformance kit.
func FuzzKit(f *testing.F) { rulestest.Fuzz(f, Game{}, rulestest.Options{}) }
