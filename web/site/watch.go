package site

import (
	"net/http"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/play"
)

type watchPage struct {
	Topic string
	Names []string     // the names of the players, partners together
	Match ladder.Match // the match; zero for a game of people
	Table *play.Table  // the table of a game of people; nil for a match
	Now   int64        // the server's time in milliseconds since 1970
}

// getLiveMatch serves the page that shows a match in progress. If the match is not in progress, it redirects to the
// page about the match.
func (s *Site) getLiveMatch(v *visit) error {
	id, err := middleware.PathID(v.r, "match")
	if err != nil {
		return err
	}
	page := watchPage{Now: time.Now().UnixMilli()}
	if page.Match, err = s.Store.Matches.Find(v.ctx(), id); err != nil {
		return err
	}
	if !s.isLive(id) {
		return v.redirect("/matches/" + v.r.PathValue("match"))
	}
	page.Topic, page.Names = "match/"+v.r.PathValue("match"), page.Match.Bots
	return v.showPage(http.StatusOK, "watch", page)
}

// watchTable serves the page that shows a game of people to a visitor who does not play.
func (s *Site) watchTable(v *visit, t *play.Table) error {
	page := watchPage{Topic: "table/" + t.ID, Table: t, Names: sideNames(v, t), Now: time.Now().UnixMilli()}
	return v.showPage(http.StatusOK, "watch", page)
}
