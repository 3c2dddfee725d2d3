package tute

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// naive is Tute a second time, from the text of the rules with slices of words,
// slow and plain, to be played move by move against State.
type naive struct {
	option map[string]string
	seats  int
	hands  [][]string
	known  [][]string
	stock  []string // still to be drawn, the trump card last if it will be
	trump  string   // the trump card
	table  bool     // it lies on the table
	leader int
	trick  []string
	played []string
	points []int
	over   bool
	// declared is the suit that each seat has declared in this trick, "-" where
	// it has not; asked is the seats that have been asked; choosing is the suits
	// that the seat on turn may choose from.
	declared []string
	asked    int
	choosing []string
	sung     []string
	heard    [][]string // events by seat since they were last looked at
}

var (
	packOrder = strings.Fields("1o 2o 3o 4o 5o 6o 7o 10o 11o 12o 1c 2c 3c 4c 5c 6c 7c 10c 11c 12c " +
		"1e 2e 3e 4e 5e 6e 7e 10e 11e 12e 1b 2b 3b 4b 5b 6b 7b 10b 11b 12b")
	byStrength = strings.Fields("2 4 5 6 7 10 11 12 3 1")
	worth      = map[string]int{"1": 11, "3": 10, "12": 4, "11": 3, "10": 2}
)

func rankOf(card string) string { return card[:len(card)-1] }
func suitOf(card string) string { return card[len(card)-1:] }

// newNaive deals from a shuffled pack.
func newNaive(option map[string]string, pack []string) *naive {
	n, _ := strconv.Atoi(option["players"])
	g := &naive{option: option, seats: n, table: true}
	g.hands, g.known = make([][]string, n), make([][]string, n)
	g.points, g.heard = make([]int, n), make([][]string, n)
	for range 8 {
		for seat := range n {
			g.hands[seat] = append(g.hands[seat], pack[0])
			pack = pack[1:]
		}
	}
	g.trump, g.stock = pack[0], slices.Clone(pack[1:])
	if n != 3 {
		g.stock = append(g.stock, g.trump)
	}
	for seat := range n {
		g.tell(seat, "deal "+strings.Join(g.hands[seat], ","))
	}
	g.tellAll("trump %s", g.trump)
	g.startTrick()
	return g
}

func (g *naive) tell(seat int, event string) { g.heard[seat] = append(g.heard[seat], event) }

func (g *naive) tellAll(format string, args ...any) {
	for seat := range g.seats {
		g.tell(seat, fmt.Sprintf(format, args...))
	}
}

func (g *naive) turn() int {
	if g.over {
		return rules.Over
	}
	if len(g.choosing) > 0 {
		return (g.leader + g.asked) % g.seats
	}
	return (g.leader + len(g.trick)) % g.seats
}

func inPackOrder(cards []string) []string {
	sorted := slices.Clone(cards)
	slices.SortFunc(sorted, func(a, b string) int { return slices.Index(packOrder, a) - slices.Index(packOrder, b) })
	return sorted
}

func without(cards []string, card string) []string {
	return slices.DeleteFunc(slices.Clone(cards), func(c string) bool { return c == card })
}

// swap is the card that buys the trump card, "" when none does.
func (g *naive) swap() string {
	if g.option["exchange"] == "no" || !g.table {
		return ""
	}
	if slices.Contains([]string{"1", "3", "12", "11", "10"}, rankOf(g.trump)) {
		return "7" + suitOf(g.trump)
	}
	if slices.Contains([]string{"7", "6", "5", "4"}, rankOf(g.trump)) {
		return "2" + suitOf(g.trump)
	}
	return ""
}

func (g *naive) legal() []string {
	if g.over {
		return nil
	}
	if len(g.choosing) > 0 {
		var moves []string
		for _, suit := range g.choosing {
			moves = append(moves, "sing:"+suit)
		}
		return moves
	}
	hand := g.hands[g.turn()]
	moves := inPackOrder(g.playable(hand))
	if slices.Contains(hand, g.swap()) {
		moves = append(moves, "swap:"+g.swap())
	}
	return moves
}

// some is the cards for which a test holds.
func some(cards []string, test func(string) bool) (found []string) {
	for _, card := range cards {
		if test(card) {
			found = append(found, card)
		}
	}
	return found
}

func strength(card string) int { return slices.Index(byStrength, rankOf(card)) }

// playable is the six lines of the rules, one after the other.
func (g *naive) playable(hand []string) []string {
	if len(g.trick) == 0 { // line 1
		return hand
	}
	led, trumps := suitOf(g.trick[0]), suitOf(g.trump)
	trumpsIn := some(g.trick, func(c string) bool { return suitOf(c) == trumps })
	follow := some(hand, func(c string) bool { return suitOf(c) == led })
	if g.option["followonly"] == "yes" {
		if len(follow) > 0 {
			return follow
		}
		return hand
	}
	if len(trumpsIn) == 0 || led == trumps { // line 2
		ledIn := some(g.trick, func(c string) bool { return suitOf(c) == led })
		higher := some(follow, func(c string) bool {
			return len(some(ledIn, func(d string) bool { return strength(d) > strength(c) })) == 0
		})
		if len(higher) > 0 {
			return higher
		}
	}
	if len(follow) > 0 { // line 3
		return follow
	}
	own := some(hand, func(c string) bool { return suitOf(c) == trumps })
	if len(trumpsIn) == 0 && len(own) > 0 { // line 4
		return own
	}
	if len(trumpsIn) > 0 && led != trumps { // line 5
		higher := some(own, func(c string) bool {
			return len(some(trumpsIn, func(d string) bool { return strength(d) > strength(c) })) == 0
		})
		if len(higher) > 0 {
			return higher
		}
	}
	return hand // line 6
}

func (g *naive) move(text string) {
	seat := g.turn()
	if card, ok := strings.CutPrefix(text, "swap:"); ok {
		g.hands[seat] = append(without(g.hands[seat], card), g.trump)
		g.known[seat] = append(without(g.known[seat], card), g.trump)
		if slices.Contains(g.stock, g.trump) {
			g.stock[len(g.stock)-1] = card
		}
		g.trump = card
		g.tellAll("swap %d %s", seat, card)
		g.instants()
		return
	}
	if suit, ok := strings.CutPrefix(text, "sing:"); ok {
		g.choosing = nil
		g.sing(seat, suit)
		g.asked++
		g.ask()
		return
	}
	g.hands[seat], g.known[seat] = without(g.hands[seat], text), without(g.known[seat], text)
	g.trick = append(g.trick, text)
	g.tellAll("play %d %s", seat, text)
	if len(g.trick) == g.seats {
		g.endTrick()
	}
}

// winner is the place in the trick of the card that wins it.
func (g *naive) winner() int {
	for _, suit := range []string{suitOf(g.trump), suitOf(g.trick[0])} {
		for i := len(byStrength) - 1; i >= 0; i-- {
			if at := slices.Index(g.trick, byStrength[i]+suit); at >= 0 {
				return at
			}
		}
	}
	panic("nobody wins")
}

func (g *naive) endTrick() {
	last := true
	for _, hand := range g.hands {
		last = last && len(hand) == 0
	}
	points := 0
	for _, card := range g.trick {
		points += worth[rankOf(card)]
	}
	if last && g.option["last10"] == "yes" {
		points += 10
	}
	seat := (g.leader + g.winner()) % g.seats
	g.points[seat] += points
	g.tellAll("trick %d %d", seat, points)
	if suit := g.declared[seat]; suit != "-" && g.holds(seat, suit) {
		g.points[seat] += g.worthOf(suit)
		g.sung = append(g.sung, suit)
		g.tellAll("song %d %d", seat, g.worthOf(suit))
	}
	g.declared = slices.Repeat([]string{"-"}, g.seats)
	one, three := "1"+suitOf(g.trump), "3"+suitOf(g.trump)
	hunted := slices.Equal(g.trick, []string{three, one}) || last && slices.Equal(g.trick, []string{one, three})
	g.leader, g.played, g.trick = seat, append(g.played, g.trick...), nil
	if hunted && g.option["hunt3"] == "yes" {
		g.tellAll("instant %d hunt3", seat)
		g.win([]int{seat})
		return
	}
	if last {
		g.over = true
		return
	}
	for i := range g.seats {
		if len(g.stock) > 0 {
			g.draw((g.leader + i) % g.seats)
		}
	}
	g.startTrick()
}

// startTrick is wins at once, then the songs.
func (g *naive) startTrick() {
	g.declared = slices.Repeat([]string{"-"}, g.seats)
	g.asked = 0
	g.instants()
	if !g.over {
		g.ask()
	}
}

// ask goes on asking the seats for their songs.
func (g *naive) ask() {
	for g.asked < g.seats {
		seat := (g.leader + g.asked) % g.seats
		var can []string
		for _, suit := range []string{"o", "c", "e", "b"} {
			if g.holds(seat, suit) && !slices.Contains(g.sung, suit) {
				can = append(can, suit)
			}
		}
		if slices.Contains(can, suitOf(g.trump)) {
			can = []string{suitOf(g.trump)}
		}
		if len(can) > 1 {
			g.choosing = can
			return
		}
		if len(can) == 1 {
			g.sing(seat, can[0])
		}
		g.asked++
	}
}

// holds tells whether a seat has 12 and 11 of a suit.
func (g *naive) holds(seat int, suit string) bool {
	return slices.Contains(g.hands[seat], "12"+suit) && slices.Contains(g.hands[seat], "11"+suit)
}

func (g *naive) worthOf(suit string) int {
	if suit == suitOf(g.trump) {
		return 40
	}
	return 20
}

func (g *naive) sing(seat int, suit string) {
	g.declared[seat] = suit
	for _, card := range []string{"12" + suit, "11" + suit} {
		g.known[seat] = append(without(g.known[seat], card), card)
	}
	g.tellAll("sing %d %s %d", seat, suit, g.worthOf(suit))
}

func (g *naive) draw(seat int) {
	card := g.stock[0]
	g.stock = g.stock[1:]
	g.hands[seat] = append(g.hands[seat], card)
	if card == g.trump {
		g.table = false
		g.known[seat] = append(g.known[seat], card)
	}
	for other := range g.seats {
		if other == seat || card == g.trump {
			g.tell(other, fmt.Sprintf("draw %d %s", seat, card))
		} else {
			g.tell(other, fmt.Sprintf("draw %d ?", seat))
		}
	}
}

// instants is the seats that hold what wins at once, from the leader on.
func (g *naive) instants() {
	var winners []int
	for i := range g.seats {
		seat := (g.leader + i) % g.seats
		count := map[string]int{}
		for _, card := range g.hands[seat] {
			count[rankOf(card)]++
			if suitOf(card) == suitOf(g.trump) && slices.Contains([]string{"1", "3", "12"}, rankOf(card)) {
				count["black"]++
			}
		}
		if count["black"] == 3 && g.option["blackhand"] == "yes" {
			g.tellAll("instant %d blackhand", seat)
			winners = append(winners, seat)
		}
		if count["12"] == 4 || count["11"] == 4 {
			g.tellAll("instant %d tute", seat)
			winners = append(winners, seat)
		}
	}
	if len(winners) > 0 {
		g.win(winners)
	}
}

func (g *naive) win(seats []int) {
	full := 120
	if g.option["last10"] == "yes" {
		full = 130
	}
	g.points = make([]int, g.seats)
	for _, seat := range seats {
		g.points[seat] = full
	}
	g.over = true
}

func list(cards []string) string {
	if len(cards) == 0 {
		return "-"
	}
	return strings.Join(cards, ",")
}

func (g *naive) view(seat int) string {
	var points, known []string
	for other := range g.seats {
		points = append(points, strconv.Itoa(g.points[other]))
		known = append(known, list(inPackOrder(g.known[other])))
	}
	var sung []string
	for _, suit := range []string{"o", "c", "e", "b"} {
		if slices.Contains(g.sung, suit) {
			sung = append(sung, suit)
		}
	}
	return fmt.Sprintf("hand=%s trump=%s stock=%d leader=%d trick=%s points=%s played=%s known=%s declared=%s sung=%s",
		list(inPackOrder(g.hands[seat])), g.trump, len(g.stock), g.leader, list(g.trick),
		strings.Join(points, ","), list(g.played), strings.Join(known, "/"),
		strings.Join(g.declared, ","), list(sung))
}

// ranks by the sums of the sides.
func (g *naive) ranks() []int {
	sums := slices.Clone(g.points)
	if g.option["teams"] == "yes" {
		a, b := g.points[0]+g.points[2], g.points[1]+g.points[3]
		ranks := map[bool]int{true: 1, false: 2}
		return []int{ranks[a >= b], ranks[b >= a], ranks[a >= b], ranks[b >= a]}
	}
	slices.Sort(sums)
	slices.Reverse(sums)
	var ranks []int
	for _, p := range g.points {
		ranks = append(ranks, 1+slices.Index(sums, p))
	}
	return ranks
}

// both is both implementations in the same position.
type both struct {
	fast State
	slow *naive
	log  rules.Log
}

// newBoth deals from the shuffled pack to both.
func newBoth(v Variant, pack []baraja.Card) *both {
	p := &both{fast: State{rules: v.Rules}}
	copy(p.fast.Pack[:], pack)
	p.fast.begin()
	var words []string
	for _, c := range pack {
		words = append(words, c.String())
	}
	option := map[string]string{}
	for _, o := range v.Settings() {
		option[o.Name] = o.Value
	}
	p.slow = newNaive(option, words)
	p.fast.Start(&p.log)
	return p
}

// compare wants both to say the same, and is the legal moves.
func (p *both) compare(t testing.TB) []rules.Move {
	t.Helper()
	legal := p.fast.Legal(nil)
	var words []string
	for _, m := range legal {
		words = append(words, string(p.fast.MoveText(nil, m)))
	}
	p.same(t, "turn", p.fast.Turn(), p.slow.turn())
	p.same(t, "legal", strings.Join(words, " "), strings.Join(p.slow.legal(), " "))
	for seat := range p.slow.seats {
		p.same(t, "view", string(p.fast.View(nil, seat)), p.slow.view(seat))
		heard := ""
		for _, event := range p.slow.heard[seat] {
			heard += event + "\n"
		}
		p.same(t, "events", string(p.log.Events(nil, seat, "")), heard)
		p.slow.heard[seat] = nil
	}
	p.same(t, "ranks", fmt.Sprint(p.fast.Result().Ranks), fmt.Sprint(p.slow.ranks()))
	p.same(t, "points", fmt.Sprint(p.fast.Result().Points), fmt.Sprint(p.slow.points))
	return legal
}

func (p *both) same(t testing.TB, what string, fast, slow any) {
	t.Helper()
	if fast != slow {
		t.Fatalf("%s after %v (-fast +naive):\n%s", what, p.slow.played, cmp.Diff(fast, slow))
	}
}

// move makes a legal move in both.
func (p *both) move(m rules.Move) {
	p.slow.move(string(p.fast.MoveText(nil, m)))
	p.log.Reset()
	p.fast.Apply(m, &p.log)
}

// try wants a move to be accepted exactly when the naive one lists it, and a
// refusal to change nothing.
func (p *both) try(t testing.TB, m rules.Move) {
	t.Helper()
	before := p.fast
	err := p.fast.Check(m)
	p.same(t, fmt.Sprint("accepts ", m), err == nil, slices.Contains(p.slow.legal(), string(p.fast.MoveText(nil, m))))
	if p.fast != before {
		t.Fatalf("checking %d changes the state", m)
	}
}

// everyVariant is every combination of options that the game accepts.
func everyVariant() (variants []Variant) {
	combos := []map[string]string{{}}
	for _, o := range (Game{}).Options() {
		values := slices.Clone(o.Values)
		if o.Values == nil {
			for n := o.Min; n <= o.Max; n++ {
				values = append(values, strconv.Itoa(n))
			}
		}
		var next []map[string]string
		for _, combo := range combos {
			for _, value := range values {
				with := map[string]string{o.Name: value}
				for k, v := range combo {
					with[k] = v
				}
				next = append(next, with)
			}
		}
		combos = next
	}
	for _, combo := range combos {
		if v, err := rules.Settle(Game{}, combo); err == nil {
			variants = append(variants, v.(Variant))
		}
	}
	return variants
}

// shuffled is a pack to deal from. Two of three are arranged so that what is rare
// happens: one seat is dealt, or draws early, most of the high trumps, or most
// of the 12s or 11s, and the next seat most of the 11s.
func shuffled(v Variant, r *rules.Rand) []baraja.Card {
	pack := slices.Clone(baraja.Pack40)
	stream := rules.FastStream(r)
	rules.Shuffle(&stream, pack)
	n := v.Players()
	seat := r.Below(n)
	suit := pack[n*handCards].Suit()
	switch r.Below(6) {
	case 0, 1:
		stack(pack, n, seat, r, cardsOf([]int{1, 3, 12, 11, 7, 2}, suit))
	case 2:
		stack(pack, n, seat, r, cardsOf([]int{12}, 0, 1, 2, 3))
		stack(pack, n, (seat+1)%n, r, cardsOf([]int{11}, 0, 1, 2, 3))
	case 3:
		stack(pack, n, seat, r, cardsOf([]int{12, 11}, (suit+1)%4, (suit+2)%4, (suit+3)%4))
	}
	return pack
}

func cardsOf(ranks []int, suits ...baraja.Suit) (cards []baraja.Card) {
	for _, rank := range ranks {
		for _, suit := range suits {
			cards = append(cards, baraja.Of(rank, suit))
		}
	}
	return cards
}

// stack puts cards where a seat gets them: into its deal, and a few of them into
// the front of the stock.
func stack(pack []baraja.Card, n, seat int, r *rules.Rand, cards []baraja.Card) {
	for i, c := range cards {
		at, to := slices.Index(pack, c), i*n+seat
		if r.Below(6) == 0 {
			to = n*handCards + 1 + r.Below(n*2)
		}
		if at != n*handCards && to < len(pack) {
			pack[at], pack[to] = pack[to], pack[at]
		}
	}
}

// pick picks a move, by chance or with the intent of mode: 1 holds back the high
// trumps, 2 leads the 3 of trumps and puts the 1 on it.
func (p *both) pick(legal []rules.Move, mode int, r *rules.Rand) rules.Move {
	trumps := p.fast.Trumps()
	one, three := rules.Move(baraja.Of(1, trumps)), rules.Move(baraja.Of(3, trumps))
	m := legal[r.Below(len(legal))]
	switch mode {
	case 1:
		if m == one || m == three || m == rules.Move(baraja.Of(12, trumps)) {
			m = legal[r.Below(len(legal))]
		}
	case 2:
		trick := p.fast.Trick()
		if len(trick) == 0 && slices.Contains(legal, three) {
			return three
		}
		if slices.Contains(trick, baraja.Card(three)) && slices.Contains(legal, one) {
			return one
		}
		if m == one {
			m = legal[r.Below(len(legal))]
		}
	}
	return m
}

// Every option, thousands of games, and what is rare must have been met.
func TestTuteAgainstNaive(t *testing.T) {
	games := 60
	if testing.Short() {
		games = 10
	}
	met := map[string]int{}
	r := rules.NewRand(1)
	for _, v := range everyVariant() {
		for range games {
			p := newBoth(v, shuffled(v, r))
			mode := r.Below(3)
			for {
				for _, event := range p.slow.heard[0] {
					count(met, event)
				}
				if len(p.slow.choosing) > 0 {
					met["chosen"]++
				}
				if winners := some(p.slow.heard[0], func(e string) bool { return strings.HasPrefix(e, "instant") }); len(winners) > 1 {
					met["two at once"]++
				}
				legal := p.compare(t)
				p.try(t, rules.Move(r.Below(120)))
				if len(legal) == 0 {
					break
				}
				p.move(p.pick(legal, mode, r))
			}
		}
	}
	for _, event := range []string{"swap", "sing", "song", "chosen", "instant blackhand", "instant hunt3", "instant tute", "two at once"} {
		if met[event] < games/4 {
			t.Errorf("%s happened only %d times in %d games", event, met[event], games*len(everyVariant()))
		}
	}
}

// count counts an event by its words that are not numbers or cards.
func count(met map[string]int, event string) {
	words := strings.Fields(event)
	if words[0] == "instant" {
		words[0] += " " + words[2]
	}
	met[words[0]]++
}
