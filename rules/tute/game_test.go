package tute

import (
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

func TestTuteConformance(t *testing.T) {
	rulestest.Run(t, Game, rulestest.Options{CheckTotal: checkTotal})
}

// checkTotal checks that the points of all cards and songs were won, except for those of a trump card that
// three seats never draw. Wins at once give full points to each winner and none to others.
func checkTotal(v *rules.Variant, state rules.State) error {
	s := state.(*State)
	want, sum := 120, 0
	if s.Rules().Last10 {
		want = 130
	}
	atOnce := true
	for _, p := range s.Table.Points {
		sum += int(p)
		atOnce = atOnce && (p == 0 || int(p) == want)
	}
	if atOnce && sum > 0 {
		return nil
	}
	if v.Players == 3 && !s.Rules().Without2 {
		want -= baraja.Value(s.Trump)
	}
	for suit := range baraja.Suit(suits) {
		if s.SungSuits>>suit&1 != 0 {
			want += int(s.SongPoints(suit))
		}
	}
	if sum != want {
		return fmt.Errorf("points %v do not make %d", s.Table.Points, want)
	}
	return nil
}

// resolve returns the variant for options in the form "key=value key=value".
func resolve(options string) (*rules.Variant, error) {
	return Game.Resolve(protocol.Pairs(strings.TrimSpace(options)).Map())
}

// scene is a position, given by the hands, the trump card, the front of the stock, and the moves made. The
// hands are separated by slashes and filled up to eight cards with copas and espadas that make no song.
type scene struct {
	options, hands, trump, stock, moves string
}

// read parses cards separated by spaces.
func read(t *testing.T, text string) (cards []baraja.Card) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		c := kit.Get[baraja.Card](t)(baraja.Parse(word))
		cards = append(cards, c)
	}
	return cards
}

// pack returns the shuffled pack that deals a scene.
func (c scene) pack(t *testing.T, players int) (pack []baraja.Card) {
	t.Helper()
	named := read(t, strings.ReplaceAll(c.hands, "/", " ")+" "+c.trump+" "+c.stock)
	fill := cardsOf([]int{2, 4, 5, 6, 7, 10, 1, 3}, 1, 2)
	fill = append(fill, cardsOf([]int{2, 4, 5, 6, 7, 10, 1, 3, 11, 12}, 0, 3)...)
	fill = append(fill, cardsOf([]int{11, 12}, 1, 2)...)
	fill = slices.DeleteFunc(fill, func(c baraja.Card) bool { return slices.Contains(named, c) })
	pack = make([]baraja.Card, players*handCards)
	for seat, text := range strings.Split(c.hands, "/") {
		hand := read(t, text)
		for i := range handCards {
			if i == len(hand) {
				hand, fill = append(hand, fill[0]), fill[1:]
			}
			pack[i*players+seat] = hand[i]
		}
	}
	pack = append(pack, read(t, c.trump+" "+c.stock)...)
	return append(pack, fill...)
}

// play makes the moves. The log has the events of the last one.
func (c scene) play(t *testing.T) (*State, *rules.Log) {
	t.Helper()
	v := kit.Get[*rules.Variant](t)(resolve(c.options))
	s := new(State)
	s.Layout(v.Rules.(Rules), c.pack(t, v.Players))
	log := new(rules.Log)
	s.LogStart(log)
	for word := range strings.FieldsSeq(c.moves) {
		m := kit.Get[rules.Move](t)(s.ParseMove(word))
		log.Reset()
		kit.Must(t, rules.Play(s, m, log))
	}
	return s, log
}

// events returns the events in the log that a seat sees, without the deal and the trump card.
func events(log *rules.Log, seat int) string {
	lines := strings.Split(strings.TrimSuffix(string(log.AppendEvents(nil, seat, "")), "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(s string) bool {
		return strings.HasPrefix(s, "deal") || strings.HasPrefix(s, "trump") || strings.HasPrefix(s, "draw")
	})
	return strings.Join(lines, "; ")
}

// legal returns the legal moves as text.
func legal(s *State) string {
	var text []byte
	for _, m := range s.Legal(nil) {
		text = append(s.MoveText(text, m), ' ')
	}
	return strings.TrimSpace(string(text))
}

// key returns the value of a key in a seat's view.
func key(s rules.State, seat int, name string) string {
	return protocol.Pairs(s.View(nil, seat)).Get(name)
}

func TestTuteDealOfZeroSeed(t *testing.T) {
	v, _ := resolve("players=4")
	stream := rules.NewStream(rules.Seed{})
	s := v.Deal(&stream)
	var log rules.Log
	s.LogStart(&log)
	if got, want := string(log.AppendEvents(nil, 0, "")), "deal 12e,4e,2c,3e,12b,1o,3b,10o\ntrump 11c\n"; !strings.HasPrefix(got, want) {
		t.Errorf("seat 0 is told %q, not %q", got, want)
	}
}

// TestTuteSeats checks the numbers of seats, tricks and cards to draw in SPEC.md, "Tute".
func TestTuteSeats(t *testing.T) {
	for _, test := range []struct{ players, stock, tricks int }{{2, 24, 20}, {3, 15, 13}, {4, 8, 10}} {
		s, _ := scene{fmt.Sprint("players=", test.players), strings.Repeat("/", test.players-1), "4b", "", ""}.play(t)
		if got := key(s, 0, "stock"); got != fmt.Sprint(test.stock) {
			t.Errorf("%d seats: stock %s", test.players, got)
		}
		played, sung := 0, 0
		for s.Turn() != rules.Over {
			m := s.Legal(nil)[0]
			if m < baraja.SwapMove {
				played++
			} else {
				sung++
			}
			s.Apply(m, nil)
		}
		if played != test.tricks*test.players || s.Ply() != played+sung {
			t.Errorf("%d seats: %d cards played, %d songs chosen, %d plies", test.players, played, sung, s.Ply())
		}
	}
}

func TestTuteMayBePlayed(t *testing.T) {
	const free = "followonly=yes"
	for _, test := range []struct {
		line string
		scene
		strict, follow string
	}{
		{"1 leading", scene{"", "2o 1o 7b 2b 2c 3c 5e 6e/", "4b", "", ""},
			"1o 2o 2c 3c 5e 6e 2b 7b", "1o 2o 2c 3c 5e 6e 2b 7b"},
		{"2 beat", scene{"", "5o/2o 7o 12o 4o 2b 7b 1e 1c", "4b", "", "5o"},
			"7o 12o", "2o 4o 7o 12o"},
		{"2 the 3 beats the king, the 11 does not", scene{"", "12o/2o 3o 11o 2b 7b 1e 1c 5c", "4b", "", "12o"},
			"3o", "2o 3o 11o"},
		{"2 trumps led", scene{"", "5b/2b 7b 1b 1o 2o 1e 1c 5c", "4b", "", "5b"},
			"1b 7b", "1b 2b 7b"},
		{"2 the best of the trick, partner or not", scene{"players=4 teams=yes", "5o/10o/7o 11o 2o 1c 3c 1e 3e 10c/", "4b", "", "5o 10o"},
			"11o", "2o 7o 11o"},
		{"3 cannot beat", scene{"", "1o/2o 7o 12o 2b 7b 1e 1c 5c", "4b", "", "1o"},
			"2o 7o 12o", "2o 7o 12o"},
		{"3 trumps led, none higher", scene{"", "1b/2b 7b 1o 2o 1e 1c 5c 6c", "4b", "", "1b"},
			"2b 7b", "2b 7b"},
		{"3 trumped before", scene{"players=3", "5o/7b 7c 10c 1c 3c 10e 1e 3e/1o 2o 1b 11c 12e 2b 5b 6b", "4b", "", "5o 7b"},
			"1o 2o", "1o 2o"},
		{"4 void", scene{"", "5o/2b 7b 1e 1c 5c 6c 2e 7e", "4b", "", "5o"},
			"2b 7b", "1c 5c 6c 1e 2e 7e 2b 7b"},
		{"5 trumped before, a higher trump", scene{"players=3", "5o/7b 7c 10c 1c 3c 10e 1e 3e/2b 10b 1b 11c 12e 2c 2e 4e", "4b", "", "5o 7b"},
			"1b 10b", "2c 11c 2e 4e 12e 1b 2b 10b"},
		{"6 trumped before, lower trumps only", scene{"players=3", "5o/7b 7c 10c 1c 3c 10e 1e 3e/2b 5b 6b 11c 12e 2c 2e 4e", "4b", "", "5o 7b"},
			"2c 11c 2e 4e 12e 2b 5b 6b", "2c 11c 2e 4e 12e 2b 5b 6b"},
		{"6 void in suit and trumps", scene{"", "5o/1e 1c 5c 6c 2e 7e 3e 3c", "4b", "", "5o"},
			"1c 3c 5c 6c 1e 2e 3e 7e", "1c 3c 5c 6c 1e 2e 3e 7e"},
		{"6 trumps led, void", scene{"", "5b/1o 1e 1c 5c 6c 2e 7e 3e", "4b", "", "5b"},
			"1o 1c 5c 6c 1e 2e 3e 7e", "1o 1c 5c 6c 1e 2e 3e 7e"},
	} {
		t.Run(test.line, func(t *testing.T) {
			s, _ := test.play(t)
			if got := legal(s); got != test.strict {
				t.Errorf("legal %s\nwant  %s", got, test.strict)
			}
			test.options += " " + free
			s, _ = test.play(t)
			if got := legal(s); got != test.follow {
				t.Errorf("followonly: legal %s\nwant %s", got, test.follow)
			}
		})
	}
}

func TestTuteSongs(t *testing.T) {
	for _, test := range []struct {
		name string
		scene
		turn                                    int
		events, legal, declared, sung, known, p string
	}{
		{"the only 20", scene{"", "12o 11o 1c 1b/1o", "4b", "", ""}, 0,
			"sing 0 o 20", "11o 12o 1c 2c 4c 2e 4e 1b", "o,-", "-", "11o,12o/-", "0,0"},
		{"the 40 before a 20", scene{"", "12o 11o 12b 11b/12e 11e", "4b", "", ""}, 0,
			"sing 0 b 40; sing 1 e 20", "11o 12o 2c 4c 2e 4e 11b 12b", "b,e", "-", "11b,12b/11e,12e", "0,0"},
		{"a choice among 20s", scene{"", "12o 11o 12e 11e/12c 11c", "4b", "", ""}, 0,
			"", "sing:o sing:e", "-,-", "-", "-/-", "0,0"},
		{"chosen, and the next declares", scene{"", "12o 11o 12e 11e/12c 11c", "4b", "", "sing:e"}, 0,
			"sing 0 e 20; sing 1 c 20", "11o 12o 2c 4c 2e 4e 11e 12e", "e,c", "-", "11e,12e/11c,12c", "0,0"},
		{"a later seat chooses before the lead", scene{"players=3", "12b 11b/12o 11o 12e 11e/", "4b", "", ""}, 1,
			"sing 0 b 40", "sing:o sing:e", "b,-,-", "-", "11b,12b/-/-", "0,0,0"},
		{"then the leader leads", scene{"players=3", "12b 11b/12o 11o 12e 11e/", "4b", "", "sing:o"}, 0,
			"sing 1 o 20", "2c 4c 5c 2e 4e 5e 11b 12b", "b,o,-", "-", "11b,12b/11o,12o/-", "0,0,0"},
		{"scored with the trick", scene{"", "12o 11o 1c/4o", "4b", "5o 6o", "1c 6c"}, 0,
			"play 1 6c; trick 0 11; song 0 20", "5o 11o 12o 2c 4c 5c 2e 4e", "-,-", "o", "11o,12o/-", "31,0"},
		{"not with a card of the pair", scene{"", "12o 11o/4o", "4b", "5o 6o", "12o 4o"}, 0,
			"play 1 4o; trick 0 4", "5o 11o 2c 4c 5c 2e 4e 5e", "-,-", "-", "11o/-", "4,0"},
		{"lost, so declared anew", scene{"", "12o 11o 4o/1o", "4b", "5b 6b", "4o 1o"}, 1,
			"play 1 1o; trick 1 11; sing 0 o 20", "6c 7c 10c 5e 6e 7e 10e 5b", "o,-", "-", "11o,12o/-", "0,11"},
		{"a suit done is not declared again, the other is", scene{"", "12o 11o 12b 11b 1c/4o", "4b", "5o 6o", "1c 5c"}, 0,
			"play 1 5c; trick 0 11; song 0 40; sing 0 o 20", "5o 11o 12o 2c 4c 2e 11b 12b", "o,-", "b", "11o,12o,11b,12b/-", "51,0"},
		{"drawn, then declared", scene{"", "12o 1c/4o", "4b", "11o", "1c 6c"}, 0,
			"play 1 6c; trick 0 11; sing 0 o 20", "", "o,-", "-", "11o,12o/-", "11,0"},
		{"a partner's trick scores nothing", scene{"players=4 teams=yes", "12o 11o 10o/2o/1o/4o", "5b", "", "10o 2o 1o 4o"}, 2,
			"play 3 4o; trick 2 13; sing 0 o 20", "", "o,-,-,-", "-", "11o,12o/-/-/-", "0,0,13,0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, log := test.play(t)
			if s.Turn() != test.turn {
				t.Errorf("turn %d, want %d", s.Turn(), test.turn)
			}
			for _, check := range [][3]string{
				{"events", events(log, 1), test.events}, {"legal", legal(s), test.legal},
				{"declared", key(s, 1, "declared"), test.declared}, {"sung", key(s, 1, "sung"), test.sung},
				{"known", key(s, 1, "known"), test.known}, {"points", key(s, 1, "points"), test.p},
			} {
				if check[1] != check[2] && (check[0] != "legal" || check[2] != "") {
					t.Errorf("%s %q, want %q", check[0], check[1], check[2])
				}
			}
		})
	}
}

func TestTuteAtOnce(t *testing.T) {
	for _, test := range []struct {
		name string
		scene
		events, points string
		ranks          []int
	}{
		{"the 12s by the deal", scene{"", "12o 12c 12e 12b 11o/", "4b", "", ""},
			"instant 0 tute", "120,0", []int{1, 2}},
		{"the 11s after the draw", scene{"last10=yes", "11o 11c 11e 1c/", "4b", "11b", "1c 5c"},
			"play 1 5c; trick 0 11; instant 0 tute", "130,0", []int{1, 2}},
		{"after an exchange", scene{"exchange=yes", "11o 11c 11e 7b/", "11b", "", "swap:7b"},
			"swap 0 7b; instant 0 tute", "120,0", []int{1, 2}},
		{"two seats", scene{"players=3", "/11o 11c 11e 11b/12o 12c 12e 12b", "4b", "", ""},
			"instant 1 tute; instant 2 tute", "0,120,120", []int{3, 1, 1}},
		{"a black hand and a tute", scene{"blackhand=yes", "1b 3b 12b/11o 11c 11e 11b", "4b", "", ""},
			"instant 0 blackhand; instant 1 tute", "120,120", []int{1, 1}},
		{"both in one hand", scene{"blackhand=yes", "1b 3b 12b 12o 12c 12e/", "4b", "", ""},
			"instant 0 blackhand; instant 0 tute", "120,0", []int{1, 2}},
		{"a black hand needs the option", scene{"", "1b 3b 12b/", "4b", "", ""},
			"", "0,0", []int{1, 1}},
		{"the hunt", scene{"hunt3=yes", "3b 12o 11o/1b", "4b", "", "3b 1b"},
			"play 1 1b; trick 1 21; instant 1 hunt3", "0,120", []int{2, 1}},
		{"a song does not save from the hunt", scene{"hunt3=yes", "3b/1b 12o 11o", "4b", "", "3b 1b"},
			"play 1 1b; trick 1 21; song 1 20; instant 1 hunt3", "0,120", []int{2, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, log := test.play(t)
			if got := events(log, 0); got != test.events {
				t.Errorf("told %q\nwant %q", got, test.events)
			}
			if got := key(s, 0, "points"); got != test.points || !slices.Equal(ranks(s), test.ranks) {
				t.Errorf("points %s, ranks %v", got, ranks(s))
			}
			if over := s.Turn() == rules.Over; over != strings.Contains(test.events, "instant") {
				t.Errorf("turn %d", s.Turn())
			}
		})
	}
}

func TestTuteMovesRefused(t *testing.T) {
	const choice, plain = "12o 11o 12e 11e/", "5o/2o 7o 12o 4o 2b 7b 1e 1c"
	for _, test := range []struct {
		scene
		move, want, code string
	}{
		{scene{"", choice, "4b", "", ""}, "sing:c", `"sing:c" needs 12 and 11 of a suit that is not done: try sing:o,sing:e`, ""},
		{scene{"", choice, "4b", "", ""}, "12o", `"12o" comes too early, for a song must be chosen: try sing:o,sing:e`, "sing"},
		{scene{"exchange=yes", choice + "7b", "1b", "", ""}, "swap:7b", `"swap:7b" comes too early, for a song must be chosen: try sing:o,sing:e`, "sing"},
		{scene{"", plain, "4b", "", "5o"}, "sing:o", `"sing:o" is not asked for now: try 7o,12o`, ""},
		{scene{"", plain, "4b", "", "5o"}, "1o", `"1o" is not in hand: try 7o,12o`, ""},
		{scene{"", plain, "4b", "", "5o"}, "2o", `"2o" may not be played on 5o: try 7o,12o`, "beat card=5o"},
		{scene{"", plain, "4b", "", "5o"}, "2b", `"2b" may not be played on 5o: try 7o,12o`, "beat card=5o"},
		{scene{"followonly=yes", plain, "4b", "", "5o"}, "2b", `"2b" may not be played on 5o: try 2o,4o,7o,12o`, "follow suit=o"},
		{scene{"", "5o/1c 4c 2b 7b 2c 5c 2e 4e", "4b", "", "5o"}, "1c", `"1c" may not be played on 5o: try 2b,7b`, "trump suit=b"},
		{scene{"players=3", "5o/6b 1e 3e 5e 6e 7e 10e 11e/1c 4c 2b 7b 2c 5c 2e 4e", "4b", "", "5o 6b"}, "2b", `"2b" may not be played on 5o,6b: try 7b`, "beat card=6b"},
		{scene{"", plain, "4b", "", "5o"}, "swap:2b", `"swap:2b" is not in this game: play a card, or set exchange=yes`, ""},
	} {
		s, _ := test.play(t)
		m := kit.Get[rules.Move](t)(s.ParseMove(test.move))
		if err := s.Check(m); err == nil || err.Error() != test.want || rulestest.Refusal(err) != test.code {
			t.Errorf("%s: %v, %s\nwant %s, %s", test.move, err, rulestest.Refusal(err), test.want, test.code)
		}
	}
	s, _ := scene{"", plain, "4b", "", "5o"}.play(t)
	if err := s.Check(100); err == nil || err.Error() != `"?100" is not a move: try 7o,12o` {
		t.Errorf("move 100: %v", err)
	}
	for _, text := range []string{"sing:", "sing:x", "sing:oc", "sing:O"} {
		want := fmt.Sprintf("%q is not a move: write sing: and a suit, one of o, c, e and b, as in sing:c", text)
		if _, err := s.ParseMove(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	if _, err := resolve("hunt3=yes players=4"); err == nil || err.Error() != `option hunt3 cannot be "yes" with players=4: try players=2 or hunt3=no` {
		t.Errorf("hunt3 for four: %v", err)
	}
}

// TestTuteRedeal checks that a redeal for other seats leaves a seat its choice of a song, and leaves declared
// pairs in their hands.
func TestTuteRedeal(t *testing.T) {
	s, _ := scene{"players=3", "12b 11b/12o 11o 12e 11e/", "4b", "", ""}.play(t)
	r := rules.NewRand(1)
	want := legal(s)
	hands := map[baraja.Set]bool{}
	for range 200 {
		s.Redeal(2, r)
		if got := legal(s); got != want || s.pairs(s.Hands[1])&s.SongChoice != s.SongChoice {
			t.Fatalf("legal %s in %s, was %s", got, s.Hands[1].Text(nil), want)
		}
		if Pair(3)&^s.Hands[0] != 0 {
			t.Fatalf("the song is not in %s", s.Hands[0].Text(nil))
		}
		hands[s.Hands[0]] = true
	}
	if len(hands) < 150 {
		t.Errorf("seat 0 had only %d hands", len(hands))
	}
}

func ranks(s *State) []int { return newVariant(Game, nil, s.rules).Ranks(s.Points()) }

// TestSongsChosenAgain checks that a song that is not scored can be chosen again at each trick. This random
// game therefore has more moves than cards, exchanges and suits together.
func TestSongsChosenAgain(t *testing.T) {
	v := kit.Get[*rules.Variant](t)(resolve("players=4 exchange=yes"))
	r := rules.NewRand(46827)
	src := rules.FastStream(r)
	s := v.Deal(&src)
	for s.Turn() >= 0 {
		legal := s.Legal(nil)
		s.Apply(legal[r.Below(len(legal))], nil)
	}
	if n := s.Ply(); n != 49 || n > v.MaxPlies {
		t.Errorf("the game has %d moves, want 49 and at most %d", n, v.MaxPlies)
	}
}
