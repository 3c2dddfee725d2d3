package commands

import (
	"strings"
	"testing"

	"github.com/timba-arena/timba/web/wire"
)

// If not all deals of a match count, the match says so.
func TestPrintMatchOfRepeats(t *testing.T) {
	const want = "\n3 of the deals count: the others repeat earlier games of the same versions\n"
	for deals, told := range map[int]bool{3: true, 10: false} {
		m := wire.Match{ID: 1, Rated: true, Deals: 10, Versions: []wire.Ref{{Bot: "a"}, {Bot: "b"}}, Changes: []wire.Change{{Deals: deals}, {Slot: 1, Deals: deals}}}
		var out strings.Builder
		printMatch(&out, m)
		if strings.Contains(out.String(), want) != told {
			t.Errorf("with %d deals that count: %s", deals, out.String())
		}
	}
}
