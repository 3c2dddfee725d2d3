package site

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/web/play"
)

type playedPage struct {
	ladder.Play
	gameView
	OwnSeat  int         // the visitor's seat, or -1
	Seat     int         // the seat that Card is about
	Rematch  *play.Table // a rematch that waits for people, or nil
	Card     *resultCard // nil if the game ended without a result
	Cause    ladder.BreakReason
	Culprit  string // the bot that broke the game
	IsReview bool   // the address names a position to show, so the page hides the card
}

// OtherGameURL returns the address of the form to choose another game, filled in with the choices of this one.
func (p playedPage) OtherGameURL() string { return formOf(p.Play).address() }

// OffersRematch reports whether the page can show an offer of a rematch: the visitor played in the game, and
// so did at least one other person.
func (p playedPage) OffersRematch() bool { return p.OwnSeat >= 0 && len(p.People()) > 1 }

// showPlayedGame serves the page of a game that is over.
func (s *Site) showPlayedGame(v *visit, id string) error {
	page := playedPage{IsReview: v.query().Text("ply") != ""}
	var err error
	if page.Play, err = s.Store.Plays.Find(v.ctx(), id); err != nil {
		return err
	}
	page.gameView.Title, page.OwnSeat, page.Rematch = titleOf(page.Game), visitorSeat(v, page.Play), s.Play.Rematch(id)
	if page.State != ladder.PlayFinished {
		page.Cause, page.Culprit = cmp.Or(page.BreakReason, ladder.BrokenByFailure).Cause() // a game that is still open here could not be finished
		page.Culprit = v.site.botTitle(v.language, page.Culprit)
		return v.showPage(http.StatusOK, "played", page)
	}
	data, err := s.Store.Plays.Replay(v.ctx(), id)
	if err != nil {
		return err
	}
	r, g, err := decodeReplay(id, data)
	if err != nil {
		return err
	}
	page.nameSeats(v, r)
	if page.gameView, err = newGameView(id, r, g); err != nil {
		return err
	}
	page.Seat = seatOfResult(page.Play, page.OwnSeat, r.Ranks)
	if page.Card, err = newResultCard(v, page.Play, page.Seat, page.OwnSeat, r, g, page.names(), page.BoardGame); err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "played", page)
}

// nameSeats replaces the names of the seats in the replay r by the names for the visitor, such as "You".
func (p *playedPage) nameSeats(v *visit, r *referee.Replay) {
	names := make([]string, len(r.Seats))
	for _, x := range p.Seats {
		names[x.Seat] = v.site.seatName(v.language, cmp.Or(x.Bot, x.Person), x.BotID != 0)
	}
	numberNames(v.language, names)
	for _, x := range p.Seats {
		if r.Seats[x.Seat].Name = names[x.Seat]; x.Seat == p.OwnSeat {
			r.Seats[x.Seat].Name = v.t("person.you")
		}
		if strings.HasPrefix(x.Bot, "@") {
			r.Seats[x.Seat].Version = "" // a house bot has the version of the program
		}
	}
}

func (p *playedPage) names() (list []string) {
	for _, s := range p.BoardGame.Seats {
		list = append(list, s.Name)
	}
	return list
}
