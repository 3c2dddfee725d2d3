// Package policy plays by what Monte Carlo learning has found to be the best action in each state. It follows
// R. Arjonilla, bachelor's thesis, UOC 2024, with additional abstractions.
//
// Begin with View, which is what a player sees, and Model.
package policy

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/baraja"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
)

// Variants of the learner differ in what their keys contain. The study (R. Arjonilla, bachelor's thesis, UOC
// 2024) has the first two and proposes the third.
const (
	// OneState is the variant whose keys contain everything that a player knows. The study calls it MC-OS.
	OneState = "os"
	// ManyStates is the variant whose keys contain the trump card, the cards in the trick, the hand, the pairs of
	// 12 and 11 declared in this trick, the cards played and the rules. If a key is unknown, the known keys with the
	// same trump card, trick and hand vote for their best actions, and the action with the most votes is used. The
	// study calls this variant MC-MS.
	ManyStates = "ms"
	// Abstract is the variant whose keys contain only some facts, which an abstraction such as Kinds selects.
	Abstract = "as"
)

func Variants() []string { return []string{OneState, ManyStates, Abstract} }

// Abstractions for the variant Abstract.
const (
	// Hand retains the trump card, the cards in the trick and the hand. ManyStates also uses it for unknown keys.
	Hand = "hand"
	// Kinds retains kinds of cards, such as "a low trump", instead of cards. The file kinds.go defines them.
	Kinds = "kinds"
)

// Abstractions returns the names of the abstractions.
func Abstractions() []string { return []string{Kinds, Hand} }

// Keys defines what a learner sees of a position: what the key of a state contains. Keys is comparable. Check
// reports whether a value is valid.
type Keys struct {
	Variant     string `json:"variant"`
	Abstraction string `json:"abstraction,omitempty"` // only for the variant Abstract
	// Alike makes two positions the same state if they differ only in the names of the suits other than trumps. It
	// has no effect with the abstraction Kinds.
	Alike bool `json:"alike,omitempty"`
}

// Check returns an error if k is not valid: if the variant or the abstraction is unknown, or if there is an
// abstraction although the variant uses none.
func (k Keys) Check() error {
	if !slices.Contains(Variants(), k.Variant) {
		return fmt.Errorf("variant %q does not exist: try %s", k.Variant, strings.Join(Variants(), ", "))
	}
	if k.Variant == Abstract && !slices.Contains(Abstractions(), k.Abstraction) {
		return fmt.Errorf("abstraction %q does not exist: try %s", k.Abstraction, strings.Join(Abstractions(), ", "))
	}
	if k.Variant != Abstract && k.Abstraction != "" {
		return fmt.Errorf("abstraction %q is not for variant %s: try variant %s, or leave it out", k.Abstraction, k.Variant, Abstract)
	}
	return nil
}

// HasKinds reports whether the actions are kinds of cards instead of single cards.
func (k Keys) HasKinds() bool { return k.Variant == Abstract && k.Abstraction == Kinds }

// ParseKeys returns the Keys with a short name, which is OneState or the name of an abstraction. The agents of a
// genetic search have such Keys. An unknown name is an error.
func ParseKeys(name string) (Keys, error) {
	k := Keys{Variant: Abstract, Abstraction: name}
	if name == OneState {
		k = Keys{Variant: OneState}
	}
	if k.Check() != nil {
		return k, fmt.Errorf("keys %q do not exist: try %s", name, strings.Join(KeyNames(), ", "))
	}
	return k, nil
}

// KeyNames returns the names that ParseKeys accepts.
func KeyNames() []string { return append(Abstractions(), OneState) }

// View is what a learner sees of a position on its turn: the key of the state and the legal actions.
type View struct {
	Key         Key
	FallbackKey Key    // key for Agent.Votes; 0 except in the variant ManyStates
	Legal       uint64 // set of legal actions, one bit for each
	moves       [MaxActions]rules.Move
}

// Move returns the move that a legal action stands for.
func (v *View) Move(action uint8) rules.Move { return v.moves[action] }

// add adds m as the move of a legal action. It replaces an earlier move for the same action.
func (v *View) add(action int, m rules.Move) {
	v.Legal |= 1 << action
	v.moves[action] = m
}

// Observe sets v to the key and the legal actions of the seat to move in p, as k defines them. legal has
// the legal moves of p.
func (k Keys) Observe(v *View, p *cards.Position, legal []rules.Move) {
	v.Legal, v.FallbackKey = 0, 0
	if k.HasKinds() {
		v.kinds(p, legal)
		return
	}
	var w keyParts
	w.read(p, k.Variant == OneState, k.Variant == Abstract)
	order := [4]uint8{0, 1, 2, 3}
	if k.Alike {
		order = w.order(uint8(p.Board().Trumps()))
		w.rename(order)
	}
	for _, m := range legal {
		v.add(renameAction(cards.Action(m), order), m)
	}
	v.Key = w.key(k.Variant)
	if k.Variant == ManyStates {
		v.FallbackKey = w.key(Abstract)
		v.Key = v.Key.WithShardOf(v.FallbackKey)
	}
}

// keyParts has the facts about a position that may be part of its key. A card is represented by its cards.Index.
type keyParts struct {
	hand, playedCards uint64   // sets of cards in the form of cards.Bits40
	songs             [4]uint8 // suit whose 12 and 11 each seat has declared in this trick, as a set, the seat to move first
	points            [4]uint8 // cards.PointInterval of the points of each seat, the seat to move first
	trick             [3]uint8 // numbers of the cards, that of the leader first, then noCard
	trump             uint8    // number of the trump card
	rules             uint8
}

const noCard = 63

// read sets the facts that a key contains to those of p. If points is true, the points of the seats are among them.
// If first is true, it sets only the trump card, the trick and the hand. All other facts stay zero, so that the
// order of suits depends only on facts in the key.
func (w *keyParts) read(p *cards.Position, points, first bool) {
	t := p.Board()
	w.hand, w.trump = cards.Bits40(t.Hands[t.Mover]), uint8(cards.Index(t.Trump))
	w.trick = [3]uint8{noCard, noCard, noCard}
	for i, c := range t.Trick() {
		w.trick[i] = uint8(cards.Index(c))
	}
	if first {
		return
	}
	w.playedCards, w.rules = cards.Bits40(p.History.PlayedCards), uint8(cards.RuleBits(p.Options()))
	songs := p.Songs()
	for i := range int(t.Players) {
		seat := (int(t.Mover) + i) % int(t.Players)
		w.songs[i] = songs.DeclaredSet(seat)
		if points {
			w.points[i] = uint8(cards.PointInterval(t.Points[seat]))
		}
	}
}

// key returns a hash of the facts that the keys of the given variant contain.
func (w *keyParts) key(variant string) Key {
	var b [23]byte
	binary.LittleEndian.PutUint64(b[0:], w.hand|uint64(w.trump)<<40)
	copy(b[6:], w.trick[:])
	n := 9
	if variant != Abstract {
		binary.LittleEndian.PutUint64(b[9:], w.playedCards|uint64(w.rules)<<40)
		copy(b[15:], w.songs[:])
		n = 19
	}
	if variant == OneState {
		copy(b[19:], w.points[:])
		n = 23
	}
	return NewKey(xxhash.Sum64(b[:n]))
}

const (
	suitCards = baraja.TableCards / 4
	suitBits  = 1<<suitCards - 1
)

// order returns a new number for each suit, so that positions become equal if they differ only in the names of
// suits. The suit trumps gets 0; the others are sorted by the facts about them. Suits with equal facts are
// interchangeable.
func (w *keyParts) order(trumps uint8) (order [4]uint8) {
	var signs [4]uint64
	for suit := range uint8(4) {
		sign := w.hand>>(suit*suitCards)&suitBits<<10 | w.playedCards>>(suit*suitCards)&suitBits
		for _, c := range w.trick {
			at := uint64(0)
			if c != noCard && c/suitCards == suit {
				at = uint64(c%suitCards) + 1
			}
			sign = sign<<4 | at
		}
		for _, s := range w.songs {
			sign = sign<<1 | uint64(s>>suit&1)
		}
		signs[suit] = sign
	}
	for suit := range uint8(4) {
		place := uint8(0)
		for other := range uint8(4) {
			if other != suit && (other == trumps || suit != trumps && (signs[other] > signs[suit] || signs[other] == signs[suit] && other < suit)) {
				place++
			}
		}
		order[suit] = place
	}
	return order
}

// rename replaces, in all fields of w, the number of each suit s by its new number order[s].
func (w *keyParts) rename(order [4]uint8) {
	w.hand, w.playedCards = renameSet(w.hand, order), renameSet(w.playedCards, order)
	w.trump = uint8(renameAction(int(w.trump), order))
	for i, c := range w.trick {
		if c != noCard {
			w.trick[i] = uint8(renameAction(int(c), order))
		}
	}
	for i, suits := range w.songs {
		w.songs[i] = 0
		for suit, place := range order {
			w.songs[i] |= suits >> suit & 1 << place
		}
	}
}

func renameSet(set uint64, order [4]uint8) (renamed uint64) {
	for suit, place := range order {
		renamed |= set >> (suit * suitCards) & suitBits << (int(place) * suitCards)
	}
	return renamed
}

// renameAction returns the action with its suit replaced by the new number order[suit].
func renameAction(action int, order [4]uint8) int {
	switch {
	case action < cards.ExchangeAction:
		return int(order[action/suitCards])*suitCards + action%suitCards
	case action >= cards.SingAction:
		return cards.SingAction + int(order[action-cards.SingAction])
	}
	return action
}
