package site

import (
	"cmp"
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/rules/games"
)

const (
	personBots    = 10 // bots on one page of a person
	playsOfPerson = 15 // games on one page of a person
	ratedPeople   = 50 // people on one page of ratings
)

type peoplePage struct {
	Game  string
	Games []ratedGame // the games in which people have ratings
	List  []ladder.PersonRating
	Pager pager
}

// ratedGame is a game and the address of the page with its ratings.
type ratedGame struct{ Name, URL string }

func (s *Site) getPeople(v *visit) error {
	var names []string
	for _, g := range games.All() {
		names = append(names, g.Name)
	}
	page := peoplePage{Game: v.query().Choice("game", names...)}
	rated, err := s.Store.People.CountRated(v.ctx())
	if err != nil {
		return err
	}
	for _, name := range names {
		if rated[name] > 0 {
			page.Game = cmp.Or(page.Game, name)
			page.Games = append(page.Games, ratedGame{name, addressWith(v.r, "game", name)})
		}
	}
	page.Game = cmp.Or(page.Game, names[0]) // nobody has a rating
	page.Pager = newPager(v, v.pageNumber(), rated[page.Game], ratedPeople)
	page.List, err = s.Store.People.RatedPeople(v.ctx(), page.Game, (page.Pager.Page-1)*ratedPeople, ratedPeople)
	if err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "people", page)
}

// Rank returns the rank in a row of the list, or 0 if the rating is provisional.
func (p peoplePage) Rank(row int) int {
	if p.List[row].Provisional {
		return 0
	}
	return p.Pager.FirstRow + row
}
