package house

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/protocol"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/rules/teeko"
	"github.com/timba-arena/timba/stats"
)

// TestLevels checks that each level up to the fifth is better than the one below, as far as a few deals show.
func TestLevels(t *testing.T) {
	for name, deals := range map[string]int{"brisca": 100, "podrida": 5, "teeko": 20} {
		g := kit.Get[*rules.Game](t)(games.Find(name))
		for i, weak := range Levels()[:4] {
			strong := Levels()[i+1]
			t.Run(fmt.Sprintf("%s-%d", name, strong.Number), func(t *testing.T) {
				t.Parallel()
				if score := levelDuel(t, g, weak.Spec, strong.Spec, deals); score.Value <= 0.5 {
					t.Errorf("level %d scores %.3f against level %d", strong.Number, score.Value, weak.Number)
				}
			})
		}
	}
}

// levelDuel plays deals between two bots that alternate in the seats, each deal twice with exchanged seats. It
// returns the mean score of the bot strong over all pairs of opposing seats, with its 95 % interval.
func levelDuel(t *testing.T, g *rules.Game, weak, strong string, deals int) stats.Estimate {
	tb := resolve(t, g, "")
	n := tb.variant.Players
	players := [2][]Player{make([]Player, n), make([]Player, n)}
	for seat := range n {
		for side, spec := range []string{weak, strong} {
			p := kit.Get[Player](t)(NewPlayer(spec))
			players[side][seat] = p
		}
	}
	scores := make([]float64, deals)
	for deal := range scores {
		for first := range 2 {
			seats := make([]Player, n)
			for seat := range seats {
				seats[seat] = players[(first+seat)%2][seat]
			}
			scores[deal] += pairScore(tb.run(t, uint64(deal), uint64(first), seats), first) / 2
		}
	}
	return stats.Mean(scores)
}

// run plays a deal with the given players. The seeds of the bots depend on part.
func (tb *table) run(t *testing.T, deal, part uint64, seats []Player) result {
	infos := make([]*protocol.GameLine, len(seats))
	for i := range infos {
		infos[i] = &protocol.GameLine{
			Name: tb.variant.Game.Name, Settings: protocol.Pairs(tb.variant.Settings.String()),
			Seat: i, Players: len(seats), Seed: (deal*2+part)*16 + uint64(i),
		}
	}
	var seed rules.Seed
	binary.BigEndian.PutUint64(seed[:], deal)
	stream := rules.NewStream(seed)
	state := tb.variant.Deal(&stream)
	for state.Turn() != rules.Over {
		a := seats[state.Turn()].Answer(tb.turn(state, infos[state.Turn()]))
		m := kit.Get[rules.Move](t)(state.ParseMove(string(a.Move)))
		kit.Must(t, rules.Play(state, m, nil))
	}
	return tb.result(state)
}

// pairScore returns the average score of the stronger seats, those with the parity of first, against the
// weaker ones.
func pairScore(r result, first int) float64 {
	sum, pairs := 0.0, 0.0
	for strong := range r.Ranks {
		for weak := range r.Ranks {
			if (strong+first)%2 == 0 || (weak+first)%2 != 0 {
				continue
			}
			pairs++
			switch d := r.Ranks[weak] - r.Ranks[strong]; {
			case d > 0:
				sum++
			case d == 0:
				sum += 0.5
			}
		}
	}
	return sum / pairs
}

// TestLevelsPlayAll checks that levels play every game with all options.
func TestLevelsPlayAll(t *testing.T) {
	t.Parallel()
	for game, all := range map[string][]string{
		"brisca":  {"players=3", "players=4 teams=yes exchange=yes last10=yes blackhand=yes"},
		"tute":    {"exchange=yes last10=yes", "players=3", "players=4 teams=yes", "followonly=yes"},
		"podrida": {"players=3 deck=40", "players=12 rounds=updown"},
		"tebes":   {"size=4", "board=random", "cycles=forbid"},
		"teeko":   {"start=drop", "squares=advanced"},
	} {
		g := kit.Get[*rules.Game](t)(games.Find(game))
		for _, options := range all {
			tb := resolve(t, g, options)
			for _, l := range Levels()[:topLevel-1] {
				if l.Number%3 != 1 && !kit.Soak {
					continue // the others differ in numbers alone
				}
				seats := make([]string, tb.variant.Players)
				for i := range seats {
					seats[i] = l.Spec
				}
				_, once := tb.play(t, 3, seats)
				if _, again := tb.play(t, 3, seats); once != again {
					t.Errorf("%s %s, level %d: %s\nand then %s", game, options, l.Number, once, again)
				}
			}
		}
	}
}

// TestLevelsSeeWins checks that from level 3 on a bot overlooks no immediate win on a board, and that a beginner
// does.
func TestLevelsSeeWins(t *testing.T) {
	tb := resolve(t, teeko.Game, "")
	r := rules.NewRand(5)
	missed := map[int]int{}
	const positions = 100
	for found := 0; found < positions; {
		stream := rules.FastStream(r)
		s := tb.variant.Deal(&stream)
		for i := r.Below(40); i > 0 && s.Turn() != rules.Over; i-- {
			legal := s.Legal(nil)
			s.Apply(legal[r.Below(len(legal))], nil)
		}
		if s.Turn() == rules.Over || winningMove(s, s.Legal(nil)) < 0 {
			continue
		}
		found++
		for _, l := range Levels()[:topLevel-1] {
			p, _ := NewPlayer(l.Spec)
			info := &protocol.GameLine{
				Name: "teeko", Settings: protocol.Pairs(tb.variant.Settings.String()), Seat: s.Turn(), Players: 2, Seed: uint64(found),
			}
			m := kit.Get[rules.Move](t)(s.ParseMove(string(p.Answer(tb.turn(s, info)).Move)))
			if next := afterMove(s, m); next.Turn() != rules.Over {
				missed[l.Number]++
			}
		}
	}
	for _, l := range Levels()[:topLevel-1] {
		if n := missed[l.Number]; l.Number >= 3 && n > 0 || l.Number == 1 && n < positions/2 {
			t.Errorf("level %d overlooks %d wins of %d", l.Number, n, positions)
		}
	}
}

// TestSlipsAreSafe checks the random moves of a level that sees threats: after them, the other side cannot win at
// once if that could be avoided.
func TestSlipsAreSafe(t *testing.T) {
	tb := resolve(t, teeko.Game, "")
	r := rules.NewRand(6)
	c := &weakThinker{grade: grade{randomPercent: 100, sight: seesThreat}}
	met := 0
	for range 3000 {
		stream := rules.FastStream(r)
		s := tb.variant.Deal(&stream)
		for i := r.Below(40); i > 0 && s.Turn() != rules.Over; i-- {
			legal := s.Legal(nil)
			s.Apply(legal[r.Below(len(legal))], nil)
		}
		if s.Turn() == rules.Over {
			continue
		}
		threats := 0
		all := s.Legal(nil)
		for _, m := range all {
			next := afterMove(s, m)
			if next.Turn() != rules.Over && next.(*teeko.State).CanWin(next.Turn()) {
				threats++
			}
		}
		m, _ := c.think(nil, s, r, nil)
		if next := afterMove(s, m); next.Turn() != rules.Over && next.(*teeko.State).CanWin(next.Turn()) && threats < len(all) {
			t.Fatalf("a threat is overlooked with %d", m)
		} else if threats > 0 {
			met++
		}
	}
	if met < 100 {
		t.Errorf("only %d positions have threats", met)
	}
}

func TestFindLevel(t *testing.T) {
	for _, text := range []string{"4", "intermediate"} {
		if l, err := FindLevel(text); err != nil || l.Number != 4 || l.Spec != "champion:level=4" {
			t.Errorf("%q: %v, %v", text, l, err)
		}
	}
	for _, text := range []string{"", "0", "9", "04", "hard", "Expert"} {
		if _, err := FindLevel(text); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("level %q does not exist: try 1 to 8, or beginner,", text)) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, spec := range []string{"champion:level=0", "champion:level=9", "champion:level=x", "champion:level="} {
		if _, err := NewPlayer(spec); err == nil || !strings.Contains(err.Error(), "option level cannot be") {
			t.Errorf("%q: %v", spec, err)
		}
	}
	for _, l := range Levels() {
		if _, err := NewPlayer(l.Spec); err != nil {
			t.Error(err)
		}
	}
}
