package store

import "testing"

// A match of every shape is kept and can be read again.
func TestFinish(t *testing.T) {
	c := newCompetition(t)
	p, err := c.AddPerson(bg, "anna", false)
	check(t, err)
	c.live(p.ID, "anna-bot")
	ids := c.ids("@random", "@first", "@greedy", "anna-bot")
	for name, versions := range map[string][]int64{"tebes-4": ids[:2], "brisca-4-teams": ids, "tute-4": ids} {
		m, changes := c.finished(name, versions...)
		if len(changes) != len(versions) || m.Order != 1 {
			t.Errorf("%s: %+v moved %+v", name, m, changes)
		}
		games, err := c.Games(bg, m.ID)
		check(t, err)
		if len(games) != m.Deals*len(versions) {
			t.Errorf("%s: there are %d games", name, len(games))
		}
	}
}
