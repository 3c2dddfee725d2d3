package rating

import (
	"reflect"
	"testing"

	"github.com/timba-arena/timba/stats"
)

// eachConstant calls do with each number of a formula and its name.
func eachConstant(f *Formula, do func(name string, x reflect.Value)) {
	var walk func(prefix string, v reflect.Value)
	walk = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			name := prefix + v.Type().Field(i).Name
			if x := v.Field(i); x.Kind() == reflect.Struct {
				walk(name+".", x)
			} else {
				do(name, x)
			}
		}
	}
	walk("", reflect.ValueOf(f).Elem())
}

// A fingerprint is always the same, and each other constant changes what the program computes.
func TestFingerprint(t *testing.T) {
	if again := Current.Fingerprint(); again != Current.Fingerprint() {
		t.Errorf("it is %s, and then %s", Current.Fingerprint(), again)
	}
	_, computed := cutFingerprint(Current)
	seen := map[string]string{computed: "none"}
	f := Current
	eachConstant(&f, func(name string, x reflect.Value) {
		old := x.Float()
		x.SetFloat(old * 1.0001)
		defer x.SetFloat(old)
		_, computed := cutFingerprint(f)
		if other := seen[computed]; other != "" {
			t.Errorf("with another %s the computation is as with another %s", name, other)
		}
		seen[computed] = name
	})
	if len(seen) != 12 {
		t.Errorf("there are %d fingerprints, not those of 11 constants and the current one", len(seen))
	}
}

// cutFingerprint splits a fingerprint into the constants and the hash of the computation.
func cutFingerprint(f Formula) (constants, computed string) {
	print := f.Fingerprint()
	return print[:len(print)-16], print[len(print)-16:]
}

// Matches are computed with the constants of their formula.
func TestFormulaForgets(t *testing.T) {
	slow := Current
	slow.Forget += 0.5
	players := []Player{{Elo: 1000, Uncertainty: 1}, {Elo: 1000, Uncertainty: 1}}
	deals := []stats.Deal{deal(0.5)}
	now := Current.matchChanges(players, []int{0, 1}, deals, 1)
	then := slow.matchChanges(players, []int{0, 1}, deals, 1)
	checkNear(t, "uncertainty", then[0].Uncertainty, now[0].Uncertainty+0.5, 1e-12)
}
