package protocol

import "github.com/timba-arena/timba/protocol/words"

// Words is a list of tokens of a line; Pairs is one of key=value pairs.
type (
	Words = words.List
	Pairs = words.Pairs
)
