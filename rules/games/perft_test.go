package games_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// TestPerft compares the number of sequences of moves of every game with testdata/perft.txt.
func TestPerft(t *testing.T) {
	data := kit.Get[[]byte](t)(os.ReadFile("testdata/perft.txt"))
	counted := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimSpace(line)
		f := strings.Split(line, "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		s := dealt(t, f[0], f[1], f[2])
		counts := strings.Fields(f[3])
		for i, want := range counts {
			got := kit.Get[uint64](t)(rules.Perft(t.Context(), s, i+1))
			if strconv.FormatUint(got, 10) != want {
				t.Errorf("%s: %d sequences of %d moves", line, got, i+1)
			}
		}
		counted[f[0]] = true
	}
	for _, g := range refereetest.SpecGames(t) {
		if !counted[g.Name] {
			t.Errorf("testdata/perft.txt does not have %s", g.Name)
		}
	}
}

// dealt returns the first position for a game's options and a seed.
func dealt(t *testing.T, game, options, seed string) rules.State {
	t.Helper()
	g := kit.Get[*rules.Game](t)(games.Find(game))
	v := kit.Get[*rules.Variant](t)(g.Resolve(protocol.Pairs(options).Map()))
	stream := rules.NewStream(kit.Get[rules.Seed](t)(referee.ParseSeed(seed)))
	return v.Deal(&stream)
}

func TestPerftBounds(t *testing.T) {
	s := dealt(t, "tebes", "", "0")
	if one, err := rules.Perft(t.Context(), s, 0); one != 1 || err != nil {
		t.Errorf("depth 0 has %d sequences, %v", one, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := rules.Perft(ended, s, 1000); !errors.Is(err, context.Canceled) {
		t.Errorf("a count whose context has ended: %v", err)
	}
}
