package brisca

import (
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

// State is a position of Brisca. A State can be copied by assignment, and States can be compared with ==. Other
// packages may read the fields of the embedded Table, but only the methods of State may change them.
type State struct {
	baraja.Table
	rules Rules
}

// Deal sets s to the first position of a game with the rules r. The cards are drawn from src. r must be a combination
// of options that the game allows.
func (s *State) Deal(r Rules, src *rules.Stream) {
	*s = State{rules: r}
	s.Shuffle(r, src)
	s.dealPack()
}

// Layout sets s to the first position of a game with the rules r in which the cards are dealt in the order of pack,
// which must have the cards of r.Pack.
func (s *State) Layout(r Rules, pack []baraja.Card) {
	*s = State{rules: r}
	s.Arrange(pack)
	s.dealPack()
}

func (s *State) dealPack() {
	s.Table.Deal(int(s.rules.Players), handCards)
	s.checkBlackHand(nil)
}

// Rules returns the values of the game's options.
func (s *State) Rules() Rules { return s.rules }

func (s *State) Points() []float64 { return s.FloatPoints() }

// Legal implements rules.State. The cards come first, then the exchanges.
func (s *State) Legal(dst []rules.Move) []rules.Move {
	if s.Mover < 0 {
		return dst
	}
	dst = s.Hands[s.Mover].Moves(dst)
	if s.rules.Exchange {
		for c := s.LegalSwaps(); c != 0; c &= c - 1 {
			dst = append(dst, baraja.SwapMove+rules.Move(c.First()))
		}
	}
	return dst
}

func (s *State) Check(m rules.Move) error {
	switch {
	case s.Mover < 0:
		return phrase.Errorf("%q cannot be played: %w", s.MoveText(nil, m), rules.ErrOver)
	case m < baraja.SwapMove:
		if hand := s.Hands[s.Mover]; !hand.Has(baraja.Card(m)) {
			return phrase.Errorf("\"%v\" is not in hand: play one of %s", baraja.Card(m), hand.Text(nil))
		}
		return nil
	case m < baraja.SwapMove+baraja.Cards:
		return s.CheckSwap(baraja.Card(m-baraja.SwapMove), s.rules.Exchange)
	}
	return phrase.Errorf("%q is not a move: play one of %s", s.MoveText(nil, m), s.Hands[s.Mover].Text(nil))
}

// Apply implements rules.State. It makes the move m, which must be legal, and logs its events. log may be nil.
func (s *State) Apply(m rules.Move, log *rules.Log) {
	s.Plies++
	if m >= baraja.SwapMove {
		s.Swap(baraja.Card(m-baraja.SwapMove), log)
		s.checkBlackHand(log)
		return
	}
	if log != nil {
		log.Add(rules.AllSeats, "play", int(s.Mover), baraja.Card(m))
	}
	if s.PlayCard(baraja.Card(m)) {
		s.finishTrick(log)
	}
}

// finishTrick ends a complete trick. The winner gets the points. The game ends if the option hunt3 is set and the
// trick captures the 3 of trumps with the 1. Otherwise the seats draw, and the game ends if a hand wins at once.
// log may be nil.
func (s *State) finishTrick(log *rules.Log) {
	hunted := s.rules.Hunt3 && s.IsHunt3()
	s.CollectTrick(s.rules.Bonus(), log)
	switch {
	case hunted:
		s.WinHunt(baraja.AllPoints+s.rules.Bonus(), log)
	case s.Mover >= 0:
		s.DrawCards(log)
		s.checkBlackHand(log)
	}
}

// checkBlackHand ends the game if the option blackhand is set and a seat holds 1, 3 and 12 of trumps.
func (s *State) checkBlackHand(log *rules.Log) {
	if !s.rules.BlackHand {
		return
	}
	if won := s.FindInstantWins(true, false, log); won != 0 {
		s.WinAtOnce(won, baraja.AllPoints+s.rules.Bonus())
	}
}

func (s *State) Clone() rules.State {
	c := *s
	return &c
}
