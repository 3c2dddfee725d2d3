package referee_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/refereetest"
)

// A line of text has all that the rules need to rebuild a game.
func TestReplaysNotation(t *testing.T) {
	t.Parallel()
	v := refereetest.Variant(t, "teeko", "start=drop")
	r := &referee.Replay{
		Game: "teeko", Options: v.Settings.Map(), Seed: referee.Hex{31: 7}, Match: referee.ReplayMatch{Deal: 3, Rotation: 1},
		Seats: []referee.ReplaySeat{{Name: "a"}, {Name: "b"}}, Ranks: []int{1, 2}, Points: []float64{1, 0.5},
		Moves: []referee.ReplayMove{{Move: "12"}, {Move: "7"}},
	}
	line := r.Notation(v)
	if want := "teeko start=drop squares=standard limit=200 opening=0 seed=" + strings.Repeat("0", 63) + "7 moves=12,7"; line != want {
		t.Errorf("%s\nwant %s", line, want)
	}
	if got, want := r.ResultText(), "deal 3, rotation 1; seat 0 a: rank 1, 1 point; seat 1 b: rank 2, 0.5 points"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	n := kit.Get[referee.NotatedGame](t)(referee.ParseNotation(line))
	if diff := cmp.Diff(referee.NotatedGame{"teeko", r.Options, referee.DealOpening{&r.Seed, []string{"12", "7"}}}, n); diff != "" {
		t.Error(diff)
	}
	kit.Must(t, n.Check(v))
	kit.Must(t, n.Cut(2)) // all
	kit.Must(t, n.Cut(1))
	if len(n.Moves) != 1 {
		t.Errorf("%q after 1 move", n.Moves)
	}
	if err := n.Cut(2); err == nil || err.Error() != "it has 1 moves: --ply cannot be 2" {
		t.Errorf("2 of 1 move: %v", err)
	}
	r.Moves = nil
	if line := r.Notation(v); !strings.HasSuffix(line, " moves=-") || len(kit.Get[referee.NotatedGame](t)(referee.ParseNotation(line)).Moves) != 0 {
		t.Errorf("without moves: %s", line)
	}
	for text, want := range map[string]string{
		"": "the line is empty", "teeko drop": `"drop" is not name=value`, "teeko limit=1 limit=2": "limit is set twice", "teeko seed=x": "seed: ",
	} {
		if _, err := referee.ParseNotation(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
