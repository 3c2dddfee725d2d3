package site

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

// personBot is a bot of a person with its places on the ladders.
type personBot struct {
	store.ListedBot
	Places []ladder.Standing
}

type personPage struct {
	Person      ladder.Person
	Self        bool
	Bots        []personBot
	First, Next string // the addresses of the first and the next page of bots; "" if there is none
	Ratings     []ladder.PersonRating
	Records     []ladder.PlayRecord
	Plays       personPlays
	Links       []string // links to sign in that this session has just made for the person
}

// personPlays is a page of a person's finished games.
type personPlays struct {
	List        []ownPlay
	First, Next string // the addresses of the first and the next page; "" if there is none
}

func (s *Site) getPerson(v *visit, p ladder.Person) error {
	page := personPage{Person: p, Self: v.Person.ID == p.ID}
	for _, x := range v.secretsOf("person") {
		if x.id == p.ID {
			page.Links = append(page.Links, v.origin()+"/sign-in#"+x.text)
		}
	}
	before, played := v.before(), v.query().Number("played", 1, 1<<53-1, 0)
	if err := s.addPlays(v, &page, played); err != nil {
		return err
	}
	list, err := s.Store.Bots.ListByPerson(v.ctx(), p, before, personBots+1)
	if err != nil {
		return err
	}
	list, page.First, page.Next = rowsBefore(v, "before", list, before, personBots, func(b store.ListedBot) int64 { return b.ID })
	for _, b := range list {
		places, err := s.Store.Ladders.PlacesOfBot(v.ctx(), b.ID)
		if err != nil {
			return err
		}
		page.Bots = append(page.Bots, personBot{b, places})
	}
	return v.showPage(http.StatusOK, "person", page)
}

// addPlays adds the ratings, records and finished games of a person to the page. If before is not 0, it adds only
// games at which the person sat down before that time, in microseconds since 1970.
func (s *Site) addPlays(v *visit, page *personPage, before int64) (err error) {
	id := page.Person.ID
	if page.Ratings, err = s.Store.People.RatingsOf(v.ctx(), id); err != nil {
		return err
	}
	if page.Records, err = s.Store.Plays.RecordsOfPerson(v.ctx(), id); err != nil {
		return err
	}
	slices.SortStableFunc(page.Records, func(a, b ladder.PlayRecord) int { return cmp.Or(cmp.Compare(a.Game, b.Game), b.Games-a.Games) })
	list, err := s.Store.Plays.ListByPerson(v.ctx(), id, true, before, playsOfPerson+1)
	p := &page.Plays
	p.List, p.First, p.Next = rowsBefore(v, "played", playsOf(page.Person, list), before, playsOfPerson, func(x ownPlay) int64 { return x.SatDownAt.UnixMicro() })
	return err
}

// postSignInLink makes a link with which p can sign in once, and redirects to the page that shows it.
func (s *Site) postSignInLink(v *visit, p ladder.Person) error {
	text, _, err := s.Service.AddLink(v.ctx(), v.Actor, p.Name)
	if err != nil {
		return err
	}
	s.keepSecret(v.Session, secret{page: "person", id: p.ID, text: text})
	return v.redirect("/people/" + url.PathEscape(p.Name))
}

// removalPage is the data of a page that asks an admin whether to remove a person.
type removalPage struct {
	Person    ladder.Person
	OtherName string // the name that the person gets
	Bots      []store.ListedBot
}

// getRemoval shows a page that asks an admin whether to remove p. The page says what the removal would end, and that
// the person's bots would stay under another name of the person.
func (s *Site) getRemoval(v *visit, p ladder.Person) (err error) {
	if err := v.CheckAdmin("to remove people"); err != nil {
		return err
	}
	page := removalPage{Person: p, OtherName: store.RemovedName(p.ID)}
	if page.Bots, err = s.Store.Bots.ListByPerson(v.ctx(), p, 0, personBots); err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "removal", page)
}

func (s *Site) postRemoval(v *visit) error {
	p, err := s.Service.RemovePerson(v.ctx(), v.Actor, v.r.PathValue("name"))
	if err != nil {
		return err
	}
	return v.redirect("/people/" + p.Name)
}
