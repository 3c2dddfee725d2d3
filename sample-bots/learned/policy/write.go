package policy

import (
	"encoding/binary"
	"io"
)

// Writer writes a Policy to a file. The caller adds states in increasing order of their keys and calls
// WriteShard after each shard. The format is a byte with the number of bytes of a key and then, for each
// shard, a uint32 with the number n of its words, the highest bytes of its n keys and so on to the lowest,
// and the n actions. Sorted columns compress well.
type Writer struct {
	StateCount int // number of states in the shards written so far

	w     io.Writer
	width int
	words []uint64 // words of the current shard
	b     []byte
}

// NewWriter returns a Writer and writes the beginning of a policy to w. states is the approximate number of states.
// It determines how many bytes of each key are stored.
func NewWriter(w io.Writer, states int) (*Writer, error) {
	p := &Writer{w: w, width: widthOf(states)}
	_, err := w.Write([]byte{byte(p.width)})
	return p, err
}

// HasLastKey reports whether the stored bytes of k are the same as those of the key that was added last. Then no
// state with the key k must be added.
func (p *Writer) HasLastKey(k Key) bool {
	last := len(p.words) - 1
	return last >= 0 && p.words[last]>>choiceBits == highBytes(k.Rest(), p.width)
}

func (p *Writer) add(k Key, choice uint64) {
	p.words = append(p.words, highBytes(k.Rest(), p.width)<<choiceBits|choice)
}

// AddBest adds the state with the key k and its best action.
func (p *Writer) AddBest(k Key, action uint8) { p.add(k, uint64(action)) }

// AddDrawn adds the state with the key k. Its action is not stored: ActionAt(legal, place) determines it
// among the actions that are legal when the policy is used.
func (p *Writer) AddDrawn(k Key, place uint8) { p.add(k, drawnFlag|uint64(place)) }

// AddTried adds an action that was tried in the state with the key k. It is for a state in which all tried actions
// had worse results than untried ones are assumed to have. It must be called for each of the tried actions, the
// best first.
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
