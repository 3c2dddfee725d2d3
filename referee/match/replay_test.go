package match

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

var schema = sync.OnceValue(func() *jsonschema.Schema {
	return jsonschema.NewCompiler().MustCompile("../replay.schema.json")
})

// valid checks a replay against its schema, and that it survives decoding and encoding.
func valid(t interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, r *referee.Replay) {
	t.Helper()
	data := r.Encode()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if err := schema().Validate(doc); err != nil {
		t.Errorf("%v in %s", err, data)
	}
	again, err := referee.DecodeReplay(data)
	if err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("(-written +read)\n%s", diff)
	}
}

// failing returns a talker that plays correctly until a ply. From there on it answers the first turn with
// text, or not at all.
func failing(ply int, text string) func() BotConn {
	return func() BotConn {
		return &talker{answer: func(l protocol.RefLine) string {
			if l.Ply >= ply {
				return text
			}
			return "info ply=" + fmt.Sprint(l.Ply) + "\n" + firstMove(l)
		}}
	}
}

// threeHanded returns a game of three seats in which seat 1 and then seat 0 forfeit.
func threeHanded(t testing.TB) *referee.GameResult {
	m := &Match{Variant: variant(t, "brisca", "players=3"), Bots: named(3), Seed: rules.Seed{3}, Clock: patient}
	m.start = starter{"bot1": failing(6, "move 0x"), "bot0": failing(15, "oh")}.start
	return oneGame(t, m)
}

// Every replay of every game, with faults and without, is what the schema says.
func TestReplaysAreValid(t *testing.T) {
	for _, g := range games.All() {
		for name, bot := range map[string]func() BotConn{
			"honest": nil, "illegal": failing(5, "move 0x"), "silent": failing(0, ""), "garbled": failing(9, "é <&>\x7f"),
		} {
			t.Run(g.Name+"/"+name, func(t *testing.T) {
				v := kit.Get[*rules.Variant](t)(g.Resolve(nil))
				m := &Match{Variant: v, Bots: named(v.Players), Deals: 2, Clock: referee.Clock{Bank: patient.Move, Startup: patient.Startup}, start: starter{"bot1": bot}.start}
				for _, g := range playAll(t, m) {
					valid(t, &g.Replay)
					if bot != nil && len(g.Faults) != 1 {
						t.Errorf("faults: %v", g.Faults)
					}
					g.Match.Seed = nil
					valid(t, &g.Replay)
				}
			})
		}
	}
}

func TestReplaysRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[ -~]*`)
	hash := rapid.Custom(func(t *rapid.T) (h referee.Hex) {
		copy(h[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"))
		return h
	})
	rapid.Check(t, func(t *rapid.T) {
		r := &referee.Replay{
			Timba:      protocol.Version,
			Game:       rapid.StringMatching(`[a-z][a-z0-9]*`).Draw(t, "game"),
			Options:    rapid.MapOf(rapid.StringMatching(`[a-z][a-z0-9]*`), rapid.StringMatching(`[a-z0-9]+`)).Draw(t, "options"),
			Seed:       hash.Draw(t, "seed"),
			Commitment: hash.Draw(t, "commitment"),
			Match:      referee.ReplayMatch{Deal: rapid.IntRange(0, math.MaxInt32).Draw(t, "deal"), Rotation: rapid.IntRange(0, 11).Draw(t, "rotation")},
			Moves:      []referee.ReplayMove{},
			Faults:     []referee.Fault{},
		}
		if rapid.Bool().Draw(t, "revealed") {
			seed := hash.Draw(t, "match seed")
			r.Match.Seed = &seed
		}
		if inc := rapid.Int64Range(-1, 1000).Draw(t, "inc"); inc < 0 {
			r.Clock = referee.ClockMS{Movetime: 1000, Margin: 50}
		} else {
			r.Clock = referee.ClockMS{Bank: 60_000, Inc: &inc}
		}
		seat := rapid.IntRange(0, 11)
		for range rapid.IntRange(2, 12).Draw(t, "seats") {
			var own *referee.ClockMS
			if rapid.Bool().Draw(t, "own clock") {
				own = &referee.ClockMS{Movetime: 7, Margin: 5}
			}
			r.Seats = append(r.Seats, referee.ReplaySeat{
				Clock:   own,
				Name:    "a" + text.Draw(t, "name"),
				Version: text.Draw(t, "version"),
				SHA256:  hash.Draw(t, "sha").String(),
				Seed:    rapid.Uint64Range(0, protocol.MaxSeed).Draw(t, "own seed"),
			})
			r.Ranks = append(r.Ranks, rapid.IntRange(1, 12).Draw(t, "rank"))
			r.Points = append(r.Points, rapid.Float64Range(-1e6, 1e6).Draw(t, "points"))
		}
		for range rapid.IntRange(0, 5).Draw(t, "moves") {
			m := referee.ReplayMove{Seat: seat.Draw(t, "seat"), Move: rapid.StringMatching(`[!-~]+`).Draw(t, "move")}
			if m.StandIn = rapid.Bool().Draw(t, "standin"); !m.StandIn {
				m.MS = float64(rapid.IntRange(1, 1e9).Draw(t, "µs")) / 1e3
				if info := rapid.SliceOfN(text, 0, 3).Draw(t, "info"); len(info) > 0 {
					m.Info = info
				}
			}
			r.Moves = append(r.Moves, m)
		}
		for range rapid.IntRange(0, 3).Draw(t, "faults") {
			r.Faults = append(r.Faults, referee.Fault{
				Seat: seat.Draw(t, "seat"), Ply: rapid.IntRange(0, 65535).Draw(t, "ply"),
				Code: rapid.SampledFrom(protocol.Codes).Draw(t, "code"), Text: rapid.String().Draw(t, "text"),
				Reason: fault.Reason{Kind: fault.Failed, Detail: rapid.String().Draw(t, "detail")},
			})
		}
		valid(t, r)
	})
}

// Each case changes one thing of a true replay; every difference must be named, and nothing else.
func TestReplaysTampered(t *testing.T) {
	other := strings.Repeat("ab", 32)
	for _, c := range []struct {
		name   string
		change func(*referee.Replay)
		want   []string // what the errors contain, in order
	}{
		{"nothing", func(*referee.Replay) {}, nil},
		{"game", func(r *referee.Replay) { r.Game = "tute" }, []string{`replay: the game is "tute", not "brisca"`}},
		{"an option's value", func(r *referee.Replay) { r.Options["players"] = "5" }, []string{`option players cannot be "5": try 2 to 4`}},
		{"an option's spelling", func(r *referee.Replay) { r.Options["players"] = "03" }, []string{`option players is "03" where the game has "3"`}},
		{"an option that the game has got since", func(r *referee.Replay) { delete(r.Options, "without2") }, nil},
		{"an option that is not there", func(r *referee.Replay) { delete(r.Options, "players") }, []string{"3 seats in a game for 2 players"}},
		{"an unknown option", func(r *referee.Replay) { r.Options["colour"] = "red" }, []string{`brisca has no option "colour"`}},
		{"an option that counts", func(r *referee.Replay) { r.Options["players"] = "2" }, []string{"3 seats in a game for 2 players"}},
		{"a seat left out", func(r *referee.Replay) { r.Seats = r.Seats[:2] }, []string{"2 seats in a game for 3 players"}},
		{"seed", func(r *referee.Replay) { r.Seed.UnmarshalText([]byte(other)) }, []string{"seed is " + other + " where deal 0 of the match has ", "is not in"}},
		{"commitment", func(r *referee.Replay) { r.Commitment.UnmarshalText([]byte(other)) }, []string{"commitment is " + other + " where SHA-256 of the match's seed is "}},
		{"match seed", func(r *referee.Replay) { r.Match.Seed.UnmarshalText([]byte(other)) }, []string{"commitment is ", "seed is ", "the bot at seat 0 ", "the bot at seat 1 ", "the bot at seat 2 "}},
		{"deal", func(r *referee.Replay) { r.Match.Deal = 1 }, []string{"where deal 1 of the match has ", "the bot at seat 0 ", "the bot at seat 1 ", "the bot at seat 2 "}},
		{"negative deal", func(r *referee.Replay) { r.Match.Deal = -1 }, []string{"deal -1 does not exist", "where deal -1 ", "seat 0", "seat 1", "seat 2"}},
		{"rotation", func(r *referee.Replay) { r.Match.Rotation = 2 }, []string{"the bot at seat 0 ", "the bot at seat 1 ", "the bot at seat 2 "}},
		{"rotation that there is not", func(r *referee.Replay) { r.Match.Rotation = 3 }, []string{"rotation 3 does not exist", "seat 0", "seat 1", "seat 2"}},
		{"a bot's seed", func(r *referee.Replay) { r.Seats[2].Seed++ }, []string{"the bot at seat 2 had the seed "}},
		{"clock without a time", func(r *referee.Replay) { r.Clock.Movetime = 0 }, []string{"clock: neither movetime nor bank is set"}},
		{"clock with two times", func(r *referee.Replay) { r.Clock.Bank, r.Clock.Inc = 1, new(int64) }, []string{"clock: movetime and bank cannot both be set"}},
		{"clock with inc", func(r *referee.Replay) { r.Clock.Inc = new(int64) }, []string{"clock: bank and inc go together"}},
		{"clock of years", func(r *referee.Replay) { r.Clock.Movetime = math.MaxInt64 }, []string{"clock: movetime cannot be "}},
		{"negative margin", func(r *referee.Replay) { r.Clock.Margin = -1 }, []string{"clock: margin cannot be -1ms"}},
		{"a seat's clock without a time", func(r *referee.Replay) { r.Seats[1].Clock = &referee.ClockMS{Margin: 5} }, []string{"seat 1: clock: neither movetime nor bank is set"}},
		{"a seat's clock of years", func(r *referee.Replay) { r.Seats[0].Clock = &referee.ClockMS{Movetime: math.MaxInt64} }, []string{"seat 0: clock: movetime cannot be "}},
		{"a move", func(r *referee.Replay) { r.Moves[2].Move = r.Moves[0].Move }, []string{"move 2 of seat 2: "}},
		{"a move's spelling", func(r *referee.Replay) { r.Moves[2].Move = "0" + r.Moves[2].Move }, []string{"move 2 of seat 2: "}},
		{"a move of no game", func(r *referee.Replay) { r.Moves[2].Move = "\xff\x00 " }, []string{"move 2 of seat 2: "}},
		{"a move's seat", func(r *referee.Replay) { r.Moves[2].Seat = 1 }, []string{`it is the turn of seat 2, not of seat 1`}},
		{"a move's seat, far off", func(r *referee.Replay) { r.Moves[2].Seat = math.MaxInt }, []string{`it is the turn of seat 2, not of seat 9223372036854775807`}},
		{"a move left out", func(r *referee.Replay) { r.Moves = slices.Delete(r.Moves, 2, 3) }, []string{"move 2, "}},
		{"no moves", func(r *referee.Replay) { r.Moves = nil }, []string{"fault 0 is at ply 6, after the last move", "fault 1 is at ply 16, after the last move", "the game is not over", "ranks are", "points are"}},
		{"the last move left out", func(r *referee.Replay) { r.Moves = r.Moves[:len(r.Moves)-1] }, []string{"the game is not over after the last move", "points are"}},
		{"a move after the end", func(r *referee.Replay) { r.Moves = append(r.Moves, r.Moves[0]) }, []string{"the game is over before it"}},
		{"a time below 0", func(r *referee.Replay) { r.Moves[2].MS = -1 }, []string{"move 2: it took -1 ms"}},
		{"no time", func(r *referee.Replay) { r.Moves[2].MS = 0 }, []string{"move 2: it took 0 ms: every move takes more than 0 ms"}},
		{"a time that is too long", func(r *referee.Replay) { r.Moves[2].MS = 1e300 }, []string{"move 2: it took 1e+300 ms where seat 2 had "}},
		{"an info with a line feed", func(r *referee.Replay) { r.Moves[2].Info = []string{"score=1", "score=2\nmove 1o"} }, []string{`move 2: the info "score=2\nmove 1o" is not printable ASCII`}},
		{"an info with an escape sequence", func(r *referee.Replay) { r.Moves[2].Info = []string{"note=\x1b[2J"} }, []string{`move 2: the info "note=\x1b[2J" is not printable ASCII`}},
		{"an info with a carriage return", func(r *referee.Replay) { r.Moves[2].Info = []string{"score=1\r"} }, []string{"is not printable ASCII"}},
		{"an info without pairs", func(r *referee.Replay) { r.Moves[2].Info = []string{"hello"} }, []string{`move 2: the info "hello" is not an info`}},
		{"an info with two spaces", func(r *referee.Replay) { r.Moves[2].Info = []string{"a=1  b=2"} }, []string{`has a space too many`}},
		{"an info of 20 KB", func(r *referee.Replay) { r.Moves[2].Info = []string{"a=" + strings.Repeat("x", 20_000)} }, []string{"is longer than 4096 bytes"}},
		{"an info that fills a line", func(r *referee.Replay) {
			r.Moves[2].Info = []string{"", "a=" + strings.Repeat("x", protocol.MaxLine-len("info a="))}
		}, nil},
		{"a name with a control", func(r *referee.Replay) { r.Seats[1].Name = "bot\n" }, []string{`the bot at seat 1 is "bot\n"`}},
		{"a version with a control", func(r *referee.Replay) { r.Seats[1].Version = "1\x1b[2J" }, []string{`of version "1\x1b[2J": both have printable characters alone`}},
		{"a version in another script", func(r *referee.Replay) { r.Seats[1].Version = "versió 1" }, nil},
		{"a hash", func(r *referee.Replay) { r.Seats[1].SHA256 = "zz" }, []string{`the hash of seat 1: "zz" is not 64 hexadecimal digits in lower case`}},
		{"a fault's code, of the start", func(r *referee.Replay) { r.Faults[0].Code = protocol.Startup }, []string{`fault 0: the code is "startup" where the reason has "illegal"`}},
		{"a fault of the start, later", func(r *referee.Replay) { r.Faults[0] = fault.New(1, 6, fault.Reason{Kind: fault.NoReady, Limit: 9}) }, []string{"fault 0: a bot does not start at ply 6, but before the first move", "..."}},
		{"the stand-in for nobody", func(r *referee.Replay) { r.Moves[2].StandIn = true }, []string{"seat 2 has not forfeited, so the stand-in does not play for it"}},
		{"no stand-in", func(r *referee.Replay) { r.Moves[standInAt(r)].StandIn = false }, []string{"has forfeited, so the stand-in plays for it"}},
		{"a fault left out", func(r *referee.Replay) { r.Faults = r.Faults[1:] }, []string{"move 6: seat 1 has not forfeited, so the stand-in does not play for it", "...", "ranks are"}},
		{"a fault's seat", func(r *referee.Replay) { r.Faults[0].Seat = 2 }, []string{"fault 0: it is not the turn of seat 2", "..."}},
		{"a fault's seat, below 0", func(r *referee.Replay) { r.Faults[0].Seat = -1 }, []string{"fault 0: seat -1 does not exist", "..."}},
		{"a fault's seat, far off", func(r *referee.Replay) { r.Faults[0].Seat = math.MaxInt }, []string{"fault 0: seat 9223372036854775807 does not exist", "..."}},
		{"a fault's ply", func(r *referee.Replay) { r.Faults[1].Ply++ }, []string{"..."}},
		{"a fault's ply, below 0", func(r *referee.Replay) { r.Faults[1].Ply = math.MinInt }, []string{"fault 1 is at ply -9223372036854775808, out of order", "..."}},
		{"a fault's ply, far off", func(r *referee.Replay) { r.Faults[1].Ply = math.MaxInt }, []string{"...", "fault 1 is at ply 9223372036854775807, after the last move"}},
		{"a fault's code", func(r *referee.Replay) { r.Faults[0].Code = protocol.Garbled }, []string{`fault 0: the code is "garbled" where the reason has "illegal"`}},
		{"a fault's text", func(r *referee.Replay) { r.Faults[0].Text = "it was ill" }, []string{`fault 0: the text is "it was ill" where the reason has "`}},
		{"a fault's reason", func(r *referee.Replay) { r.Faults[0].Reason.Kind = "ill" }, []string{`fault 0: the reason "ill" is unknown`}},
		{"a fault without a reason", func(r *referee.Replay) { r.Faults[0].Reason = fault.Reason{} }, []string{`fault 0: the reason "" is unknown`}},
		{"a fault's move", func(r *referee.Replay) { r.Faults[0].Reason.Move = "0y" }, []string{"fault 0: the text is "}},
		{"a fault's legal move", func(r *referee.Replay) { r.Faults[0].Reason.Move = "1o" }, []string{`fault 0: the move "1o" is legal`, "fault 0: the text is "}},
		{"a fault's credit", func(r *referee.Replay) { r.Faults[0].Credit = -1 }, []string{"fault 0: others cannot have taken -1 ms"}},
		{"a time of the stand-in", func(r *referee.Replay) { r.Moves[standInAt(r)].MS = 1 }, []string{"the stand-in takes no time and tells nothing"}},
		{"credit of the stand-in", func(r *referee.Replay) { r.Moves[standInAt(r)].Credit = 1 }, []string{"the stand-in takes no time and tells nothing"}},
		{"an info of the stand-in", func(r *referee.Replay) { r.Moves[standInAt(r)].Info = []string{"score=1"} }, []string{"the stand-in takes no time and tells nothing"}},
		{"a move that is given", func(r *referee.Replay) { r.Moves[0].Given = true }, []string{"move 0: it is given, and the match has no openings"}},
		{"a move that is given, in time", func(r *referee.Replay) { r.Match.Opening, r.Moves[0].Given = 1, true }, []string{"move 0: nobody plays a move that is given: it takes no time and tells nothing"}},
		{"a move that is given later", func(r *referee.Replay) { r.Match.Opening, r.Moves[2].Given = 1, true }, []string{"move 2: it is given after moves that are not"}},
		{"an opening below 0", func(r *referee.Replay) { r.Match.Opening = -1 }, []string{"opening -1 does not exist"}},
		{"a fault twice", func(r *referee.Replay) { r.Faults = slices.Insert(r.Faults, 1, r.Faults[0]) }, []string{"fault 1: seat 1 has forfeited before"}},
		{"ranks", func(r *referee.Replay) { r.Ranks = []int{1, 2, 3} }, []string{"ranks are [1 2 3] where the rules give [2 3 1]"}},
		{"no ranks", func(r *referee.Replay) { r.Ranks = nil }, []string{"ranks are [] where the rules give [2 3 1]"}},
		{"points", func(r *referee.Replay) { r.Points[1] += 0.5 }, []string{"points are "}},
		{"more points", func(r *referee.Replay) { r.Points = append(r.Points, 0) }, []string{"points are "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := kit.Get[*referee.Replay](t)(referee.DecodeReplay(threeHanded(t).Encode()))
			c.change(r)
			var got []string
			for _, err := range r.Verify(variant(t, "brisca", "").Game) {
				got = append(got, err.Error())
			}
			if !matches(c.want, got) {
				t.Errorf("differences are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// fails returns the fault of a bot that exits: at ply 0 before its "ready", later after it.
func fails(seat, ply int) referee.Fault {
	return fault.New(seat, ply, fault.Reason{Kind: fault.Exited, Status: 1, BeforeReady: ply == 0})
}

// standInAt returns the index of the first move of the stand-in.
func standInAt(r *referee.Replay) int {
	return slices.IndexFunc(r.Moves, func(m referee.ReplayMove) bool { return m.StandIn })
}

// matches reports whether each text contains its pattern. "..." stands for one or more texts.
func matches(want, got []string) bool {
	for i, w := range want {
		if w == "..." {
			for n := 1; n <= len(got); n++ {
				if matches(want[i+1:], got[n:]) {
					return true
				}
			}
			return false
		}
		if len(got) == 0 || !strings.Contains(got[0], w) {
			return false
		}
		got = got[1:]
	}
	return len(got) == 0
}

// With two sides a forfeit ends the game.
func TestReplaysTamperedForfeit(t *testing.T) {
	m := &Match{Variant: variant(t, "brisca", ""), Bots: named(2), Clock: patient, start: starter{"bot1": failing(4, "oh")}.start}
	game := oneGame(t, m)
	full := oneGame(t, &Match{Variant: m.Variant, Bots: named(2), Clock: patient, start: starter{}.start})
	for _, c := range []struct {
		name   string
		change func(*referee.Replay)
		want   []string
	}{
		{"nothing", func(*referee.Replay) {}, nil},
		{"moves after it", func(r *referee.Replay) { r.Moves = full.Moves }, []string{"the game was decided by forfeit before it"}},
		{"another's fault as well", func(r *referee.Replay) {
			r.Faults = append(r.Faults, fails(1-r.Faults[0].Seat, r.Faults[0].Ply))
		}, []string{"fault 1: the game was decided by forfeit before it"}},
		{"both before the first move", func(r *referee.Replay) {
			r.Moves, r.Points, r.Ranks = nil, []float64{0, 0}, []int{1, 2}
			r.Faults = []referee.Fault{fails(1, 0), fails(0, 0)}
		}, nil},
	} {
		r := kit.Get[*referee.Replay](t)(referee.DecodeReplay(game.Encode()))
		c.change(r)
		var got []string
		for _, err := range r.Verify(m.Variant.Game) {
			got = append(got, err.Error())
		}
		if !matches(c.want, got) {
			t.Errorf("%s: differences are %q, want %q", c.name, got, c.want)
		}
	}
}

func TestReplaysDecodeRefuses(t *testing.T) {
	replay := threeHanded(t)
	game, seed := string(replay.Encode()), replay.Seed.String()
	for _, c := range []struct {
		name, from, to string
		want           string
	}{
		{"nothing wrong", "", "", ""},
		{"a member of a newer program", `"game"`, `"mood": {"calm": [1]}, "game"`, ""},
		{"a member of a newer program in a move", `"seat":0,"move"`, `"seat":0,"glance":true,"move"`, ""},
		{"a version of a newer program", `"timba": 1`, `"timba": 2`, "timba devel wrote it in version 2 of the format, and this program reads version 1: use that timba, or a later one"},
		{"a newer version, with other members", " \"timba\": 1,\n \"program\": \"devel\",", `"timba": 2, "game": ["brisca"],`, "timba (its version is not recorded) wrote it in version 2"},
		{"a version below the first", `"timba": 1`, `"timba": -1`, "version -1 is unknown: this program reads version 1"},
		{"no version", ` "timba": 1,`, "", `it has no member "timba"`},
		{"a brace after it", "", "}", `the document is followed by "}"`},
		{"a bracket after it", "", "]", `the document is followed by "]"`},
		{"another after it", "", game, "another document follows in the same file: give each replay a file of its own"},
		{"a line of a stream", "{", `{"cursor":"replay-1","replay":{`, "it has lines of a stream of replays: try timba replays --out DIR"},
		{"cut short", `"faults"`, "", "not a replay document"},
		{"a short seed", `"seed": "`, `"seed": "a`, "is not 64 hexadecimal digits"},
		{"a long seed", `"seed": "`, `"seed": "` + strings.Repeat("0", 1000), "is not 64 hexadecimal digits"},
		{"a seed in upper case", seed, strings.ToUpper(seed), "in lower case"},
		{"a seed of other letters", `"seed": "`, `"seed": "x`, "is not 64 hexadecimal digits"},
		{"a start-up time", `"margin":`, `"startup":10000,"margin":`, "the clock has a start-up time"},
		{"a huge number", `"ply":`, `"ply":99999999999999999999`, "not a replay document"},
		{"a word for a number", `"seat":0`, `"seat":"0"`, "not a replay document"},
	} {
		text := strings.Replace(game, c.from, c.to, 1)
		if c.from == "" {
			text = game + c.to
		}
		_, err := referee.DecodeReplay([]byte(text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// The text is for people as well: a line a member, a line a move.
func TestReplaysText(t *testing.T) {
	inc := int64(0)
	r := referee.Replay{
		Timba: 1, Game: "teeko", Options: map[string]string{"start": "drop", "limit": "200"},
		Match: referee.ReplayMatch{Deal: 3}, Clock: referee.ClockMS{Bank: 1000, Inc: &inc, Margin: 50},
		Seats:  []referee.ReplaySeat{{Name: "a<b>&c", Version: "1", SHA256: "00"}, {Name: "d"}},
		Moves:  []referee.ReplayMove{{Seat: 0, Move: "7", MS: 0.25, Info: []string{"pv=<7>"}}, {Seat: 1, Move: "8", StandIn: true}},
		Faults: []referee.Fault{}, Ranks: []int{1, 2}, Points: []float64{0.5, -1},
	}
	zeros := strings.Repeat("0", 64)
	want := `{
 "timba": 1,
 "game": "teeko",
 "options": {"limit":"200","start":"drop"},
 "seed": "` + zeros + `",
 "commitment": "` + zeros + `",
 "match": {"deal":3,"rotation":0},
 "clock": {"bank":1000,"inc":0,"margin":50},
 "seats": [
  {"name":"a<b>&c","version":"1","sha256":"00","seed":0},
  {"name":"d","version":"","sha256":"","seed":0}
 ],
 "moves": [
  {"seat":0,"move":"7","ms":0.25,"info":["pv=<7>"]},
  {"seat":1,"move":"8","standin":true}
 ],
 "faults": [],
 "ranks": [1,2],
 "points": [0.5,-1]
}
`
	if diff := cmp.Diff(want, string(r.Encode())); diff != "" {
		t.Error(diff)
	}
}
