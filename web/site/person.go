package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const personBots = 10 // on a page

// personBot is a bot of a person with its places.
type personBot struct {
	store.ListedBot
	Places []ladder.Standing
}

// personPage is the data of the page "person".
type personPage struct {
	Person      ladder.Person
	Self        bool
	Bots        []personBot
	First, Next string // addresses of pages, "" at the ends
}

// person shows a person's bots and their places.
func (s *Site) person(v *visit) error {
	page := personPage{}
	var err error
	if page.Person, err = s.Store.PersonByName(v.ctx(), v.r.PathValue("name")); err != nil {
		return err
	}
	page.Self = v.visitedBy(page.Person)
	q := v.query()
	before := readBefore(q)
	if err := q.Err(); err != nil {
		return err
	}
	list, err := s.Store.BotsOf(v.ctx(), page.Person, before, personBots+1)
	if err != nil {
		return err
	}
	list, page.First, page.Next = older(v, list, before, personBots, func(b store.ListedBot) int64 { return b.ID })
	for _, b := range list {
		id, err := s.Store.Placed(v.ctx(), b.ID)
		if err != nil {
			return err
		}
		places, err := s.Store.PlacesOf(v.ctx(), id)
		if err != nil {
			return err
		}
		page.Bots = append(page.Bots, personBot{b, places})
	}
	return v.page(http.StatusOK, "person", page)
}

// visitedBy reports whether a person is the one who is signed in.
func (v *visit) visitedBy(p ladder.Person) bool { return v.Person.ID != 0 && v.Person.ID == p.ID }
