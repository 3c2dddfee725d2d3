package rating

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/rules"
)

// Formula has all constants of the ratings. Do not compare ratings that were computed with different constants or by
// different versions of this program; Fingerprint tells them apart.
//
// A version's rating is an Elo and an uncertainty, which every match changes. The unit of uncertainty is the variance
// of the Elo that a single match gives. At 1 the Elo is known as well as after one match against an opponent whose
// Elo is certain; at 1/4, as well as after four.
type Formula struct {
	Start  float64 `json:"start"`  // the Elo of a bot without a predecessor
	Anchor float64 `json:"anchor"` // the fixed Elo of the anchor
	// Newcomer is the uncertainty of a version before its first match on a ladder.
	Newcomer float64 `json:"newcomer"`
	// Forget is added to a version's uncertainty after every match. Therefore the Elo of an old version still changes
	// when its opponents do. If only a part of the match counts, only that part of Forget is added.
	Forget float64 `json:"forget"`
	// PerElo is the steepness of the curve of expected scores. A player that is d Elo stronger than its opponent has
	// the expected score 1 / (1 + exp(-PerElo * d)).
	PerElo float64 `json:"per_elo"`
	// EloPerScore is 4 / PerElo. Between players of about equal strength, a difference of s in the expected score
	// corresponds to a difference of EloPerScore * s in Elo.
	EloPerScore float64 `json:"full"`

	Person Glicko  `json:"person"` // rating of a person before the first game
	Scale  float64 `json:"scale"`  // Elo per unit of Glicko-2's mu and phi, for people
	Tau    float64 `json:"tau"`    // limits how much the volatilities of people change
}

// Current is the formula that this program uses.
var Current = Formula{
	Start: 1000, Anchor: 1000, Newcomer: 30, Forget: 0.0003, PerElo: math.Ln10 / 400, EloPerScore: 694.8711,
	Person: Glicko{Rating: 1500, Deviation: 350, Volatility: 0.06}, Scale: 173.7178, Tau: 0.5,
}

// String returns the constants as JSON.
func (f Formula) String() string {
	data, err := json.Marshal(f)
	if err != nil {
		panic("rating: a formula cannot be encoded: " + err.Error()) // its numbers are finite
	}
	return string(data)
}

// Fingerprint returns the constants of f, followed by a hash of the ratings that this program computes with them
// for some example matches. It changes if a constant changes, or if the code changes in a way that affects the
// examples.
func (f Formula) Fingerprint() string {
	h := sha256.New()
	write := func(numbers ...float64) {
		for _, x := range numbers {
			binary.Write(h, binary.BigEndian, math.Float64bits(x))
		}
	}
	for _, teams := range []bool{false, true} {
		v := &rules.Variant{Players: 4, Sides: 4}
		if teams {
			v.Sides = 2
		}
		entries := []Entry{f.NewEntry(1, nil, true), f.NewEntry(2, nil, false), f.NewEntry(3, nil, false), f.NewEntry(4, nil, false)}
		people := []Glicko{f.Person, f.Person, f.Person, f.Person}
		for number := range 40 {
			games := exampleGames(v, number)
			out, err := f.Outcome(ladder.Match{Deals: exampleDeals}, v, entries, games)
			if err != nil {
				panic("rating: an example match: " + err.Error()) // it is the same every time
			}
			entries = out.Entries
			people = f.People(v, people, exampleRanks(v, number))
			for slot, c := range out.Changes {
				write(c.EloAfter, c.K, c.Score, c.ExpectedScore, c.Uncertainty, people[slot].Rating, people[slot].Deviation, people[slot].Volatility)
				fmt.Fprint(h, entries[slot].Record, entries[slot].Faults, out.Distinct)
			}
			for _, p := range out.Pairs {
				write(p.Deals, p.Score, p.Squares)
				fmt.Fprint(h, p.A, p.B, p.Games)
			}
		}
	}
	return fmt.Sprintf("%s %x", f, h.Sum(nil)[:8])
}

// exampleDeals is the number of deals in an example match.
const exampleDeals = 3

// exampleGames returns the games of the example match with the given number. The example matches differ in results,
// faults and repeated deals, and every fifth ends early.
func exampleGames(v *rules.Variant, number int) (games []ladder.FinishedGame) {
	for deal := range exampleDeals {
		for rotation := range v.Players {
			g := ladder.FinishedGame{Deal: deal, Rotation: rotation, Repeated: number%4 == 3 && deal == 1, Lost: number%5 == 4 && deal == 1 && rotation == 2}
			ranks := exampleRanks(v, number+deal*rotation)
			for seat, rank := range ranks {
				slot := rules.BotAt(seat, rotation, v.Players)
				g.Seats = append(g.Seats, ladder.GameSeat{Seat: seat, Slot: slot, Rank: rank, Points: float64(7*number%11) / float64(rank), Faults: number * seat % 3 / 2})
			}
			games = append(games, g)
			if g.Lost {
				return games
			}
		}
	}
	return games
}

func exampleRanks(v *rules.Variant, number int) (ranks []int) {
	for seat := range v.Players {
		ranks = append(ranks, 1+(number*number/3+v.Side(seat))%(1+number%v.Sides))
	}
	return ranks
}
