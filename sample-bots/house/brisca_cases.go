package house

import (
	"fmt"
	"math"

	"github.com/timba-arena/timba/rules/baraja"
)

// BriscaCase is a trick of Brisca for two players to which somebody knows the best answer. Cards are texts such as
// "12c".
type BriscaCase struct {
	Name  string // for errors
	Trump string // any card of the suit of trumps
	Led   string // the card that was led
	Hand  []string
	Best  string // the best answer, a card of Hand
}

// FitBriscaCases returns the coefficients of @brisca-weighted by which the best card of each case has the highest value.
// Each other card of a case gives an inequality: the value of the best card is greater. A pair of coefficients is a
// direction in the plane; the result is the middle one of those that satisfy all inequalities, scaled so that cost is
// 2. low and high are the bounds of gain between which it satisfies them; high can be infinite. FitBriscaCases returns
// an error if a case is not valid, or if two inequalities contradict each other, which it names.
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

// angleBound is a bound of the directions that satisfy inequalities.
type angleBound struct {
	angle  float64
	reason string // the inequality that the bound comes from, for errors; "" if there is none
}

// bound raises lowest and lowers highest where the case demands it.
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

// effects returns for each card of the hand what it gains and what it costs, and the index of the best card.
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
