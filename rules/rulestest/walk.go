package rulestest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/timba-arena/timba/rules"
)

// walk is one random game. Playing it checks every position and every move.
type walk struct {
	v     *rules.Variant
	o     Options
	seed  uint64
	r     *rules.Rand
	s     rules.State
	legal []rules.Move // legal moves of s
	moves []rules.Move // all moves made so far

	redealing bool // hidden cards are dealt again from time to time during the game
	scan      bool // all move numbers are tried in the first position
	hidden    int  // number of redeals that changed the view of another seat
}

// densePlies is a number of moves. After that many, only one in 64 positions is checked, so that games without a
// limit do not take too long.
const densePlies = 200

func newWalk(v *rules.Variant, o Options, seed uint64) *walk {
	return &walk{v: v, o: o, seed: seed, r: rules.NewRand(seed), s: deal(v, seed)}
}

func (w *walk) run() error {
	if err := w.checkStart(); err != nil {
		return err
	}
	for {
		w.legal = w.s.Legal(w.legal[:0])
		if w.s.Ply() < densePlies || w.r.Below(64) == 0 || len(w.legal) == 0 {
			if err := w.checkReached(); err != nil {
				return err
			}
		}
		if len(w.legal) == 0 {
			break
		}
		if err := w.step(w.legal[w.r.Below(len(w.legal))]); err != nil {
			return err
		}
		if w.redealing && w.r.Below(8) == 0 {
			w.s = redealCopy(w.s, w.r.Below(w.v.Players), w.r)
		}
	}
	if err := w.checkEnd(); err != nil {
		return err
	}
	if w.redealing {
		return nil // the seed does not lead to these moves any more
	}
	return w.checkReplay()
}

// checkStart returns an error unless the events before the first move are well formed and reveal nothing that is
// hidden from the seats that see them.
func (w *walk) checkStart() error {
	before := valueOf(w.s)
	var log rules.Log
	w.s.LogStart(&log)
	if valueOf(w.s) != before {
		return errors.New("start: changes the state")
	}
	for seat := range w.v.Players {
		said := string(log.AppendEvents(nil, seat, ""))
		if err := checkEvents(said); err != nil {
			return fmt.Errorf("start: seat %d: %w", seat, err)
		}
		var other rules.Log
		redealCopy(w.s, seat, w.r).LogStart(&other)
		if got := string(other.AppendEvents(nil, seat, "")); got != said {
			return fmt.Errorf("start: seat %d sees %q, after a redeal %q", seat, said, got)
		}
	}
	return nil
}

// checkReached makes all checks of the current position.
func (w *walk) checkReached() error {
	before := valueOf(w.s)
	if err := w.checkPosition(w.s, w.legal); err != nil {
		return err
	}
	if err := w.tryIllegal(); err != nil {
		return err
	}
	if err := w.checkCopies(); err != nil {
		return err
	}
	if err := w.checkRedeal(w.r.Below(w.v.Players)); err != nil {
		return err
	}
	if err := w.checkFromViews(); err != nil {
		return err
	}
	if valueOf(w.s) != before {
		return errors.New("position: looking at the state changes it")
	}
	return nil
}

// checkPosition checks the position s with the function checkPosition and with Options.CheckState. legal has the
// legal moves of s.
func (w *walk) checkPosition(s rules.State, legal []rules.Move) error {
	if err := checkPosition(w.v, s, legal); err != nil {
		return err
	}
	if w.o.CheckState != nil {
		if err := w.o.CheckState(w.v, s); err != nil {
			return fmt.Errorf("sound: %w", err)
		}
	}
	return nil
}

// tryIllegal returns an error unless the current position refuses numbers that are not legal moves.
func (w *walk) tryIllegal() error {
	before := valueOf(w.s)
	try := func(m rules.Move) error {
		if _, legal := slices.BinarySearch(w.legal, m); legal {
			return nil
		}
		return checkRefused(w.v, w.s, before, m)
	}
	if w.scan && w.s.Ply() == 0 {
		for m := range 1 << 16 {
			if err := try(rules.Move(m)); err != nil {
				return err
			}
		}
	}
	for _, m := range w.legal {
		if err := errors.Join(try(m-1), try(m+1)); err != nil {
			return err
		}
	}
	for range 16 {
		if err := errors.Join(try(rules.Move(w.r.Below(1<<16))), try(rules.Move(w.r.Below(1<<11)))); err != nil {
			return err
		}
	}
	return nil
}

// checkCopies checks that a clone is equal and independent.
func (w *walk) checkCopies() error {
	before := valueOf(w.s)
	c := w.s.Clone()
	if valueOf(c) != before {
		return errors.New("clone: is not the same position")
	}
	if len(w.legal) == 0 {
		return nil
	}
	c.Apply(w.legal[w.r.Below(len(w.legal))], nil)
	if valueOf(w.s) != before {
		return errors.New("clone: a move made on it changes the original")
	}
	c = w.s.Clone()
	played := valueOf(c)
	w.s.Apply(w.legal[w.r.Below(len(w.legal))], nil)
	apart := valueOf(c) == played
	copyState(w.s, c)
	if !apart {
		return errors.New("clone: a move made on the original changes it")
	}
	return nil
}

// playOn makes random legal moves from s to the end of the game, and checks the final points.
func (w *walk) playOn(s rules.State) error {
	if playOn(s, w.r); s.Turn() != rules.Over {
		return fmt.Errorf("legal: 0 moves at ply %d, and over is false", s.Ply())
	}
	return w.checkTotal(s)
}

func playOn(s rules.State, r *rules.Rand) {
	var space [rules.MaxMoves]rules.Move
	for legal := s.Legal(space[:0]); len(legal) > 0; legal = s.Legal(space[:0]) {
		s.Apply(legal[r.Below(len(legal))], nil)
	}
}

// step makes a move in the current position and checks its events.
func (w *walk) step(m rules.Move) error {
	quiet := w.s.Clone()
	quiet.Apply(m, nil)
	var log rules.Log
	if w.s.Ply() < densePlies {
		if err := w.compareEvents(m); err != nil {
			return err
		}
	}
	ply := w.s.Ply()
	if err := rules.Play(w.s, m, &log); err != nil {
		return fmt.Errorf("play: refuses a legal move: %w", err)
	}
	if valueOf(w.s) != valueOf(quiet) {
		return errors.New("apply: gives another position without a log")
	}
	if w.s.Ply() != ply+1 {
		return fmt.Errorf("ply: is %d after %d", w.s.Ply(), ply)
	}
	for seat := range w.v.Players {
		if err := checkEvents(string(log.AppendEvents(nil, seat, ""))); err != nil {
			return fmt.Errorf("apply: seat %d: %w", seat, err)
		}
	}
	w.moves = append(w.moves, m)
	return nil
}

// checkEnd checks the final position of the game.
func (w *walk) checkEnd() error {
	if w.s.Turn() != rules.Over {
		return errors.New("legal: is empty before the end")
	}
	if err := w.s.Check(0); !errors.Is(err, rules.ErrOver) {
		return fmt.Errorf("check: says %v after the end, not ErrOver", err)
	}
	if most := w.v.MaxPlies; w.s.Ply() > most {
		return fmt.Errorf("most plies: a game has %d, which is more than %d", w.s.Ply(), most)
	}
	return w.checkTotal(w.s)
}

func (w *walk) checkTotal(s rules.State) error {
	if err := checkPoints(w.v, s); err != nil {
		return err
	}
	if w.o.CheckTotal != nil {
		if err := w.o.CheckTotal(w.v, s); err != nil {
			return fmt.Errorf("total: %w", err)
		}
	}
	return nil
}

// checkReplay makes all moves of the game again from the same seed, and returns an error if the result differs.
func (w *walk) checkReplay() error {
	s := deal(w.v, w.seed)
	var text []string
	for _, m := range w.moves {
		text = append(text, string(s.MoveText(nil, m)))
		parsed, err := s.ParseMove(text[len(text)-1])
		if err != nil {
			return err
		}
		if err := rules.Play(s, parsed, nil); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	if valueOf(s) != valueOf(w.s) {
		return fmt.Errorf("replay: %s end elsewhere the second time", strings.Join(text, " "))
	}
	return nil
}
