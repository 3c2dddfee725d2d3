package tute

import (
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
)

const (
	// SingMove plus a suit is a move that declares the 12 and 11 of that suit. A seat makes it if it holds these two
	// cards in several suits. Lower numbers are the same moves as in Brisca.
	SingMove = baraja.SwapMove + baraja.Cards
	suits    = 4
)

// State is a position of Tute. A State can be copied by assignment, and States can be compared with ==. Other
// packages may read the fields of the embedded Table, but only the methods of State may change them.
type State struct {
	baraja.Table
	// DeclaredSuits has the suit that each seat has declared in this trick, because it holds the 12 and 11 of it. The
	// value is 1 plus the suit, or 0 if the seat has declared none.
	DeclaredSuits [baraja.TableSeats]uint8
	// SungSuits is the set of suits that were declared and scored in this game, one bit each.
	SungSuits uint8
	// SongChoice is not 0 if the seat to move must choose a suit whose 12 and 11 to declare. It then has the suits to
	// choose from, one bit each. If it is 0, the seat plays a card.
	SongChoice uint8
	askedCount uint8 // number of seats, from the leader, that have declared a suit or have none to declare
	rules      Rules
}

// Deal sets s to the first position of a game with the rules r. The cards are drawn from src. r must be a combination
// of options that the game allows.
func (s *State) Deal(r Rules, src *rules.Stream) {
	*s = State{rules: r}
	s.Shuffle(r.TableRules, src)
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
	s.beginTrick(nil)
}

// Rules returns the values of the game's options.
func (s *State) Rules() Rules { return s.rules }

// Playable returns the cards that the seat to move may play.
func (s *State) Playable() baraja.Set {
	led := baraja.NoCard
	if s.TrickSize > 0 {
		led = s.Trick()[0]
	}
	return s.duties(led, s.Best).Playable(s.Hands[s.Mover])
}

// duties returns which cards a seat must play, in order of priority. led is the first card of the trick, and best is
// the card that is winning it. If led is NoCard, the seat may play any card.
func (s *State) duties(led, best baraja.Card) baraja.Duties {
	if led == baraja.NoCard {
		return baraja.Duties{}
	}
	follow := (^baraja.Set(0)).OfSuit(led.Suit())
	if s.rules.FollowOnly {
		return baraja.Duties{First: follow}
	}
	// Cards of the suit led can win only until the trick is trumped; then only trumps can.
	winning := baraja.BeatingCards(s.Trumps(), best)
	return baraja.Duties{First: follow & winning, Second: follow, Third: winning}
}

func (s *State) Points() []float64 { return s.FloatPoints() }

// Legal implements rules.State. The cards come first, then the exchanges of the trump card. If the seat must
// choose a pair to declare, only the suits of its pairs are legal.
func (s *State) Legal(dst []rules.Move) []rules.Move {
	if s.Mover < 0 {
		return dst
	}
	if s.SongChoice != 0 {
		for suit := range rules.Move(suits) {
			if s.SongChoice>>suit&1 != 0 {
				dst = append(dst, SingMove+suit)
			}
		}
		return dst
	}
	dst = s.Playable().Moves(dst)
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
	case m >= SingMove+suits:
		return phrase.Errorf("%q is not a move: try %s", s.MoveText(nil, m), s.advice())
	case m >= SingMove:
		if s.SongChoice == 0 {
			return phrase.Errorf("%q is not asked for now: try %s", s.MoveText(nil, m), s.advice())
		}
		if s.SongChoice>>(m-SingMove)&1 == 0 {
			return phrase.Errorf("%q needs 12 and 11 of a suit that is not done: try %s", s.MoveText(nil, m), s.advice())
		}
		return nil
	case s.SongChoice != 0:
		return rules.Refuse(phrase.Errorf("%q comes too early, for a song must be chosen: try %s", s.MoveText(nil, m), s.advice()), rules.MustSing)
	case m >= baraja.SwapMove:
		return s.CheckSwap(baraja.Card(m-baraja.SwapMove), s.rules.Exchange)
	}
	c := baraja.Card(m)
	if !s.Hands[s.Mover].Has(c) {
		return phrase.Errorf("\"%v\" is not in hand: try %s", c, s.advice())
	}
	if may := s.Playable(); !may.Has(c) {
		err := phrase.Errorf("\"%v\" may not be played on %s: try %s", c, baraja.Text(nil, s.Trick()), s.advice())
		return baraja.RefuseCard(err, s.Hands[s.Mover], may, s.Trick()[0], s.Best)
	}
	return nil
}

// advice returns the legal cards, or the legal choices of a pair, joined by commas, for an error message.
func (s *State) advice() []byte {
	if s.SongChoice == 0 {
		return s.Playable().Text(nil)
	}
	var dst []byte
	for i, m := range s.Legal(nil) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.MoveText(dst, m)
	}
	return dst
}

// Apply implements rules.State. It makes the move m, which must be legal, and logs its events. log may be nil.
func (s *State) Apply(m rules.Move, log *rules.Log) {
	s.Plies++
	switch {
	case m >= SingMove:
		s.chooseSong(baraja.Suit(m-SingMove), log)
		s.declareAll(log)
	case m >= baraja.SwapMove:
		s.Swap(baraja.Card(m-baraja.SwapMove), log)
		s.winAtOnce(log)
	default:
		if log != nil {
			log.Add(rules.AllSeats, "play", int(s.Mover), baraja.Card(m))
		}
		if s.PlayCard(baraja.Card(m)) {
			s.finishTrick(log)
		}
	}
}

// finishTrick ends a complete trick. The winner scores the points of the trick and, if the winner declared a 12 and
// 11 in this trick and still holds them, the points of that pair. The game ends if the option hunt3 is set and the 1
// of trumps captures the 3 of trumps. Otherwise the seats draw and the next trick begins. log may be nil.
func (s *State) finishTrick(log *rules.Log) {
	hunted := s.rules.Hunt3 && s.IsHunt3()
	s.CollectTrick(s.rules.Bonus(), log)
	s.scoreSong(log)
	s.DeclaredSuits, s.askedCount = [baraja.TableSeats]uint8{}, 0
	switch {
	case hunted:
		s.WinHunt(baraja.AllPoints+s.rules.Bonus(), log)
	case s.Mover >= 0:
		s.DrawCards(log)
		s.beginTrick(log)
	}
}

// beginTrick ends the game if a hand wins at once. Otherwise it makes the seats declare their pairs of 12 and 11.
// log may be nil.
func (s *State) beginTrick(log *rules.Log) {
	if !s.winAtOnce(log) {
		s.declareAll(log)
	}
}

// winAtOnce ends the game if a hand wins at once: all four 12s, all four 11s or, if the option blackhand is set, the
// 1, 3 and 12 of trumps. It reports whether the game has ended.
func (s *State) winAtOnce(log *rules.Log) bool {
	won := s.FindInstantWins(s.rules.BlackHand, true, log)
	if won != 0 {
		s.WinAtOnce(won, baraja.AllPoints+s.rules.Bonus())
	}
	return won != 0
}

func (s *State) Clone() rules.State {
	c := *s
	return &c
}
