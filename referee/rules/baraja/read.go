package baraja

import (
	"bytes"

	"github.com/timba-arena/timba/referee/rules"
)

// ReadCard reads a key whose value is a card of the pack.
func ReadCard(v *rules.ViewReader, key string, pack Set) Card {
	c := parse(v.Value(key))
	if v.Err() != nil || c == NoCard || !pack.Has(c) {
		v.Fail(key, "is not a card of the pack")
		return 0
	}
	return c
}

// ReadCards appends the cards of a list, as Text writes it, each once.
func ReadCards(v *rules.ViewReader, key string, dst []Card, pack Set) []Card {
	return readCards(v, key, v.Value(key), dst, pack)
}

// ReadSet reads the cards of a list as a set.
func ReadSet(v *rules.ViewReader, key string, pack Set) Set {
	return readSet(v, key, v.Value(key), pack)
}

func readSet(v *rules.ViewReader, key string, list []byte, pack Set) Set {
	var memory [Cards]Card
	return SetOf(readCards(v, key, list, memory[:0], pack))
}

func readCards(v *rules.ViewReader, key string, list []byte, dst []Card, pack Set) []Card {
	if string(list) == "-" || v.Err() != nil {
		return dst
	}
	for more := true; more; {
		var word []byte
		word, list, more = bytes.Cut(list, comma)
		c := parse(word)
		if c == NoCard || !pack.Has(c) {
			v.Fail(key, "has what is not a card of the pack, or a card twice")
			return dst
		}
		pack = pack.Without(c)
		dst = append(dst, c)
	}
	return dst
}

var comma = []byte{','}
