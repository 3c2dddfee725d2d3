package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/klauspost/compress/dict"
	"github.com/klauspost/compress/zstd"

	"github.com/timba-arena/timba/ladder/config"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/sample-bots/house"
)

const (
	packTrain = 40        // matches by which a dictionary is trained
	packTest  = 20        // other matches, which are compressed
	packDict  = 112 << 10 // bytes that a dictionary may have
	packFrame = 10        // matches in one frame
)

// packLadders are one of each game, and both sizes of Tebes.
var packLadders = []string{"brisca-2", "tute-2", "podrida-4", "tebes-4", "tebes-6", "teeko"}

// BenchmarkPack compresses the replays of matches between house bots in all ways that were considered. The
// metrics are bytes a replay, and the time is that of a match. docs/operating.md has the figures.
func BenchmarkPack(b *testing.B) {
	ladders := config.Default(house.Registry{}).Ladders
	for _, name := range packLadders {
		for _, l := range ladders {
			if l.Name != name {
				continue
			}
			m := asMatch(l)
			m.Clock.Move = time.Minute
			var train, test [][][]byte // matches of documents
			for i := range packTrain + packTest {
				for slot := range m.Versions {
					m.Versions[slot] = int64(i+slot) % 3
				}
				var replays [][]byte
				for _, g := range playMatch(b, m, referee.NewSeed()) {
					replays = append(replays, g.Encode())
				}
				if i < packTrain {
					train = append(train, replays)
				} else {
					test = append(test, replays)
				}
			}
			b.Run(name, func(b *testing.B) { benchPacks(b, train, test) })
		}
	}
}

// benchPacks compresses matches in each way.
func benchPacks(b *testing.B, train, test [][][]byte) {
	var single [][]byte
	for _, m := range train {
		single = append(single, m...)
	}
	replays := trained(b, single)
	matches := trained(b, joined(train, 1))
	each := func(list [][][]byte) (out [][]byte) {
		for _, m := range list {
			out = append(out, m...)
		}
		return out
	}
	better := zstd.WithEncoderLevel(zstd.SpeedBetterCompression)
	best := zstd.WithEncoderLevel(zstd.SpeedBestCompression)
	for _, way := range []struct {
		name   string
		frames [][]byte
		o      []zstd.EOption
	}{
		{"replay", each(test), []zstd.EOption{better}},
		{"replay+dictionary", each(test), []zstd.EOption{better, zstd.WithEncoderDict(replays)}},
		{"match", joined(test, 1), []zstd.EOption{better}},
		{"match+dictionary", joined(test, 1), []zstd.EOption{better, zstd.WithEncoderDict(matches)}},
		{"match+best", joined(test, 1), []zstd.EOption{best}},
		{"match+best+dictionary", joined(test, 1), []zstd.EOption{best, zstd.WithEncoderDict(matches)}},
		{fmt.Sprintf("%d-matches", packFrame), joined(test, packFrame), []zstd.EOption{better}},
	} {
		b.Run(way.name, func(b *testing.B) {
			enc, err := zstd.NewWriter(nil, append(way.o, zstd.WithEncoderConcurrency(1))...)
			check(b, err)
			var packed, unpacked int
			for b.Loop() {
				packed, unpacked = 0, 0
				for _, f := range way.frames {
					packed += len(enc.EncodeAll(f, nil))
					unpacked += len(f)
				}
			}
			n := float64(len(each(test)))
			b.ReportMetric(float64(packed)/n, "B/replay")
			b.ReportMetric(float64(unpacked)/n, "document-B")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(test)), "µs/match")
		})
	}
}

// joined returns the frames of matches, so many matches in each, as the store joins them.
func joined(list [][][]byte, n int) (frames [][]byte) {
	for i, m := range list {
		var parts []part
		for j, data := range m {
			parts = append(parts, part{deal: j / 2, rotation: j % 2, data: data})
		}
		if i%n == 0 {
			frames = append(frames, nil)
		}
		last := &frames[len(frames)-1]
		*last = append(*last, joinParts(parts)...)
	}
	return frames
}

// trained returns a dictionary.
func trained(b *testing.B, samples [][]byte) []byte {
	d, err := dict.BuildZstdDict(samples, dict.Options{MaxDictSize: packDict, HashBytes: 6, ZstdDictID: 1, ZstdLevel: zstd.SpeedBetterCompression})
	check(b, err)
	return d
}
