package rl

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/model"
)

// Policy has what an agent does in each state: what a table knows less its numbers. Its words are
// the high bits of the rest of a key and a choice, in the order of the keys, by shard.
type Policy struct {
	shards [Shards][]uint64
	width  int
}

// A choice is the low byte of a word. Most are an action, the best of the state. Of a state in which
// an action that was never tried counts as 0 and all means are negative, the policy has all that
// were tried, the best first, each marked as tried. A choice that is marked as drawn is the place
// of an action among the legal ones, in 128ths: see Place.
const (
	choiceBits = 8
	tried      = 1 << actionBits
	drew       = 1 << 7
)

// Place returns the legal action at a place of 128, which is drawn before the legal ones are known.
func Place(legal uint64, place uint8) uint8 {
	return nth(legal, int(place)*bits.OnesCount64(legal)/Places)
}

// Places are the places that Place knows.
const Places = 128

// A policy keeps so many bytes of the rest of its keys that of the states that it does not know, it
// takes at most one in 1024 for another.
const (
	minWidth  = 3
	maxWidth  = restBits / 8
	strangers = 10 // bits of that chance
)

// widthOf returns the bytes for so many states.
func widthOf(states int) int {
	width := minWidth
	for width < maxWidth && states > 1<<(shardBits+8*width-strangers) {
		width++
	}
	return width
}

// cut returns the high bytes of the rest of a key.
func cut(rest uint64, width int) uint64 { return rest >> (restBits - 8*width) }

// Best returns the action of a state if it is legal.
func (p *Policy) Best(k Key, legal uint64) (action uint8, known bool) {
	words, rest := p.shards[k.Shard()], cut(k.rest(), p.width)
	i, _ := slices.BinarySearchFunc(words, rest, func(word, rest uint64) int { return cmp.Compare(word>>choiceBits, rest) })
	if i == len(words) || words[i]>>choiceBits != rest {
		return 0, false
	}
	action = uint8(words[i] & (MaxActions - 1))
	switch {
	case words[i]&drew != 0:
		return Place(legal, uint8(words[i]%Places)), true
	case words[i]&tried == 0:
		return action, legal>>action&1 != 0
	}
	untried := legal
	for ; i < len(words) && words[i]>>choiceBits == rest; i++ {
		a := uint8(words[i] & (MaxActions - 1))
		if untried &^= 1 << a; !known && legal>>a&1 != 0 {
			action, known = a, true
		}
	}
	if known && untried != 0 {
		action = draw(untried, k)
	}
	return action, known
}

// Len returns how many states the policy has.
func (p *Policy) Len() (n int) {
	for _, words := range p.shards {
		n += countStates(words)
	}
	return n
}

// countStates returns how many keys words have.
func countStates(words []uint64) (n int) {
	for i, word := range words {
		if i == 0 || word>>choiceBits != words[i-1]>>choiceBits {
			n++
		}
	}
	return n
}

// policyWords appends the words of a shard of a table: of the states that were visited so often.
// Of states whose keys are the same when they are cut, it takes the first. It returns the scratch
// for the next shard.
func policyWords(dst, scratch []uint64, t *Table, n, visits, width int, drawn map[Key]uint8) (words, rests []uint64) {
	s := &t.shards[n]
	rests = scratch[:0]
	for _, word := range s.words {
		if word != 0 {
			rests = append(rests, word>>(64-restBits))
		}
	}
	slices.Sort(rests)
	for _, rest := range slices.Compact(rests) {
		k, high := Key(n)<<restBits|Key(rest), cut(rest, width)<<choiceBits
		b := t.best(k, AllActions)
		if m := len(dst); !b.known || m > 0 && dst[m-1]>>choiceBits == high>>choiceBits || t.visits(k) < visits {
			continue
		}
		if place, ok := drawn[k]; ok {
			dst = append(dst, high|drew|uint64(place))
			continue
		}
		if !t.Zero || b.mean >= 0 {
			dst = append(dst, high|uint64(b.action))
			continue
		}
		for left := b.tried; left != 0; left &^= 1 << b.action {
			b = t.best(k, left)
			dst = append(dst, high|tried|uint64(b.action))
		}
	}
	return dst, rests
}

// visits returns how often a state was visited.
func (t *Table) visits(k Key) (n int) {
	s := &t.shards[k.Shard()]
	for i := s.home(k.rest()); s.words[i] != 0; {
		if s.words[i]>>(64-restBits) == k.rest() {
			n += int(s.words[i] & maxCount)
		}
		if i++; i == len(s.words) {
			i = 0
		}
	}
	return n
}

// WritePolicy writes the policy of a table, of the states that were visited so often: a byte with
// the number of bytes of a key; then for each shard a uint32, the number n of its words, n times
// the highest byte of the keys, and so on to the lowest, and n choices. Sorted and by columns it is
// compressed well. Drawn has the states whose action is drawn, with its place. It returns how many
// states it wrote.
func WritePolicy(w io.Writer, t *Table, visits int, drawn map[Key]uint8) (states int, err error) {
	width := widthOf(t.Len())
	if _, err := w.Write([]byte{byte(width)}); err != nil {
		return 0, err
	}
	var words, scratch []uint64
	for n := range Shards {
		words, scratch = policyWords(words[:0], scratch, t, n, visits, width, drawn)
		states += countStates(words)
		if err := writeWords(w, words, width); err != nil {
			return states, err
		}
	}
	return states, nil
}

func writeWords(w io.Writer, words []uint64, width int) error {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(words)))
	for column := width - 1; column >= 0; column-- {
		for _, word := range words {
			b = append(b, byte(word>>choiceBits>>(8*column)))
		}
	}
	for _, word := range words {
		b = append(b, byte(word))
	}
	_, err := w.Write(b)
	return err
}

// ReadPolicy reads what WritePolicy wrote.
func ReadPolicy(r io.Reader) (*Policy, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:1]); err != nil {
		return nil, damaged(err)
	}
	p := &Policy{width: int(size[0])}
	if p.width < minWidth || p.width > maxWidth {
		return nil, fmt.Errorf("model: the body is damaged: keys of %d bytes", p.width)
	}
	for n := range p.shards {
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return nil, damaged(err)
		}
		b, err := readBytes(r, int64(binary.LittleEndian.Uint32(size[:]))*int64(p.width+1))
		if err != nil {
			return nil, damaged(err)
		}
		if p.shards[n] = readWords(b, p.width); !increasing(p.shards[n]) {
			return nil, errors.New("model: the body is damaged: the states are not in order")
		}
	}
	return p, nil
}

func readWords(b []byte, width int) []uint64 {
	words := make([]uint64, len(b)/(width+1))
	n := len(words)
	for i := range words {
		for column := range width {
			words[i] = words[i]<<8 | uint64(b[column*n+i])
		}
		words[i] = words[i]<<choiceBits | uint64(b[width*n+i])
	}
	return words
}

// increasing reports whether each word has a higher key than the one before it, or both are of a
// state with all that was tried.
func increasing(words []uint64) bool {
	for i := 1; i < len(words); i++ {
		a, b := words[i-1], words[i]
		if a>>choiceBits > b>>choiceBits || a>>choiceBits == b>>choiceBits && (a&b&tried == 0 || (a|b)&drew != 0) {
			return false
		}
	}
	return true
}

// readBytes reads so many bytes; it takes no more memory than there is to read.
func readBytes(r io.Reader, n int64) ([]byte, error) {
	const part = 1 << 20
	var b []byte
	for n > 0 {
		size := min(n, part)
		b = slices.Grow(b, int(size))
		if _, err := io.ReadFull(r, b[len(b):len(b)+int(size)]); err != nil {
			return nil, err
		}
		b = b[:len(b)+int(size)]
		n -= size
	}
	return b, nil
}

func damaged(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("model: the body is damaged: %w", err)
}

// Encoding returns the abstraction and whether suits are alike, as the header of a model has them.
// KeysOf reads it.
func (k Keys) Encoding() string {
	words := strings.Fields(k.Abstraction)
	if k.Alike {
		words = append(words, alike)
	}
	return strings.Join(words, ",")
}

const alike = "alike"

// Model is a policy with what it sees.
type Model struct {
	Keys
	Agent
	Header model.Header
}

// ReadModel reads a model of the kind rl.
func ReadModel(r io.Reader) (*Model, error) {
	h, body, err := model.Read(r)
	if err != nil {
		return nil, err
	}
	if h.Kind != model.RL {
		body.End()
		return nil, fmt.Errorf("model: the kind is %q, not %q: try a model of timba train rl", h.Kind, model.RL)
	}
	return ReadBody(h, KeysOf(h.Variant, h.Encoding), body)
}

// KeysOf returns the keys of a variant and an encoding.
func KeysOf(variant, encoding string) Keys {
	k := Keys{Variant: variant}
	for word := range strings.SplitSeq(encoding, ",") {
		if word == alike {
			k.Alike = true
		} else {
			k.Abstraction = word
		}
	}
	return k
}

// ReadBody reads the body of a model with given keys, to its end.
func ReadBody(h model.Header, k Keys, body *model.Body) (*Model, error) {
	m := &Model{Header: h, Keys: k}
	if err := m.read(body); err != nil {
		body.End()
		return nil, err
	}
	return m, body.End()
}

func (m *Model) read(body io.Reader) error {
	if err := m.Keys.Check(); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	states, err := ReadPolicy(body)
	if err != nil {
		return err
	}
	m.States = states
	if m.Variant != ManyStates {
		return nil
	}
	votes, err := ReadPolicy(body)
	m.Votes = votes
	return err
}

// has reports whether the model keeps a defect of the study.
func (m *Model) has(defect string) bool { return slices.Contains(m.Header.Defects, defect) }

// Choose returns the model's move in a position and whether it knows the state. With the defect
// Index the move may not be legal.
func Choose[S any, P learn.Position[S]](m *Model, s *Sight, p P, w *learn.Watch, legal []rules.Move, r *rules.Rand) (rules.Move, bool) {
	Look[S, P](m.Keys, s, p, w, legal)
	action, known := m.Agent.Choose(s, r)
	move := s.Move(action)
	if m.has(Index) {
		move = indexed(move, legal, p.Board())
	}
	return move, known
}
