package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder/attempt"
	"github.com/timba-arena/timba/ladder/attempt/attempttest"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/cores"
	"github.com/timba-arena/timba/referee/fault"
)

// checkResult packs the result of a machine and checks it as the server does.
func checkResult(t testing.TB, j attempt.Job, r attempt.Result) (Delivery, error) {
	t.Helper()
	r.Machine = "lab-1"
	d, err := Unpack(kit.Get[[]byte](t)(Pack(r, MaxPacked)))
	if err != nil {
		return d, err
	}
	return d, d.Check(expectationOf(j))
}

// atRandom returns a result of a job with random moves.
func atRandom(t testing.TB, j attempt.Job) attempt.Result {
	t.Helper()
	r := attempttest.PlayAtRandom(j)
	if r.Failure != nil {
		t.Fatal(r.Failure)
	}
	return r
}

// newJob returns a job of a game between a house bot and others.
func newJob(game string, options map[string]string, bots int) attempt.Job {
	j := job(1, 1, greedy)
	j.Game, j.Options, j.Deals = game, options, 2
	for i := 1; i < bots; i++ {
		j.Bots = append(j.Bots, attempt.Entrant{Version: int64(i + 1), Name: fmt.Sprintf("bot%d", i), Hash: strings.Repeat("ab", 32), Command: []string{"sh", "bot.sh"}, Label: "1"})
	}
	return j
}

// forfeitAt replays a game up to ply, where the seat to move forfeits and the game ends.
func forfeitAt(g *referee.GameResult, ply int, why fault.Reason) {
	seat := g.Moves[ply].Seat
	g.Moves = g.Moves[:ply]
	f := fault.New(seat, ply, why)
	g.Faults = []referee.Fault{f}
	g.Ranks, g.Points = []int{1, 2}, []float64{0, 0}
	if f.Seat == 0 {
		g.Ranks = []int{2, 1}
	}
}

// lacksSecondTurn reports whether a seat has no second turn in a game.
func lacksSecondTurn(g *referee.GameResult) bool {
	seats := map[int]bool{}
	for _, m := range g.Moves[min(2, len(g.Moves)):] {
		seats[m.Seat] = true
	}
	return len(seats) < len(g.Seats)
}

// secondTurn returns the ply of the second turn of a seat or, because a seat may move twice in a row, of a
// later one.
func secondTurn(g *referee.GameResult, seat int) int {
	for ply := 2; ; ply++ {
		if g.Moves[ply].Seat == seat {
			return ply
		}
	}
}

// A result that contradicts the rules or the match is refused with the reason. A result that the bots could
// have played is accepted.
func TestContradictions(t *testing.T) {
	t.Parallel()
	j := newJob("tebes", map[string]string{"size": "4"}, 2)
	j.Clock.Move, j.Clock.Margin = time.Minute, 50*time.Millisecond
	at := func(r attempt.Result, deal, rotation int) *referee.GameResult { return r.Games[2*deal+rotation] }
	bot := func(r attempt.Result) (g *referee.GameResult, seat int) { // not of the house
		g = at(r, 1, 0)
		for i, slot := range g.Bots {
			if slot == 1 {
				seat = i
			}
		}
		return g, seat
	}
	for _, test := range []struct {
		name   string
		change func(r *attempt.Result)
		says   string // part of the error; empty if the result is accepted
	}{
		{"nothing", func(*attempt.Result) {}, ""},
		{"other logs", func(r *attempt.Result) { at(*r, 0, 0).Logs[1] = []byte("hello\n") }, ""},
		{"a bot that ends", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: fault.Exited, Status: 1})
		}, ""},
		{"an illegal move", func(r *attempt.Result) { at(*r, 0, 1).Moves[0].Move = "z9" }, "deal 0, rotation 1: move 0 of seat 0"},
		{"a move of another seat", func(r *attempt.Result) { at(*r, 0, 1).Moves[0].Seat = 1 }, "it is the turn of seat 0"},
		{"a seat that there is not", func(r *attempt.Result) { at(*r, 0, 1).Moves[0].Seat = 77 }, "it is the turn of seat 0"},
		{"moves that are left out", func(r *attempt.Result) { g := at(*r, 0, 1); g.Moves = g.Moves[:1] }, "the game is not over"},
		{"a move too late", func(r *attempt.Result) { at(*r, 0, 0).Moves[1].MS = 60_060 }, "it took 60060 ms"},
		{"other ranks", func(r *attempt.Result) { g := at(*r, 1, 1); g.Ranks = []int{3 - g.Ranks[0], 3 - g.Ranks[1]} }, "ranks are"},
		{"other points", func(r *attempt.Result) { at(*r, 1, 1).Points[0] = 99 }, "points are"},
		{"no ranks", func(r *attempt.Result) { at(*r, 1, 1).Ranks = nil }, "ranks are"},
		{"another seed of the deal", func(r *attempt.Result) { at(*r, 1, 0).Seed[0]++ }, "seed is"},
		{"another seed of a bot", func(r *attempt.Result) { at(*r, 1, 0).Seats[0].Seed++ }, "had the seed"},
		{"another seed of the match", func(r *attempt.Result) { at(*r, 1, 0).Reveal([32]byte{1}) }, "commitment is"},
		{"another commitment", func(r *attempt.Result) { at(*r, 1, 0).Commitment[0]++ }, "commitment"},
		{"another name", func(r *attempt.Result) { g, i := bot(*r); g.Seats[i].Name = "victim" }, `sat "victim"`},
		{"another version", func(r *attempt.Result) { g, i := bot(*r); g.Seats[i].Version = "2" }, `ran version "2"`},
		{"another hash", func(r *attempt.Result) { g, i := bot(*r); g.Seats[i].SHA256 = strings.Repeat("0", 64) }, "with the hash 0000"},
		{"a version of the house with a control", func(r *attempt.Result) { g, i := bot(*r); g.Seats[1-i].Version = "1\x1b[2J" }, `is "1\x1b[2J": it is one printable line`},
		{"a version of the house that is long", func(r *attempt.Result) {
			g, i := bot(*r)
			g.Seats[1-i].Version = strings.Repeat("x", MaxWord+1)
		}, "at most 128 bytes"},
		{"an info", func(r *attempt.Result) { at(*r, 0, 0).Moves[0].Info = []string{"score=1 pv=9-13"} }, ""},
		{"an info with a line feed", func(r *attempt.Result) { at(*r, 0, 0).Moves[0].Info = []string{"score=1\nmove 9-13"} }, "is not printable ASCII"},
		{"an info with an escape sequence", func(r *attempt.Result) { at(*r, 0, 0).Moves[0].Info = []string{"note=\x1b[2J"} }, "is not printable ASCII"},
		{"an info of 20 KB", func(r *attempt.Result) {
			at(*r, 0, 0).Moves[0].Info = []string{"a=" + strings.Repeat("x", 20_000)}
		}, "is longer than 4096 bytes"},
		{"an info without pairs", func(r *attempt.Result) { at(*r, 0, 0).Moves[0].Info = []string{"hello"} }, `the info "hello" is not an info`},
		{"more info than is kept", func(r *attempt.Result) {
			at(*r, 0, 0).Moves[0].Info = slices.Repeat([]string{"a=" + strings.Repeat("x", 1000)}, 33)
		}, "it has more info than"},
		{"no hash of the house", func(r *attempt.Result) { g, i := bot(*r); g.Seats[1-i].SHA256 = "x" }, "the hash of seat"},
		{"bots exchanged", func(r *attempt.Result) { g := at(*r, 0, 0); g.Bots[0], g.Bots[1] = g.Bots[1], g.Bots[0] }, "where the rotation has"},
		{"bots that there are not", func(r *attempt.Result) { at(*r, 0, 0).Bots[0] = -5 }, "where the rotation has"},
		{"a clock", func(r *attempt.Result) { at(*r, 0, 0).Clock.Margin = 1 }, "its clock"},
		{"a clock of a seat", func(r *attempt.Result) { at(*r, 0, 0).Seats[1].Untimed = true }, "a clock of its own"},
		{"options", func(r *attempt.Result) { at(*r, 0, 0).Options["size"] = "6" }, "its options are"},
		{"another game", func(r *attempt.Result) { at(*r, 0, 0).Game = "teeko" }, `the game is "teeko"`},
		{"a fault after the end", func(r *attempt.Result) {
			g := at(*r, 0, 0)
			g.Faults = []referee.Fault{fault.New(g.Bots[1], len(g.Moves), fault.Reason{Kind: fault.Exited})}
		}, "fault 0"},
		{"a fault of nobody", func(r *attempt.Result) { at(*r, 0, 0).Faults = []referee.Fault{{Seat: 99}} }, "a fault is of seat 99"},
		{"a fault of an unknown kind", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: "bad"})
		}, `the reason "bad" is unknown`},
		{"a fault with another text", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: fault.Exited, Status: 1})
			g.Faults[0].Text = "made up"
		}, "the text is"},
		{"a fault with a text of many lines", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: fault.Failed, Detail: "no\nmemory"})
		}, "one printable line"},
		{"a fault with a detail that is not shown", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: fault.Exited, Status: 1, Detail: "\x1b[2J"})
		}, "one printable line"},
		{"a fault with a long text", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: fault.Failed, Detail: strings.Repeat("x", maxFault)})
		}, "at most 16384 bytes"},
		{"a fault with another code", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: fault.Exited, Status: 1})
			g.Faults[0].Code = protocol.Timeout
		}, "the code is"},
		{"a legal move that is called illegal", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: fault.IllegalMove, Move: fault.Raw(g.Moves[secondTurn(g, seat)].Move), Detail: "no"})
		}, "is legal"},
		{"a connection that is lost", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, seat), fault.Reason{Kind: fault.ConnectionLost})
		}, "cannot have the fault"},
		{"a failure of a house bot", func(r *attempt.Result) {
			g, seat := bot(*r)
			forfeitAt(g, secondTurn(g, 1-seat), fault.Reason{Kind: fault.Exited, Status: 1})
		}, "cannot have the fault"},
		{"a game that is missing", func(r *attempt.Result) { r.Games = r.Games[1:] }, "it has 3 games"},
		{"no game", func(r *attempt.Result) { r.Games = nil }, "it has 0 games"},
		{"a game twice", func(r *attempt.Result) { r.Games[1] = r.Games[0] }, "it comes twice"},
		{"a deal more", func(r *attempt.Result) { at(*r, 1, 1).Match.Deal = 2 }, "the match has no such game"},
		{"a deal below 0", func(r *attempt.Result) { at(*r, 1, 1).Match.Deal = -1 }, "the match has no such game"},
		{"an opening", func(r *attempt.Result) { at(*r, 1, 1).Match.Opening = 1 }, "it begins with an opening"},
		{"an adjudication", func(r *attempt.Result) { at(*r, 1, 1).Adjudication = &referee.Adjudication{} }, "adjudicated"},
		{"a time below 0", func(r *attempt.Result) { at(*r, 1, 1).Took = -1 }, "it took -1ns"},
		{"more seats", func(r *attempt.Result) {
			g := at(*r, 1, 1)
			g.Seats, g.Bots, g.Logs = append(g.Seats, g.Seats[0]), append(g.Bots, 0), append(g.Logs, nil)
		}, "3 seats"},
		{"games played again below 0", func(r *attempt.Result) { r.VoidGames, r.StarvedGames = -1, -1 }, "-1 games"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := atRandom(t, j)
			for slices.ContainsFunc(r.Games, lacksSecondTurn) {
				r = atRandom(t, j)
			}
			test.change(&r)
			d, err := checkResult(t, j, r)
			if test.says == "" {
				if err != nil || len(d.Games) != 4 {
					t.Errorf("it is refused: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it is refused with %v, want %q", err, test.says)
			}
			if len(fmt.Sprint(err)) > maxText {
				t.Errorf("why has %d bytes", len(err.Error()))
			}
		})
	}
}

// A result with all games is refused if the data after them are missing, damaged or too long.
func TestGamesEnd(t *testing.T) {
	t.Parallel()
	j := newJob("tebes", map[string]string{"size": "4"}, 2)
	r := atRandom(t, j)
	head := append(kit.Get[[]byte](t)(json.Marshal(attempt.Result{Match: r.Match, Attempt: r.Attempt, Seed: r.Seed, Machine: "lab-1"})), '\n')
	games := kit.Get[[]byte](t)(json.Marshal(r.Games))
	whole := compressor().EncodeAll(games, slices.Clone(head))
	damaged := slices.Clone(whole)
	damaged[len(damaged)-1] ^= 1 // of the checksum
	for name, message := range map[string][]byte{
		"no end of the list":  compressor().EncodeAll(games[:len(games)-1], slices.Clone(head)),
		"something behind it": compressor().EncodeAll(append(slices.Clone(games), "[]"...), slices.Clone(head)),
		"cut off":             whole[:len(whole)-1],
		"damaged":             damaged,
	} {
		d := kit.Get[Delivery](t)(Unpack(message))
		err := d.Check(expectationOf(j))
		if _, ok := errors.AsType[*attempt.Contradiction](err); !ok || !strings.Contains(err.Error(), "its games ") {
			t.Errorf("%s: it is refused with %v", name, err)
		}
	}
}

// A small message that unpacks to much data takes little memory, whatever the data are.
func TestHostileSizes(t *testing.T) { // not parallel, because it measures memory
	kit.Slow(t)
	const large = 64 << 20 // bytes of a message when it is unpacked
	j := newJob("tebes", map[string]string{"size": "4"}, 2)
	honest := kit.Get[[]byte](t)(json.Marshal(atRandom(t, j).Games[0]))
	list := func(name, item string) string {
		before, after, _ := bytes.Cut(honest, []byte(`"`+name+`":[`))
		return "[" + string(before) + `"` + name + `":[` + strings.Repeat(item+",", large/len(item)-1) + item + "]" + string(after[bytes.IndexByte(after, ']')+1:])
	}
	for name, document := range map[string]string{
		"games":   "[" + strings.Repeat("{},", large/3) + "{}]",
		"zeros":   strings.Repeat("\x00", large),
		"moves":   list("moves", "{}"),
		"faults":  list("faults", "{}"),
		"logs":    list("logs", `""`),
		"ranks":   list("ranks", "1"),
		"a text":  `[{"game":"` + strings.Repeat("x", large) + `"}]`,
		"nesting": strings.Repeat("[", large),
	} {
		head := kit.Get[[]byte](t)(json.Marshal(attempt.Result{Match: 1, Attempt: 1, Seed: j.Seed, Machine: "lab-1"}))
		message := compressor().EncodeAll([]byte(document), append(head, '\n'))
		document = ""
		if len(message) > 1<<20 {
			t.Fatalf("%s: the message has %d bytes", name, len(message))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Unpack(message)
		if err == nil {
			err = d.Check(expectationOf(j))
		}
		runtime.ReadMemStats(&after)
		if _, ok := errors.AsType[*attempt.Contradiction](err); !ok {
			t.Errorf("%s: it is refused with %v", name, err)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 100 {
			t.Errorf("%s: %d bytes took %d MiB of memory", name, len(message), took)
		}
	}
}

// All games are within the limits, even if the bots send and log as much as they may, in characters that JSON
// encodes longest.
func TestLargestGames(t *testing.T) {
	t.Parallel()
	for _, j := range []attempt.Job{newJob("tebes", map[string]string{"size": "4"}, 2), newJob("podrida", map[string]string{"players": "12", "deck": "40"}, 12)} {
		r := atRandom(t, j)
		said := "k=" + strings.Repeat("<", 98)
		for _, g := range r.Games {
			left := slices.Repeat([]int{attempt.MaxInfo / attempt.InfoSize(said)}, len(g.Seats))
			for i := range g.Moves {
				m := &g.Moves[i]
				m.Info = slices.Repeat([]string{said}, left[m.Seat])
				left[m.Seat] = 0
			}
			for i := range g.Logs {
				g.Logs[i] = bytes.Repeat([]byte{'\n', 0xff}, attempt.MaxLog/2)
			}
		}
		c, err := newChecker(expectationOf(j))
		kit.Must(t, err)
		if size := len(kit.Get[[]byte](t)(json.Marshal(r.Games[0]))); size > c.maxGameBytes() {
			t.Errorf("%s: a game has %d bytes of %d", j.Game, size, c.maxGameBytes())
		}
		if _, err := checkResult(t, j, r); err != nil {
			t.Errorf("%s: %v", j.Game, err)
		}
	}
}

// BenchmarkUnpack measures the check of a result.
func BenchmarkUnpack(b *testing.B) {
	for name, j := range map[string]attempt.Job{
		"tebes": newJob("tebes", nil, 2), "teeko": newJob("teeko", nil, 2), "brisca": newJob("brisca", nil, 2), "podrida": newJob("podrida", nil, 4),
	} {
		j.Core, j.Deals = cores.Any, 1
		r := atRandom(b, j)
		b.Run(name, func(b *testing.B) {
			message := kit.Get[[]byte](b)(Pack(r, MaxPacked))
			b.ReportAllocs()
			for b.Loop() {
				d := kit.Get[Delivery](b)(Unpack(message))
				kit.Must(b, d.Check(expectationOf(j)))
			}
			moves := 0
			for _, g := range r.Games {
				moves += len(g.Moves)
			}
			b.ReportMetric(float64(len(r.Games)), "games")
			b.ReportMetric(float64(moves), "moves")
		})
	}
}
