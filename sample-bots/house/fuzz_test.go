package house

import (
	"bytes"
	"testing"

	"github.com/timba-arena/timba/protocol"
)

// Whatever a referee says, a house bot answers with one of the moves listed.
func FuzzAnswer(f *testing.F) {
	for _, c := range [][2]string{
		{"brisca players=2 seat=0", "hand=1e,4o,2c trump=5c stock=30 leader=1 trick=3e points=0,0 played=-"},
		{"tute players=2 seat=0", "hand=12e,11e,10o trump=5c stock=20 leader=1 trick=2e played=- declared=e,- sung=-"},
		{"podrida players=3 deck=48 seat=2", "cards=3 trump=5c hand=2e,6e bids=1,1,0 tricks=0,0,0 leader=0 trick=4e,7e played=-"},
		{"teeko squares=advanced seat=0", "board=www......bb....b......... me=b phase=drop"},
		{"tebes size=4 seat=0", "size=4 colours=bwbwwbwbbwbwwbwb pieces=b..b.b..........w me=w extra=bw bonus=no"},
		{"brisca players=999999999999 seat=-1", "hand=- trump=0c trick=13x leader=-5 played=,"},
		{"chess", "fen=none"},
	} {
		for _, moves := range []string{"2o 2c 1e", "bid:0 bid:3", "sing:c", "swap:7c", "12-13 4", "-1 99-7 0-0", "?"} {
			f.Add(c[0], c[1], []byte(moves))
		}
	}
	f.Fuzz(func(t *testing.T, game, view string, list []byte) {
		line, err := protocol.ParseReferee(append([]byte("turn 0 1000 "), list...))
		if err != nil || line.Verb != protocol.RefTurn {
			return
		}
		a := greedyAnswer(t, game, view, line.Moves, 1)
		if !line.Moves.Has(a.Move) {
			t.Errorf("%q is not among %q", a.Move, line.Moves)
		}
		if bytes.Contains(a.Info, []byte("\n")) {
			t.Errorf("%q is not a line", a.Info)
		}
	})
}
