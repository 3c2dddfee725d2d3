package podrida

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/rulestest"
	"pgregory.net/rapid"
)

// naive implements La Podrida a second time, from the text of the rules, with strings, slices and maps.
// rulestest.Pair compares it with State.
type naive struct {
	players, deck int
	updown, short bool
	below         func(uint64) int

	ply, round, cards, dealer int
	hands                     map[int][]string
	turned                    string
	bids                      map[int]int
	tricks                    map[int]int
	leader                    int
	trick                     []string // on the table, that of the leader first
	earlier                   []string
	led                       []string // by finished trick: the seat that led it
	points                    map[int]int
	turn                      int // -1 if the game is over
	told                      map[int][]string
}

func newNaive(r Rules, seed [32]byte) *naive {
	g := &naive{players: int(r.Players), deck: int(r.Deck), updown: r.UpDown, short: r.Short,
		below: rulestest.NaiveStream(seed), points: map[int]int{}, told: map[int][]string{}}
	g.deal()
	return g
}

// sizes lists the sizes of the hands by round.
func (g *naive) sizes() (list []int) {
	for n := 1; n*g.players <= g.deck && (n <= 5 || !g.short); n++ {
		list = append(list, n)
	}
	if g.updown {
		for n := len(list) - 1; n >= 1; n-- {
			list = append(list, n)
		}
	}
	return list
}

func (g *naive) all(format string, args ...any) {
	for seat := range g.players {
		g.told[seat] = append(g.told[seat], fmt.Sprintf(format, args...))
	}
}

func (g *naive) deal() {
	g.round++
	g.cards = g.sizes()[g.round-1]
	g.dealer = (g.players - 1 + g.round - 1) % g.players
	var pack []string
	for _, suit := range []string{"o", "c", "e", "b"} {
		for rank := 1; rank <= 12; rank++ {
			if g.deck == 48 || rank != 8 && rank != 9 {
				pack = append(pack, strconv.Itoa(rank)+suit)
			}
		}
	}
	for i := len(pack) - 1; i > 0; i-- {
		j := g.below(uint64(i + 1))
		pack[i], pack[j] = pack[j], pack[i]
	}
	g.hands = map[int][]string{}
	for range g.cards {
		for k := 1; k <= g.players; k++ {
			seat := (g.dealer + k) % g.players
			g.hands[seat] = append(g.hands[seat], pack[0])
			g.turned = pack[0] // unless there is a next card
			pack = pack[1:]
		}
	}
	if len(pack) > 0 {
		g.turned = pack[0]
	}
	g.bids, g.tricks = map[int]int{}, map[int]int{}
	g.trick, g.earlier, g.led = nil, nil, nil
	g.leader = (g.dealer + 1) % g.players
	g.turn = g.leader
	g.all("round %d cards=%d dealer=%d", g.round, g.cards, g.dealer)
	for seat := range g.players {
		g.told[seat] = append(g.told[seat], "deal "+strings.Join(g.hands[seat], ","))
	}
	g.all("trump %s %s", suitText(g.turned), g.turned)
}

func suitText(card string) string { return card[len(card)-1:] }

// height returns the strength of a card within its suit.
func height(card string) int {
	order := []string{"2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "1"}
	return slices.Index(order, card[:len(card)-1])
}

func keep(cards []string, ok func(string) bool) (kept []string) {
	for _, c := range cards {
		if ok(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// winning returns the index in the trick of the card that wins it.
func winning(trick []string, trump string) int {
	best := 0
	for i, c := range trick {
		b := trick[best]
		if suitText(c) == suitText(b) && height(c) > height(b) || suitText(c) == trump && suitText(b) != trump {
			best = i
		}
	}
	return best
}

// mayPlay returns the cards of a hand that may be played to a trick.
func mayPlay(hand, trick []string, trump string) []string {
	if len(trick) == 0 {
		return hand
	}
	led := suitText(trick[0])
	trumpsDown := keep(trick, func(c string) bool { return suitText(c) == trump })
	higher := func(cards, than []string) []string {
		return keep(cards, func(c string) bool {
			return !slices.ContainsFunc(than, func(d string) bool { return height(d) > height(c) })
		})
	}
	if follow := keep(hand, func(c string) bool { return suitText(c) == led }); len(follow) > 0 {
		trumped := led != trump && len(trumpsDown) > 0
		beating := higher(follow, keep(trick, func(c string) bool { return suitText(c) == led }))
		if !trumped && len(beating) > 0 {
			return beating
		}
		return follow
	}
	trumps := keep(hand, func(c string) bool { return suitText(c) == trump })
	if over := higher(trumps, trumpsDown); len(over) > 0 {
		return over
	}
	if len(trumps) > 0 {
		return trumps
	}
	return hand
}

func packOrder(a, b string) int {
	place := func(c string) int {
		rank, _ := strconv.Atoi(c[:len(c)-1])
		return strings.Index("oceb", suitText(c))*12 + rank
	}
	return place(a) - place(b)
}

func (g *naive) Legal() (moves []string) {
	if g.turn < 0 {
		return nil
	}
	if len(g.bids) == g.players {
		moves = slices.Clone(mayPlay(g.hands[g.turn], g.trick, suitText(g.turned)))
		slices.SortFunc(moves, packOrder)
		return moves
	}
	sum := 0
	for _, n := range g.bids {
		sum += n
	}
	for n := 0; n <= g.cards; n++ {
		if g.round >= 3 && len(g.bids) == g.players-1 && sum+n == g.cards {
			continue
		}
		moves = append(moves, "bid:"+strconv.Itoa(n))
	}
	return moves
}

func (g *naive) Play(move string) {
	g.ply++
	seat := g.turn
	g.turn = (seat + 1) % g.players
	if text, ok := strings.CutPrefix(move, "bid:"); ok {
		g.bids[seat], _ = strconv.Atoi(text)
		g.all("bid %d %s", seat, text)
		return
	}
	g.all("play %d %s", seat, move)
	g.hands[seat] = keep(g.hands[seat], func(c string) bool { return c != move })
	g.trick = append(g.trick, move)
	if len(g.trick) < g.players {
		return
	}
	g.led = append(g.led, strconv.Itoa(g.leader))
	g.leader = (g.leader + winning(g.trick, suitText(g.turned))) % g.players
	g.turn = g.leader
	g.tricks[g.leader]++
	g.earlier = append(g.earlier, g.trick...)
	g.trick = nil
	g.all("trick %d", g.leader)
	if len(g.earlier) == g.cards*g.players {
		g.score()
	}
}

func (g *naive) score() {
	line := "score"
	for seat := range g.players {
		if g.bids[seat] == g.tricks[seat] {
			g.points[seat] += 10 + g.tricks[seat]
		} else {
			g.points[seat] -= 10
		}
		line += " " + strconv.Itoa(g.points[seat])
	}
	g.all("%s", line)
	if g.round == len(g.sizes()) {
		g.turn = -1
		return
	}
	g.deal()
}

func (g *naive) View(seat int) string {
	list := func(cards []string) string {
		if len(cards) == 0 {
			return "-"
		}
		return strings.Join(cards, ",")
	}
	bySeat := func(from map[int]int, missing string) string {
		var words []string
		for s := range g.players {
			if n, ok := from[s]; ok || missing == "" {
				words = append(words, strconv.Itoa(n))
			} else {
				words = append(words, missing)
			}
		}
		return strings.Join(words, ",")
	}
	hand := slices.SortedFunc(slices.Values(g.hands[seat]), packOrder)
	return fmt.Sprintf("round=%d cards=%d dealer=%d trump=%s hand=%s bids=%s tricks=%s leader=%d trick=%s played=%s leaders=%s points=%s",
		g.round, g.cards, g.dealer, g.turned, list(hand), bySeat(g.bids, "-"), bySeat(g.tricks, ""),
		g.leader, list(g.trick), list(g.earlier), list(g.led), bySeat(g.points, ""))
}

func (g *naive) NewEvents(seat int) []string {
	told := g.told[seat]
	delete(g.told, seat)
	return told
}

func (g *naive) Turn() int { return g.turn }

func (g *naive) Ply() int { return g.ply }

func (g *naive) Points() (points []float64) {
	for seat := range g.players {
		points = append(points, float64(g.points[seat]))
	}
	return points
}

func newPair(t kit.T, r Rules, seed rules.Seed) *rulestest.Pair[*naive] {
	t.Helper()
	s := rulestest.FirstPosition(newVariant(Game, nil, r), seed)
	return kit.Get[*rulestest.Pair[*naive]](t)(rulestest.NewPair(newVariant(Game, nil, r), s, newNaive(r, seed), rules.Hex(seed)))
}

// everyRules lists all combinations of options.
func everyRules() (list []Rules) {
	for players := uint8(minSeats); players <= maxSeats; players++ {
		for _, deck := range []uint8{48, 40} {
			list = append(list, Rules{players, deck, false, false}, Rules{players, deck, true, false}, Rules{players, deck, false, true})
		}
	}
	return list
}

// TestPodridaAgainstNaive compares games in every combination of options, move by move.
func TestPodridaAgainstNaive(t *testing.T) {
	games := 4
	if kit.Soak {
		games = 50
	}
	for _, r := range everyRules() {
		t.Run(fmt.Sprintf("%+v", r), func(t *testing.T) {
			t.Parallel()
			for n := range games {
				seed := rules.Seed{}.Derive(fmt.Sprint("naive ", n))
				kit.Must(t, newPair(t, r, seed).PlayOn(rules.NewRand(uint64(n)).Below, rules.MaxPlies))
			}
		})
	}
}

// TestPodridaAgainstNaiveProperty does the same with a property checker that shrinks failing games.
func TestPodridaAgainstNaiveProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(everyRules()).Draw(t, "rules")
		seed := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
		p := newPair(t, r, seed)
		moves := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 0, 100).Draw(t, "moves")
		for _, n := range moves {
			if p.Naive.turn < 0 {
				break
			}
			legal := p.Naive.Legal()
			kit.Must(t, p.Try(legal[n%len(legal)]))
		}
	})
}

// FuzzPlay compares a game that the input determines with the naive implementation. Three bytes choose the
// options, one the seed.
func FuzzPlay(f *testing.F) {
	rulestest.FuzzNaive(f, func(t *testing.T, head [4]byte) *rulestest.Pair[*naive] {
		r := Rules{Players: minSeats + head[0]%(maxSeats-minSeats+1), Deck: 48 - head[1]%2*8, UpDown: head[2]%3 == 1, Short: head[2]%3 == 2}
		return newPair(t, r, rules.Seed{head[3]})
	})
}
