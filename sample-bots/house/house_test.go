package house

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/teekolms"
)

func TestFind(t *testing.T) {
	for _, spec := range []string{"random", "first", "greedy", "greedy:", "greedy:noise=10", "greedy:noise=00",
		"champion", "champion:time=500ms,memory=1", "brisca-basic", "brisca-weighted:gain=9.5,cost=2.0", "brisca-minimax:cost=0", "brisca-plus:draw=-1.5", "tebes-minimax:depth=5,h=2", "tebes-minimax:b1=0,c3=7", "tebes-mcts:time=4s",
		"podrida-rules", "podrida-mcts:c=0.25,it=30,det=20,hands=unseen", "podrida-mcts:c=1e-2,hands=random,nodes=9", "podrida-mcts:best=value", "podrida-mcts:best=visits,det=1,it=1",
		"tebes-mcts-h:nodes=100,k=9", "rl", "rl:model=models/rl/tute2.timba",
		"net", "net:model=models/net/tute2.timba", "teeko-lms", "teeko-lms:weights=initial", "teeko-lms:weights=0.2/-0.2/0.2/0.2/0.2/-0.2/-0.2"} {
		if p, err := NewPlayer(spec); err != nil || p == nil {
			t.Errorf("%q: got %v, %v", spec, p, err)
		}
	}
	for _, c := range []struct{ spec, want string }{
		{"", `house bot "" does not exist: try `},
		{"gredy", `house bot "gredy" does not exist: try random, first, greedy`},
		{"Greedy", `house bot "Greedy" does not exist: try `},
		{"random:x=1", `house bot "random:x=1": option "x=1" does not exist: random has no options`},
		{"greedy:depth=3", `house bot "greedy:depth=3": option "depth=3" does not exist: try noise=0 (0 to 100)`},
		{"greedy:noise", `house bot "greedy:noise": option "noise" does not exist: try noise=0 (0 to 100)`},
		{"greedy:noise=101", `house bot "greedy:noise=101": option noise cannot be "101": try 0 to 100`},
		{"greedy:noise=0,noise=0", `house bot "greedy:noise=0,noise=0": option noise cannot be set twice: leave one out`},
		{"greedy:noise=ten", `house bot "greedy:noise=ten": option noise cannot be "ten": try 0 to 100`},
		{"tebes-minimax:depth=99", `house bot "tebes-minimax:depth=99": option depth cannot be "99": try 1 to 60`},
		{"podrida-rules:x=1", `house bot "podrida-rules:x=1": option "x=1" does not exist: try round=cards (cards or number), f16=2 (2 to 3), gap=honours (honours or trumps or zero)`},
		{"podrida-mcts:c=-1", `house bot "podrida-mcts:c=-1": option c cannot be "-1": try 0 to 100`},
		{"podrida-mcts:c=NaN", `house bot "podrida-mcts:c=NaN": option c cannot be "NaN": try 0 to 100`},
		{"podrida-mcts:hands=seen", `house bot "podrida-mcts:hands=seen": option hands cannot be "seen": try failed or unseen or random`},
		{"podrida-mcts:best=ucb1", `house bot "podrida-mcts:best=ucb1": option best cannot be "ucb1": try value or visits or ucb`},
		{"podrida-mcts:it=0", `house bot "podrida-mcts:it=0": option it cannot be "0": try 1 to 1000000`},
		{"tebes-mcts:time=4", `house bot "tebes-mcts:time=4": option time cannot be "4": try 0s for the clock alone, or a time such as `},
		{"tebes-mcts:time=2h", `house bot "tebes-mcts:time=2h": option time cannot be "2h": try 0s`},
		{"rl:model=", `house bot "rl:model=": option model cannot be "": try built-in, or the path of a model.timba`},
		{"rl:model=none.timba", `house bot "rl:model=none.timba": model "none.timba" cannot be opened: try the path of a file`},
		{"rl:model=house.go", `house bot "rl:model=house.go": house.go: model: the first line is `},
		{"rl:model=models/sl/brisca2.timba", `house bot "rl:model=models/sl/brisca2.timba": models/sl/brisca2.timba: model: kind "sl" is not "rl": try @sl`},
		{"teeko-lms:weights=1/2", `house bot "teeko-lms:weights=1/2": option weights cannot be "1/2": try trained, initial`},
		{"brisca-basic:gain=1", `house bot "brisca-basic:gain=1": option "gain=1" does not exist: brisca-basic has no options`},
		{"brisca-weighted:gain=-1", `house bot "brisca-weighted:gain=-1": option gain cannot be "-1": try 0 to 1000`},
		{"brisca-plus:late=NaN", `house bot "brisca-plus:late=NaN": option late cannot be "NaN": try 0 to 10`},
		{"greedy:noise=1,", `house bot "greedy:noise=1,": option "" does not exist: try noise=0 (0 to 100)`},
	} {
		if _, err := NewPlayer(c.spec); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.spec, err, c.want)
		}
	}
}

// TestCanonical checks that all specs with the same meaning have the same canonical form.
func TestCanonical(t *testing.T) {
	for want, specs := range map[string][]string{
		"champion":                   {"champion", "champion:", "champion:level=8", "champion:level=08", "champion:time=0ms,level=8"},
		"champion:level=3":           {"champion:level=3", "champion:level=03", "champion:nodes=0,level=3"},
		"champion:level=3,time=1.5s": {"champion:time=1500ms,level=3"},
		"podrida-mcts:c=0.25":        {"podrida-mcts:c=2.5e-1,best=value"},
		"rl":                         {"rl:model=built-in"},
		"brisca-weighted:cost=0":     {"brisca-weighted:cost=0", "brisca-weighted:cost=-0"},
		"teeko-lms":                  {"teeko-lms:weights=trained", "teeko-lms:weights=" + teekolms.TrainedWeights.String()},
	} {
		for _, spec := range specs {
			if got, err := CanonicalSpec(spec); err != nil || got != want {
				t.Errorf("%q: got %q, %v, want %q", spec, got, err, want)
			}
		}
	}
	if _, err := CanonicalSpec("champion:level=1,level=8"); err == nil {
		t.Error("an option is set twice")
	}
}

// TestServerSpec checks which specs people may choose on a server: options of all kinds, but no file, even one that is a
// model, and no more memory than the default.
func TestServerSpec(t *testing.T) {
	file := filepath.Join(t.TempDir(), "model.timba")
	kit.Must(t, os.WriteFile(file, kit.Get[[]byte](t)(modelFiles.ReadFile("models/sl/brisca2.timba")), 0o600))
	if _, err := CanonicalSpec("sl:model=" + file); err != nil {
		t.Error(err)
	}
	for spec, want := range map[string]string{
		"tebes-minimax:h=1,depth=03":      "tebes-minimax:depth=3,h=1",
		"champion:memory=4,time=2000ms":   "champion:time=2s,memory=4",
		"teeko-lms:weights=published":     "teeko-lms:weights=published",
		"sl:model=built-in":               "sl",
		"sl:model=" + file:                `house bot "sl:model=` + file + `": option model cannot be "` + file + `": try built-in`,
		"champion:memory=65":              `house bot "champion:memory=65": option memory cannot be "65": try 0 to 64`,
		"tebes-minimax:depth=3,depth=3":   `house bot "tebes-minimax:depth=3,depth=3": option depth cannot be set twice: leave one out`,
		"greedy:noise=101":                `house bot "greedy:noise=101": option noise cannot be "101": try 0 to 100`,
		"greedy:noise=1,/etc/passwd":      `house bot "greedy:noise=1,/etc/passwd": option "/etc/passwd" does not exist: try noise=0 (0 to 100)`,
		"brisca-weighted:gain=" + "NaN":   `house bot "brisca-weighted:gain=NaN": option gain cannot be "NaN": try 0 to 1000`,
		"podrida-mcts:time=9999h,c=0.250": `house bot "podrida-mcts:time=9999h,c=0.250": option time cannot be "9999h": try 0s for the clock alone, or a time such as 500ms or 4s, at most 1h`,
	} {
		got, err := ServerSpec(spec)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", spec, got, want)
		}
	}
	for _, b := range Bots() {
		for _, o := range b.ServerOptions() {
			if least, most := o.Range(); (least == "") != (most == "") || !o.IsText() && (least == "") != (o.Values != nil) {
				t.Errorf("%s: the range of %s is %q to %q", b.Name, o.Name, least, most)
			}
		}
	}
}

func TestListIsFit(t *testing.T) {
	for _, b := range Bots() {
		if _, err := protocol.ParseBot([]byte("ready " + b.Name)); err != nil {
			t.Error(err)
		}
		if b.Help == "" || strings.Contains(b.Help, "\n") {
			t.Errorf("%s: the help is not one line: %q", b.Name, b.Help)
		}
		for _, o := range b.Options() {
			if _, err := NewPlayer(b.Name + ":" + o.Name + "=" + o.DefaultText()); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRun plays a session of the protocol from the greeting to bye.
func TestRun(t *testing.T) {
	in := strings.Join([]string{
		"timba 1",
		"game brisca players=2 teams=no exchange=no last10=no blackhand=no hunt3=no seat=1 seed=7 movetime=1000",
		"event deal 2e,4o,1c", "event trump 5c", "event play 0 1e",
		"view hand=4o,1c,2e trump=5c stock=34 leader=0 trick=12e points=0,0 played=- leaders=- known=-/-",
		"turn 1 1000 4o 1c 2e",
		"bye",
	}, "\n") + "\n"
	for spec, want := range map[string]string{
		"first": "ready first 3\nmove 4o\n",
		// The 1 of trumps is worth more in the hand than a 12 in the trick, so a worthless card is thrown.
		"greedy:noise=0": "ready greedy 3\ninfo score=-4.05\nmove 2e\n",
	} {
		var out bytes.Buffer
		kit.Must(t, Run(spec, strings.NewReader(in), &out))
		if out.String() != want {
			t.Errorf("%s: got %q, want %q", spec, out.String(), want)
		}
	}
	// A bot says that it plays at random in a game that it does not know, and because of its option noise.
	for spec, game := range map[string]string{"greedy": "mus", "greedy:noise=100": "brisca", "champion": "mus", "tebes-minimax": "mus"} {
		var out bytes.Buffer
		kit.Must(t, Run(spec, strings.NewReader(strings.Replace(in, "game brisca", "game "+game, 1)), &out))
		if lines := strings.Split(out.String(), "\n"); len(lines) != 4 || lines[1] != "info play=random" {
			t.Errorf("%s at %s: got %q", spec, game, lines)
		}
	}
	if err := Run("nobody", strings.NewReader(in), &bytes.Buffer{}); err == nil {
		t.Error("a bot that does not exist runs")
	}
}

func TestRandomPlaysEveryMove(t *testing.T) {
	p, _ := NewPlayer("random")
	moves := protocol.Words("1o 2o 3o 4o")
	count := map[string]int{}
	game := &protocol.GameLine{Name: "brisca", Seed: 1}
	for range 4000 {
		count[string(p.Answer(&protocol.Turn{Game: game, Moves: moves}).Move)]++
	}
	for move := range moves.All() {
		if n := count[string(move)]; n < 900 || n > 1100 {
			t.Errorf("%s is played %d times of 4000", move, n)
		}
	}
}

// TestGreedyPositions checks the moves of greedy in positions with one good move.
func TestGreedyPositions(t *testing.T) {
	const (
		begun   = " points=0,0 played=- leaders=- known=-/-"
		brisca  = "brisca seat=1 ply=1"
		lead    = "brisca exchange=yes seat=0 ply=0"
		tute    = "tute seat=1"
		podrida = "podrida players=3"
		teeko   = "teeko seat=0 ply=0"
		tebes   = "tebes size=4 seat=0"
		colours = "size=4 colours=bwbwwbwbbwbwwbwb"
	)
	for _, c := range []struct{ about, game, view, want string }{
		{"a cheap win by the last to play", brisca, "hand=4o,2c,1e trump=5c stock=34 leader=0 trick=3e" + begun, "1e"},
		{"a low trump for a 1", brisca, "hand=4o,2c,12c trump=5c stock=34 leader=0 trick=1e" + begun, "2c"},
		{"no trump for nothing", brisca, "hand=4o,1c,2c trump=5c stock=34 leader=0 trick=5e" + begun, "4o"},
		{"the swap", lead, "hand=4o,2c,7c trump=1c stock=34 leader=0 trick=-" + begun, "swap:7c"},
		{"no 1 to lead", lead, "hand=4o,1c,1e trump=5c stock=34 leader=0 trick=-" + begun, "4o"},
		{"a sure trick in the end", "brisca seat=0 ply=36", "hand=4o,1e trump=5c stock=0 leader=0 trick=- points=54,41 " +
			"played=2o,5o,6o,7o,10o,11o,12o,3o,1o,2c,4c,5c,6c,7c,10c,11c,12c,3c,1c,2e,4e,5e,6e,7e,10e,11e,1b,2b,3b,4b,5b,6b,7b,10b,12b,11b leaders=0,1,0,1,0,1,0,1,0,1,1,0,1,0,0,0,1,0 known=-/-", "1e"},
		{"points for the partner", "brisca players=4 teams=yes seat=2 ply=10", "hand=3o,4e,2b trump=5c stock=20 leader=0 trick=1o,2o points=30,0,0,0 played=1c,3c,12c,11c,10c,7c,6c,4c leaders=0,0 known=-/-/-/-", "3o"},
		{"the songs that there are", "tute seat=0 ply=0", "hand=2o,4o,5o,6o,11e,12e,11b,12b trump=5c stock=24 leader=0 trick=-" + begun + " declared=-,- sung=-", "sing:e|sing:b"},
		{"the pair is kept", tute + " ply=1", "hand=1o,3o,10o,12o,1e,3e,11e,12e trump=5c stock=24 leader=0 trick=2b points=0,0 played=- leaders=- known=-/11e,12e declared=-,e sung=-", "10o"},
		{"the pair that is done is not", tute + " ply=27", "hand=1o,3o,12o,1e,3e,11e,12e trump=5c stock=0 leader=0 trick=2b points=9,29 " +
			"played=2o,4o,5o,6o,7o,10o,2e,4e,5e,6e,7e,10e,5c,2c,4c,6c,7c,10c,11c,12c,4b,5b,7b,6b,10b,11o leaders=0,1,0,1,0,1,0,0,1,0,1,0,0 known=11b,12b/- declared=b,- sung=e", "11e"},
		{"the trick that scores a declared pair", tute + " ply=1", "hand=4o,5o,6o,7o,2c,11c,12c,2b trump=5c stock=24 leader=0 trick=4e points=0,0 played=- leaders=- known=-/11c,12c declared=-,c sung=-", "2c"},
		{"the 1 of trumps is a trick", podrida + " seat=2 ply=2", "round=1 cards=1 dealer=2 trump=5c hand=1c bids=0,0,- tricks=0,0,0 leader=0 trick=- played=- leaders=- points=0,0,0", "bid:1"},
		{"a low card is none", podrida + " seat=2 ply=2", "round=1 cards=1 dealer=2 trump=5c hand=2o bids=0,1,- tricks=0,0,0 leader=0 trick=- played=- leaders=- points=0,0,0", "bid:0"},
		{"one trick missing: win it with what is not needed", podrida + " seat=0 ply=11", "round=2 cards=2 dealer=0 trump=5c hand=1e,11e bids=2,0,0 tricks=0,0,0 leader=1 trick=4e,7e played=- leaders=- points=0,0,0", "11e"},
		{"none missing: the highest that loses", podrida + " seat=1 ply=20", "round=3 cards=3 dealer=1 trump=5c hand=1c,2e,6e bids=1,0,1 tricks=0,0,0 leader=2 trick=4e,7e played=- leaders=- points=0,0,0", "6e"},
		{"a line of four", teeko, "board=bbb.b.....w.w.w.w........ me=b phase=move", "4-3"},
		{"a square of four", teeko, "board=.b....b...bb....w..w.w.w. me=b phase=move", "1-5"},
		{"the other is stopped", teeko, "board=www.....wbb.........b.b.. me=b phase=move", "9-3"},
		{"stop three in a line", "teeko start=drop seat=0 ply=6", "board=www......bb....b......... me=b phase=drop", "3"},
		{"the second corner wins", tebes + " ply=4", colours + " pieces=wb.....wb.b..w.. me=w extra=- bonus=no", "7-3"},
		{"the corner that wins", tebes + " ply=4", colours + " pieces=w.....w.bb...b.w me=w extra=- bonus=no", "6-3"},
		{"a piece that hangs is taken", tebes + " ply=0", colours + " pieces=b..b.....b...w.w me=w extra=bw bonus=no", "13-9"},
	} {
		t.Run(c.about, func(t *testing.T) {
			moves := listed(t, c.game, c.view)
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

// turn returns the turn for a game such as "name option=value seat=0 ply=0". Missing options have their defaults.
func turn(game, view string, moves protocol.Words, seed uint64) *protocol.Turn {
	name, settings, _ := strings.Cut(game, " ")
	pairs := protocol.Pairs(settings)
	return &protocol.Turn{
		Game: &protocol.GameLine{
			Name: name, Settings: pairs, Seat: pairs.Int("seat"), Players: pairs.Int("players"), Seed: seed,
		},
		Ply: pairs.Int("ply"), View: protocol.Pairs(view), Moves: moves,
	}
}

// listed returns the legal moves of a turn.
func listed(t *testing.T, game, view string) protocol.Words {
	t.Helper()
	turn := turn(game, view, nil, 0)
	s := kit.Get[rules.State](t)(new(positions).positionAt(turn))
	return rules.Observe(s, turn.Game.Seat).Moves
}

func greedyAnswer(t testing.TB, game, view string, moves protocol.Words, seed uint64) protocol.Answer {
	p := kit.Get[Player](t)(NewPlayer("greedy"))
	return p.Answer(turn(game, view, moves, seed))
}
