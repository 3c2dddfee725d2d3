package site

import (
	"context"
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

// How much the home page shows.
const (
	homePlaces  = 3 // of each ladder
	homeMatches = 8 // that run, and that are finished
	homeBots    = 8
)

// homePage is the data of the page "home".
type homePage struct {
	Ladders  []store.Glance
	Running  []ladder.Match
	Finished []ladder.Match
	Bots     []store.ListedBot
	Open     bool // anybody may open an account
}

// home shows the ladders at a glance, the latest matches, the newest bots and what to do first.
func (s *Site) home(v *visit) error {
	page, err := s.homeData(v.ctx())
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "home", page)
}

func (s *Site) homeData(ctx context.Context) (homePage, error) {
	page := homePage{Open: s.Config.Open()}
	var err error
	if page.Ladders, err = s.Store.Glances(ctx, homePlaces); err != nil {
		return page, err
	}
	if page.Running, err = s.Store.Matches(ctx, store.MatchFilter{State: ladder.Running, Limit: homeMatches}); err != nil {
		return page, err
	}
	if page.Finished, err = s.Store.Matches(ctx, store.MatchFilter{State: ladder.Finished, Limit: homeMatches}); err != nil {
		return page, err
	}
	people := false
	page.Bots, err = s.Store.ListBots(ctx, store.BotFilter{House: &people}, 0, homeBots)
	return page, err
}
