//go:build !race || slowrace

package store

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

// storedDocument has the documents of a match in a store.
type storedDocument struct {
	Replays []string
	Logs    []string
}

// storedDocuments returns the documents of all finished matches, by match ID.
func (c *competition) storedDocuments() map[int64]storedDocument {
	c.tb.Helper()
	out := map[int64]storedDocument{}
	kit.Must(c.tb, c.Matches.ReplaysAfter(bg, 0, ReplayFilter{}, func(r StoredReplay) error {
		direct := kit.Get[[]byte](c.tb)(c.Matches.Replay(bg, r.Game))
		if !bytes.Equal(direct, r.Data) {
			c.tb.Errorf("the replay of game %d is not the one in the list", r.Game)
		}
		k := out[r.Match]
		k.Replays = append(k.Replays, string(r.Data))
		for seat := range 12 {
			log := kit.Get[[]byte](c.tb)(c.Matches.Log(bg, r.Game, seat))
			k.Logs = append(k.Logs, string(log))
		}
		out[r.Match] = k
		return nil
	}))
	return out
}

// TestDocumentsOfEveryGame checks that the documents of every game, with and without faults and logs, are
// returned byte for byte.
func TestDocumentsOfEveryGame(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	for _, g := range games.All() {
		v := kit.Get[*rules.Variant](t)(g.Resolve(nil))
		for _, faulty := range []bool{false, true} {
			var played []*referee.GameResult
			seed := referee.NewSeed()
			m := match.Match{Variant: v, Deals: 2, Seed: seed, Clock: testLadders(t)[0].Clock, Bots: botsFor(v, faulty)}
			kit.Must(t, m.Play(bg, func(g *referee.GameResult) error {
				g.Reveal(seed)
				g.Logs = [][]byte{[]byte("a log\x00\xff"), nil, bytes.Repeat([]byte("x"), 1000)}
				played = append(played, g)
				return nil
			}))
			if faulty != slices.ContainsFunc(played, func(g *referee.GameResult) bool { return len(g.Faults) > 0 }) {
				t.Fatalf("%s: the faults are not as planned", g.Name)
			}
			packed, documents := c.pack(played)
			for _, d := range documents {
				var parts []part
				joined := kit.Get[[]byte](t)(c.codec.unpack(d.Data))
				kit.Must(t, gob.NewDecoder(bytes.NewReader(joined)).Decode(&parts))
				for _, p := range packed {
					at := func(seat int) []byte { return findPart(parts, p.Match.Deal, p.Match.Rotation, seat) }
					switch d.Kind {
					case replaysKind:
						if !bytes.Equal(at(0), p.Encode()) {
							t.Errorf("%s, deal %d, rotation %d: the replay is another", g.Name, p.Match.Deal, p.Match.Rotation)
						}
					case logsKind:
						for seat, log := range p.Logs {
							if !bytes.Equal(at(seat), log) {
								t.Errorf("%s, deal %d, rotation %d: the log of seat %d is another", g.Name, p.Match.Deal, p.Match.Rotation, seat)
							}
						}
					}
				}
			}
		}
	}
}

// botsFor returns bots for all seats of a game. If faulty is true, the first one has a fault in every game.
func botsFor(v *rules.Variant, faulty bool) (bots []match.Contestant) {
	for i := range v.Players {
		bots = append(bots, match.Contestant{Name: fmt.Sprint("bot-", i), Hash: bundleOf(i), Serve: func(lines io.Reader, answers io.Writer) error {
			if faulty && i == 0 {
				_, err := io.Copy(answers, strings.NewReader("no bot says this\n"))
				return err
			}
			return house.Run("random", lines, answers)
		}})
	}
	return bots
}

// FuzzPack checks that any bytes can be packed and unpacked, and that unpacking any bytes does not panic.
func FuzzPack(f *testing.F) {
	codec := kit.Get[*codec](f)(newCodec())
	f.Add([]byte(nil))
	f.Add(codec.pack([]byte("packed")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := kit.Get[[]byte](t)(codec.unpack(codec.pack(data))); !bytes.Equal(got, data) {
			t.Errorf("%q is %q", data, got)
		}
		codec.unpack(data) // must not panic
	})
}
