// Package words parses the parts of a protocol line: tokens separated by single spaces, and key=value pairs.
// Packages protocol and rules both use it, so that neither has to import the other.
package words

import (
	"bytes"
	"iter"
)

// List is an unparsed list of tokens separated by single spaces, such as "12c 3o". An empty List has no
// tokens. The tokens alias the underlying line.
type List []byte

// All yields the tokens in order.
func (w List) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := []byte(w); len(rest) > 0; {
			var word []byte
			word, rest = Cut(rest)
			if !yield(word) {
				return
			}
		}
	}
}

// Len returns the number of tokens.
func (w List) Len() int {
	if len(w) == 0 {
		return 0
	}
	return bytes.Count(w, []byte{' '}) + 1
}

// Token returns the token at index i, or nil if i is out of range.
func (w List) Token(i int) []byte {
	for word := range w.All() {
		if i == 0 {
			return word
		}
		i--
	}
	return nil
}

// Has reports whether the list contains token.
func (w List) Has(token []byte) bool {
	for word := range w.All() {
		if bytes.Equal(word, token) {
			return true
		}
	}
	return false
}

// Strings returns the tokens as newly allocated strings.
func (w List) Strings() []string {
	s := make([]string, 0, w.Len())
	for word := range w.All() {
		s = append(s, string(word))
	}
	return s
}

// Pairs is an unparsed list "key=value key=value". Keys and values alias the underlying line.
type Pairs []byte

// Lookup returns the first value of key and reports whether the key exists.
func (p Pairs) Lookup(key string) ([]byte, bool) {
	for rest := []byte(p); len(rest) > 0; {
		var pair []byte
		pair, rest = Cut(rest)
		if n := len(key); len(pair) > n && pair[n] == '=' && string(pair[:n]) == key {
			return pair[n+1:], true
		}
	}
	return nil, false
}

// Get returns the first value of key, or "" if the key does not exist.
func (p Pairs) Get(key string) string {
	value, _ := p.Lookup(key)
	return string(value)
}

// Int returns the first value of key as a number, or 0 if it is missing or not a number.
func (p Pairs) Int(key string) int {
	value, _ := p.Lookup(key)
	n, _ := ParseInt(value)
	return n
}

// All yields the keys and values in order.
func (p Pairs) All() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for word := range List(p).All() {
			key, value, _ := bytes.Cut(word, []byte{'='})
			if !yield(key, value) {
				return
			}
		}
	}
}

// Map returns the pairs as a new map. The first value of a repeated key counts.
func (p Pairs) Map() map[string]string {
	m := make(map[string]string)
	for key, value := range p.All() {
		if _, ok := m[string(key)]; !ok {
			m[string(key)] = string(value)
		}
	}
	return m
}

// Valid reports whether every token has a non-empty key and a "=".
func (p Pairs) Valid() bool {
	for rest := []byte(p); len(rest) > 0; {
		var pair []byte
		pair, rest = Cut(rest)
		if bytes.IndexByte(pair, '=') < 1 {
			return false
		}
	}
	return true
}

// Cut returns the first token of line and what follows the space after it. If line has no space, rest is nil.
func Cut(line []byte) (word, rest []byte) {
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i+1:]
	}
	return line, nil
}

// ParseInt parses an integer in the form that strconv.AppendInt writes: no plus sign, no leading zeros, no
// "-0", and at most 18 digits. It does not allocate.
func ParseInt(b []byte) (n int, ok bool) {
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
