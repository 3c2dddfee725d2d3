package site

import (
	"context"
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const (
	homeMatches = 12 // matches on the home page
	homeBots    = 6  // bots on the home page
)

type homePage struct {
	Games         []gameLadders
	LatestMatches []shownMatch
	Bots          []store.ListedBot
	Open          bool // anybody may open an account without an invite
}

// getHome serves the home page: a game in progress, the games with the best bot of each ladder, the latest
// matches and the newest bots.
func (s *Site) getHome(v *visit) error {
	page, err := s.homeData(v.ctx())
	if err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "home", page)
}

func (s *Site) homeData(ctx context.Context) (homePage, error) {
	page := homePage{Open: s.Config.HasOpenRegistration()}
	var err error
	if page.Games, err = s.gameLadders(ctx); err != nil {
		return page, err
	}
	finished, err := s.Store.Matches.List(ctx, store.MatchFilter{State: ladder.Finished, Limit: homeMatches})
	if err != nil {
		return page, err
	}
	if page.LatestMatches, err = s.withOutcomes(ctx, finished); err != nil {
		return page, err
	}
	people := false
	page.Bots, err = s.Store.Bots.Search(ctx, store.BotFilter{House: &people}, 0, homeBots)
	return page, err
}
