// Package dataset stores games of Brisca and Tute for training. A game takes about 60 bytes: its rules, its
// shuffled pack and its moves. The inputs of nets are computed from the games when they are needed.
// lab/README.md describes the format.
package dataset

import (
	"errors"
	"fmt"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

const magic = "timba-data 1\n"

// The limits of a data set.
const (
	MaxGames  = 1 << 26
	MaxMoves  = 64 // of a game
	maxHeader = 1 << 16
	window    = 1 << 20
)

// SetHeader describes a data set. It is the second line of the file, in JSON.
type SetHeader struct {
	Mode  string   `json:"mode"`
	Games int      `json:"games"`
	Seed  uint64   `json:"seed"`
	Bots  []string `json:"bots"` // bots that played, by seat; empty for random moves
}

// GameRecord is one game of a data set, from the shuffled pack to the last move.
type GameRecord struct {
	Rules    uint8                          // optional rules, see cards.RuleBits
	Pack     [baraja.TableCards]baraja.Card // in its order before the deal
	NumMoves uint8
	Moves    [MaxMoves]uint8 // as actions, see cards.Action
}

// Append appends the game in binary form to dst: rules, number of moves, pack, moves.
func (g *GameRecord) Append(dst []byte) []byte {
	dst = append(dst, g.Rules, g.NumMoves)
	for _, c := range g.Pack {
		dst = append(dst, uint8(cards.Index(c)))
	}
	return append(dst, g.Moves[:g.NumMoves]...)
}

const fixedBytes = 2 + baraja.TableCards // bytes of a game before its moves

// Decode sets g to the game at the beginning of b, in the form that Append writes, and returns the number of bytes
// read. It does not check whether the game follows the rules; CheckGame does.
func (g *GameRecord) Decode(b []byte) (int, error) {
	if len(b) < fixedBytes || int(b[1]) > MaxMoves || len(b) < fixedBytes+int(b[1]) {
		return 0, errors.New("a game is cut off")
	}
	g.Rules, g.NumMoves = b[0], b[1]
	for i := range g.Pack {
		if b[2+i] >= baraja.TableCards {
			return 0, fmt.Errorf("%d is not a card", b[2+i])
		}
		g.Pack[i] = cards.CardAt(int(b[2+i]))
	}
	copy(g.Moves[:], b[fixedBytes:fixedBytes+int(g.NumMoves)])
	return fixedBytes + int(g.NumMoves), nil
}

// CheckGame returns an error unless g is a complete, legal game of mode m. list must have all combinations of the
// optional rules of the mode; g.Rules is an index of list.
func CheckGame(m cards.Mode, list []baraja.TableRules, g *GameRecord) error {
	if int(g.Rules) >= len(list) {
		return fmt.Errorf("the rules %d are not those of mode %v", g.Rules, m)
	}
	if baraja.SetOf(g.Pack[:]).Len() != baraja.TableCards {
		return errors.New("the pack has a card twice")
	}
	var p cards.Position
	p.Layout(m, list[g.Rules], g.Pack)
	var memory [MaxMoves]rules.Move
	for i, action := range g.Moves[:g.NumMoves] {
		move, ok := cards.FindMove(int(action), p.Legal(memory[:0]))
		if !ok {
			return fmt.Errorf("move %d, action %d, is not legal", i, action)
		}
		p.Apply(move, nil)
	}
	if p.Turn() >= 0 {
		return fmt.Errorf("the game ends after %d moves, before its end", g.NumMoves)
	}
	return nil
}

// Move returns the move with the number action in position p. A recorded game stores its moves as such numbers,
// which cards.Action computes.
func Move(p *cards.Position, action uint8) rules.Move {
	switch {
	case action < cards.ExchangeAction:
		return rules.Move(cards.CardAt(int(action)))
	case action == cards.ExchangeAction:
		t := p.Board()
		return baraja.SwapMove + rules.Move(t.LegalSwaps().First())
	}
	return cards.SongMove(int(action))
}
