package site

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
)

type newMatchPage struct {
	Ladders []store.LadderInfo
	Ladder  string
	Bots    string // the names of the bots, separated by spaces
	Deals   string // "" means as many as on the ladder
	Limit   int    // how many unfinished unrated matches a person may have
}

func (s *Site) getNewMatch(v *visit) error {
	q := v.query()
	return s.showNewMatch(v, newMatchPage{Ladder: q.Text("ladder"), Bots: q.Text("bot")}, nil)
}

func (s *Site) showNewMatch(v *visit, page newMatchPage, refused error) (err error) {
	if page.Ladders, err = s.activeLadders(v.ctx()); err != nil {
		return err
	}
	page.Limit = s.Config.Limits.UnratedMatches
	return v.showForm(http.StatusOK, "newmatch", page, refused)
}

func (s *Site) postNewMatch(v *visit) error {
	page := newMatchPage{Ladder: v.field("ladder"), Bots: v.field("bots"), Deals: v.field("deals")}
	deals, err := strconv.Atoi(cmp.Or(page.Deals, "0"))
	if err != nil {
		err = ladder.Errorf(ladder.Invalid, "", "deals cannot be %q", ladder.Clip(page.Deals))
	}
	var m ladder.Match
	if err == nil {
		m, err = s.Service.RequestMatch(v.ctx(), v.Actor, service.MatchRequest{
			Ladder: page.Ladder, Deals: deals,
			Bots: strings.FieldsFunc(page.Bots, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' }),
		})
	}
	if err != nil {
		return s.showNewMatch(v, page, err)
	}
	return v.redirect("/matches/" + strconv.FormatInt(m.ID, 10))
}
