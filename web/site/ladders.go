package site

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules/games"
)

// ladderPlaces is the number of top places that a summary of a ladder shows.
const ladderPlaces = 3

// gameLadders is a game with the summaries of its ladders.
type gameLadders struct {
	Name, Title string
	Picture     string // the name of the file of its picture
	Ladders     []shownLadder
}

// picture returns the file name of the picture of a game. Games that other Go modules add have no picture of
// their own, so it returns a common one for them.
func (s *Site) picture(game string) string {
	if name := "home/" + game + ".svg"; s.assets.has(name) {
		return name
	}
	return "home/other.svg"
}

// shownLadder is the summary of a ladder.
type shownLadder struct {
	store.LadderSummary
	Rules string // its title without the name of the game; "" if nothing is left
}

type laddersPage struct{ Games []gameLadders }

// getLadders shows all active ladders, grouped by game.
func (s *Site) getLadders(v *visit) error {
	list, err := s.gameLadders(v.ctx())
	if err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "ladders", laddersPage{list})
}

// gameLadders returns the games that have active ladders.
func (s *Site) gameLadders(ctx context.Context) (list []gameLadders, err error) {
	summaries, err := s.Store.Ladders.Summaries(ctx, ladderPlaces)
	if err != nil {
		return nil, err
	}
	for _, g := range games.All() {
		game := gameLadders{Name: g.Name, Title: titleOf(g.Name), Picture: s.picture(g.Name)}
		for _, l := range summaries {
			if l.Game != g.Name {
				continue
			}
			rules := l.Title
			if rest, ok := strings.CutPrefix(l.Title, game.Title); ok {
				rules = strings.TrimLeft(rest, ",: ")
			}
			game.Ladders = append(game.Ladders, shownLadder{l, rules})
		}
		if len(game.Ladders) > 0 {
			list = append(list, game)
		}
	}
	return list, nil
}

func (s *Site) activeLadders(ctx context.Context) ([]store.LadderInfo, error) {
	all, err := s.Store.Ladders.List(ctx)
	return slices.DeleteFunc(all, func(l store.LadderInfo) bool { return !l.Active }), err
}
