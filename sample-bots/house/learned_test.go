package house

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/brisca"
	"github.com/timba-arena/timba/sample-bots/learned"
	"github.com/timba-arena/timba/sample-bots/learned/cards"
	"github.com/timba-arena/timba/sample-bots/learned/model"
)

// mostEmbedded is the maximum size of the built-in models in bytes, by kind.
var mostEmbedded = map[string]int64{model.SL: 1 << 20, model.GA: 1 << 18, model.RL: 5 << 19, model.Net: 1 << 21}

func builtInModel(t testing.TB, kind string, m cards.Mode) *learned.Agent {
	t.Helper()
	b := newLearned(kind)(new(params)).(*thinkerBot)
	return kit.Get[*learned.Agent](t)(b.thinkers["brisca"].(*learner).agentFor(m))
}

// TestModels checks that there is a small built-in model without defects for each kind and mode. From the
// protocol's view a bot must make the moves that its model chooses in the full position, with all
// combinations of rules. In a state that the model does not know, the bot plays at random.
func TestModels(t *testing.T) {
	for kind, limit := range mostEmbedded {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			size := int64(0)
			kit.Must(t, fs.WalkDir(modelFiles, "models/"+kind, func(_ string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				info, err := d.Info()
				size += info.Size()
				return err
			}))
			if size > limit {
				t.Errorf("the models have %d bytes, more than %d", size, limit)
			}
			for _, m := range cards.Modes() {
				a := builtInModel(t, kind, m)
				if a.Mode != m || len(a.Header.Defects) > 0 {
					t.Errorf("%v: the model is for %v, with the defects %q", m, a.Mode, a.Header.Defects)
				}
				seats := make([]*LocalSeat, m.Players)
				for i := range seats {
					seats[i] = kit.Get[*LocalSeat](t)(NewSeat(kind))
				}
				for _, rule := range m.Rules() {
					playsModel(t, seats, m.Variant(rule), a)
				}
			}
		})
	}
}

func playsModel(t *testing.T, seats []*LocalSeat, v *rules.Variant, a *learned.Agent) {
	r := rules.NewRand(4)
	src := rules.FastStream(r)
	s := v.Deal(&src)
	for i, seat := range seats {
		seat.StartGame(v, i, r.Uint64()&protocol.MaxSeed, 0)
	}
	for s.Turn() != rules.Over {
		legal := s.Legal(nil)
		move, note := a.Choose(s, legal, r)
		got := kit.Get[rules.Move](t)(seats[s.Turn()].Move(s))
		if got != move && note != (learned.Note{Name: learned.KnownNote, Value: 0}) {
			t.Fatalf("%s %s, ply %d: @%s plays %s, its model %s", v.Game.Name, v.Settings, s.Ply(), seats[0].spec, s.MoveText(nil, got), s.MoveText(nil, move))
		}
		if r.Below(4) == 0 {
			move = legal[r.Below(len(legal))] // positions that good play does not reach
		}
		s.Apply(move, nil)
	}
}

// TestModelErrors checks the errors for a model that is missing, of another kind, or for another mode.
func TestModelErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"ga:model=nothing.timba":                       `house bot "ga:model=nothing.timba": model "nothing.timba" cannot be opened: try the path of a file that timba-lab train has written`,
		"net:model=models/ga/brisca2.timba":            `house bot "net:model=models/ga/brisca2.timba": models/ga/brisca2.timba: model: kind "ga" is not "net": try @ga`,
		"rl:model=learned.go":                          `the first line is`,
		"sl:model=models/sl/tute2.timba":               `models/sl/tute2.timba: the model is for tute2, not for brisca2: train one by timba-lab train sl --mode brisca2`,
		"rl:model=models/rl/tute2.timba":               `models/rl/tute2.timba: the model is for tute2, not for brisca2: train one by timba-lab train rl --mode brisca2`,
		"ga:model=models/ga/follow2.timba":             `models/ga/follow2.timba: the model is for follow2, not for brisca2: train one by timba-lab train ga --mode brisca2`,
		"net:model=models/net/brisca3.timba":           `models/net/brisca3.timba: the model is for brisca3, not for brisca2: train one by timba-lab train net --mode brisca2`,
		"net:model=models/net/brisca2.timba":           "",
		"sl:choice=mean,model=models/sl/brisca2.timba": "",
	} {
		p, err := NewPlayer(spec)
		if err == nil {
			err = p.Answer(firstTurn(resolve(t, brisca.Game, ""))).Err
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, not %s", spec, err, want)
		}
		if checked := CheckModel(spec, resolve(t, brisca.Game, "").variant); fmt.Sprint(checked) != fmt.Sprint(err) {
			t.Errorf("%s: Check says %v, and the first turn %v", spec, checked, err)
		}
	}
}

// firstTurn returns the first turn of a deal.
func firstTurn(tb *table) *protocol.Turn {
	stream := rules.NewStream(rules.Seed{1})
	return tb.turn(tb.variant.Deal(&stream), &protocol.GameLine{
		Name: tb.variant.Game.Name, Settings: protocol.Pairs(tb.variant.Settings.String()), Players: tb.variant.Players,
	})
}

// TestRL checks that @rl beats random players in every mode.
func TestRL(t *testing.T) { rlBeatsRandom(t, 10) }

func rlBeatsRandom(t *testing.T, rounds uint64) {
	for _, mode := range cards.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			v := mode.Variant(mode.Rules()[0])
			tb := resolve(t, v.Game, v.Settings.String())
			total, n := 0.0, 0
			for deal := range rounds {
				for seat := range mode.Players {
					seats := make([]string, mode.Players)
					for i := range seats {
						seats[i] = "random"
						if mode.Side(i) == mode.Side(seat) {
							seats[i] = "rl"
						}
					}
					result, _ := tb.play(t, deal, seats)
					total += score(result, seat)
					n++
				}
			}
			if mean := total / float64(n); mean < 0.55 { // chance is 0.5
				t.Errorf("%.3f of the games of %v", mean, mode)
			}
		})
	}
}

func BenchmarkModelLoad(b *testing.B) {
	for kind := range mostEmbedded {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				builtInModel(b, kind, cards.Mode{Tute: true, Players: 2})
			}
		})
	}
}

// BenchmarkModelMove chooses the first move of a game of Tute with two players.
func BenchmarkModelMove(b *testing.B) {
	m := cards.Mode{Tute: true, Players: 2}
	for kind := range mostEmbedded {
		b.Run(kind, func(b *testing.B) {
			a, r := builtInModel(b, kind, m), rules.NewRand(1)
			src := rules.FastStream(r)
			s := m.Variant(m.Rules()[0]).Deal(&src)
			legal := s.Legal(nil)
			b.ReportAllocs()
			for b.Loop() {
				a.Choose(s, legal, r)
			}
		})
	}
}
