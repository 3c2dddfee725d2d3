package house

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/protocol"
)

func TestFind(t *testing.T) {
	for _, spec := range []string{"random", "first", "greedy", "greedy:", "greedy:noise=10", "greedy:noise=0,noise=100"} {
		if p, err := Find(spec); err != nil || p == nil {
			t.Errorf("%q: got %v, %v", spec, p, err)
		}
	}
	for _, c := range []struct{ spec, want string }{
		{"", `house bot "" does not exist: try `},
		{"gredy", `house bot "gredy" does not exist: try random, first, greedy`},
		{"Greedy", `house bot "Greedy" does not exist: try `},
		{"random:x=1", `house bot "random:x=1": there is no option "x=1": random has no options`},
		{"greedy:depth=3", `house bot "greedy:depth=3": there is no option "depth=3": try noise=0 (0 to 100)`},
		{"greedy:noise", `house bot "greedy:noise": there is no option "noise": try noise=0 (0 to 100)`},
		{"greedy:noise=101", `house bot "greedy:noise=101": option noise cannot be "101": try 0 to 100`},
		{"greedy:noise=ten", `house bot "greedy:noise=ten": option noise cannot be "ten": try 0 to 100`},
		{"greedy:noise=1,", `house bot "greedy:noise=1,": there is no option "": try noise=0 (0 to 100)`},
	} {
		if _, err := Find(c.spec); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.spec, err, c.want)
		}
	}
}

func TestListIsFit(t *testing.T) {
	for _, b := range List() {
		if _, err := protocol.ParseBot([]byte("ready " + b.Name)); err != nil {
			t.Error(err)
		}
		if b.Help == "" || strings.Contains(b.Help, "\n") {
			t.Errorf("%s: the help is no line: %q", b.Name, b.Help)
		}
		for _, o := range b.Options {
			if _, err := Find(b.Name + ":" + o.Name + "=" + o.DefaultText()); err != nil {
				t.Error(err)
			}
		}
	}
}

// A session of the protocol from greeting to bye.
func TestRun(t *testing.T) {
	in := strings.Join([]string{
		"timba 1",
		"game brisca players=2 teams=no exchange=no last10=no blackhand=no hunt3=no seat=1 seed=7 movetime=1000",
		"event deal 2e,4o,1c", "event trump 5c", "event play 0 1e",
		"view hand=2e,4o,1c trump=5c stock=34 leader=0 trick=12e points=0,0 played=- known=-/-",
		"turn 1 1000 4o 1c 2e",
		"bye",
	}, "\n") + "\n"
	for spec, want := range map[string]string{
		"first": "ready first 1\nmove 4o\n",
		// The 1 of trumps is worth more than a 12: throw what is worth nothing.
		"greedy:noise=0": "ready greedy:noise=0 1\ninfo score=-4.05\nmove 2e\n",
	} {
		var out bytes.Buffer
		if err := Run(spec, strings.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%s: got %q, want %q", spec, out.String(), want)
		}
	}
	if err := Run("nobody", strings.NewReader(in), &bytes.Buffer{}); err == nil {
		t.Error("a bot that does not exist runs")
	}
}

func TestRandomPlaysEveryMove(t *testing.T) {
	p, _ := Find("random")
	moves := protocol.Words("1o 2o 3o 4o")
	count := map[string]int{}
	game := &protocol.Game{Name: "brisca", Seed: 1}
	for range 4000 {
		count[string(p.Answer(&protocol.Turn{Game: game, Moves: moves}).Move)]++
	}
	for move := range moves.All() {
		if n := count[string(move)]; n < 900 || n > 1100 {
			t.Errorf("%s is played %d times of 4000", move, n)
		}
	}
}

// What greedy plays in positions where there is one thing to do.
func TestGreedyPositions(t *testing.T) {
	brisca := "brisca players=2 teams=no seat=0"
	teams := "brisca players=4 teams=yes seat=2"
	tute := "tute players=2 teams=no seat=0"
	podrida := "podrida players=3 deck=48 seat=2"
	teeko := "teeko squares=standard seat=0"
	tebes := "tebes size=4 seat=0"
	for _, c := range []struct{ about, game, view, moves, want string }{
		{"a cheap win by the last to play", brisca, "hand=1e,4o,2c trump=5c stock=30 leader=1 trick=3e points=0,0 played=-", "4o 2c 1e", "1e"},
		{"a low trump for a 1", brisca, "hand=12c,4o,2c trump=5c stock=30 leader=1 trick=1e points=0,0 played=-", "4o 2c 12c", "2c"},
		{"no trump for nothing", brisca, "hand=1c,4o,2c trump=5c stock=30 leader=1 trick=5e points=0,0 played=-", "4o 1c 2c", "4o"},
		{"the swap", brisca, "hand=7c,4o,2c trump=1c stock=30 leader=0 trick=- points=0,0 played=-", "4o 2c 7c swap:7c", "swap:7c"},
		{"no 1 to lead", brisca, "hand=1e,4o,1c trump=5c stock=30 leader=0 trick=- points=0,0 played=-", "4o 1c 1e", "4o"},
		{"a sure trick in the end", brisca, "hand=1e,4o trump=5c stock=0 leader=0 trick=- points=0,0 " +
			"played=2o,5o,6o,7o,10o,11o,12o,3o,1o,2c,4c,5c,6c,7c,10c,11c,12c,3c,1c,2e,4e,5e,6e,7e,10e,11e,1b,2b,3b,4b,5b,6b,7b,10b", "4o 1e", "1e"},
		{"points for the partner", teams, "hand=3o,4e,2b trump=5c stock=20 leader=0 trick=1o,2o points=0,0,0,0 played=1c,3c,12c,11c,10c,7c,6c,4c,2c", "3o 4e 2b", "3o"},
		{"the songs that there are", tute, "hand=12e,11e,12b,11b,2o trump=5c stock=20 leader=0 trick=- points=0,0 played=- declared=-,- sung=-", "sing:e sing:b", "sing:e|sing:b"},
		{"the pair is kept", tute, "hand=12e,11e,10o trump=5c stock=20 leader=1 trick=2e points=0,0 played=- declared=-,- sung=-", "11e 12e 10o", "10o"},
		{"the pair that is done is not", tute, "hand=12e,10o,11e trump=5c stock=20 leader=1 trick=10e points=0,0 played=- declared=-,- sung=e", "10o 12e 11e", "12e|11e"},
		{"the trick that scores a declared pair", tute, "hand=12c,11c,2c,4o trump=5c stock=20 leader=1 trick=4e points=0,0 played=- declared=c,- sung=-", "4o 2c 11c 12c", "2c"},
		{"the 1 of trumps is a trick", podrida, "round=1 cards=1 dealer=2 trump=5c hand=1c bids=0,0,- tricks=0,0,0 leader=0 trick=- played=- points=0,0,0", "bid:0 bid:1", "bid:1"},
		{"a low card is none", podrida, "round=1 cards=1 dealer=2 trump=5c hand=2o bids=0,1,- tricks=0,0,0 leader=0 trick=- played=- points=0,0,0", "bid:0 bid:1", "bid:0"},
		{"one trick missing: win it with what is not needed", podrida, "round=2 cards=2 dealer=2 trump=5c hand=1c,12e bids=0,0,2 tricks=0,0,0 leader=0 trick=4e,7e played=- points=0,0,0", "1c 12e", "12e"},
		{"none missing: the highest that loses", podrida, "round=3 cards=3 dealer=2 trump=5c hand=2e,6e,1e bids=1,1,0 tricks=0,0,0 leader=0 trick=4e,7e played=- points=0,0,0", "1e 2e 6e", "6e"},
		{"a line of four", teeko, "board=bbb.b.....w.w.w.w........ me=b phase=move", "0-5 4-3 4-9", "4-3"},
		{"a square of four", teeko, "board=wb....b...bb.....w.w.w.w. me=b phase=move", "10-5 1-2 1-5 6-7", "1-5"},
		{"the other is stopped", teeko, "board=www.....wbb.........b.b.. me=b phase=move", "10-11 9-3 22-23 20-21", "9-3"},
		{"stop three in a line", teeko, "board=www......bb....b......... me=b phase=drop", "3 4 12 13 20", "3"},
		{"the second corner wins", tebes, "size=4 colours=bwbwwbwbbwbwwbwb pieces=wb......w.b..w.. me=w extra=- bonus=no", "8-4 13-12 14-10", "8-4|13-12|14-10"},
		{"the corner that wins", tebes, "size=4 colours=bwbwwbwbbwbwwbwb pieces=w.....w.bb...b.w me=w extra=- bonus=no", "6-2 6-3 15-14", "6-3"},
		{"a piece that hangs is taken", tebes, "size=4 colours=bwbwwbwbbwbwwbwb pieces=b..b.b..........w me=w extra=- bonus=no", "12-8", "12-8"},
	} {
		t.Run(c.about, func(t *testing.T) {
			moves := protocol.Words(c.moves)
			seen := map[string]bool{}
			for seed := range uint64(8) {
				a := greedyAnswer(t, c.game, c.view, moves, seed)
				seen[string(a.Move)] = true
			}
			for move := range seen {
				if !slices.Contains(strings.Split(c.want, "|"), move) {
					t.Errorf("%s is played, want %s", move, c.want)
				}
			}
		})
	}
}

func greedyAnswer(t testing.TB, game, view string, moves protocol.Words, seed uint64) protocol.Answer {
	p, err := Find("greedy")
	if err != nil {
		t.Fatal(err)
	}
	name, settings, _ := strings.Cut(game, " ")
	pairs := protocol.Pairs(settings)
	return p.Answer(&protocol.Turn{
		Game: &protocol.Game{
			Name: name, Settings: pairs, Seat: pairs.Int("seat"), Players: pairs.Int("players"), Seed: seed,
		},
		View: protocol.Pairs(view), Moves: moves,
	})
}
