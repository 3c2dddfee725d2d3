package match

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/internal/script"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/sample-bots/house"
)

// scene is a game in which one seat plays a script, and the others the first legal move.
type scene struct {
	variant *rules.Variant
	seed    rules.Seed // of the match
	seat    int
	true    script.Script // what a house bot writes there
}

// shortGames are options that make games short, with two sides and with more.
var shortGames = map[string][]string{
	"brisca":  {"players=2", "players=3", "players=4 teams=yes"},
	"tute":    {"players=2", "players=4"},
	"podrida": {"players=12 deck=40"},
	"tebes":   {"size=4 limit=40"},
	"teeko":   {"limit=40", "start=drop limit=40"},
}

// scenes returns a scene for every seat of every game, with a recorded script.
func scenes(t testing.TB) (all []scene) {
	t.Helper()
	for _, g := range games.All() {
		if len(shortGames[g.Name]) == 0 {
			t.Errorf("there are no options for %s", g.Name)
		}
		for _, options := range shortGames[g.Name] {
			v := variant(t, g.Name, options)
			for seat := range min(4, v.Players) {
				s := scene{variant: v, seed: rules.Seed{byte(len(all))}, seat: seat}
				s.true = s.record(t)
				all = append(all, s)
			}
		}
	}
	return all
}

// play plays the scene with a connection for its seat.
func (s scene) play(ctx context.Context, c func(ctx context.Context) BotConn, trace func(referee.Traffic)) (*referee.GameResult, error) {
	m := &Match{Variant: s.variant, Bots: named(s.variant.Players), Deals: 1, Seed: s.seed, Clock: patient, Observer: Observer{Trace: trace}}
	m.start = starter{m.Bots[s.seat].Name: func() BotConn { return c(ctx) }}.start
	r := newRotation(ctx, m, 0, nil, func() {})
	defer stopAll(0, r.seats)
	return r.playDeal(0, make([]bool, len(m.Bots)))
}

// record returns the answers of a house bot as a script.
func (s scene) record(t testing.TB) (r script.Script) {
	t.Helper()
	bot := func(ctx context.Context) BotConn {
		return piped(ctx, func(in io.Reader, out, err io.Writer) {
			if e := house.Run("greedy", in, out); e != nil {
				fmt.Fprintln(err, e)
			}
		})
	}
	g, err := s.play(t.Context(), bot, func(tr referee.Traffic) {
		if tr.Seat != s.seat {
			return
		}
		if tr.FromBot {
			last := &r.Pieces[len(r.Pieces)-1]
			last.Text = append(last.Text, tr.Lines...)
			return
		}
		for line := range bytes.Lines(tr.Lines) {
			if script.Asks(line) {
				r.Pieces = append(r.Pieces, script.Piece{})
			}
		}
	})
	if err != nil || len(g.Faults) > 0 {
		t.Fatalf("recording: %v, %v", err, g)
	}
	return r
}

// judge compares the result of a script with the expected fault.
func (s scene) judge(t testing.TB, sc script.Script, want *referee.Fault, g *referee.GameResult, err error) {
	t.Helper()
	at := fmt.Sprintf("%s %s, seat %d", s.variant.Game.Name, s.variant.Settings, s.seat)
	if err != nil {
		t.Fatalf("%s: %v\n%v", at, err, sc)
	}
	switch {
	case want == nil && len(g.Faults) > 0:
		t.Fatalf("%s: %v, want none\n%v", at, g.Faults[0], sc)
	case want != nil && len(g.Faults) != 1:
		t.Fatalf("%s: %d faults, want %s at ply %d\n%v", at, len(g.Faults), want.Code, want.Ply, sc)
	case want != nil:
		got := g.Faults[0]
		if got.Seat != want.Seat || got.Ply != want.Ply || got.Code != want.Code || got.Text == "" {
			t.Fatalf("%s: %v at ply %d, want seat %d, %s at ply %d\n%v", at, got, got.Ply, want.Seat, want.Code, want.Ply, sc)
		}
	}
	g.Reveal(s.seed)
	for _, err := range g.Verify(s.variant.Game) {
		t.Fatalf("%s: %v\n%v", at, err, sc)
	}
}

// onPipes returns the connection of a script. If the script has nothing more to write, the bot's time is over
// at once.
func (s scene) onPipes(sc script.Script) func(context.Context) BotConn {
	want := foretell(s.variant, referee.DealSeed(s.seed, 0), s.seat, sc)
	late := want != nil && (want.Code == protocol.Timeout || want.Code == protocol.Startup)
	return func(ctx context.Context) BotConn {
		handled := make(chan struct{}, len(sc.Pieces)+1)
		p := piped(ctx, func(in io.Reader, out, err io.Writer) {
			sc.Run(in, out, func() { handled <- struct{}{} })
			close(handled)
		})
		if late {
			return &hasty{BotConn: p, handled: handled}
		}
		return p
	}
}

// through plays a script on pipes and judges it.
func (s scene) through(t testing.TB, sc script.Script) (want *referee.Fault) {
	t.Helper()
	want = foretell(s.variant, referee.DealSeed(s.seed, 0), s.seat, sc)
	g, err := s.play(t.Context(), s.onPipes(sc), nil)
	s.judge(t, sc, want, g, err)
	return want
}

// Limits and faults: hundreds of scripts, or ten thousand, each with something wrong in it, or something that only
// looks so. Each ends in the right fault of the right seat at the right ply, or in a whole game.
func TestLimitsAndFaultsMutations(t *testing.T) {
	all := scenes(t)
	left := nothingLeft(t)
	ends := map[protocol.Code]int{}
	var mu sync.Mutex
	scripts := 300
	if kit.Soak {
		scripts = 10_000
	}
	t.Run("parts", func(t *testing.T) {
		const parts = 10
		for part := range uint64(parts) {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(part, 1))
				for range scripts / parts {
					s := all[rng.IntN(len(all))]
					code := protocol.Code("none")
					if f := s.through(t, mutate(rng, s.true)); f != nil {
						code = f.Code
					}
					mu.Lock()
					ends[code]++
					mu.Unlock()
				}
			})
		}
	})
	left()
	for _, code := range []protocol.Code{"none", protocol.Startup, protocol.Timeout, protocol.Illegal, protocol.Garbled, protocol.Exit, protocol.Output} {
		if ends[code] < scripts/100 {
			t.Errorf("%s comes of %d scripts only: %v", code, ends[code], ends)
		}
	}
	t.Log(ends)
}

// exits reports whether the script ends after the greeting.
func exits(s script.Script) bool { return len(s.Pieces) == 0 || s.Pieces[0].Exit }

// mutate changes a script in one or two places, with a preference for early ones.
func mutate(rng *rand.Rand, true script.Script) script.Script {
	s := script.Script{Pieces: slices.Clone(true.Pieces)}
	for range 1 + rng.IntN(2) {
		if len(s.Pieces) == 0 {
			break
		}
		at := min(int(rng.ExpFloat64()*3), len(s.Pieces)-1)
		m := mutations[rng.IntN(len(mutations))]
		text := s.Pieces[at].Text
		s.Pieces[at].Text = bytes.Clone(text)
		m(rng, &s, at)
	}
	return s
}

// insert inserts words at a random place of a text, or at the start of a line.
func insert(rng *rand.Rand, text []byte, words string, line bool) []byte {
	at := rng.IntN(len(text) + 1)
	if line {
		at = bytes.LastIndexByte(text[:at], '\n') + 1
	}
	return slices.Insert(slices.Clone(text), at, []byte(words)...)
}

// atLine returns a mutation that inserts a line into a piece.
func atLine(line func(*rand.Rand) string) func(*rand.Rand, *script.Script, int) {
	return func(rng *rand.Rand, s *script.Script, at int) {
		s.Pieces[at].Text = insert(rng, s.Pieces[at].Text, line(rng)+"\n", true)
	}
}

// anywhere returns a mutation that inserts words anywhere in a piece.
func anywhere(words ...string) func(*rand.Rand, *script.Script, int) {
	return func(rng *rand.Rand, s *script.Script, at int) {
		s.Pieces[at].Text = insert(rng, s.Pieces[at].Text, words[rng.IntN(len(words))], false)
	}
}

// to returns a mutation that changes the text of a piece.
func to(change func(rng *rand.Rand, text []byte) []byte) func(*rand.Rand, *script.Script, int) {
	return func(rng *rand.Rand, s *script.Script, at int) { s.Pieces[at].Text = change(rng, s.Pieces[at].Text) }
}

func noise(rng *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}

// hundred is a comment of 100 bytes.
var hundred = "#" + strings.Repeat(" and more", 10) + "12345678\n"

var mutations = []func(rng *rand.Rand, s *script.Script, at int){
	func(*rand.Rand, *script.Script, int) {},                                                      // nothing at all
	func(_ *rand.Rand, s *script.Script, at int) { s.Pieces = slices.Delete(s.Pieces, at, at+1) }, // lines dropped
	func(_ *rand.Rand, s *script.Script, at int) { s.Pieces = slices.Insert(s.Pieces, at, s.Pieces[at]) },
	func(rng *rand.Rand, s *script.Script, at int) { // reordered
		other := rng.IntN(len(s.Pieces))
		s.Pieces[at], s.Pieces[other] = s.Pieces[other], s.Pieces[at]
	},
	func(_ *rand.Rand, s *script.Script, at int) { s.Pieces[at].Exit = true },
	func(_ *rand.Rand, s *script.Script, at int) { s.Pieces = s.Pieces[:at] },
	func(rng *rand.Rand, s *script.Script, at int) { // cut and gone
		s.Pieces[at].Text, s.Pieces[at].Exit = s.Pieces[at].Text[:rng.IntN(len(s.Pieces[at].Text)+1)], true
	},
	func(rng *rand.Rand, s *script.Script, at int) { // the rest comes when it is asked again
		cut := rng.IntN(len(s.Pieces[at].Text) + 1)
		rest := script.Piece{Text: s.Pieces[at].Text[cut:]}
		s.Pieces[at].Text = s.Pieces[at].Text[:cut]
		s.Pieces = slices.Insert(s.Pieces, at+1, rest)
	},
	func(_ *rand.Rand, s *script.Script, at int) { s.Pieces[at].Drip = true },
	func(_ *rand.Rand, s *script.Script, at int) {
		s.Pieces[at].Text = append(s.Pieces[at].Text, s.Pieces[at].Text...)
	},
	func(rng *rand.Rand, s *script.Script, at int) { // another of its moves
		s.Pieces[at].Text = s.Pieces[rng.IntN(len(s.Pieces))].Text
	},
	to(func(rng *rand.Rand, text []byte) []byte { return nil }),
	to(func(rng *rand.Rand, text []byte) []byte { return []byte(noise(rng, rng.IntN(100))) }),
	to(func(rng *rand.Rand, text []byte) []byte { return bytes.TrimSuffix(text, []byte("\n")) }),
	to(func(rng *rand.Rand, text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) }),
	to(func(rng *rand.Rand, text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r")) }),
	to(func(rng *rand.Rand, text []byte) []byte { return bytes.ReplaceAll(text, []byte(" "), []byte("  ")) }),
	to(func(rng *rand.Rand, text []byte) []byte { return bytes.ToUpper(text) }),
	to(func(rng *rand.Rand, text []byte) []byte { // one byte is another
		if len(text) > 0 {
			text[rng.IntN(len(text))] = byte(rng.Uint32())
		}
		return text
	}),
	to(func(rng *rand.Rand, text []byte) []byte { // one byte less
		if len(text) == 0 {
			return text
		}
		at := rng.IntN(len(text))
		return slices.Delete(text, at, at+1)
	}),
	to(func(rng *rand.Rand, text []byte) []byte { return append(text, "move 1o\n"...) }),
	to(func(rng *rand.Rand, text []byte) []byte { return append(text, noise(rng, 1+rng.IntN(20))...) }),
	anywhere("\x00", "\x00\x00", "\r", "\t", " ", "\n", "\xef\xbb\xbf", "é", "\x7f", "\x1b[0m"),
	anywhere("move", "ready", "info", "#", "move 1o", "\nmove 1o\n", "=", "x"),
	atLine(func(*rand.Rand) string { return "ready" }),
	atLine(func(*rand.Rand) string { return "" }),
	atLine(func(*rand.Rand) string { return "bye" }),
	atLine(func(*rand.Rand) string { return "# a comment,  with = signs" }),
	atLine(func(*rand.Rand) string { return "info score=1 pv= depth==2" }),
	atLine(func(*rand.Rand) string { return "info score" }),
	atLine(func(*rand.Rand) string { return "print debugging" }),
	atLine(func(rng *rand.Rand) string { return "#" + strings.Repeat("x", 4093+rng.IntN(5)) }),
	atLine(func(rng *rand.Rand) string { return "#" + strings.Repeat("x", 4093+rng.IntN(5)) + "\r" }),
	atLine(func(rng *rand.Rand) string { return strings.Repeat("x", 1<<rng.IntN(21)) }),
	atLine(func(rng *rand.Rand) string { return strings.Repeat(hundred, 653+rng.IntN(10)) + "#" }),
	atLine(func(rng *rand.Rand) string { return strings.Repeat(hundred, rng.IntN(40)) + "info a=b" }),
	atLine(func(rng *rand.Rand) string {
		return strings.Repeat(hundred, 614) + strings.Repeat("y", rng.IntN(10_000))
	}),
}

// The oracle itself is tested by examples, because other tests only compare it with the referee.
func TestOracle(t *testing.T) {
	v := variant(t, "brisca", "")
	game := referee.DealSeed(rules.Seed{}, 0)
	stream := rules.NewStream(game)
	state := v.Deal(&stream)
	list := state.Legal(nil)
	ready := script.Piece{Text: []byte("ready\n")}
	move := script.Piece{Text: append(state.MoveText([]byte("move "), list[0]), '\n')}
	rules.Play(state, list[0], nil)
	rules.Play(state, state.Legal(nil)[0], nil)
	next := "2"
	if state.Turn() != 0 {
		next = "3" // the other one leads
	}
	for want, pieces := range map[string][]script.Piece{
		"startup at 0":       {},
		"exit at 0":          {ready},
		"exit at " + next:    {ready, move},
		"timeout at 0":       {ready, {}},
		"illegal at 0":       {ready, {Text: []byte("move 13o\n")}},
		"garbled at 0":       {{Text: []byte("READY\n")}},
		"garbled at " + next: {ready, {Text: slices.Concat(move.Text, move.Text)}},
		"output at 0":        {ready, {Text: bytes.Repeat([]byte("#\n"), 32769)}},
		"timeout at " + next: {ready, move, {Text: []byte("info\n")}},
	} {
		f := foretell(v, game, 0, script.Script{Pieces: pieces})
		if f == nil || !strings.HasPrefix(want, fmt.Sprintf("%s at %d", f.Code, f.Ply)) {
			t.Errorf("%v, want %s", f, want)
		}
	}
}
