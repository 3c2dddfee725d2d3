package house

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learn"
	"github.com/timba-arena/timba/sample-bots/learn/ga"
	"github.com/timba-arena/timba/sample-bots/learn/rl"
	"github.com/timba-arena/timba/sample-bots/learn/run"
)

// TestGAPlaysAsTrained plays games of every mode with its built-in model, and checks that @ga plays
// from the protocol's view the moves that the net chooses in the training's own game.
func TestGAPlaysAsTrained(t *testing.T) {
	for _, m := range learn.Modes() {
		b, err := gaModels.load(builtIn, m)
		if err != nil {
			t.Error(err)
			continue
		}
		if m.Tute {
			playAsTrained[learn.Tute](t, m, "@ga", b.tute)
		} else {
			playAsTrained[learn.Brisca](t, m, "@ga", b.brisca)
		}
	}
}

// playAsTrained checks that a house bot plays from the protocol's view the moves that what it was
// trained as chooses in the training's own game, with every combination of rules.
func playAsTrained[S any, P viewed[S]](t *testing.T, m learn.Mode, spec string, trained ga.Agent[S]) {
	r := rules.NewRand(4)
	for _, rule := range m.Rules() {
		agent := kit.Get[ga.Agent[S]](t)(newRival[S, P](spec, m))
		var s S
		var w learn.Watch
		p, src := P(&s), rules.FastStream(r)
		p.Begin(m, rule, &src)
		agent.Begin(m, r)
		trained.Begin(m, r)
		for p.Turn() >= 0 {
			legal := p.Legal(nil)
			move := trained.Choose(&s, &w, legal)
			if got := agent.Choose(&s, &w, legal); move != got {
				t.Fatalf("%v, ply %d: %s plays %s, what it was trained as %s", m, p.Ply(), spec, p.MoveText(nil, got), p.MoveText(nil, move))
			}
			if r.Below(4) == 0 {
				move = legal[r.Below(len(legal))] // positions that good play does not reach
			}
			learn.Step[S, P](p, &w, move)
		}
	}
}

// TestGAAgentPlaysAsTrained breeds agents that learn by Monte Carlo, and checks that @ga plays from
// the protocol's view the moves that the model has for the states that it knows.
func TestGAAgentPlaysAsTrained(t *testing.T) {
	testGAAgent[learn.Brisca](t, learn.Mode{Players: 3})
	testGAAgent[learn.Tute](t, learn.Mode{Tute: true, Players: 4, Teams: true})
}

func testGAAgent[S any, P viewed[S]](t *testing.T, m learn.Mode) {
	c := ga.DefaultAgents(m.String())
	c.Population, c.Best, c.Games, c.Generations, c.Final = 8, 2, 40, 3, 0
	dir := filepath.Join(t.TempDir(), "run")
	f, err := run.Open(dir, c, false)
	kit.Must(t, err)
	defer f.Close()
	if _, err := ga.Train(t.Context(), f, c, ga.Options{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, run.ModelFile)
	b, _, err := gaModels.open(path)
	kit.Must(t, err)
	bot, err := newRival[S, P]("@ga:model="+path, m)
	kit.Must(t, err)
	r, known := rules.NewRand(4), 0
	var sight rl.Sight
	for _, rule := range m.Rules() {
		var s S
		var w learn.Watch
		p, src := P(&s), rules.FastStream(r)
		p.Begin(m, rule, &src)
		bot.Begin(m, r)
		for p.Turn() >= 0 {
			legal := p.Legal(nil)
			got := bot.Choose(&s, &w, legal)
			want, knows := rl.Choose[S, P](b.agent, &sight, p, &w, legal, r)
			if knows {
				known++
			}
			if knows && got != want {
				t.Fatalf("%v, ply %d: @ga plays %s, its model %s", m, p.Ply(), p.MoveText(nil, got), p.MoveText(nil, want))
			}
			learn.Step[S, P](p, &w, got)
		}
	}
	if known < 50 {
		t.Errorf("%v: the model knows %d states", m, known)
	}
}

// TestGAModels checks what @ga says of a model that is not there, or is for another mode.
func TestGAModels(t *testing.T) {
	if _, err := Find("ga:model=nothing.timba"); err == nil || !strings.Contains(err.Error(), `model "nothing.timba" cannot be opened`) {
		t.Errorf("a file that does not exist: error %v", err)
	}
	p := kit.Get[Player](t)(Find("ga:model=models/ga/brisca2.timba"))
	a := p.Answer(turn("brisca players=3 seat=0 ply=0", "hand=4o,2c,1e trump=5c stock=30 leader=0 trick=- points=0,0,0 played=- leaders=- known=-/-/-", protocol.Words("4o 2c 1e"), 1))
	if a.Err == nil || !strings.Contains(a.Err.Error(), "the model is for brisca2, not for brisca3: train one by timba train ga --mode brisca3") {
		t.Errorf("a model for another mode: error %v, move %q", a.Err, a.Move)
	}
}

// TestRival checks that a house bot plays in a search what it plays by the protocol, the same for
// the same random numbers, and that bots that do not exist are errors.
func TestRival(t *testing.T) {
	m := learn.Mode{Tute: true, Players: 4, Teams: true}
	game := func() (text string) {
		agent := kit.Get[ga.Agent[learn.Tute]](t)(Rivals.Tute("@greedy:noise=30", m))
		r := rules.NewRand(8)
		var s learn.Tute
		var w learn.Watch
		src := rules.FastStream(r)
		s.Begin(m, m.Rules()[7], &src)
		agent.Begin(m, r)
		for s.Turn() >= 0 {
			legal := s.Legal(nil)
			move := agent.Choose(&s, &w, legal)
			kit.Must(t, s.Check(move))
			text += string(s.MoveText(nil, move)) + " "
			learn.Step(&s, &w, move)
		}
		return text
	}
	if once, again := game(), game(); once != again {
		t.Errorf("a rival plays %s\nand then %s", once, again)
	}
	if _, err := Rivals.Brisca("@gredy", m); err == nil || !strings.HasPrefix(err.Error(), `house bot "gredy" does not exist`) {
		t.Errorf("a rival that does not exist: error %v", err)
	}
}

func BenchmarkGALoad(b *testing.B) {
	m := learn.Mode{Tute: true, Players: 2}
	for b.Loop() {
		if _, err := gaModels.load(builtIn, m); err != nil {
			b.Fatal(err)
		}
	}
}
