package site

import (
	"context"
	"net/http"
	"strings"

	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/rules/games"
)

// ladderPlaces is how many places of each ladder are shown at a glance.
const ladderPlaces = 3

// gameLadders is a game with its ladders.
type gameLadders struct {
	Name, Title string
	Picture     string // the name of a file
	Ladders     []shownLadder
}

// picture returns the name of the file with the picture of a game. Games of other modules share one.
func (s *Site) picture(game string) string {
	if name := "home/" + game + ".svg"; s.assets.has(name) {
		return name
	}
	return "home/other.svg"
}

// shownLadder is a ladder at a glance.
type shownLadder struct {
	store.Glance
	Rules string // the rest of its title after that of the game; "" for none
}

type laddersPage struct{ Games []gameLadders }

// ladders shows all ladders that are played, by game.
func (s *Site) ladders(v *visit) error {
	list, err := s.gameLadders(v.ctx())
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "ladders", laddersPage{list})
}

// gameLadders returns the games that have ladders.
func (s *Site) gameLadders(ctx context.Context) (list []gameLadders, err error) {
	glances, err := s.Store.Glances(ctx, ladderPlaces)
	if err != nil {
		return nil, err
	}
	for _, g := range games.All() {
		game := gameLadders{Name: g.Name, Title: titleOf(g.Name), Picture: s.picture(g.Name)}
		for _, l := range glances {
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
