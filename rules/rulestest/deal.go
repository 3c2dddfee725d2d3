package rulestest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/timba-arena/timba/rules"
)

// checkShape returns an error unless the states of v are pointers to structs without pointers, so that `copy
// := *state` is an independent copy.
func checkShape(v *rules.Variant) error {
	p := reflect.ValueOf(deal(v, 0))
	if p.Kind() != reflect.Pointer || p.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("shape: the state is a %v, not a pointer to a struct", p.Type())
	}
	return checkFlat(p.Elem().Type(), p.Elem().Type().Name())
}

func checkFlat(t reflect.Type, path string) error {
	switch t.Kind() {
	case reflect.Array:
		return checkFlat(t.Elem(), path+"[]")
	case reflect.Struct:
		for i := range t.NumField() {
			if err := checkFlat(t.Field(i).Type, path+"."+t.Field(i).Name); err != nil {
				return err
			}
		}
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.String, reflect.Interface,
		reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return fmt.Errorf("shape: %s is a %v: a state holds numbers and arrays only", path, t.Kind())
	}
	return nil
}

// valueOf returns a copy of the struct that s points to, as a value that == can compare.
func valueOf(s rules.State) any { return reflect.ValueOf(s).Elem().Interface() }

// copyState copies the struct to which src points over the struct to which dst points. Both must have the same type.
func copyState(dst, src rules.State) { reflect.ValueOf(dst).Elem().Set(reflect.ValueOf(src).Elem()) }

// checkDeal returns an error unless the same seed always gives the same first position. Different seeds must give
// different positions if v.HasChance is set, and the same position otherwise.
func checkDeal(v *rules.Variant) error {
	const seeds = 16
	positions := map[any]bool{}
	for n := range uint64(seeds) {
		s := deal(v, n)
		if valueOf(deal(v, n)) != valueOf(s) {
			return fmt.Errorf("deal: seed %d gives two different positions", n)
		}
		if s.Ply() != 0 {
			return fmt.Errorf("deal: the first ply is %d", s.Ply())
		}
		positions[valueOf(s)] = true
	}
	if chance := v.HasChance; chance && len(positions) == 1 {
		return errors.New("deal: every seed gives the same position")
	} else if !chance && len(positions) > 1 {
		return errors.New("deal: the position depends on the seed")
	}
	return nil
}

// checkAllocs returns an error if playing a random game allocates memory. number is the seed of the game.
func checkAllocs(v *rules.Variant, number uint64) error {
	from := deal(v, number)
	s := from.Clone()
	r := rules.NewRand(number)
	var space [rules.MaxMoves]rules.Move
	before := reflect.ValueOf(from).Elem()
	if n := testing.AllocsPerRun(3, func() {
		reflect.ValueOf(s).Elem().Set(before)
		for s.Turn() != rules.Over {
			legal := s.Legal(space[:0])
			s.Apply(legal[r.Below(len(legal))], nil)
		}
	}); n != 0 {
		return fmt.Errorf("apply: a game allocates %v times", n)
	}
	return nil
}
