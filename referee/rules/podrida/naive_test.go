package podrida

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules"
	"pgregory.net/rapid"
)

// naive is La Podrida once more, written from the text of the rules with
// strings, slices and maps, for the other one to be compared with.
type naive struct {
	players, deck int
	updown        bool
	numbers       *naiveStream

	ply, round, cards, dealer int
	hands                     map[int][]string
	turned                    string
	bids                      map[int]int
	tricks                    map[int]int
	leader                    int
	trick                     []string // on the table, from the leader
	earlier                   []string
	led                       []string // by finished trick, the seat that led it
	points                    map[int]int
	turn                      int // -1 when the game is over
	told                      map[int][]string
}

// naiveStream is the stream of SPEC.md, "Seeds and deals".
type naiveStream struct {
	seed  [32]byte
	block uint64
	ready []uint32
}

func (n *naiveStream) below(limit uint64) int {
	for {
		if len(n.ready) == 0 {
			sum := sha256.Sum256(binary.BigEndian.AppendUint64(slices.Clone(n.seed[:]), n.block))
			n.block++
			for i := 0; i < 32; i += 4 {
				n.ready = append(n.ready, binary.BigEndian.Uint32(sum[i:]))
			}
		}
		v := uint64(n.ready[0])
		n.ready = n.ready[1:]
		if v < 1<<32/limit*limit {
			return int(v % limit)
		}
	}
}

func newNaive(r Rules, seed [32]byte) *naive {
	g := &naive{players: int(r.Players), deck: int(r.Deck), updown: r.UpDown,
		numbers: &naiveStream{seed: seed}, points: map[int]int{}, told: map[int][]string{}}
	g.deal()
	return g
}

// sizes lists the hands of the rounds.
func (g *naive) sizes() (list []int) {
	for n := 1; n*g.players <= g.deck; n++ {
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
		j := g.numbers.below(uint64(i + 1))
		pack[i], pack[j] = pack[j], pack[i]
	}
	g.hands = map[int][]string{}
	for range g.cards {
		for k := 1; k <= g.players; k++ {
			seat := (g.dealer + k) % g.players
			g.hands[seat] = append(g.hands[seat], pack[0])
			g.turned = pack[0] // unless there is a next one
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

// height of a card within its suit.
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

// winning returns the place in the trick of the card that wins it.
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

// mayPlay returns what of a hand may be played to a trick.
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

func (g *naive) legal() (moves []string) {
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

func (g *naive) play(move string) {
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

func (g *naive) view(seat int) string {
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

// ranks returns 1 and the number of seats with more points.
func (g *naive) ranks() (ranks []int) {
	for a := range g.players {
		rank := 1
		for b := range g.players {
			if g.points[b] > g.points[a] {
				rank++
			}
		}
		ranks = append(ranks, rank)
	}
	return ranks
}

// pair is a game played by both.
type pair struct {
	fast  State
	naive *naive
	log   rules.Log
}

func newPair(r Rules, seed [32]byte) *pair {
	p := &pair{naive: newNaive(r, seed)}
	stream := rules.NewStream(seed)
	p.fast.Deal(r, &stream)
	p.fast.Start(&p.log)
	return p
}

// differ compares the positions and what was said since the last time.
func (p *pair) differ() error {
	type position struct {
		Turn, Ply     int
		Legal         []string
		Views, Events []string
		Ranks, Points []int
	}
	fast := position{Turn: p.fast.Turn(), Ply: p.fast.Ply(), Ranks: rules.Ranks(Variant{p.fast.rules}, p.fast.Points())}
	slow := position{Turn: p.naive.turn, Ply: p.naive.ply, Ranks: p.naive.ranks(), Legal: p.naive.legal()}
	for _, m := range p.fast.Legal(nil) {
		fast.Legal = append(fast.Legal, string(p.fast.MoveText(nil, m)))
	}
	for seat, points := range p.fast.Points() {
		fast.Points = append(fast.Points, int(points))
		slow.Points = append(slow.Points, p.naive.points[seat])
		// Every seat's view in turn, and that of the seat to move.
		if seat == slow.Turn || seat == slow.Ply%p.naive.players || slow.Turn < 0 {
			fast.Views = append(fast.Views, string(p.fast.View(nil, seat)))
			slow.Views = append(slow.Views, p.naive.view(seat))
		}
		fast.Events = append(fast.Events, string(p.log.Events(nil, seat, "")))
		slow.Events = append(slow.Events, strings.Join(append(p.naive.told[seat], ""), "\n"))
	}
	p.log.Reset()
	clear(p.naive.told)
	if reflect.DeepEqual(slow, fast) {
		return nil
	}
	return fmt.Errorf("ply %d (-naive +fast)\n%s", slow.Ply, cmp.Diff(slow, fast))
}

// try makes a move given by text on both if the naive one finds it legal;
// else the fast one must refuse it and stay as it is.
func (p *pair) try(text string) error {
	legal := slices.Contains(p.naive.legal(), text)
	before := p.fast
	m, err := p.fast.ParseMove(text)
	if err == nil {
		err = rules.Play(&p.fast, m, &p.log)
	}
	if legal != (err == nil) {
		return fmt.Errorf("ply %d: %q is legal: %v, but the answer is %v", p.naive.ply, text, legal, err)
	}
	if !legal {
		if p.fast != before {
			return fmt.Errorf("ply %d: refusing %q changes the state", p.naive.ply, text)
		}
		return nil
	}
	p.naive.play(text)
	return p.differ()
}

func (p *pair) playOut(pick func(n int) int) error {
	if err := p.differ(); err != nil {
		return err
	}
	for p.naive.turn >= 0 {
		legal := p.naive.legal()
		if err := p.try(legal[pick(len(legal))]); err != nil {
			return err
		}
	}
	return nil
}

// everyRules lists all combinations of options.
func everyRules() (list []Rules) {
	for players := uint8(minSeats); players <= maxSeats; players++ {
		for _, deck := range []uint8{48, 40} {
			list = append(list, Rules{players, deck, false}, Rules{players, deck, true})
		}
	}
	return list
}

// Games in every combination of options, move by move.
func TestPodridaAgainstNaive(t *testing.T) { podridaAgainstNaive(t, 4) }

func podridaAgainstNaive(t *testing.T, games int) {
	for _, r := range everyRules() {
		t.Run((Variant{r}).Settings().String(), func(t *testing.T) {
			t.Parallel()
			for n := range games {
				seed := rules.Seed{}.Derive(fmt.Sprint("naive ", n))
				if err := newPair(r, seed).playOut(rules.NewRand(uint64(n)).Below); err != nil {
					t.Fatalf("game %d: %v", n, err)
				}
			}
		})
	}
}

// The same with a checker that shrinks what it finds.
func TestPodridaAgainstNaiveProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(everyRules()).Draw(t, "rules")
		seed := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "seed"))
		p := newPair(r, seed)
		moves := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 0, 100).Draw(t, "moves")
		for _, n := range moves {
			if p.naive.turn < 0 {
				break
			}
			legal := p.naive.legal()
			kit.Must(t, p.try(legal[n%len(legal)]))
		}
	})
}
