package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/referee"
)

// compressor is safe for several goroutines.
var compressor = sync.OnceValue(func() *zstd.Encoder {
	w, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	return w
})

// Pack returns a result as it is handed in, in at most so many bytes: a line about the attempt, and the
// games, compressed. What is too large loses what the bots said beside their moves, the logs first, and
// becomes a Failure in the end.
func Pack(r Result, most int) ([]byte, error) {
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
			r.Failure = &Failure{Kind: FailedMachine, Text: fmt.Sprintf("the result has more than %d bytes: play fewer deals, or allow larger messages", most)}
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
		if len(packed) <= most && len(document) <= MaxResult || cut > 2 {
			return packed, nil
		}
	}
}

// Unpack reads what Pack returns, or anything that a machine hands in instead. The games are left to
// Delivery.Unpack.
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
	case d.Starved < 0 || d.Voids < d.Starved || d.Voids > maxVoids || d.Took < 0 || d.Took > KeepResults:
		return d, fmt.Errorf("result: %d games, %d of them starved, were played again in %s", d.Voids, d.Starved, d.Took)
	}
	if f := d.Failure; f != nil {
		if f.Text = shown(f.Text); !slices.Contains(failureKinds, f.Kind) {
			f.Kind = FailedMachine
		}
	}
	d.packed = games
	return d, nil
}

// maxVoids is how many games a machine can have played again, in a match.
const maxVoids = 1_000_000

// Bots write as much as the referee allows, and the store never deletes anything:
// these are the limits of what it stores of a match.
const (
	keepGameLog  = 16 << 10 // bytes of one bot's log of a game
	keepMatchLog = 96 << 10 // of all its logs of a match
	keepInfo     = 32 << 10 // of the info that a seat sends in one game
)

// keepMatchInfo is how much of the info of all seats of a match is kept, in bytes of its document. With it
// the replays of a match stay far below what the store can read again.
var keepMatchInfo = 64 << 20

// note is more than the note on what was cut of a log takes.
const note = 64

// cutLog returns the beginning and the end of a log, with a note between them on what
// was cut.
func cutLog(log []byte, most int) []byte {
	if len(log) <= most+note {
		return log
	}
	text := fmt.Sprintf("\n[%d bytes cut]\n", len(log)-most)
	head := most / 2
	cut := append([]byte{}, log[:head]...)
	cut = append(cut, text...)
	return append(cut, log[len(log)-(most-head):]...)
}

// cutInfo drops what seats send about their moves beyond keepInfo. What is needed to
// rebuild a position stays.
func cutInfo(r *referee.Replay) {
	said := make([]int, len(r.Seats))
	for i := range r.Moves {
		m := &r.Moves[i]
		for j, text := range m.Info {
			if said[m.Seat] += len(text); said[m.Seat] > keepInfo {
				m.Info = m.Info[:j:j]
				break
			}
		}
		if len(m.Info) == 0 {
			m.Info = nil
		}
	}
}

// cutMatch brings the games of a match between some bots into the order of the deals, and cuts their logs
// and infos: each bot has a share of the logs, and one with a fault its log of that game in any case; infos
// are kept from the first games on. Cutting twice is the same as cutting once.
func cutMatch(games []*referee.Result, bots int) {
	slices.SortFunc(games, func(a, b *referee.Result) int { return a.Match.Compare(b.Match) })
	left := slices.Repeat([]int{keepMatchLog}, bots)
	info := 0
	for _, g := range games {
		for i, m := range g.Moves {
			for _, text := range m.Info {
				info += len(text) + len(`"",`)
			}
			if info > keepMatchInfo {
				g.Moves[i].Info = nil
			}
		}
		for seat, bot := range g.Bots {
			most := keepGameLog
			if !slices.ContainsFunc(g.Faults, func(f referee.Fault) bool { return f.Seat == seat }) {
				most = min(most, left[bot])
			}
			g.Logs[seat] = cutLog(g.Logs[seat], most)
			left[bot] = max(0, left[bot]-len(g.Logs[seat]))
		}
	}
}
