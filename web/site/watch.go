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
	Names []string     // who plays
	Match ladder.Match // of a match
	Table *play.Table  // of a game of people; nil: it is a match
	Now   int64        // milliseconds since 1970
}

// getLiveMatch shows one match in progress. The page of the match has what is known of another one.
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

// watchTable shows a game of people to somebody who does not play.
func (s *Site) watchTable(v *visit, t *play.Table) error {
	page := watchPage{Topic: "table/" + t.ID, Table: t, Names: sideNames(v, t), Now: time.Now().UnixMilli()}
	return v.showPage(http.StatusOK, "watch", page)
}
