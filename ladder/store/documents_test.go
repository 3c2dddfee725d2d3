package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

// kept is what a store has of a match.
type kept struct {
	Replays []string
	Logs    []string
}

// keptOf returns the documents of all finished matches, by match.
func (c *competition) keptOf() map[int64]kept {
	c.tb.Helper()
	out := map[int64]kept{}
	kit.Must(c.tb, c.ReplaysAfter(bg, 0, ReplayFilter{}, func(r Replay) error {
		direct := kit.Get[[]byte](c.tb)(c.Replay(bg, r.Game))
		if !bytes.Equal(direct, r.Data) {
			c.tb.Errorf("the replay of game %d is not the one in the list", r.Game)
		}
		k := out[r.Match]
		k.Replays = append(k.Replays, string(r.Data))
		for seat := range 12 {
			log := kit.Get[[]byte](c.tb)(c.Log(bg, r.Game, seat))
			k.Logs = append(k.Logs, string(log))
		}
		out[r.Match] = k
		return nil
	}))
	return out
}

// count returns the number of rows of a table, or of a part of one.
func (c *competition) count(from string) (n int) {
	c.tb.Helper()
	kit.Must(c.tb, c.readers.db.QueryRow("SELECT count(*) FROM "+from).Scan(&n))
	return n
}

// Every game, with faults and logs and without, comes back byte for byte.
func TestDocumentsOfEveryGame(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	for _, g := range games.All() {
		v := kit.Get[*rules.Variant](t)(g.Resolve(nil))
		for _, faulty := range []bool{false, true} {
			var played []*referee.Result
			seed := referee.NewSeed()
			m := match.Match{Variant: v, Deals: 2, Seed: seed, Clock: testLadders(t)[0].Clock, Bots: botsFor(v, faulty)}
			m.Done = func(g *referee.Result) error {
				g.Reveal(seed)
				g.Logs = [][]byte{[]byte("a log\x00\xff"), nil, bytes.Repeat([]byte("x"), 1000)}
				played = append(played, g)
				return nil
			}
			kit.Must(t, m.Play(bg))
			if faulty != slices.ContainsFunc(played, func(g *referee.Result) bool { return len(g.Faults) > 0 }) {
				t.Fatalf("%s: the faults are not as planned", g.Name)
			}
			packed, documents := c.pack(played)
			for _, d := range documents {
				joined := kit.Get[[]byte](t)(c.codec.unpack(d.data))
				parts := kit.Get[[]part](t)(splitParts(joined))
				for _, p := range packed {
					at := func(seat int) []byte { return find(parts, p.Match.Deal, p.Match.Rotation, seat) }
					switch d.kind {
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

// botsFor returns bots for all seats of a game; the first one may have a fault in every game.
func botsFor(v *rules.Variant, faulty bool) (bots []match.Bot) {
	for i := range v.Players {
		bots = append(bots, match.Bot{Name: fmt.Sprint("bot-", i), Hash: bundleOf(i), Serve: func(lines io.Reader, answers io.Writer) error {
			if faulty && i == 0 {
				_, err := io.Copy(answers, strings.NewReader("no bot says this\n"))
				return err
			}
			return house.Run("random", lines, answers)
		}})
	}
	return bots
}

func TestParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts []part
		for range rapid.IntRange(0, 8).Draw(t, "parts") {
			number := rapid.IntRange(0, 1<<31-1)
			parts = append(parts, part{number.Draw(t, "deal"), number.Draw(t, "rotation"), number.Draw(t, "seat"), rapid.SliceOf(rapid.Byte()).Draw(t, "data")})
		}
		got, err := splitParts(joinParts(parts))
		if err != nil || len(got) != len(parts) {
			t.Fatalf("%d parts are %d, %v", len(parts), len(got), err)
		}
		for i, p := range parts {
			if q := got[i]; q.deal != p.deal || q.rotation != p.rotation || q.seat != p.seat || !bytes.Equal(q.data, p.data) {
				t.Fatalf("part %d is %v, want %v", i, q, p)
			}
		}
	})
}

// Any bytes are a list of parts, which joins to one that means the same, or an error.
func FuzzParts(f *testing.F) {
	f.Add([]byte{})
	f.Add(joinParts(nil))
	f.Add(joinParts([]part{{1, 2, 3, []byte("data")}, {data: []byte{}}}))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{1, 0, 0, 0, 9, 'x'})
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, err := splitParts(data)
		if err != nil {
			return
		}
		again, err := splitParts(joinParts(parts))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(parts) {
			t.Errorf("%v are %v, %v", parts, again, err)
		}
	})
}

// Any documents come back as they were; any bytes are unpacked or are an error.
func FuzzPack(f *testing.F) {
	codec := kit.Get[*codec](f)(newCodec())
	f.Add([]byte(nil), []byte("{\n \"timba\": 1\n}\n"))
	f.Add(codec.pack([]byte("packed")), []byte("log"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		data := kit.Get[[]byte](t)(codec.unpack(codec.pack(joinParts([]part{{data: a}, {seat: 1, data: b}}))))
		parts := kit.Get[[]part](t)(splitParts(data))
		if !bytes.Equal(find(parts, 0, 0, 0), a) || !bytes.Equal(find(parts, 0, 0, 1), b) {
			t.Errorf("%q and %q are %v", a, b, parts)
		}
		if data, err := codec.unpack(a); err == nil {
			splitParts(data) // must not panic
		}
	})
}

// Games come back as they were, but for what only their replays tell.
func TestJoinGames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(2, 6).Draw(t, "slots")
		number := rapid.IntRange(0, 1<<31-1)
		var games []ladder.Game
		for range rapid.IntRange(0, 8).Draw(t, "games") {
			g := ladder.Game{Deal: number.Draw(t, "deal"), Rotation: number.Draw(t, "rotation"), Plies: number.Draw(t, "plies"), Repeated: rapid.Bool().Draw(t, "repeated")}
			g.Took = time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "took")) * time.Microsecond
			for seat := range rapid.IntRange(0, 6).Draw(t, "seats") {
				g.Seats = append(g.Seats, ladder.GameSeat{
					Seat: seat, Slot: rules.BotAt(seat, g.Rotation, slots), Rank: number.Draw(t, "rank"),
					Points: rapid.Float64().Draw(t, "points"), Fault: rapid.String().Draw(t, "fault"), Faults: number.Draw(t, "faults"),
				})
			}
			games = append(games, g)
		}
		got, err := splitGames(joinGames(games, slots))
		if diff := cmp.Diff(games, got); err != nil || diff != "" {
			t.Fatalf("%v: %s", err, diff)
		}
	})
}

// Any bytes are a list of games, which joins to one that means the same, or an error.
func FuzzSplitGames(f *testing.F) {
	f.Add([]byte{})
	f.Add(joinGames([]ladder.Game{{Deal: 1, Seats: []ladder.GameSeat{{Rank: 1, Points: 0.5}, {Seat: 1, Slot: 1, Fault: "illegal", Faults: 1}}}}, 2))
	f.Add([]byte{2, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		games, err := splitGames(data)
		if err != nil {
			return
		}
		slots, _ := binary.Uvarint(data)
		again, err := splitGames(joinGames(games, int(slots)))
		if err != nil || fmt.Sprint(again) != fmt.Sprint(games) {
			t.Errorf("%v are %v, %v", games, again, err)
		}
	})
}
