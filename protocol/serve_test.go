package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// TestServe plays the bot's side of two games, with lines of a later version among them.
func TestServe(t *testing.T) {
	in := strings.Join([]string{
		"timba 1",
		"game brisca players=2 exchange=no seat=1 seed=77 movetime=250",
		"event deal 12c,3o,7b", "event trump 5c", "novelty 3 x",
		"view hand=12c,3o,7b trump=5c", "turn 1 250 12c 3o 7b",
		"event play 1 12c", "view hand=3o,7b trump=5c", "turn 3 200 3o 7b",
		"event trick 0 14", "end ranks=1,2 points=61,59",
		"game teeko seat=0\r", "view board=b..w\r", "turn 0 5 12-13\r", "fault 0 timeout late",
		"bye", "turn 9 9 never",
	}, "\n") + "\n"
	var saw []string
	var games []*GameLine
	var out writes
	kit.Must(t, Serve(strings.NewReader(in), &out, "tuna", "2", func(turn *Turn) Answer {
		if n := turn.Game.Number; n > len(games) {
			games = append(games, turn.Game)
		}
		var events []string
		for verb, args := range turn.Events() {
			events = append(events, fmt.Sprintf("%s%v", verb, args.Strings()))
		}
		saw = append(saw, fmt.Sprintf("%s %d %v %s %v", turn.Game.Name, turn.Ply, turn.Time, turn.View, events))
		a := Answer{Move: turn.Moves.Token(0)}
		if turn.Ply == 3 {
			a.Info = []byte("score=1")
		}
		return a
	}))
	want := []string{
		"brisca 1 250ms hand=12c,3o,7b trump=5c [deal[12c,3o,7b] trump[5c]]",
		"brisca 3 200ms hand=3o,7b trump=5c [play[1 12c]]",
		"teeko 0 5ms board=b..w []",
	}
	if diff := cmp.Diff(want, saw); diff != "" {
		t.Errorf("what think saw (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(writes{"ready tuna 2\n", "move 12c\n", "info score=1\nmove 3o\n", "move 12-13\n"}, out); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	first := GameLine{Name: "brisca", Number: 1, Settings: games[0].Settings, Seat: 1, Players: 2, Seed: 77}
	if diff := cmp.Diff(first, *games[0]); diff != "" || games[0].Settings.Get("exchange") != "no" {
		t.Errorf("game (-want +got):\n%s", diff)
	}
}

// writes collects the single writes.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestServeErrors(t *testing.T) {
	first := func(t *Turn) Answer { return Answer{Move: t.Moves.Token(0)} }
	for _, c := range []struct {
		name, in string
		bot      string
		think    func(*Turn) Answer
		want     string
	}{
		{"end of input", "timba 1\n", "a", first, ""},
		{"half a line", "timba 1\nturn 0 10", "a", first, ""},
		{"another version", "timba 2\n", "a", first, "protocol version 2 is not supported: this bot has version 1"},
		{"not a turn", "turn 1\n", "a", first, `"turn 1" is not a turn line of protocol version 1`},
		{"no move", "turn 4 10 x\n", "a", func(*Turn) Answer { return Answer{} }, "the bot returned no move at ply 4"},
		{"a name of two words", "", "a b c", first, `name "a b c" and version "" must be words of printable ASCII`},
	} {
		err := Serve(strings.NewReader(c.in), io.Discard, c.bot, "", c.think)
		if got := errorText(err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	long := "event " + strings.Repeat("x", maxRefLine)
	if err := Serve(strings.NewReader(long), io.Discard, "", "", first); err == nil || !strings.Contains(err.Error(), "longer than 65536 bytes") {
		t.Errorf("a long line: got %v", err)
	}
	broken := errors.New("broken pipe")
	if err := Serve(strings.NewReader("timba 1\n"), failing{broken}, "", "", first); err != broken {
		t.Errorf("a broken pipe: got %v", err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// TestServeHugeClock checks that a huge time of a turn does not become negative.
func TestServeHugeClock(t *testing.T) {
	var got time.Duration
	in := "turn 0 999999999999999999 x\n"
	if err := Serve(strings.NewReader(in), io.Discard, "", "", func(t *Turn) Answer {
		got = t.Time
		return Answer{Move: t.Moves.Token(0)}
	}); err != nil || got <= 0 {
		t.Errorf("got %v, %v", got, err)
	}
}

func BenchmarkServe(b *testing.B) {
	lines := [][]byte{[]byte("event play 1 12c\n"), append(bytes.Clone(sampleView), '\n'), []byte("turn 14 1000 12c 3o 7b\n")}
	answer := Answer{Move: []byte("12c"), Info: []byte("score=1")}
	c := client{out: io.Discard, think: func(*Turn) Answer { return answer }}
	c.turn.Game = &GameLine{}
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if _, err := c.handle(line[:len(line)-1]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
