//go:build !race || slowrace

package env

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
)

func frame(k frameKind, payload string) string {
	return string(textFrame(k, payload))
}

func reset(seed byte, first uint32) string {
	return string(binary.LittleEndian.AppendUint32(append(make([]byte, 31), seed), first))
}

// answered is a frame received from the server.
type answered struct {
	kind    frameKind
	payload string
}

// converse returns the answers to the frames in input.
func converse(t testing.TB, input string) (all []answered, err error) {
	t.Helper()
	var out bytes.Buffer
	err = (&session{ctx: t.Context(), input: strings.NewReader(input), output: &out, workers: 1}).run()
	for out.Len() > 0 {
		header := out.Next(headerBytes)
		if len(header) < headerBytes || header[5]|header[6]|header[7] != 0 {
			t.Fatalf("header %q", header)
		}
		size := int(binary.LittleEndian.Uint32(header))
		payload := out.Next(size)
		if len(payload) != size {
			t.Fatalf("%d bytes of a payload of %d", len(payload), size)
		}
		all = append(all, answered{frameKind(header[4]), string(payload)})
	}
	return all, err
}

var makeBrisca = document("brisca", "games", 2)

// TestSession checks that every frame is answered by one frame, and that errors do not change the session.
func TestSession(t *testing.T) {
	input := frame(frameActions, "") + frame(frameMake, makeBrisca) + frame(frameActions, "1234") + frame(frameReset, reset(1, 0)) +
		frame(frameView, "\x01\x00\x00\x00") + frame(frameActions, "123") + frame('?', "") + frame(frameNext, "\x00\x01") + frame(frameMake, document("chess")) +
		frame(frameView, "\x02\x00\x00\x00") + frame(frameView, "\x02") + frame(frameNext, "\x00") + frame(frameReset, "x") + frame(frameReset, reset(1, 1<<32-1)) +
		frame(frameActions, "\xff\xff\xff\xff") + frame(frameMake, document("teeko"))
	want := []answered{
		{frameError, `env: a frame of kind "A" comes before the games: send a make frame ("M") first`},
		{frameLayout, ""},
		{frameError, "env: the games have not begun: send a reset frame first"},
		{frameState, ""},
		{frameText, ""},
		{frameError, "env: an actions frame has 3 bytes where there are 2 games: send two bytes for each"},
		{frameError, `env: a frame of kind "?" is unknown: try M, R, A, N, O or V`},
		{frameState, ""},
		{frameError, `env: game "chess" does not exist: try brisca, tute, podrida, tebes, teeko`},
		{frameError, "env: game 2 does not exist: try 0 to 1"},
		{frameError, "env: a view frame has 1 bytes: send 4, the number of a game"},
		{frameError, "env: a next frame has 1 bytes where there are 2 games: send a byte for each"},
		{frameError, "env: a reset frame has 1 bytes: send 36, a seed of 32 and the first deal of 4"},
		{frameError, "env: first deal 4294967295 is too high for 2 games: try 0"},
		{frameError, "env: game 0, deal 0: action 65535 is no move of brisca: try 9"},
		{frameLayout, ""},
	}
	got, err := converse(t, input)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d answers, %v", len(got), err)
	}
	for i, w := range want {
		if got[i].kind != w.kind || w.kind == frameError && got[i].payload != w.payload {
			t.Errorf("answer %d: %q %q, want %q %q", i, got[i].kind, got[i].payload, w.kind, w.payload)
		}
	}
	if text := got[4].payload; !strings.Contains(text, "brisca") || !strings.Contains(text, "\nmoves: ") {
		t.Errorf("the view is\n%s", text)
	}
}

// TestBrokenFrames checks that the connection ends with an error frame after a frame whose end is unknown.
func TestBrokenFrames(t *testing.T) {
	for input, want := range map[string]string{
		"\x01":                                    "env: a frame ends after 1 bytes, in its header of 8",
		frame(frameMake, "")[:7]:                  "env: a frame ends after 7 bytes, in its header of 8",
		frame(frameMake, "version")[:12]:          "env: a frame ends after 4 of 7 bytes",
		"\x00\x00\x00\x00M\x00\x01\x00":           `env: bytes 5 to 7 of a frame's header are "\x00\x01\x00": they must be zero`,
		"\x01\x00\x02\x00M\x00\x00\x00":           "env: a frame of 131073 bytes is too long: 131072 at most",
		"\xff\xff\xff\xffA\x00\x00\x00 and so on": "env: a frame of 4294967295 bytes is too long: 131072 at most",
	} {
		got, err := converse(t, input)
		if !errors.Is(err, errOutOfSync) || len(got) != 1 || got[0].kind != frameError || got[0].payload != want+": the connection ends here" {
			t.Errorf("%q: %v, %q", input, err, got)
		}
	}
	if got, err := converse(t, ""); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v, %q", err, got)
	}
}

// TestLayout checks that a layout is complete and that its arrays do not overlap.
func TestLayout(t *testing.T) {
	for _, text := range variants {
		b := newTestBatch(t, 1, text, "games", 7, "arrays", optionalArrays)
		end := 0
		for _, a := range b.layout.Arrays {
			if a.Offset < end || a.Offset%8 != 0 || a.Shape[0] != 7 {
				t.Errorf("%s: %+v begins before %d", text, a, end)
			}
			end = a.Offset + 7*a.rowBytes
		}
		if b.layout.Size < end || b.layout.Size%8 != 0 || len(b.message) != headerBytes+b.layout.Size {
			t.Errorf("%s: %d bytes for arrays of %d", text, b.layout.Size, end)
		}
	}
	got, err := converse(t, frame(frameMake, document("brisca exchange=yes", "games", 3, "seats", map[int]string{1: "@greedy"})))
	kit.Must(t, err)
	var text bytes.Buffer
	kit.Must(t, json.Indent(&text, []byte(got[0].payload), "", " "))
	kit.Golden(t, "layout.json", text.String()+"\n")
}

// TestConfig checks the limits of a configuration, and that each error names the key, the value and valid values.
func TestConfig(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 `env: "" is no JSON object: try {"version": 1, "game": "brisca"}`,
		"version=1 game=brisca":            `env: "version=1 game=brisca" is no JSON object: try {"version": 1, "game": "brisca"}`,
		"null":                             `env: "null" is no JSON object: try {"version": 1, "game": "brisca"}`,
		`[{"version": 1}]`:                 `env: "[{\"version\": 1}]" is no JSON object: try {"version": 1, "game": "brisca"}`,
		`{"version": 1} {"version": 1}`:    `env: "{\"version\": 1} {\"version\": 1}" is no JSON object: try {"version": 1, "game": "brisca"}`,
		`{"game": "brisca"}`:               "env: version cannot be missing: try 1",
		`{"version": 2, "game": "brisca"}`: "env: version cannot be 2: try 1",
		`{"version": 1}`:                   `env: game "" does not exist: try brisca, tute, podrida, tebes, teeko`,
		`{"version": 1, "game": ["x"]}`:    `env: game cannot be ["x"]: try "brisca"`,
		`{"version": 1, "Game": "brisca", "size": {"a": 6}}`: `env: unknown key "Game" with the value "brisca": try version, game, options, games, seats, rewards, auto, arrays, movetime`,
	} {
		refuses(t, text, want)
	}
	seats := func(seat, bot string) map[string]string { return map[string]string{seat: bot} }
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"size", 6, `unknown key "size" with the value 6: try version, game, options, games, seats, rewards, auto, arrays, movetime`},
		{"games", 0, "games cannot be 0: try 1 to 65536"},
		{"games", -1, "games cannot be -1: try 1 to 65536"},
		{"games", 65537, "games cannot be 65537: try 1 to 65536"},
		{"games", 1.5, "games cannot be 1.5: try 1 to 65536"},
		{"games", "64", `games cannot be "64": try 1 to 65536`},
		{"games", nil, "games cannot be null: try 1 to 65536"},
		{"games", strings.Repeat("9", 100), `games cannot be "` + strings.Repeat("9", 79) + "...: try 1 to 65536"},
		{"movetime", "never", `movetime cannot be "never": try 1 to 3600000`},
		{"movetime", 3600001, "movetime cannot be 3600001: try 1 to 3600000"},
		{"arrays", []string{"legal", "colours"}, `arrays cannot be ["legal","colours"]: try some of ["legal", "mask", "observation"]`},
		{"arrays", []any{"legal", nil}, `arrays cannot be ["legal",null]: try some of ["legal", "mask", "observation"]`},
		{"arrays", "legal", `arrays cannot be "legal": try some of ["legal", "mask", "observation"]`},
		{"rewards", "money", `rewards cannot be "money": try "points" or "outcome"`},
		{"auto", "yes", `auto cannot be "yes": try true or false`},
		{"options", []int{5}, `options cannot be [5]: try {"players": 2}`},
		{"options", map[string]int{"players": 5}, `option players cannot be "5": try 2 to 4`},
		{"options", map[string]any{"players": nil}, `option players cannot be "null": try 2 to 4`},
		{"options", map[string]bool{"exchange": true}, `option exchange cannot be "true": try no or yes`},
		{"options", map[string]int{"size": 6}, `brisca has no option "size": try players, teams, exchange, last10, blackhand, hunt3, without2`},
		{"seats", "@greedy", `seats cannot be "@greedy": try {"1": "@greedy"}`},
		{"seats", map[string]int{"1": 1}, `seats cannot be {"1":1}: try {"1": "@greedy"}`},
		{"seats", seats("2", "@random"), `seats: "2" with the value "@random" is no seat of this game: try 0 to 1`},
		{"seats", seats("01", "@random"), `seats: "01" with the value "@random" is no seat of this game: try 0 to 1`},
		{"seats", seats("1", "@greedy:noise=x"), `seats: 1: house bot "greedy:noise=x": option noise cannot be "x": try 0 to 100`},
		{"seats", map[string]string{"0": "@random", "1": "random"}, "seats: every seat has a house bot: leave out 1 for the client, or use timba match"},
	} {
		refuses(t, document("brisca", c.key, c.value), "env: "+c.want)
	}
	for bot, most := range map[string]int{"@random": 16384, "@champion": 64} {
		if _, err := ParseConfig([]byte(document("brisca", "seats", seats("1", bot), "games", most))); err != nil {
			t.Error(err)
		}
	}
	refuses(t, document("brisca", "seats", seats("1", "@random"), "games", 16385),
		"env: games cannot be 16385 with so many house bots: 16384 bots play at once at most, and this needs 16385")
	refuses(t, document("brisca", "seats", seats("1", "@champion"), "games", 65),
		"env: games cannot be 65 with house bots that search: 64 of them play at once at most, and this needs 65")
	all := kit.Get[Config](t)(ParseConfig([]byte(document("brisca", "games", MaxGames))))
	if all.Games != MaxGames || !slices.Equal(all.Arrays, []string{"legal", "observation"}) || all.Rewards != RewardPoints || !all.AutoReset || all.MoveTime != 100*time.Millisecond {
		t.Errorf("%+v", all)
	}
	c := kit.Get[Config](t)(ParseConfig([]byte(document("tebes", "games", MaxGames, "arrays", optionalArrays))))
	if _, err := NewBatch(c, 1); err == nil || err.Error() != `env: games cannot be 65536: they need 290 MiB, and a connection has 256: try 57852, or fewer arrays` {
		t.Error(err)
	}
}

// refuses checks that a document gives an error that contains want.
func refuses(t *testing.T, document, want string) {
	t.Helper()
	if _, err := ParseConfig([]byte(document)); err == nil || err.Error() != want {
		t.Errorf("%s:\n %v, want\n %s", document, err, want)
	}
}

// TestThinkers checks that bots that search use the time of the configuration.
func TestThinkers(t *testing.T) {
	b := newTestBatch(t, 2, "teeko limit=20", "games", 2, "seats", map[int]string{1: "@champion"}, "movetime", 1)
	kit.Must(t, b.Reset(t.Context(), rules.Seed{1}, 0))
	for range 10 {
		kit.Must(t, b.Step(t.Context(), randomActions(b, rules.NewRand(1))))
	}
}

// TestServeEnds checks that Serve returns when ctx ends, also while it waits for input, and when the client
// disconnects.
func TestServeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, client := io.Pipe()
	defer client.Close()
	ended := make(chan error)
	go func() { ended <- Serve(ctx, in, io.Discard, 1) }()
	if _, err := io.WriteString(client, frame(frameMake, makeBrisca)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := Serve(t.Context(), strings.NewReader(frame(frameMake, makeBrisca)), failing{}, 1); err != errFailing {
		t.Error(err)
	}
}

var errFailing = errors.New("the reader has gone")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }

// FuzzSession checks that any input is answered frame by frame without a panic.
func FuzzSession(f *testing.F) {
	f.Add([]byte(frame(frameMake, makeBrisca) + frame(frameReset, reset(1, 0)) + frame(frameActions, "\x06\x00\x06\x00")))
	f.Add([]byte(frame(frameMake, document("tute", "seats", map[int]string{1: "@first"}, "auto", false)) + frame(frameReset, reset(1, 0)) + frame(frameNext, "\x01") + frame(frameView, "\x00\x00\x00\x00")))
	f.Add([]byte(frame(frameMake, document("teeko limit=3", "arrays", []string{arrayMask}, "rewards", RewardOutcome)) + frame(frameReset, reset(2, 9)) + frame(frameActions, "\x00\x00")))
	f.Add([]byte("\x00\x00\x00\x00?\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte(`"games"`)) && !bytes.Contains(data, []byte(`"games":2,`)) || bytes.Contains(data, []byte("champion")) || bytes.Contains(data, []byte("mcts")) {
			return // as many games, or bots that think, take long
		}
		got, err := converse(t, string(data))
		if err != nil && !errors.Is(err, errOutOfSync) {
			t.Fatal(err)
		}
		if len(data) > 0 && len(got) == 0 {
			t.Fatal("no answer")
		}
	})
}
