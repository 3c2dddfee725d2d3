package protocol

import (
	"bytes"
	"iter"
)

// Words are tokens separated by one space, not yet taken apart: "12c 3o". Empty
// Words have no tokens. The tokens alias the line that they were read from.
type Words []byte

// All yields the tokens in order.
func (w Words) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := []byte(w); len(rest) > 0; {
			var word []byte
			word, rest = cut(rest)
			if !yield(word) {
				return
			}
		}
	}
}

// Len is the number of tokens.
func (w Words) Len() int {
	if len(w) == 0 {
		return 0
	}
	return bytes.Count(w, []byte{' '}) + 1
}

// At is token i, nil where there is none.
func (w Words) At(i int) []byte {
	for word := range w.All() {
		if i == 0 {
			return word
		}
		i--
	}
	return nil
}

// Has tells whether a token is among them.
func (w Words) Has(token []byte) bool {
	for word := range w.All() {
		if bytes.Equal(word, token) {
			return true
		}
	}
	return false
}

// Strings is a copy of the tokens.
func (w Words) Strings() []string {
	s := make([]string, 0, w.Len())
	for word := range w.All() {
		s = append(s, string(word))
	}
	return s
}

// Pairs are "key=value key=value", not yet taken apart, and alias the line
// that they were read from.
type Pairs []byte

// Lookup is the value of a key, and whether there is one; of a key that is
// there twice it is the first.
func (p Pairs) Lookup(key string) ([]byte, bool) {
	for rest := []byte(p); len(rest) > 0; {
		var pair []byte
		pair, rest = cut(rest)
		if n := len(key); len(pair) > n && pair[n] == '=' && string(pair[:n]) == key {
			return pair[n+1:], true
		}
	}
	return nil, false
}

// Get is the value of a key, "" where there is none.
func (p Pairs) Get(key string) string {
	value, _ := p.Lookup(key)
	return string(value)
}

// Int is the value of a key that is a number, 0 where it is none.
func (p Pairs) Int(key string) int {
	value, _ := p.Lookup(key)
	n, _ := parseInt(value)
	return n
}

// All yields keys and values in order.
func (p Pairs) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for word := range Words(p).All() {
			key, value, _ := bytes.Cut(word, []byte{'='})
			if !yield(key, value) {
				return
			}
		}
	}
}

// Map is a copy as a map.
func (p Pairs) Map() map[string]string {
	m := make(map[string]string)
	for key, value := range p.All() {
		if _, ok := m[string(key)]; !ok {
			m[string(key)] = string(value)
		}
	}
	return m
}

// areFine tells whether every token has a key that is not empty and a "=".
func (p Pairs) areFine() bool {
	for rest := []byte(p); len(rest) > 0; {
		var pair []byte
		pair, rest = cut(rest)
		if bytes.IndexByte(pair, '=') < 1 {
			return false
		}
	}
	return true
}

// cut takes the first token off.
func cut(line []byte) (word, rest []byte) {
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i+1:]
	}
	return line, nil
}

// parseInt reads a whole number as strconv.AppendInt writes it: no plus, no
// leading zeros, no "-0". It allocates nothing.
func parseInt(b []byte) (n int, ok bool) {
	digits := b
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(b) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
