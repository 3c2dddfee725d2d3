package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder/attempt"
)

// compressor returns an encoder that all goroutines share.
var compressor = sync.OnceValue(func() *zstd.Encoder {
	w, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	return w
})

// Pack encodes a result in at most limit bytes: a line of JSON without the games, and then the compressed games.
// If the result is too large, Pack first removes the logs and then what bots said about their moves. If it is
// still too large, Pack encodes a Failure instead of the games.
func Pack(r attempt.Result, limit int) ([]byte, error) {
	games := r.Games
	r.Games = nil
	for cut := 0; ; cut++ {
		switch cut {
		case 0:
		case 1:
			for _, g := range games {
				clear(g.Logs)
			}
		case 2:
			for _, g := range games {
				for i := range g.Moves {
					g.Moves[i].Info = nil
				}
			}
		default:
			games = nil
			r.Failure = &attempt.Failure{Kind: attempt.FailedMachine, Text: phrase.New("the result has more than %d bytes: play fewer deals, or allow larger messages", limit)}
		}
		packed, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("result: %w", err)
		}
		packed = append(packed, '\n')
		document, err := json.Marshal(games)
		if err != nil {
			return nil, fmt.Errorf("result: %w", err)
		}
		packed = compressor().EncodeAll(document, packed)
		if len(packed) <= limit && len(document) <= MaxResult || cut > 2 {
			return packed, nil
		}
	}
}

// Delivery is the result of a match that a machine has sent to the server. The games stay compressed until Check
// decodes them.
type Delivery struct {
	attempt.Result
	packedGames []byte // compressed
}

// Unpack decodes a result that a machine has encoded with Pack. It decodes and checks only the first line, which has
// everything except the games; Delivery.Check decodes the games. The data may be forged.
func Unpack(data []byte) (d Delivery, err error) {
	head, games, ok := bytes.Cut(data[:min(len(data), MaxPacked)], []byte("\n"))
	if !ok || len(head) > MaxHead {
		return d, errors.New("result: it does not begin with a line about its attempt")
	}
	if err := json.Unmarshal(head, &d.Result); err != nil {
		return d, fmt.Errorf("result: %w", err)
	}
	switch {
	case len(d.Games) > 0:
		return d, errors.New("result: it has games in the line about its attempt")
	case d.StarvedGames < 0 || d.VoidGames < d.StarvedGames || d.VoidGames > maxVoids || d.Took < 0 || d.Took > ResultRetention:
		return d, fmt.Errorf("result: %d games, %d of them starved, were played again in %s", d.VoidGames, d.StarvedGames, d.Took)
	}
	if f := d.Failure; f != nil {
		if f.Text = phrase.Plain(printableText(f.Error())); !slices.Contains(attempt.FailureKinds, f.Kind) {
			f.Kind = attempt.FailedMachine
		}
	}
	d.packedGames = games
	return d, nil
}

// maxVoids limits how many games that did not count a machine can report for a match.
const maxVoids = 1_000_000
