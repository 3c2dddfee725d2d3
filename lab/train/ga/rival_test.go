//go:build !race || slowrace

package ga

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// TestRival checks that a house bot as a rival plays legal moves, the same ones for the same random numbers,
// and that unknown bots are errors.
func TestRival(t *testing.T) {
	m := cards.Mode{Tute: true, Players: 4, Teams: true}
	game := func() (text string) {
		agent := kit.Get[Agent](t)(newRival("@greedy:noise=30", m))
		r := rules.NewRand(8)
		var p cards.Position
		src := rules.FastStream(r)
		p.Deal(m, m.Rules()[7], &src)
		agent.Begin(r)
		for p.Turn() >= 0 {
			move := agent.Choose(&p, p.Legal(nil))
			kit.Must(t, p.State().Check(move))
			text += string(p.State().MoveText(nil, move)) + " "
			p.Play(move)
		}
		return text
	}
	if once, again := game(), game(); once != again {
		t.Errorf("a rival plays %s\nand then %s", once, again)
	}
	if _, err := newRival("@gredy", m); err == nil || !strings.HasPrefix(err.Error(), `house bot "gredy" does not exist`) {
		t.Errorf("a rival that does not exist: error %v", err)
	}
	if _, err := newRival("@ga:model=../../../sample-bots/house/models/ga/brisca2.timba", cards.Mode{Players: 3}); err == nil || !strings.Contains(err.Error(), "the model is for brisca2, not for brisca3") {
		t.Errorf("a rival for another mode: error %v", err)
	}
}

// TestAgentPlaysAsTrained checks that @ga plays, from views in protocol form, the moves of a model for the
// states in the model.
func TestAgentPlaysAsTrained(t *testing.T) {
	testAgentPlays(t, cards.Mode{Players: 3})
	testAgentPlays(t, cards.Mode{Tute: true, Players: 4, Teams: true})
}

func testAgentPlays(t *testing.T, m cards.Mode) {
	c := DefaultAgents(m.String())
	c.Population, c.Parents, c.Games, c.Generations, c.FinalGames = 8, 2, 40, 3, 0
	dir, _ := trained(t, c)
	_, _, trained, err := readModel([]byte(read(t, dir, run.ModelFile)))
	kit.Must(t, err)
	bot := kit.Get[Agent](t)(newRival("@ga:model="+filepath.Join(dir, run.ModelFile), m))
	r, known := rules.NewRand(4), 0
	var view policy.View
	for _, rule := range m.Rules() {
		p, src := new(cards.Position), rules.FastStream(r)
		p.Deal(m, rule, &src)
		bot.Begin(r)
		for p.Turn() >= 0 {
			legal := p.Legal(nil)
			got := bot.Choose(p, legal)
			want, knows := trained.Move(&view, p, legal, r)
			if knows {
				known++
			}
			if knows && got != want {
				t.Fatalf("%v: @ga plays %d, its model %d", m, got, want)
			}
			p.Play(got)
		}
	}
	if known < 50 {
		t.Errorf("%v: the model knows %d states", m, known)
	}
}
