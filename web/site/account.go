package site

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
)

// maxOwnBots is the number of bots that the account page shows. The limit of bots for one person is far lower.
const maxOwnBots = 100

// messagesPerPage is the number of messages on one page.
const messagesPerPage = 20

type accountPage struct {
	Bots     []ownBot
	Limit    int       // how many bots the person may have
	Plays    []ownPlay // the latest games of the person
	Messages []ladder.Message
	Pager    pager
	Sessions []ladder.Session
}

// ownBot is a bot of the visitor with its latest version.
type ownBot struct {
	ladder.Bot
	Last ladder.Version // the zero Version if there is none
}

// ownPlay is a game on the site in which a person has a seat.
type ownPlay struct {
	ladder.Play
	OwnSeat   int    // the seat of the person
	Result    string // the result of the person; "" if there is none
	SatDownAt time.Time
}

// playsOf returns the games in list, each with the seat of the person p. Games in which p has no seat are left out.
func playsOf(p ladder.Person, list []ladder.Play) (out []ownPlay) {
	for _, play := range list {
		for _, seat := range play.Seats {
			if seat.PersonID == p.ID {
				out = append(out, ownPlay{play, seat.Seat, ladder.PlayResult(seat.Record), seat.SatDownAt})
				break
			}
		}
	}
	return out
}

// getAccount shows the visitor's own bots, games, messages and sessions. It marks the messages that it shows
// as read.
func (s *Site) getAccount(v *visit) error {
	page := accountPage{Limit: s.Config.Limits.Bots}
	bots, err := s.Store.Bots.ListOwn(v.ctx(), v.Person.ID, 0, maxOwnBots)
	if err != nil {
		return err
	}
	ids := make([]int64, len(bots))
	for i, b := range bots {
		ids[i] = b.ID
	}
	last, err := s.Store.Versions.LastOfBots(v.ctx(), ids)
	if err != nil {
		return err
	}
	for _, b := range bots {
		page.Bots = append(page.Bots, ownBot{b, last[b.ID]})
	}
	plays, err := s.Store.Plays.ListByPerson(v.ctx(), v.Person.ID, false, 0, botPlays)
	if err != nil {
		return err
	}
	page.Plays = playsOf(v.Person, plays)
	all, err := s.Store.People.LastMessages(v.ctx(), v.Person.ID, maxMessages)
	if err != nil {
		return err
	}
	page.Messages, page.Pager = rowsOfPage(v, all, messagesPerPage)
	if err := v.query().Err(); err != nil {
		return err
	}
	if slices.ContainsFunc(page.Messages, func(m ladder.Message) bool { return m.SeenAt.IsZero() }) {
		first, last := page.Messages[len(page.Messages)-1].ID, page.Messages[0].ID
		if err := s.Store.People.MarkSeen(v.ctx(), v.Person.ID, first, last); err != nil {
			return err
		}
	}
	if page.Sessions, err = s.Service.Sessions(v.ctx(), v.Actor); err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "account", page)
}

// maxMessages is the number of messages, counted from the latest, that a person can view.
const maxMessages = 500

// postID returns a handler for the forms in the rows of a list, such as a button that deletes a row. The handler
// calls do with the number in the form field "id", and then redirects to the page with the list, whose address is
// list.
func (s *Site) postID(list string, do func(context.Context, service.Actor, int64) error) func(*visit) error {
	return func(v *visit) error {
		id, err := v.number("id")
		if err == nil {
			err = do(v.ctx(), v.Actor, id)
		}
		if err != nil {
			return err
		}
		return v.redirect(list)
	}
}
