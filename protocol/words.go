package protocol

import "github.com/timba-arena/timba/protocol/words"

// Words and Pairs are the list types of package words, under the names that users of this package need: Words
// is a list of tokens, and Pairs a list of key=value pairs.
type (
	Words = words.List
	Pairs = words.Pairs
)
