package policy

import (
	"encoding/binary"
	"io"
)

// Writer writes a policy. The format is a byte with the number of bytes of a key and then, for each shard, a
// uint32 with the number n of its words, n times the highest byte of the keys and so on to the lowest, and n
// choices. Sorted columns compress well. States must be added in the order of their keys, and WriteShard must
// be called after each shard.
type Writer struct {
	StateCount int // number of states written

	w     io.Writer
	width int
	words []uint64 // words of the current shard
	b     []byte
}

// NewWriter begins a policy. states is the approximate number of states.
func NewWriter(w io.Writer, states int) (*Writer, error) {
	p := &Writer{w: w, width: widthOf(states)}
	_, err := w.Write([]byte{byte(p.width)})
	return p, err
}

// HasLastKey reports whether the shortened key of k is that of the last state. Then k cannot be added.
func (p *Writer) HasLastKey(k Key) bool {
	last := len(p.words) - 1
	return last >= 0 && p.words[last]>>choiceBits == highBytes(k.Rest(), p.width)
}

func (p *Writer) add(k Key, choice uint64) {
	p.words = append(p.words, highBytes(k.Rest(), p.width)<<choiceBits|choice)
}

// AddBest adds a state with its best action.
func (p *Writer) AddBest(k Key, action uint8) { p.add(k, uint64(action)) }

// AddDrawn adds a state whose action is drawn, with its place for ActionAt.
func (p *Writer) AddDrawn(k Key, place uint8) { p.add(k, drawnFlag|uint64(place)) }

// AddTried adds a tried action of a state in which the untried actions are better. It must be called for all
// tried actions, the best first.
func (p *Writer) AddTried(k Key, action uint8) { p.add(k, triedFlag|uint64(action)) }

// WriteShard writes the states added since the last call as one shard.
func (p *Writer) WriteShard() error {
	p.StateCount += countStates(p.words)
	b := binary.LittleEndian.AppendUint32(p.b[:0], uint32(len(p.words)))
	for column := p.width - 1; column >= 0; column-- {
		for _, word := range p.words {
			b = append(b, byte(word>>choiceBits>>(8*column)))
		}
	}
	for _, word := range p.words {
		b = append(b, byte(word))
	}
	p.words, p.b = p.words[:0], b
	_, err := p.w.Write(b)
	return err
}
