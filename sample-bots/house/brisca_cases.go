package house

import (
	"fmt"
	"math"

	"github.com/timba-arena/timba/rules/baraja"
)

// BriscaCase is one trick of Brisca between two players, together with the best card that the second player can answer.
// FitBriscaCases adapts a bot to such answers. Cards are texts such as "12c", the form that baraja.Parse reads.
type BriscaCase struct {
	Name  string   // the name of the case in errors
	Trump string   // a card of the suit of trumps; its rank does not matter
	Led   string   // the card that the first player has played
	Hand  []string // the cards of the second player
	Best  string   // the best answer, one of Hand
}

// FitBriscaCases returns a coefficient gain with which the bot brisca-weighted chooses the best card in every case. The
// bot gives a card the value gain times the points that it wins or loses, minus 2 times its strength, which is tenfold
// for a trump. Every gain between low and high, exclusive, fits; high may be +Inf. The returned gain is twice the
// tangent of the mean of the angles arctan(low/2) and arctan(high/2). The error says that a case is not valid or that
// no gain fits.
func FitBriscaCases(cases []BriscaCase) (gain, low, high float64, err error) {
	// An angle of 0 stands for gain 0, a right angle for cost 0.
	lowest, highest := angleBound{angle: 0}, angleBound{angle: math.Pi / 2}
	for _, c := range cases {
		if err := c.bound(&lowest, &highest); err != nil {
			return 0, 0, 0, err
		}
	}
	const cost = 2
	if lowest.angle >= highest.angle {
		return 0, 0, 0, fmt.Errorf("no coefficients satisfy all cases: for %s gain must be above %.4g times cost, for %s below %.4g times: remove one of them",
			lowest.reason, math.Tan(lowest.angle), highest.reason, math.Tan(highest.angle))
	}
	high = math.Inf(1)
	if highest.reason != "" {
		high = cost * math.Tan(highest.angle)
	}
	return cost * math.Tan((lowest.angle+highest.angle)/2), cost * math.Tan(lowest.angle), high, nil
}

// angleBound is a lower or an upper bound of the angle, in radians, whose tangent is gain divided by cost. gain and
// cost are the coefficients of the bot brisca-weighted.
type angleBound struct {
	angle  float64
	reason string // the two cards of a case that set the bound, as a text for errors; "" if no case has set it
}

// bound raises lowest and reduces highest as far as c demands: within these bounds, the best card of c has a higher
// value than every other card of the hand. bound returns an error if c is not valid, or if another card gains at least
// as much as the best one and costs no more. It does not check whether lowest is still below highest.
func (c BriscaCase) bound(lowest, highest *angleBound) error {
	gains, costs, best, err := c.effects()
	if err != nil {
		return err
	}
	for i := range c.Hand {
		// The best card needs gain x more > cost x dearer.
		more, dearer := gains[best]-gains[i], costs[best]-costs[i]
		reason := fmt.Sprintf("%q (%s before %s)", c.Name, c.Best, c.Hand[i])
		// Equal cards give no inequality.
		switch angle := math.Atan2(math.Abs(dearer), math.Abs(more)); {
		case i == best || more == 0 && dearer == 0:
		case more <= 0 && dearer >= 0:
			return fmt.Errorf("case %s: the other card gains as much and costs no more: no coefficients prefer %s", reason, c.Best)
		case more > 0 && dearer > 0 && angle > lowest.angle:
			*lowest = angleBound{angle, reason}
		case more < 0 && dearer < 0 && angle < highest.angle:
			*highest = angleBound{angle, reason}
		}
	}
	return nil
}

// effects returns, for each card of c.Hand, the points that it gains in the trick and the strength that it costs, and
// the index of the best card in the hand. The points are negative if the card loses the trick. A trump costs ten times
// its strength. effects returns an error if a text is not a card, or if the best card is not in the hand.
func (c BriscaCase) effects() (gains, costs []float64, best int, err error) {
	words := append([]string{c.Trump, c.Led, c.Best}, c.Hand...)
	cards := make([]baraja.Card, len(words))
	for i, word := range words {
		if cards[i], err = baraja.Parse(word); err != nil {
			return nil, nil, 0, fmt.Errorf("case %q: %w", c.Name, err)
		}
	}
	t := &baraja.Table{Best: cards[1], Pot: uint8(baraja.Value(cards[1])), TrickSize: 1}
	t.SetTrump(cards[0])
	a := studyAppraiser{table: t, seat: 1}
	best = -1
	for i, card := range cards[3:] {
		gains, costs = append(gains, float64(trickGain(t, 1, false, card))), append(costs, float64(a.strength(card)))
		if card == cards[2] {
			best = i
		}
	}
	if best < 0 {
		return nil, nil, 0, fmt.Errorf("case %q: best %q is not in the hand %q: name one of its cards", c.Name, c.Best, c.Hand)
	}
	return gains, costs, best, nil
}
