package brisca

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/rules/rulestest"
)

func TestBriscaConformance(t *testing.T) {
	rulestest.Run(t, Game, rulestest.Options{CheckTotal: checkTotal})
}

// checkTotal checks that the points of all cards were won, except for those of a trump card that three seats
// never draw. A win at once gives full points to its seat and none to others.
func checkTotal(v *rules.Variant, state rules.State) error {
	s := state.(*State)
	want := 120
	if s.Rules().Last10 {
		want = 130
	}
	sum := 0
	for _, p := range s.Table.Points {
		sum += int(p)
	}
	if slices.Contains(s.Table.Points[:], int16(want)) && sum == want {
		return nil
	}
	if v.Players == 3 && !s.Rules().Without2 {
		want -= baraja.Value(s.Trump)
	}
	if sum != want {
		return fmt.Errorf("points %v do not make %d", s.Table.Points, want)
	}
	return nil
}

// resolve returns the variant for options in the form "key=value key=value".
func resolve(options string) (*rules.Variant, error) {
	return Game.Resolve(protocol.Pairs(options).Map())
}

// scene is a position, given by the first cards of the shuffled pack and the moves made. The rest of the pack
// follows in the order before a shuffle.
type scene struct {
	options, pack, moves string
}

// play makes the moves. The log has the events of the last one.
func (c scene) play(t *testing.T) (*State, *rules.Log) {
	t.Helper()
	v := kit.Get[*rules.Variant](t)(resolve(c.options))
	var pack []baraja.Card
	for word := range strings.FieldsSeq(c.pack) {
		card, err := baraja.Parse(word)
		if err != nil || slices.Contains(pack, card) {
			t.Fatalf("%s twice or wrong: %v", word, err)
		}
		pack = append(pack, card)
	}
	for _, card := range v.Rules.(Rules).Pack() {
		if !slices.Contains(pack, card) {
			pack = append(pack, card)
		}
	}
	s := new(State)
	s.Layout(v.Rules.(Rules), pack)
	log := new(rules.Log)
	s.LogStart(log)
	for word := range strings.FieldsSeq(c.moves) {
		m := kit.Get[rules.Move](t)(s.ParseMove(word))
		log.Reset()
		kit.Must(t, rules.Play(s, m, log))
	}
	return s, log
}

// events returns the events in the log that a seat sees, separated by semicolons.
func events(log *rules.Log, seat int) string {
	return strings.ReplaceAll(strings.TrimSuffix(string(log.AppendEvents(nil, seat, "")), "\n"), "\n", "; ")
}

// key returns the value of a key in a seat's view.
func key(s rules.State, seat int, name string) string {
	return protocol.Pairs(s.View(nil, seat)).Get(name)
}

func TestBriscaDealOfZeroSeed(t *testing.T) {
	v, _ := resolve("")
	stream := rules.NewStream(rules.Seed{})
	s := v.Deal(&stream)
	var log rules.Log
	s.LogStart(&log)
	for seat, want := range []string{"deal 12e,6c,4e; trump 5c", "deal 11e,7c,3o; trump 5c"} {
		if got := events(&log, seat); got != want {
			t.Errorf("seat %d is told %q, not %q", seat, got, want)
		}
	}
	if got, want := string(s.View(nil, 0)), "hand=6c,4e,12e trump=5c stock=34 leader=0 trick=- points=0,0 played=- leaders=- known=-/-"; got != want {
		t.Errorf("view %q\nwant %q", got, want)
	}
	if s.Turn() != 0 || s.Ply() != 0 {
		t.Errorf("turn %d at ply %d", s.Turn(), s.Ply())
	}
}

// TestBriscaSeats checks the numbers of seats, tricks and cards to draw in SPEC.md, "Brisca".
func TestBriscaSeats(t *testing.T) {
	for _, test := range []struct {
		players       int
		more          string
		stock, tricks int
		isTrumpDrawn  bool
	}{{2, "", 34, 20, true}, {3, "", 30, 13, false}, {3, " without2=yes", 30, 13, true}, {4, "", 28, 10, true}} {
		v := kit.Get[*rules.Variant](t)(resolve(fmt.Sprint("players=", test.players, test.more)))
		stream := rules.NewStream(rules.Seed{1})
		s := v.Deal(&stream)
		if got := key(s, 0, "stock"); got != fmt.Sprint(test.stock) {
			t.Errorf("%d seats: stock %s", test.players, got)
		}
		playOn(s)
		if s.Ply() != test.tricks*test.players || key(s, 0, "stock") != "0" {
			t.Errorf("%d seats: %d cards played, stock %s", test.players, s.Ply(), key(s, 0, "stock"))
		}
		played := "," + key(s, 0, "played") + ","
		if got := strings.Contains(played, ","+key(s, 0, "trump")+","); got != test.isTrumpDrawn {
			t.Errorf("%d seats%s: the trump card is played: %v", test.players, test.more, got)
		}
		if got := strings.Contains(played, ",2o,"); got && test.more != "" {
			t.Errorf("%d seats%s: the 2 of oros is played", test.players, test.more)
		}
		if err := s.Check(0); !errors.Is(err, rules.ErrOver) {
			t.Errorf("after the end a move is refused with %v", err)
		}
	}
}

func TestBriscaTrick(t *testing.T) {
	const two = "1o 3o 2o 4c 12o 5e 6b 7b 10b"
	const three = "1o 3o 2e 2o 4b 5e 12o 1e 10b 6b 7b 11b 12b"
	for _, test := range []struct {
		name string
		scene
		seat0, seat1 string
	}{
		{"the higher card of the suit led", scene{"", two, "1o 3o"},
			"play 1 3o; trick 0 21; draw 0 7b; draw 1 ?", "play 1 3o; trick 0 21; draw 0 ?; draw 1 10b"},
		{"the 3 above the king", scene{"", two, "12o 3o"},
			"play 1 3o; trick 1 14; draw 1 ?; draw 0 10b", "play 1 3o; trick 1 14; draw 1 7b; draw 0 ?"},
		{"another suit does not win", scene{"", two, "2o 4c"},
			"play 1 4c; trick 0 0; draw 0 7b; draw 1 ?", "play 1 4c; trick 0 0; draw 0 ?; draw 1 10b"},
		{"a trump wins", scene{"players=3", three, "1o 4b 2e"},
			"play 2 2e; trick 1 11; draw 1 ?; draw 2 ?; draw 0 12b", "play 2 2e; trick 1 11; draw 1 7b; draw 2 ?; draw 0 ?"},
		{"the higher trump wins", scene{"players=3", three, "1o 4b 10b"},
			"play 2 10b; trick 2 13; draw 2 ?; draw 0 11b; draw 1 ?", "play 2 10b; trick 2 13; draw 2 ?; draw 0 ?; draw 1 12b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, log := test.play(t)
			if got := events(log, 0); got != test.seat0 {
				t.Errorf("seat 0 is told %q\nwant %q", got, test.seat0)
			}
			if got := events(log, 1); got != test.seat1 {
				t.Errorf("seat 1 is told %q\nwant %q", got, test.seat1)
			}
			if s.Turn() != int(s.Leader) || key(s, 0, "trick") != "-" || len(key(s, 0, "played")) < 5 {
				t.Errorf("after the trick: %s", s.View(nil, 0))
			}
		})
	}
}

// lastDraws plays the lowest cards until the trump card has been drawn.
func lastDraws(t *testing.T, s *State, log *rules.Log) {
	t.Helper()
	for s.TrumpOnTable() {
		log.Reset()
		kit.Must(t, rules.Play(s, s.Legal(nil)[0], log))
	}
}

func TestBriscaTrumpCardDrawn(t *testing.T) {
	s, log := scene{"", "1o 3o 2o 4c 12o 5e 6b", ""}.play(t)
	lastDraws(t, s, log)
	drawer := 1 - int(s.Leader)
	for seat := range 2 {
		if got, want := events(log, seat), fmt.Sprintf("draw %d 6b", drawer); !strings.HasSuffix(got, want) {
			t.Errorf("seat %d is told %q, not %q", seat, got, want)
		}
		known := []string{"-", "-"}
		known[drawer] = "6b"
		if got := key(s, seat, "known"); got != strings.Join(known, "/") {
			t.Errorf("seat %d: known %s", seat, got)
		}
		if got := key(s, seat, "trump"); got != "6b" {
			t.Errorf("seat %d: trump %s", seat, got)
		}
	}
}

func TestBriscaExchange(t *testing.T) {
	const high = "7b 3o 2b 4c 12o 5e 12b 7o 10b"
	for _, test := range []struct {
		name string
		scene
		events, legal, hand, trump, known string
	}{
		{"the 7 for a high card", scene{"exchange=yes", high, "swap:7b"},
			"swap 0 7b", "12o 2b 12b swap:2b", "12o,2b,12b", "7b", "12b/-"},
		{"both in one turn", scene{"exchange=yes", high, "swap:7b swap:2b"},
			"swap 0 2b", "12o 7b 12b", "12o,7b,12b", "2b", "7b,12b/-"},
		{"known until played", scene{"exchange=yes", high, "swap:7b swap:2b 7b"},
			"play 0 7b", "3o 4c 5e", "12o,12b", "2b", "12b/-"},
		{"only with the option", scene{"", high, ""},
			"deal 7b,2b,12o; trump 12b", "12o 2b 7b", "12o,2b,7b", "12b", "-/-"},
		{"the 2 does not buy a high card", scene{"exchange=yes", "1o 3o 2b 4c 12o 5e 10b", ""},
			"deal 1o,2b,12o; trump 10b", "1o 12o 2b", "1o,12o,2b", "10b", "-/-"},
		{"the 2 buys a 4", scene{"exchange=yes", "1o 3o 2b 4c 12o 5e 4b", "swap:2b"},
			"swap 0 2b", "1o 12o 4b", "1o,12o,4b", "2b", "4b/-"},
		{"nothing buys a 2", scene{"exchange=yes", "1o 3o 7b 4c 12o 5e 2b", ""},
			"deal 1o,7b,12o; trump 2b", "1o 12o 7b", "1o,12o,7b", "2b", "-/-"},
		{"after the lead", scene{"exchange=yes", "1o 2b 7o 4c 12o 5e 7b", "1o swap:2b"},
			"swap 1 2b", "4c 5e 7b", "7o,12o", "2b", "-/7b"},
		{"one seat after the other", scene{"exchange=yes", "7b 2b 1o 4c 12o 5e 1b", "swap:7b 1o swap:2b"},
			"swap 1 2b", "4c 5e 7b", "12o,1b", "2b", "1b/7b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, log := test.play(t)
			var legal []byte
			for _, m := range s.Legal(nil) {
				legal = append(s.MoveText(legal, m), ' ')
			}
			for _, check := range [][3]string{
				{"events", events(log, 0), test.events}, {"legal", strings.TrimSpace(string(legal)), test.legal},
				{"hand", key(s, 0, "hand"), test.hand}, {"trump", key(s, 0, "trump"), test.trump},
				{"known", key(s, 0, "known"), test.known},
			} {
				if check[1] != check[2] {
					t.Errorf("%s %q, want %q", check[0], check[1], check[2])
				}
			}
		})
	}
}

// TestBriscaExchangeOfThree checks that with three seats the trump card stays on the table, can be taken
// until the end, and counts for nobody if it is not taken.
func TestBriscaExchangeOfThree(t *testing.T) {
	s, _ := scene{"players=3 exchange=yes", "7b 3o 2b 4c 12o 5e 2o 4o 5o 1b", ""}.play(t)
	seven := rules.Move(baraja.CardOf(7, 3))
	for s.Turn() != 0 || s.Hands[0].Len() > 1 {
		m := s.Legal(nil)[0]
		if m == seven {
			m = s.Legal(nil)[1]
		}
		kit.Must(t, rules.Play(s, m, nil))
	}
	kit.Must(t, rules.Play(s, baraja.SwapMove+seven, nil))
	playOn(s)
	sum := 0
	for _, p := range s.Table.Points {
		sum += int(p)
	}
	if sum != 120 || key(s, 0, "trump") != "7b" {
		t.Errorf("points %v with the %s left", s.Table.Points, key(s, 0, "trump"))
	}
}

func TestBriscaBlackHand(t *testing.T) {
	for _, test := range []struct {
		name string
		scene
		events string
		points string
		ranks  []int
	}{
		{"by the deal", scene{"blackhand=yes", "1b 3o 3b 4c 12b 5e 4b", ""},
			"deal 1b,3b,12b; trump 4b; instant 0 blackhand", "120,0", []int{1, 2}},
		{"after the draw", scene{"blackhand=yes last10=yes", "1b 3o 3b 4c 1o 5e 4b 12b", "1o 3o"},
			"play 1 3o; trick 0 21; draw 0 12b; draw 1 ?; instant 0 blackhand", "130,0", []int{1, 2}},
		{"after an exchange", scene{"blackhand=yes exchange=yes", "4o 1b 2o 3b 1o 7b 12b", "4o swap:7b"},
			"swap 1 7b; instant 1 blackhand", "0,120", []int{2, 1}},
		{"of a team", scene{"blackhand=yes players=4 teams=yes", "1b 3o 4o 5o 3b 4c 6o 7o 12b 5e 1o 2o 4b", ""},
			"deal 1b,3b,12b; trump 4b; instant 0 blackhand", "120,0,0,0", []int{1, 2, 1, 2}},
		{"not without the option", scene{"", "1b 3o 3b 4c 12b 5e 4b", ""},
			"deal 1b,3b,12b; trump 4b", "0,0", []int{1, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, log := test.play(t)
			if got := events(log, 0); got != test.events {
				t.Errorf("seat 0 is told %q\nwant %q", got, test.events)
			}
			over := strings.Contains(test.events, "instant")
			if got := ranks(s); key(s, 0, "points") != test.points || !slices.Equal(got, test.ranks) || (s.Turn() == rules.Over) != over {
				t.Errorf("points %s, ranks %v, turn %d", key(s, 0, "points"), got, s.Turn())
			}
		})
	}
}

func TestBriscaHunt3(t *testing.T) {
	s, log := scene{"hunt3=yes", "3b 1b 3o 4c 1o 5e 4b", "3b 1b"}.play(t)
	if got, want := events(log, 0), "play 1 1b; trick 1 21; instant 1 hunt3"; got != want {
		t.Errorf("told %q\nwant %q", got, want)
	}
	if s.Turn() != rules.Over || key(s, 0, "points") != "0,120" || key(s, 0, "stock") != "34" {
		t.Errorf("turn %d, %s", s.Turn(), s.View(nil, 0))
	}
	if s, _ := (scene{"hunt3=yes", "1b 3b 3o 4c 1o 5e 4b", "1b 3b"}).play(t); s.Turn() != 0 {
		t.Errorf("the 1 led catches the 3 in the first trick: turn %d", s.Turn())
	}
	if s, _ := (scene{"", "3b 1b 3o 4c 1o 5e 4b", "3b 1b"}).play(t); s.Turn() != 1 {
		t.Errorf("hunted without the option: turn %d", s.Turn())
	}
}

// TestBriscaHunt3LastTrick plays the last trick of two seats with the given cards.
func TestBriscaHunt3LastTrick(t *testing.T) {
	one, three := baraja.CardOf(1, 3), baraja.CardOf(3, 3)
	for _, test := range []struct {
		leads, follows baraja.Card
		winner         int
	}{{one, three, 0}, {three, one, 1}} {
		s, _ := scene{"hunt3=yes last10=yes", "1b 3o 3b 4c 1o 5e 4b", ""}.play(t)
		playOn(s) // then reset to before the last trick
		s.Mover, s.Leader, s.PlayedCount = 0, 0, s.PlayedCount-2
		s.Hands[0], s.Hands[1] = baraja.Set(0).With(test.leads), baraja.Set(0).With(test.follows)
		var log rules.Log
		s.Apply(rules.Move(test.leads), nil)
		s.Apply(rules.Move(test.follows), &log)
		want := fmt.Sprintf("play 1 %v; trick %d 31; instant %d hunt3", test.follows, test.winner, test.winner)
		if got := events(&log, 0); got != want || s.Table.Points[test.winner] != 130 || s.Table.Points[1-test.winner] != 0 {
			t.Errorf("told %q, points %v\nwant %q", got, s.Table.Points, want)
		}
	}
}

func TestBriscaLast10(t *testing.T) {
	s, log := scene{"last10=yes", "", ""}.play(t)
	sum := 0
	for s.Turn() != rules.Over {
		log.Reset()
		s.Apply(s.Legal(nil)[0], log)
	}
	for _, p := range s.Table.Points {
		sum += int(p)
	}
	value := baraja.Value(s.Pack[38]) + baraja.Value(s.Pack[39])
	want := fmt.Sprintf("trick %d %d", s.Winner, value+10)
	if got := events(log, 0); sum != 130 || !strings.HasSuffix(got, want) {
		t.Errorf("sum %d, told %q, not %q", sum, got, want)
	}
}

func TestBriscaTeams(t *testing.T) {
	v, _ := resolve("players=4 teams=yes")
	for seat, side := range []int{0, 1, 0, 1} {
		if v.Side(seat) != side {
			t.Errorf("seat %d plays for side %d", seat, v.Side(seat))
		}
	}
	s, _ := scene{"players=4 teams=yes", "1o 3o 12o 4o 2e 2c 4c 4e 5c 5e 6c 6e 7b", "1o 3o 12o 4o"}.play(t)
	if got := s.Points(); !slices.Equal(ranks(s), []int{1, 2, 1, 2}) || !slices.Equal(got, []float64{25, 0, 0, 0}) {
		t.Errorf("points %v", got)
	}
}

func TestBriscaOptionsRefused(t *testing.T) {
	for options, want := range map[string]string{
		"teams=yes":            `option teams cannot be "yes" with players=2: try players=4 or teams=no`,
		"teams=yes players=3":  `option teams cannot be "yes" with players=3: try players=4 or teams=no`,
		"hunt3=yes players=3":  `option hunt3 cannot be "yes" with players=3: try players=2 or hunt3=no`,
		"without2=yes":         `option without2 cannot be "yes" with players=2: try players=3 or without2=no`,
		"players=5":            `option players cannot be "5": try 2 to 4`,
		"exchange=always":      `option exchange cannot be "always": try no or yes`,
		"followonly=yes":       `brisca has no option "followonly": try players, teams, exchange, last10, blackhand, hunt3, without2`,
		"blackhand=YES":        `option blackhand cannot be "YES": try no or yes`,
		"last10=10 exchange=1": ``,
		"f=1 e=1 d=1 c=1 b=1":  `brisca has no option "b": try players, teams, exchange, last10, blackhand, hunt3, without2`,
	} {
		if _, err := resolve(options); err == nil || want != "" && err.Error() != want {
			t.Errorf("%s: %v\nwant %s", options, err, want)
		}
	}
}

func TestBriscaMovesRefused(t *testing.T) {
	const pack = "7b 3o 2b 4c 12o 5e 12b"
	for _, test := range []struct {
		scene
		move rules.Move
		want string
	}{
		{scene{"", pack, ""}, 6, `"7o" is not in hand: play one of 12o,2b,7b`},
		{scene{"", pack, ""}, 7, `"8o" is not in hand: play one of 12o,2b,7b`},
		{scene{"", pack, ""}, 48 + 42, `"swap:7b" is not in this game: play a card, or set exchange=yes`},
		{scene{"exchange=yes", pack, ""}, 48 + 37, `"swap:2b" does not buy the 12b: try swap:7b`},
		{scene{"exchange=yes", pack, "12o"}, 48 + 42, `"swap:7b" needs a card that is not in hand: play a card`},
		{scene{"exchange=yes", pack, "swap:7b swap:2b"}, 48 + 42, `"swap:7b" is not possible, for nothing is given for the 2b: play a card`},
		{scene{"", pack, ""}, 96, `"?96" is not a move: play one of 12o,2b,7b`},
	} {
		s, _ := test.play(t)
		if err := s.Check(test.move); err == nil || err.Error() != test.want {
			t.Errorf("move %d: %v\nwant %s", test.move, err, test.want)
		}
	}
	s, log := scene{"exchange=yes", pack, ""}.play(t)
	lastDraws(t, s, log)
	if err := s.Check(48 + 42); err == nil || !strings.Contains(err.Error(), `"swap:7b" comes too late`) {
		t.Errorf("after the trump card was drawn: %v", err)
	}
	for _, text := range []string{"", "swap:", "swap:c", "7", "sing:o", "swap:7o ", "SWAP:7o"} {
		want := fmt.Sprintf("%q is not a move: write a card, as in 12c, or swap: and a card, as in swap:7o", text)
		if _, err := s.ParseMove(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// TestBriscaRedeal checks that a redeal keeps the known cards and those of the seat, the sizes of the hands,
// and every card exactly once.
func TestBriscaRedeal(t *testing.T) {
	s, _ := scene{"players=3 exchange=yes", "7b 3o 2b 4c 12o 5e 2o 4o 5o 1b", "swap:7b 2o"}.play(t)
	r := rules.NewRand(1)
	places := map[baraja.Set]bool{}
	for range 200 {
		before := *s
		s.Redeal(1, r)
		if s.Hands[1] != before.Hands[1] || !s.Hands[0].Has(baraja.CardOf(1, 3)) || s.Hands[0].Len() != 2 || s.Hands[2].Len() != 3 {
			t.Fatalf("hands %v become %v", before.Hands, s.Hands)
		}
		all := s.Hands[0] | s.Hands[1] | s.Hands[2]
		for _, c := range s.Pack[s.NextDraw:] {
			all = all.With(c)
		}
		if all.Len() != 39 || s.Trump != before.Trump || all.Has(baraja.CardOf(2, 0)) {
			t.Fatalf("cards %s", all.Text(nil))
		}
		places[s.Hands[2]] = true
	}
	if len(places) < 150 {
		t.Errorf("seat 2 had only %d hands", len(places))
	}
}

func ranks(s *State) []int { return newVariant(Game, nil, s.rules).Ranks(s.Points()) }

// playOn makes random moves to the end.
func playOn(s rules.State) {
	r := rules.NewRand(1)
	for s.Turn() != rules.Over {
		legal := s.Legal(nil)
		s.Apply(legal[r.Below(len(legal))], nil)
	}
}
