package brisca

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

// naive is Brisca a second time, from the text of the rules with slices of words,
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
	heard  [][]string // events by seat since they were last looked at
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
	for range 3 {
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
	g.blackHands()
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
	hand := g.hands[g.turn()]
	moves := inPackOrder(hand)
	if slices.Contains(hand, g.swap()) {
		moves = append(moves, "swap:"+g.swap())
	}
	return moves
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
		g.blackHands()
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
	g.blackHands()
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

func (g *naive) blackHands() {
	if g.option["blackhand"] == "no" {
		return
	}
	for seat, hand := range g.hands {
		have := 0
		for _, rank := range []string{"1", "3", "12"} {
			if slices.Contains(hand, rank+suitOf(g.trump)) {
				have++
			}
		}
		if have == 3 {
			g.tellAll("instant %d blackhand", seat)
			g.win([]int{seat})
		}
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
	return fmt.Sprintf("hand=%s trump=%s stock=%d leader=%d trick=%s points=%s played=%s known=%s",
		list(inPackOrder(g.hands[seat])), g.trump, len(g.stock), g.leader, list(g.trick),
		strings.Join(points, ","), list(g.played), strings.Join(known, "/"))
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

// pair is both implementations in the same position.
type pair struct {
	fast State
	slow *naive
	log  rules.Log
}

// newPair deals from the shuffled pack to both.
func newPair(v Variant, pack []baraja.Card) *pair {
	p := &pair{fast: State{rules: v.Rules}}
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
func (p *pair) compare(t testing.TB) []rules.Move {
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

func (p *pair) same(t testing.TB, what string, fast, slow any) {
	t.Helper()
	if fast != slow {
		t.Fatalf("%s after %v (-fast +naive):\n%s", what, p.slow.played, cmp.Diff(fast, slow))
	}
}

// move makes a legal move in both.
func (p *pair) move(m rules.Move) {
	p.slow.move(string(p.fast.MoveText(nil, m)))
	p.log.Reset()
	p.fast.Apply(m, &p.log)
}

// try wants a move to be accepted exactly when the naive one lists it, and a
// refusal to change nothing.
func (p *pair) try(t testing.TB, m rules.Move) {
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

// shuffled is a pack to deal from. Every other one is arranged so that what is
// rare happens: one seat is dealt, or draws early, most of a trump suit.
func shuffled(v Variant, r *rules.Rand) []baraja.Card {
	pack := slices.Clone(baraja.Pack40)
	stream := rules.FastStream(r)
	rules.Shuffle(&stream, pack)
	if r.Below(2) == 0 {
		return pack
	}
	n := v.Players()
	suit := pack[n*handCards].Suit()
	seat := r.Below(n)
	places := []int{seat, n + seat, 2*n + seat, 3*n + 1 + seat, 4*n + 1 + seat, 5*n + 1 + seat}
	for i, rank := range []int{1, 3, 12, 7, 2} {
		j := i + r.Below(len(places)-i)
		places[i], places[j] = places[j], places[i]
		at := slices.Index(pack, baraja.Of(rank, suit))
		if at != n*handCards {
			pack[at], pack[places[i]] = pack[places[i]], pack[at]
		}
	}
	return pack
}

// pick picks a move, by chance or with the intent of mode: 1 holds back the high
// trumps, 2 leads the 3 of trumps and puts the 1 on it.
func (p *pair) pick(legal []rules.Move, mode int, r *rules.Rand) rules.Move {
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
func TestBriscaAgainstNaive(t *testing.T) {
	games := 80
	if testing.Short() {
		games = 10
	}
	met := map[string]int{}
	r := rules.NewRand(1)
	for _, v := range everyVariant() {
		for range games {
			p := newPair(v, shuffled(v, r))
			mode := r.Below(3)
			for {
				for _, event := range p.slow.heard[0] {
					count(met, event)
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
	for _, event := range []string{"swap", "instant blackhand", "instant hunt3"} {
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
