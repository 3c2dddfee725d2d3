package site

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
)

// maxOwnBots is how many bots the page of an account shows. ladder.Limits.Bots is far lower.
const maxOwnBots = 100

// messagesPerPage is how many messages a page shows.
const messagesPerPage = 20

type accountPage struct {
	Bots     []ownBot
	Limit    int       // of bots
	Plays    []ownPlay // the last ones
	Messages []ladder.Message
	Pager    pager
	Sessions []ladder.Session
}

// ownBot is a bot of the person who is signed in, with its last version.
type ownBot struct {
	ladder.Bot
	Last ladder.Version // ID 0: none
}

// ownPlay is a game in which a person sat.
type ownPlay struct {
	ladder.Play
	Own    int    // the seat
	Result string // of the person; "" for none
	Sat    time.Time
}

// playsOf returns games as those of a person.
func playsOf(p ladder.Person, list []ladder.Play) (out []ownPlay) {
	for _, play := range list {
		for _, seat := range play.Seats {
			if seat.PersonID == p.ID {
				out = append(out, ownPlay{play, seat.Seat, ladder.PlayResult(seat.Record), seat.Sat})
				break
			}
		}
	}
	return out
}

// getAccount shows one's own bots, messages and sessions.
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
	last, err := s.Store.Versions.Last(v.ctx(), ids)
	if err != nil {
		return err
	}
	for _, b := range bots {
		page.Bots = append(page.Bots, ownBot{b, last[b.ID]})
	}
	plays, err := s.Store.Plays.OfPerson(v.ctx(), v.Person.ID, false, 0, botPlays)
	if err != nil {
		return err
	}
	page.Plays = playsOf(v.Person, plays)
	all, err := s.Store.People.LastMessages(v.ctx(), v.Person.ID, maxMessages)
	if err != nil {
		return err
	}
	page.Messages, page.Pager = paged(v, all, messagesPerPage)
	if err := v.query().Err(); err != nil {
		return err
	}
	if slices.ContainsFunc(page.Messages, func(m ladder.Message) bool { return m.Seen.IsZero() }) {
		first, last := page.Messages[len(page.Messages)-1].ID, page.Messages[0].ID
		if err := s.Store.People.SetSeen(v.ctx(), v.Person.ID, first, last); err != nil {
			return err
		}
	}
	if page.Sessions, err = s.Service.Sessions(v.ctx(), v.Actor); err != nil {
		return err
	}
	return v.page(http.StatusOK, "account", page)
}

// maxMessages is how many messages a person can page through.
const maxMessages = 500

type tokensPage struct {
	Valid []ladder.Token
	Label string // asked for
	Scope ladder.Scope
	Days  string // as it was chosen
	Made  string // the text of a new token, shown this once
}

// scopes are those that a new token can have.
var scopes = []ladder.Scope{ladder.ScopeSubmit, ladder.ScopeRead, ladder.ScopeAll}

// The days after which a new token or invite can expire.
var expiries = []int{1, 7, 30, 90, 365}

// getTokens lists one's own tokens.
func (s *Site) getTokens(v *visit) error {
	return s.showTokens(v, http.StatusOK, tokensPage{Days: "90"}, nil)
}

func (s *Site) showTokens(v *visit, status int, page tokensPage, refused error) error {
	all, err := s.Service.Tokens(v.ctx(), v.Actor)
	if err != nil {
		return err
	}
	now := s.Service.Now()
	page.Valid = slices.DeleteFunc(all, func(t ladder.Token) bool {
		return !t.Revoked.IsZero() || !t.Expires.IsZero() && !t.Expires.After(now)
	})
	if page.Made != "" {
		v.w.Header().Set("Cache-Control", "no-store")
	}
	return v.form(status, "tokens", page, refused)
}

// postToken makes a token, and shows it.
func (s *Site) postToken(v *visit) error {
	page := tokensPage{Days: v.field("days"), Label: v.field("label"), Scope: ladder.Scope(v.field("scope"))}
	expires, err := v.expiry(page.Days)
	if err == nil {
		page.Made, _, err = s.Service.AddToken(v.ctx(), v.Actor, page.Label, page.Scope, expires)
	}
	return s.showTokens(v, http.StatusCreated, page, err)
}

// expiry returns the time after so many days, as a form has them; "" is never.
func (v *visit) expiry(days string) (time.Time, error) {
	if days == "" {
		return time.Time{}, nil
	}
	n, err := strconv.Atoi(days)
	if err != nil || !slices.Contains(expiries, n) {
		return time.Time{}, ladder.Errorf(ladder.Invalid, "", "expiry cannot be %q days", ladder.Clip(days))
	}
	return v.site.Service.Now().Add(time.Duration(n) * 24 * time.Hour), nil
}

// postID does what a button of a list says with the thing whose ID the form has, and shows the list again.
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

type invitesPage struct {
	List []ladder.Invite
	Name string
	Days string
	Code string // of a new invite, shown this once
	Link string // to the page to join with the new invite
}

// getInvites lists the invites that can be used.
func (s *Site) getInvites(v *visit) error {
	return s.showInvites(v, http.StatusOK, invitesPage{Days: "30"}, nil)
}

func (s *Site) showInvites(v *visit, status int, page invitesPage, refused error) (err error) {
	if page.List, err = s.Service.Invites(v.ctx(), v.Actor); err != nil {
		return err
	}
	if page.Code != "" {
		page.Link = v.origin() + "/join#" + page.Code
		v.w.Header().Set("Cache-Control", "no-store")
	}
	return v.form(status, "invites", page, refused)
}

// postInvite makes an invite, and shows its code.
func (s *Site) postInvite(v *visit) error {
	page := invitesPage{Name: v.field("name"), Days: v.field("days")}
	expires, err := v.expiry(page.Days)
	if err == nil {
		page.Code, _, err = s.Service.AddInvite(v.ctx(), v.Actor, page.Name, expires)
	}
	return s.showInvites(v, http.StatusCreated, page, err)
}

// peoplePerPage is how many people a page shows.
const peoplePerPage = 50

type membersPage struct {
	List  []ladder.Person
	Query string
	Pager pager
	Name  string // of the person with a new token
	Made  string // its text, shown this once
}

// getMembers lists all people, for admins.
func (s *Site) getMembers(v *visit) error { return s.showMembers(v, membersPage{}) }

func (s *Site) showMembers(v *visit, page membersPage) error {
	page.Query = v.query().Text("q")
	all, err := s.Service.People(v.ctx(), v.Actor)
	if err != nil {
		return err
	}
	found := slices.DeleteFunc(all, func(p ladder.Person) bool { return !strings.Contains(p.Name, strings.ToLower(page.Query)) })
	page.List, page.Pager = paged(v, found, peoplePerPage)
	return v.page(http.StatusOK, "members", page)
}

// postReset makes a token for a person who has lost theirs, and shows it.
func (s *Site) postReset(v *visit) (err error) {
	page := membersPage{Name: v.field("name")}
	if page.Made, err = s.Service.ResetTokens(v.ctx(), v.Actor, page.Name); err != nil {
		return err
	}
	v.w.Header().Set("Cache-Control", "no-store")
	return s.showMembers(v, page)
}

// postBlock blocks or unblocks a person.
func (s *Site) postBlock(v *visit) error {
	blocked := v.r.PathValue("what") == "block"
	if !blocked && v.r.PathValue("what") != "unblock" {
		return ladder.Errorf(ladder.NotFound, "", "%q does not exist", ladder.Clip(v.r.URL.Path))
	}
	if _, err := s.Service.Block(v.ctx(), v.Actor, v.field("name"), blocked); err != nil {
		return err
	}
	return v.redirect("/account/people")
}
