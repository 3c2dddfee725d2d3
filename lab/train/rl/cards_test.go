//go:build !race || slowrace

package rl

import (
	"cmp"
	"math/bits"
	"slices"
	"testing"

	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// playCards plays random games with the configuration c and calls show before each move and, with a nil view, at the
// end of each game.
func playCards(c Config, show func(*cardGame, *policy.View)) {
	g := CardGames(c)().(*cardGame)
	r := rules.NewRand(1)
	for episode := range 2000 {
		g.Deal(episode, r)
		for g.Turn() != rules.Over {
			var v policy.View
			g.Observe(&v)
			show(g, &v)
			g.Play(&v, policy.RandomAction(v.Legal, r), true)
		}
		show(g, nil)
	}
}

// TestOrder checks that Order has the legal actions, that no card of a hand moves back, and that a new card comes last or
// in the place of the card that was exchanged for it.
func TestOrder(t *testing.T) {
	for _, mode := range []string{"brisca3", "tute2"} {
		c, exchanges := Default(mode), 0
		var before [MaxSeats][]uint8 // by seat
		playCards(c, func(g *cardGame, v *policy.View) {
			if v == nil {
				before = [MaxSeats][]uint8{}
				return
			}
			u := Update{Legal: v.Legal, Order: g.Order(v)}
			order, set := u.actions(), uint64(0)
			for _, action := range order {
				set |= 1 << action
			}
			if set != v.Legal || len(order) != bits.OnesCount64(set) {
				t.Fatalf("%s: order %v of the actions %b", mode, order, v.Legal)
			}
			if i := slices.Index(order, cards.ExchangeAction); i > 0 {
				t.Fatalf("%s: order %v: the exchange is not first", mode, order)
			} else if i == 0 {
				exchanges++
			}
			var hand []uint8
			for _, card := range g.hands[g.Turn()] {
				hand = append(hand, uint8(cards.Index(card)))
			}
			seat := g.Turn()
			for i, card := range hand {
				old := slices.Index(before[seat], card)
				if old < 0 && before[seat] != nil && i < len(hand)-1 && slices.Contains(hand, before[seat][i]) || old >= 0 && old < i {
					t.Fatalf("%s: hand %v after %v", mode, hand, before[seat])
				}
			}
			before[seat] = hand
		})
		if exchanges == 0 {
			t.Errorf("%s: no exchange", mode)
		}
	}
}

// TestRewards checks that the rewards of a game sum up to its score and that, with DefectSudden, a win at once brings
// none.
func TestRewards(t *testing.T) {
	for _, mode := range []string{"brisca2", "tute2", "tute4"} {
		c, early := Default(mode), 0
		c.Defects = []string{DefectSudden}
		playCards(c, func(g *cardGame, v *policy.View) {
			if board := g.position.Board(); v == nil && board.Hands[0] == 0 && g.Reward(0) != g.Score(0) && !board.IsHunt3() {
				t.Errorf("%s: reward %d, score %d", mode, g.Reward(0), g.Score(0))
			} else if v == nil && board.Hands[0] != 0 && board.PlayedCount > 0 {
				early++
				if sum := g.Reward(0) + g.Reward(1); mode != "tute4" && sum != 0 || max(g.Reward(0), -g.Reward(0)) == max(g.Score(0), -g.Score(0)) {
					t.Errorf("%s: a win at once brings %d and %d, score %d", mode, g.Reward(0), g.Reward(1), g.Score(0))
				}
			}
		})
		if early == 0 {
			t.Errorf("%s: no win at once", mode)
		}
	}
}

// TestIllegalCards checks that random play loses against random play by the rules if it has DefectIndex, so that a third
// of its cards are illegal.
func TestIllegalCards(t *testing.T) {
	c := Default("tute2")
	c.Rules, c.Defects = "none", []string{DefectIndex}
	a := policy.Agent{States: NewTable(testMemory)}
	if tally := Evaluate(CardGames(c)(), &a, 2000, 1); tally.WinShare() > 0.35 {
		t.Errorf("%v", tally.WinTally)
	}
}

// TestUnsungSongs checks that random play loses if its songs of 20 do not count. So that a net sings none cannot be the
// reason that an agent of the thesis loses against it.
func TestUnsungSongs(t *testing.T) {
	c := Default("tute2")
	c.Rules = "none"
	var tally run.WinTally
	playCards(c, func(g *cardGame, v *policy.View) {
		if board := g.position.Board(); v == nil {
			songs := bits.OnesCount8(g.position.History.ScoredSongs[0] &^ (1 << board.Trumps()))
			tally.Count(cmp.Compare(board.Points[0]-20*int16(songs), board.Points[1]))
		}
	})
	t.Log(tally)
	if tally.WinShare() > 0.48 {
		t.Errorf("%v", tally)
	}
}

// TestRewardPositive checks that the points of others do not count.
func TestRewardPositive(t *testing.T) {
	c := Default("brisca3")
	c.Reward = RewardPositive
	playCards(c, func(g *cardGame, _ *policy.View) {
		if points := int(g.position.Board().Points[1]); g.Reward(1) != points {
			t.Errorf("reward %d for %d points", g.Reward(1), points)
		}
	})
}
