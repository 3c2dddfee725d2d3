package house

import (
	"bytes"
	"testing"

	"github.com/timba-arena/timba/protocol"
)

// FuzzAnswer checks that a house bot answers with a listed move, whatever the referee sends.
func FuzzAnswer(f *testing.F) {
	for _, c := range [][2]string{
		{"brisca seat=1 ply=1", "hand=4o,2c,1e trump=5c stock=34 leader=0 trick=3e points=0,0 played=- leaders=- known=-/-"},
		{"tute seat=1 ply=1", "hand=4o,5o,6o,7o,2c,11c,12c,2b trump=5c stock=24 leader=0 trick=4e points=0,0 played=- leaders=- known=-/11c,12c declared=-,c sung=-"},
		{"podrida players=3 seat=1 ply=20", "round=3 cards=3 dealer=1 trump=5c hand=1c,2e,6e bids=1,0,1 tricks=0,0,0 leader=2 trick=4e,7e played=- leaders=- points=0,0,0"},
		{"teeko start=drop seat=0 ply=6", "board=www......bb....b......... me=b phase=drop"},
		{"tebes size=4 seat=0 ply=4", "size=4 colours=bwbwwbwbbwbwwbwb pieces=w.....w.bb...b.w me=w extra=- bonus=no"},
		{"brisca players=999999999999 seat=-1", "hand=- trump=0c trick=13x leader=-5 played=,"},
		{"chess", "fen=none"},
	} {
		for _, moves := range []string{"2o 2c 1e", "bid:0 bid:3", "sing:c", "swap:7c", "12-13 4", "-1 99-7 0-0", "?", "4o 2c 1e", "2c 11c 12c", "2e 6e"} {
			f.Add(c[0], c[1], []byte(moves))
		}
	}
	var specs []string
	for _, b := range Bots() {
		specs = append(specs, counted(b))
	}
	players := players(f, specs)
	f.Fuzz(func(t *testing.T, game, view string, list []byte) {
		line, err := protocol.ParseReferee(append([]byte("turn 0 1000 "), list...))
		if err != nil || line.Verb != protocol.RefTurn {
			return
		}
		turn := turn(game, view, line.Moves, 1)
		for i, p := range players {
			a := p.Answer(turn)
			if a.Err == nil && !line.Moves.Has(a.Move) {
				t.Errorf("%s: %q is not among %q", specs[i], a.Move, line.Moves)
			}
			if bytes.Contains(a.Info, []byte("\n")) {
				t.Errorf("%s: %q is not a line", specs[i], a.Info)
			}
		}
	})
}
