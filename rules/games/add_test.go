package games

import (
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
)

// TestAdd checks that a registered game can be found, and that its name cannot be used again.
func TestAdd(t *testing.T) {
	before := all
	t.Cleanup(func() { all = before })
	other := *brisca.Game
	other.Name = "other"
	Add(&other)
	if found := kit.Get[*rules.Game](t)(Find("other")); found != &other || len(All()) != len(before)+1 {
		t.Errorf("%v is found among %d games", found, len(All()))
	}
	defer func() {
		if said := fmt.Sprint(recover()); said != `games: there is a game "other" already: try another Name` {
			t.Errorf("it says %s", said)
		}
	}()
	Add(&other)
}
