package referee

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/timba-arena/timba/rules"
)

// Fingerprint returns a hash of what happened in a game: the bot in each seat, the first position, the moves and the
// result. For statistics, two games with the same hash are the same game. bots has a number for each seat, by which
// the caller identifies the bot.
//
// Databases store fingerprints, so the fingerprint of an old replay must never change.
func (r *Replay) Fingerprint(v *rules.Variant, bots []int) [16]byte {
	stream := rules.NewStream(rules.Seed(r.Seed))
	start := v.Deal(&stream)
	var data []byte
	number := func(n uint64) { data = binary.BigEndian.AppendUint64(data, n) }
	for seat, bot := range bots {
		number(uint64(bot))
		data = append(start.View(data, seat), '\n')
	}
	for _, m := range r.Moves {
		data = append(append(data, byte(m.Seat)), m.Move...)
		data = append(data, '\n')
	}
	for _, rank := range r.Ranks {
		number(uint64(rank))
	}
	for _, points := range r.Points {
		number(math.Float64bits(points))
	}
	sum := sha256.Sum256(data)
	return [16]byte(sum[:16])
}
