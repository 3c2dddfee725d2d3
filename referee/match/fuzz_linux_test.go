package match

import (
	"bytes"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/internal/script"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
)

// Whatever a replay's bytes are, reading and checking them ends, and a replay that
// verifies is one that the referee could have written.
func FuzzReplay(f *testing.F) {
	for _, s := range scenes(f) {
		if s.seat > 1 {
			continue
		}
		for _, sc := range []script.Script{s.true, {Pieces: s.true.Pieces[:len(s.true.Pieces)/2]}} {
			g := kit.Get[*referee.GameResult](f)(s.play(f.Context(), s.onPipes(sc), nil))
			if s.seat == 1 {
				g.Reveal(s.seed)
			}
			f.Add(g.Encode())
		}
	}
	f.Add([]byte(`{"timba":1,"game":"brisca","faults":[{"seat":-9223372036854775808,"ply":9223372036854775807}],"moves":[{"seat":99999}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := referee.DecodeReplay(data)
		if err != nil {
			return
		}
		again, err := referee.DecodeReplay(r.Encode())
		if err != nil {
			t.Fatalf("what it is written as cannot be read: %v", err)
		}
		if !bytes.Equal(r.Encode(), again.Encode()) {
			t.Fatal("it is not written as it was")
		}
		for _, g := range games.All() {
			differences := r.Verify(g)
			if g.Name != r.Game && len(differences) == 0 {
				t.Fatalf("it is of %s and of %s", r.Game, g.Name)
			}
		}
	})
}

// Whatever a bot writes, the game ends as the oracle foretells. The bytes are its
// answers, each ended by a record separator; one that begins with a bell drips.
func FuzzTranscript(f *testing.F) {
	all := scenes(f)
	for i, s := range all {
		var data []byte
		for _, p := range s.true.Pieces[:min(6, len(s.true.Pieces))] {
			data = append(append(data, p.Text...), 0x1e)
		}
		f.Add(uint8(i), data)
		f.Add(uint8(i), bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n# so\n")))
		f.Add(uint8(i), bytes.ReplaceAll(data, []byte{0x1e}, []byte{0x1e, 0x07}))
	}
	f.Fuzz(func(t *testing.T, at uint8, data []byte) {
		var sc script.Script
		for text := range bytes.SplitSeq(data, []byte{0x1e}) {
			text, drip := bytes.CutPrefix(text, []byte{0x07})
			sc.Pieces = append(sc.Pieces, script.Piece{Text: text, Drip: drip})
		}
		all[int(at)%len(all)].through(t, sc)
	})
}

// A game that nobody has checked must not be believed either: ranks and points come from the rules alone.
func TestReplaysOfNothing(t *testing.T) {
	for _, g := range games.All() {
		v := kit.Get[*rules.Variant](t)(g.Resolve(nil))
		r := referee.Replay{Timba: 1, Game: g.Name, Options: v.Settings.Map(), Seats: make([]referee.ReplaySeat, v.Players)}
		if len(r.Verify(g)) == 0 {
			t.Errorf("%s: a replay without moves verifies", g.Name)
		}
	}
}
