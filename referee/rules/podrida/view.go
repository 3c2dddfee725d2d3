package podrida

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/referee/rules/baraja"
)

// Start logs the deal of the first round.
func (s *State) Start(log *rules.Log) {
	// One card each: the hands tell the order in which they were dealt.
	dealt := make([]baraja.Card, 0, maxSeats)
	for seat, n := s.dealer, s.rules.Players; n > 0; n-- {
		seat = s.next(seat)
		dealt = append(dealt, s.hands[seat].First())
	}
	s.logRound(log, dealt)
}

// logRound logs a round's deal, the cards given in the order dealt.
func (s *State) logRound(log *rules.Log, dealt []baraja.Card) {
	log.Begin(rules.All, "round")
	log.Int(int(s.round))
	log.Word("cards=" + strconv.Itoa(int(s.cards)))
	log.Word("dealer=" + strconv.Itoa(int(s.dealer)))
	players := int(s.rules.Players)
	first := int(s.next(s.dealer))
	var hand []baraja.Card
	for seat := range players {
		hand = hand[:0]
		for i := (seat - first + players) % players; i < len(dealt); i += players {
			hand = append(hand, dealt[i])
		}
		log.Begin(rules.Only(seat), "deal")
		log.Word(string(baraja.Text(nil, hand)))
	}
	log.Begin(rules.All, "trump")
	log.Word(s.turned.Suit().String())
	log.Word(s.turned.String())
}

// View appends what a seat may know.
func (s *State) View(dst []byte, seat int) []byte {
	dst = number(dst, "round=", int(s.round))
	dst = number(dst, " cards=", int(s.cards))
	dst = number(dst, " dealer=", int(s.dealer))
	dst = append(append(dst, " trump="...), s.turned.String()...)
	dst = s.hands[seat].Text(append(dst, " hand="...))
	dst = bySeat(append(dst, " bids="...), s.bids[:s.rules.Players], noBid)
	dst = bySeat(append(dst, " tricks="...), s.tricks[:s.rules.Players], noBid)
	dst = number(dst, " leader=", int(s.leader))
	earlier := s.count - s.inTrick
	dst = baraja.Text(append(dst, " trick="...), s.played[earlier:s.count])
	dst = baraja.Text(append(dst, " played="...), s.played[:earlier])
	return bySeat(append(dst, " points="...), s.points[:s.rules.Players], noPoints)
}

// noPoints is a number of points that nobody has.
const noPoints = -1 << 15

func number(dst []byte, key string, n int) []byte {
	return strconv.AppendInt(append(dst, key...), int64(n), 10)
}

// bySeat appends numbers joined by commas, "-" for none.
func bySeat[T int8 | int16](dst []byte, numbers []T, none T) []byte {
	for seat, n := range numbers {
		if seat > 0 {
			dst = append(dst, ',')
		}
		if n == none {
			dst = append(dst, '-')
		} else {
			dst = strconv.AppendInt(dst, int64(n), 10)
		}
	}
	return dst
}

const bidPrefix = "bid:"

// MoveText appends a card or bid:n, "?" for a number that is no move.
func (s *State) MoveText(dst []byte, m rules.Move) []byte {
	switch {
	case m < baraja.Cards:
		return append(dst, baraja.Card(m).String()...)
	case m >= bidMove && m <= bidMove+maxCards:
		return number(dst, bidPrefix, int(m-bidMove))
	}
	return append(dst, '?')
}

// ParseMove reads a card or bid:n.
func (s *State) ParseMove(text string) (rules.Move, error) {
	if digits, ok := strings.CutPrefix(text, bidPrefix); ok {
		for n := range maxCards + 1 {
			if strconv.Itoa(n) == digits {
				return bidMove + rules.Move(n), nil
			}
		}
		return 0, fmt.Errorf("podrida: %q is not a bid: write bid:0 to bid:%d", text, maxCards)
	}
	c, err := baraja.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("podrida: %q is not a move: write a card as rank and suit (12c) or a bid (bid:2)", text)
	}
	return rules.Move(c), nil
}

// Result ranks the seats by points.
func (s *State) Result() rules.Result {
	points := make([]float64, s.rules.Players)
	for seat := range points {
		points[seat] = float64(s.points[seat])
	}
	return rules.RankByPoints(Variant{s.rules}, points)
}

// Clone is an independent copy.
func (s *State) Clone() rules.State {
	c := *s
	return &c
}

// Redeal deals anew what a seat does not see: the other hands and the rest of
// the pack. Cards that a seat cannot hold, or it would have had to play
// otherwise in this round, are not dealt to it; a card that was shown stays
// with the dealer. Every deal that remains is about as likely as any other.
func (s *State) Redeal(seat int, r *rules.Rand) {
	s.stream = rules.FastStream(r)
	if s.turn < 0 {
		return
	}
	h := s.hidden(seat)
	h.deal(r)
	s.give(&h)
}

// give puts hidden cards into the hands where they are to be.
func (s *State) give(h *hidden) {
	for i, c := range h.cards[:h.n] {
		if p := h.place[i]; p != stock {
			s.hands[p] = s.hands[p].With(c)
		}
	}
}

// stock is the place of the cards not dealt.
const stock = maxSeats

// hidden is the cards that a seat does not see and the places they may go to.
type hidden struct {
	n      int
	cards  [baraja.Cards]baraja.Card
	place  [baraja.Cards]int8       // of each card
	cannot [maxSeats + 1]baraja.Set // by place; nothing for the stock
}

// hidden takes the cards that a seat does not see out of the other hands.
func (s *State) hidden(seat int) hidden {
	h := hidden{}
	h.cannot = s.cannotHold()
	seen := s.hands[seat].With(s.turned)
	for _, c := range s.played[:s.count] {
		seen = seen.With(c)
	}
	for p := range int8(s.rules.Players) {
		for set := s.hands[p] &^ seen; set != 0; set &= set - 1 {
			h.add(set.First(), p)
		}
		s.hands[p] &= seen
	}
	for _, c := range h.cards[:h.n] {
		seen = seen.With(c)
	}
	for _, c := range s.rules.pack() {
		if !seen.Has(c) {
			h.add(c, stock)
		}
	}
	return h
}

func (h *hidden) add(c baraja.Card, place int8) {
	h.cards[h.n], h.place[h.n] = c, place
	h.n++
}

// cannotHold is, by seat, the cards that the play of this round rules out: all
// those that would have bound it to another card than it played.
func (s *State) cannotHold() (cannot [maxSeats + 1]baraja.Set) {
	t := cleared(s.table.trumps)
	seat := s.next(s.dealer)
	winner := seat
	for i, c := range s.played[:s.count] {
		for _, duty := range t.duties() {
			if duty.Has(c) {
				break
			}
			cannot[seat] |= duty
		}
		if t.put(c) {
			winner = seat
		}
		seat = s.next(seat)
		if (i+1)%int(s.rules.Players) == 0 {
			t = cleared(s.table.trumps)
			seat = winner
		}
	}
	return cannot
}

// shuffles is how many random deals are tried before one is constructed: enough
// where few cards are left or few are ruled out, and cheap where they are not.
const shuffles = 24

// deal gives the cards to places that may have them. A shuffle that happens to
// be allowed is as likely as any other such; after too many that are not, a deal is
// constructed and mixed, which comes close.
func (h *hidden) deal(r *rules.Rand) {
	for range shuffles {
		if h.shuffle(r) {
			return
		}
	}
	h.match(r)
	h.mix(r)
}

// shuffle deals at random, and gives up at the first card that is not allowed.
func (h *hidden) shuffle(r *rules.Rand) bool {
	for i, p := range h.place[:h.n] {
		if p == stock {
			break // the stock comes last, and its order is of no matter
		}
		j := i + r.Below(h.n-i)
		h.cards[i], h.cards[j] = h.cards[j], h.cards[i]
		if h.cannot[p].Has(h.cards[i]) {
			return false
		}
	}
	return true
}

// match gives the cards to places that may have them, in random order, moving
// cards already given where that is needed. Each place gets as many as it had, so
// that the cards as they really lie show that it can be done; where they lie is
// not made use of.
func (h *hidden) match(r *rules.Rand) {
	m := matching{hidden: h, rand: r}
	for _, p := range h.place[:h.n] {
		m.room[p]++
	}
	rest := h.cards
	for n := h.n; n > 0; n-- {
		i := r.Below(n)
		var tried uint16
		m.give(rest[i], &tried)
		rest[i] = rest[n-1]
	}
	h.n = 0
	for p, set := range m.given {
		for ; set != 0; set &= set - 1 {
			h.add(set.First(), int8(p))
		}
	}
}

// matching is a deal in the making, as Kuhn's algorithm makes it.
type matching struct {
	hidden *hidden
	given  [maxSeats + 1]baraja.Set
	room   [maxSeats + 1]int // cards that a place still needs
	rand   *rules.Rand
}

// give finds a place for a card; the places in tried are not looked at again.
func (m *matching) give(c baraja.Card, tried *uint16) bool {
	first := int(m.hidden.place[m.rand.Below(m.hidden.n)])
	for k := range m.room {
		p := (first + k) % len(m.room)
		if *tried>>p&1 != 0 || m.hidden.cannot[p].Has(c) {
			continue
		}
		*tried |= 1 << p
		if m.room[p] > 0 {
			m.room[p]--
			m.given[p] = m.given[p].With(c)
			return true
		}
		for set := m.given[p]; set != 0; set &= set - 1 {
			if d := set.First(); m.give(d, tried) {
				m.given[p] = m.given[p].Without(d).With(c)
				return true
			}
		}
	}
	return false
}

// mixing is how often mix goes through the cards.
const mixing = 4

// mix swaps random cards and moves others round by threes, where that is
// allowed: swaps alone would not reach all deals. Each step is as likely as
// the one that undoes it, so no deal is favoured in the long run; for that the
// swap and the round must not share a draw.
func (h *hidden) mix(r *rules.Rand) {
	for range mixing {
		for i := range h.n {
			if j := r.Below(h.n); h.fits(i, j) && h.fits(j, i) {
				h.cards[i], h.cards[j] = h.cards[j], h.cards[i]
			}
			j, k := r.Below(h.n), r.Below(h.n)
			if i != j && j != k && k != i && h.fits(i, j) && h.fits(j, k) && h.fits(k, i) {
				h.cards[i], h.cards[j], h.cards[k] = h.cards[j], h.cards[k], h.cards[i]
			}
		}
	}
}

// fits tells whether the card at j may lie at i.
func (h *hidden) fits(i, j int) bool { return !h.cannot[h.place[i]].Has(h.cards[j]) }
