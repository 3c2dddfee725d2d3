package games_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/games"
)

// Every game has as many sequences of moves as testdata/perft.txt tells, which are divided among
// the first moves.
func TestPerft(t *testing.T) {
	data, err := os.ReadFile("testdata/perft.txt")
	kit.Must(t, err)
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
		g, err := games.Find(f[0])
		kit.Must(t, err)
		v, err := rules.Resolve(g, protocol.Pairs(f[1]).Map())
		kit.Must(t, err)
		seed, err := referee.ParseSeed(f[2])
		kit.Must(t, err)
		stream := rules.NewStream(seed)
		s := v.Deal(&stream)
		counts := strings.Fields(f[3])
		for i, text := range counts {
			want, err := strconv.ParseUint(text, 10, 64)
			kit.Must(t, err)
			got, err := rules.Perft(t.Context(), s, i+1)
			kit.Must(t, err)
			if got != want {
				t.Errorf("%s: %d sequences of %d moves", line, got, i+1)
			}
		}
		divided, err := rules.Divide(t.Context(), s, len(counts))
		kit.Must(t, err)
		sum := uint64(0)
		for _, d := range divided {
			sum += d.Count
		}
		if last := counts[len(counts)-1]; strconv.FormatUint(sum, 10) != last || strconv.Itoa(len(divided)) != counts[0] {
			t.Errorf("%s: %d first moves have %d sequences", line, len(divided), sum)
		}
		counted[g.Name()] = true
	}
	for _, g := range games.All() {
		if !counted[g.Name()] {
			t.Errorf("testdata/perft.txt does not have %s", g.Name())
		}
	}
}
