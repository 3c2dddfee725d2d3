package env

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules"
)

// frame returns a frame of a client.
func frame(k kind, payload string) string {
	header := make([]byte, headerBytes)
	putHeader(header, k, len(payload))
	return string(header) + payload
}

// reset is the payload of a reset frame.
func reset(seed byte, first uint32) string {
	return string(binary.LittleEndian.AppendUint32(append(make([]byte, 31), seed), first))
}

// answered is a frame of the server.
type answered struct {
	kind    kind
	payload string
}

// converse returns the answers to what a client sends.
func converse(t testing.TB, input string) (all []answered, err error) {
	t.Helper()
	var out bytes.Buffer
	err = (&session{ctx: t.Context(), in: strings.NewReader(input), out: &out, workers: 1}).run()
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
		all = append(all, answered{kind(header[4]), string(payload)})
	}
	return all, err
}

const makeBrisca = "version=1 game=brisca games=2"

// A session is a frame for each frame, and errors leave it as it was.
func TestSession(t *testing.T) {
	input := frame(frameActions, "") + frame(frameMake, makeBrisca) + frame(frameActions, "1234") + frame(frameReset, reset(1, 0)) +
		frame(frameView, "\x01\x00\x00\x00") + frame(frameActions, "123") + frame('?', "") + frame(frameNext, "\x00\x01") + frame(frameMake, "version=1 game=chess") +
		frame(frameView, "\x02\x00\x00\x00") + frame(frameView, "\x02") + frame(frameNext, "\x00") + frame(frameReset, "x") + frame(frameReset, reset(1, 1<<32-1)) +
		frame(frameActions, "\xff\xff\xff\xff") + frame(frameMake, "version=1 game=teeko games=1")
	want := []answered{
		{frameError, `env: a frame of kind "A" comes before the games: send a make frame ("M") first`},
		{frameLayout, ""},
		{frameError, "env: the games have not begun: send a reset frame first"},
		{frameState, ""},
		{frameText, ""},
		{frameError, "env: an actions frame has 3 bytes where there are 2 games: send two bytes for each"},
		{frameError, `env: a frame of kind "?" is unknown: try M, R, A, N or V`},
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

// After a frame whose end is not known, the connection ends with an error frame.
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
		if !errors.Is(err, errLost) || len(got) != 1 || got[0].kind != frameError || got[0].payload != want+": the connection ends here" {
			t.Errorf("%q: %v, %q", input, err, got)
		}
	}
	if got, err := converse(t, ""); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v, %q", err, got)
	}
}

// A layout is complete and its arrays do not overlap.
func TestLayout(t *testing.T) {
	for _, text := range variants {
		b := newTestBatch(t, text+" games=7 arrays=legal,mask,observation", 1)
		end := 0
		for _, a := range b.layout.Arrays {
			if a.Offset < end || a.Offset%8 != 0 || a.Shape[0] != 7 {
				t.Errorf("%s: %+v begins before %d", text, a, end)
			}
			end = a.Offset + 7*a.row
		}
		if b.layout.Size < end || b.layout.Size%8 != 0 || len(b.Message()) != headerBytes+b.layout.Size {
			t.Errorf("%s: %d bytes for arrays of %d", text, b.layout.Size, end)
		}
		if len(b.layout.Numbers) > maxNumbers {
			t.Errorf("%s: %d numbers", text, len(b.layout.Numbers))
		}
	}
	got, err := converse(t, frame(frameMake, "version=1 game=brisca games=3 seat1=@greedy exchange=yes"))
	kit.Must(t, err)
	var text bytes.Buffer
	kit.Must(t, json.Indent(&text, []byte(got[0].payload), "", " "))
	kit.Golden(t, "layout.json", text.String()+"\n")
}

// What a client asks for is bounded, and each refusal says what to try.
func TestConfig(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                        `env: version "" is unknown: this program has version=1`,
		"version=2 game=brisca":                                   `env: version "2" is unknown: this program has version=1`,
		"version=1":                                               `env: game "" does not exist: try brisca, tute, podrida, tebes, teeko`,
		"version=1  game=brisca":                                  `env: "version=1  game=brisca" cannot be read: write key=value with one space between, as in version=1 game=brisca games=64`,
		"version=1 brisca":                                        `env: "version=1 brisca" cannot be read: write key=value with one space between, as in version=1 game=brisca games=64`,
		"version=1 game=brisca game=tute":                         `env: key "game" is there twice: choose one`,
		"version=1 game=brisca games=0":                           `env: games cannot be "0": try 1 to 65536`,
		"version=1 game=brisca games=65537":                       `env: games cannot be "65537": try 1 to 65536`,
		"version=1 game=brisca movetime=never":                    `env: movetime cannot be "never": try 1 to 3600000`,
		"version=1 game=brisca movetime=3600001":                  `env: movetime cannot be "3600001": try 1 to 3600000`,
		"version=1 game=brisca arrays=legal,colours":              `env: arrays cannot have "colours": try legal, mask, observation`,
		"version=1 game=brisca rewards=money":                     `env: rewards cannot be "money": try points or outcome`,
		"version=1 game=brisca auto=maybe":                        `env: auto cannot be "maybe": try yes or no`,
		"version=1 game=brisca players=5":                         `env: brisca: option players cannot be "5": try 2 to 4`,
		"version=1 game=brisca size=6":                            `env: brisca: unknown option "size": try players, teams, exchange, last10, blackhand, hunt3`,
		"version=1 game=brisca seat2=@random":                     `env: key "seat2" is no seat of this game: try seat0 to seat1`,
		"version=1 game=brisca seat01=@random":                    `env: key "seat01" is no seat of this game: try seat0 to seat1`,
		"version=1 game=brisca seat1=@greedy:noise=x":             `env: seat1: house bot "greedy:noise=x": option noise cannot be "x": try 0 to 100`,
		"version=1 game=brisca seat0=@random seat1=random":        "env: every seat has a house bot: leave out seat1 for the client, or use timba match",
		"version=1 game=brisca seat1=@random games=16385":         `env: games cannot be "16385" with so many house bots: 16384 bots play at once at most, and this needs 16385`,
		"version=1 game=brisca seat1=@champion games=65":          `env: games cannot be "65" with house bots that search: 64 of them play at once at most, and this needs 65`,
		"version=1 game=podrida players=3 seat0=@random games=-1": `env: games cannot be "-1": try 1 to 65536`,
	} {
		if _, err := ParseConfig(text); err == nil || err.Error() != want {
			t.Errorf("%q:\n %v, want\n %s", text, err, want)
		}
	}
	for _, text := range []string{"game=brisca games=65536", "game=brisca seat1=@random games=16384", "game=brisca seat1=@champion games=64"} {
		if _, err := ParseConfig("version=1 " + text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	c := kit.Get[Config](t)(ParseConfig("version=1 game=tebes games=65536 arrays=legal,mask,observation"))
	if _, err := NewBatch(c, 1); err == nil || err.Error() != `env: games cannot be "65536": they need 290 MiB, and a connection has 256: try 57852, or fewer arrays` {
		t.Error(err)
	}
}

// Bots that search think for as long as they are told.
func TestThinkers(t *testing.T) {
	b := newTestBatch(t, "game=teeko games=2 seat1=@champion movetime=1 limit=20", 2)
	kit.Must(t, b.Reset(t.Context(), rules.Seed{1}, 0))
	for range 10 {
		kit.Must(t, b.Step(t.Context(), randomActions(b, rules.NewRand(1))))
	}
}

// Serve ends with its context, also while it waits for its client; a client that goes away ends it.
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

// FuzzSession sends a server what it may: it never panics, and answers each frame with a frame.
func FuzzSession(f *testing.F) {
	f.Add([]byte(frame(frameMake, makeBrisca) + frame(frameReset, reset(1, 0)) + frame(frameActions, "\x06\x00\x06\x00")))
	f.Add([]byte(frame(frameMake, "version=1 game=tute seat1=@first auto=no") + frame(frameReset, reset(1, 0)) + frame(frameNext, "\x01") + frame(frameView, "\x00\x00\x00\x00")))
	f.Add([]byte(frame(frameMake, "version=1 game=teeko arrays=mask rewards=outcome limit=3") + frame(frameReset, reset(2, 9)) + frame(frameActions, "\x00\x00")))
	f.Add([]byte("\x00\x00\x00\x00?\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data, []byte("games=")) && !bytes.Contains(data, []byte("games=2")) || bytes.Contains(data, []byte("champion")) || bytes.Contains(data, []byte("mcts")) {
			return // as many games, or bots that think, take long
		}
		got, err := converse(t, string(data))
		if err != nil && !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		if len(data) > 0 && len(got) == 0 {
			t.Fatal("no answer")
		}
	})
}
