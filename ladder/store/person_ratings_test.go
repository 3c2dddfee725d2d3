//go:build !race || slowrace

package store

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/ladder"
)

// TestPersonRatings checks that only games in which every seat has a person with an account change ratings,
// separately for each kind of game.
func TestPersonRatings(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	var people []ladder.Person
	for _, name := range []string{"anna", "berta", "carla", "dora"} {
		people = append(people, kit.Get[ladder.Person](t)(c.People.Add(bg, name, false)))
	}
	anna, berta := people[0], people[1]
	tebes, brisca := testLadders(t)[0], testLadders(t)[1]
	c.playGame("alone", anna, tebes, 0, "@random")
	c.playPeopleGame("guest", tebes, anna, ladder.Person{})
	if n := kit.Get[map[string]int](t)(c.People.CountRated(bg)); len(n) != 0 {
		t.Fatalf("people have ratings: %v", n)
	}
	c.playPeopleGame("team", brisca, people...)
	for n := range 40 { // after which their ratings are certain, whoever won
		c.playPeopleGame(fmt.Sprint("two-", n), tebes, anna, berta)
	}
	p := kit.Get[ladder.Play](t)(c.Plays.Find(bg, "team"))
	for i, s := range p.Seats {
		if s.RatingBefore != 1500 || s.RatingAfter != p.Seats[(i+2)%4].RatingAfter || (s.RatingAfter > 1500) != (s.Record.Wins == 1) {
			t.Errorf("the team's game has moved %+v", s)
		}
	}
	c.playPeopleGame("last", tebes, people[2], people[3])

	list := kit.Get[[]ladder.PersonRating](t)(c.People.RatedPeople(bg, "tebes", 0, 10))
	if len(list) != 4 || list[0].Rating < list[1].Rating || list[2].Rating < list[3].Rating {
		t.Fatalf("the list is %+v", list)
	}
	for i, r := range list {
		if r.Provisional != (i > 1) || r.Provisional != (r.Deviation > 110) || r.Record.Games != []int{40, 40, 1, 1}[i] {
			t.Errorf("place %d is %+v", i, r)
		}
	}
	if rest := kit.Get[[]ladder.PersonRating](t)(c.People.RatedPeople(bg, "tebes", 3, 10)); !slices.Equal(rest, list[3:]) {
		t.Errorf("the rest of the list is %+v", rest)
	}
	own := kit.Get[[]ladder.PersonRating](t)(c.People.RatingsOf(bg, anna.ID))
	if len(own) != 2 || own[0].Game != "brisca" || own[1].Game != "tebes" || own[1].Record.Games != 40 {
		t.Errorf("the ratings of a person are %+v", own)
	}
	kit.Must(t, c.People.SetBlocked(bg, berta.ID, true))
	if n := kit.Get[map[string]int](t)(c.People.CountRated(bg)); !maps.Equal(n, map[string]int{"brisca": 3, "tebes": 3}) {
		t.Errorf("those not blocked are %v", n)
	}
	wantSound(t, c.Store)
}

// TestPlaysOfAPerson checks the pages of a person's finished games, and the records by game and opponents.
func TestPlaysOfAPerson(t *testing.T) {
	t.Parallel()
	c := newCompetition(t)
	anna := kit.Get[ladder.Person](t)(c.People.Add(bg, "anna", false))
	berta := kit.Get[ladder.Person](t)(c.People.Add(bg, "berta", false))
	two, four := testLadders(t)[0], testLadders(t)[1]
	next := func() { c.clock.skip(day) }
	c.playGame("a", anna, two, 0, "@random")
	next()
	c.playGame("b", anna, two, 1, "@random")
	next()
	c.playGame("c", anna, four, 0, "@random", "@first")
	next()
	c.playPeopleGame("d", two, anna, berta)
	next()
	c.playPeopleGame("e", two, ladder.Person{}, anna)
	c.playGame("f", berta, two, 0, "@random")

	var seen []string
	for before := int64(0); ; {
		list := kit.Get[[]ladder.Play](t)(c.Plays.ListByPerson(bg, anna.ID, true, before, 2))
		if len(list) == 0 {
			break
		}
		for _, p := range list {
			seen = append(seen, p.ID)
			for _, s := range p.Seats {
				if s.PersonID == anna.ID {
					before = s.SatDownAt.UnixMicro()
				}
			}
		}
	}
	if !slices.Equal(seen, []string{"e", "d", "c", "b", "a"}) {
		t.Errorf("the games are %q", seen)
	}
	got := map[string]int{}
	for _, r := range kit.Get[[]ladder.PlayRecord](t)(c.Plays.RecordsOfPerson(bg, anna.ID)) {
		got[fmt.Sprint(r.Game, " ", r.People, " ", r.Bot)] = r.Games
		if want := map[bool]float64{true: 1500}[r.People]; r.Rating != want {
			t.Errorf("%s with people %v: the others are rated %v on average, want %v", r.Game, r.People, r.Rating, want)
		}
	}
	want := map[string]int{"tebes false @random": 2, "brisca false ": 1, "tebes true ": 2}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the records are %v, want %v", got, want)
	}
}
