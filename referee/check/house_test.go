//go:build !race

package check

import (
	"testing"

	"github.com/timba-arena/timba/sample-bots/house"
)

func TestHouseBotsPass(t *testing.T) {
	var list []checkup
	for _, b := range house.Bots() {
		spec, quick := b.Name, false
		if !b.IsSimple && hasNodes(b) { // it would use all the time that it has
			spec, quick = spec+":nodes=50", true
		}
		list = append(list, checkup{b.Name, "@" + spec, playHouse(spec), func(o *Options) { o.Quick = quick }})
	}
	for name, r := range checked(t, list) {
		if r.Verdict != OK {
			t.Errorf("%s:\n%s", name, summary(r))
		}
	}
}
