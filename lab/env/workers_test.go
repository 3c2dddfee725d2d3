package env

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/refereetest"
	"github.com/timba-arena/timba/rules"
)

// TestWorkers checks that a game depends neither on the number of workers nor on the other games of the batch.
func TestWorkers(t *testing.T) {
	for text, seats := range map[string]map[int]string{
		"brisca": nil, "tute": {0: "@greedy"}, "tebes size=4": {1: "@random"}, "podrida": {1: "@greedy", 2: "@first"},
	} {
		games := 20
		if seats == nil {
			games, seats = 1600, map[int]string{}
		}
		var frames [2][]byte
		for n, workers := range []int{1, 3} {
			b := newTestBatch(t, workers, text, "games", games, "seats", seats)
			r := rules.NewRand(5)
			kit.Must(t, b.Reset(t.Context(), rules.Seed{1}, 0))
			for range 25 {
				kit.Must(t, b.Step(t.Context(), randomActions(b, r)))
			}
			frames[n] = slices.Clone(b.message)
		}
		if !bytes.Equal(frames[0], frames[1]) {
			t.Errorf("%s: the frames of one worker and of three differ", text)
		}
	}
}

func TestMain(m *testing.M) { refereetest.Main(m, modes, nil) }

// newTestBatch returns the batch that the function document describes with the same arguments.
func newTestBatch(t testing.TB, workers int, variant string, more ...any) *Batch {
	t.Helper()
	c := kit.Get[Config](t)(ParseConfig([]byte(document(variant, more...))))
	return kit.Get[*Batch](t)(NewBatch(c, workers))
}

func randomActions(b *Batch, r *rules.Rand) []byte {
	actions := make([]byte, 2*len(b.slots))
	for i := range b.slots {
		if legal := b.legal(i); len(legal) > 0 {
			binary.LittleEndian.PutUint16(actions[2*i:], uint16(legal[r.Below(len(legal))]))
		}
	}
	return actions
}

// modes has the ways in which the test binary can run: as a house bot, and as timba-lab env on stdin and stdout.
var modes = refereetest.Modes{
	"bot": refereetest.RunHouseBot,
	"env": func(string) error { return ServeClient(context.Background(), runtime.NumCPU()) },
}

// document returns the payload of a make frame for a variant such as "brisca players=3", with more keys and
// their values.
func document(variant string, more ...any) string {
	game, text, _ := strings.Cut(variant, " ")
	options := map[string]string{}
	for key, value := range protocol.Pairs(text).All() {
		options[string(key)] = string(value)
	}
	keys := map[string]any{"version": Version, "game": game, "options": options}
	for i := 0; i < len(more); i += 2 {
		keys[more[i].(string)] = more[i+1]
	}
	data, _ := json.Marshal(keys)
	return string(data)
}
