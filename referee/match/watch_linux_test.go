package match

import (
	"fmt"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/rules"
)

// Observer.Watch gets each position of each game, the first and the end included, with the record as it is then.
func TestWatch(t *testing.T) {
	m := &Match{Variant: variant(t, "brisca", "players=3"), Bots: []Contestant{houseBot("greedy"), houseBot("random"), houseBot("first")}, Deals: 2, Clock: patient, Seed: rules.Seed{9}}
	var seen, want []string
	m.Observer.Watch = func(p *referee.Game) {
		if n := p.State.Ply(); n != len(p.Record.Moves) {
			t.Errorf("ply %d has %d moves", n, len(p.Record.Moves))
		}
		for seat := range p.Record.Seats {
			if p.TimeLeft(seat) != patient.Move {
				t.Errorf("seat %d has %s", seat, p.TimeLeft(seat))
			}
		}
		seen = append(seen, fmt.Sprintf("%d/%d %s %v", p.Record.Match.Deal, p.Record.Match.Rotation, p.State.View(nil, 0), p.HasEnded()))
	}
	for _, g := range playAll(t, m) {
		last := ""
		for step, err := range g.Walk(m.Variant, nil) {
			kit.Must(t, err)
			last = fmt.Sprintf("%d/%d %s", g.Match.Deal, g.Match.Rotation, step.State.View(nil, 0))
			want = append(want, last+" false")
		}
		want = append(want, last+" true")
	}
	if len(seen) != len(want) {
		t.Fatalf("%d positions are seen, want %d", len(seen), len(want))
	}
	for i := range want {
		if seen[i] != want[i] {
			t.Fatalf("position %d is %q, want %q", i, seen[i], want[i])
		}
	}
}
