package referee

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/timba-arena/timba/rules"
)

// ParseSeed parses a seed. text is either 64 hexadecimal digits, or a decimal number below 2^64, which becomes the
// big-endian value of the 32 bytes.
func ParseSeed(text string) (rules.Seed, error) {
	var seed rules.Seed
	if len(text) == 2*len(seed) {
		if _, err := hex.Decode(seed[:], []byte(text)); err == nil {
			return seed, nil
		}
	} else if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		binary.BigEndian.PutUint64(seed[len(seed)-8:], n)
		return seed, nil
	}
	return seed, fmt.Errorf("seed: %q is neither 64 hexadecimal digits nor a decimal number below 2^64", text)
}

// NewSeed returns a random seed.
func NewSeed() (seed rules.Seed) {
	rand.Read(seed[:]) // never fails
	return seed
}

// DealSeed returns the seed of one deal of a match. deal is the number of the deal, and match is the seed of the
// match. SPEC.md, "Seeds and deals", says how it is computed.
func DealSeed(match rules.Seed, deal int) rules.Seed {
	return match.Derive(fmt.Sprintf("deal/%d", deal))
}

// BotSeed returns the seed that the bot in a seat gets for its own random decisions in one game. match is the seed of
// the match; deal and rotation (seating) are the numbers of the game. The result has 53 bits, so that every language
// can represent it as a number.
func BotSeed(match rules.Seed, deal, rotation, seat int) uint64 {
	s := match.Derive(fmt.Sprintf("bot/%d/%d/%d", deal, rotation, seat))
	return binary.BigEndian.Uint64(s[:]) >> 11
}
