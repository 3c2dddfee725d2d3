package ga

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/lab/train/run"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/policy"
)

// A house bot plays legal moves as a rival, the same for the same random numbers, and bots that do
// not exist are errors.
func TestRival(t *testing.T) {
	m := cards.Mode{Tute: true, Players: 4, Teams: true}
	game := func() (text string) {
		agent := kit.Get[Agent[cards.Tute]](t)(newRival[cards.Tute]("@greedy:noise=30", m))
		r := rules.NewRand(8)
		var s cards.Tute
		var w cards.Watch
		src := rules.FastStream(r)
		s.Begin(m, m.Rules()[7], &src)
		agent.Begin(m, r)
		for s.Turn() >= 0 {
			legal := s.Legal(nil)
			move := agent.Choose(&s, &w, legal)
			kit.Must(t, s.Check(move))
			text += string(s.MoveText(nil, move)) + " "
			cards.Step(&s, &w, move)
		}
		return text
	}
	if once, again := game(), game(); once != again {
		t.Errorf("a rival plays %s\nand then %s", once, again)
	}
	if _, err := newRival[cards.Brisca]("@gredy", m); err == nil || !strings.HasPrefix(err.Error(), `house bot "gredy" does not exist`) {
		t.Errorf("a rival that does not exist: error %v", err)
	}
	if _, err := newRival[cards.Brisca]("@ga:model=../../../sample-bots/house/models/ga/brisca2.timba", cards.Mode{Players: 3}); err == nil || !strings.Contains(err.Error(), "the model is for brisca2, not for brisca3") {
		t.Errorf("a rival for another mode: error %v", err)
	}
}

// Agents that learn by Monte Carlo are bred, and @ga plays from the protocol's view the moves that
// the model has for the states that it knows.
func TestAgentPlaysAsTrained(t *testing.T) {
	testAgentPlays[cards.Brisca](t, cards.Mode{Players: 3})
	testAgentPlays[cards.Tute](t, cards.Mode{Tute: true, Players: 4, Teams: true})
}

func testAgentPlays[S any, P cards.Position[S]](t *testing.T, m cards.Mode) {
	c := DefaultAgents(m.String())
	c.Population, c.Best, c.Games, c.Generations, c.Final = 8, 2, 40, 3, 0
	dir, _ := trained(t, c)
	_, trained, err := readModel([]byte(read(t, dir, run.ModelFile)))
	kit.Must(t, err)
	bot := kit.Get[Agent[S]](t)(newRival[S, P]("@ga:model="+filepath.Join(dir, run.ModelFile), m))
	r, known := rules.NewRand(4), 0
	var view policy.View
	for _, rule := range m.Rules() {
		var s S
		var w cards.Watch
		p, src := P(&s), rules.FastStream(r)
		p.Begin(m, rule, &src)
		bot.Begin(m, r)
		for p.Turn() >= 0 {
			legal := p.Legal(nil)
			got := bot.Choose(&s, &w, legal)
			want, knows := policy.Choose[S, P](trained.Policy, &view, p, &w, legal, r)
			if knows {
				known++
			}
			if knows && got != want {
				t.Fatalf("%v: @ga plays %d, its model %d", m, got, want)
			}
			cards.Step[S, P](p, &w, got)
		}
	}
	if known < 50 {
		t.Errorf("%v: the model knows %d states", m, known)
	}
}
