package site

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/matchmaking"
	"github.com/timba-arena/timba/ladder/rating"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules/games"
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
	store.LadderSummary
	Rules string // the rest of its title after that of the game; "" for none
}

type laddersPage struct{ Games []gameLadders }

// getLadders shows all ladders that are played, by game.
func (s *Site) getLadders(v *visit) error {
	list, err := s.gameLadders(v.ctx())
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "ladders", laddersPage{list})
}

// gameLadders returns the games that have ladders.
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

// How much the home page shows.
const (
	homeMatches = 12
	homeBots    = 6
)

type homePage struct {
	Games    []gameLadders
	Finished []shownMatch
	Bots     []store.ListedBot
	Open     bool // anybody may open an account
}

// getHome shows a game that is being played, the games with the best bot of each ladder, the latest
// matches, the newest bots and what to do first.
func (s *Site) getHome(v *visit) error {
	page, err := s.homeData(v.ctx())
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "home", page)
}

func (s *Site) homeData(ctx context.Context) (homePage, error) {
	page := homePage{Open: s.Config.Open()}
	var err error
	if page.Games, err = s.gameLadders(ctx); err != nil {
		return page, err
	}
	finished, err := s.Store.Matches.List(ctx, store.MatchFilter{State: ladder.Finished, Limit: homeMatches})
	if err != nil {
		return page, err
	}
	if page.Finished, err = s.shown(ctx, finished); err != nil {
		return page, err
	}
	people := false
	page.Bots, err = s.Store.Bots.Search(ctx, store.BotFilter{House: &people}, 0, homeBots)
	return page, err
}

type ratingsPage struct {
	Document  *document
	Ladders   []store.LadderInfo // that play
	Constants []constant
}

// constant is a constant of the ladder; its message is ratings.constant.KEY.
type constant struct {
	Key   string
	Value any
}

// getRatings explains how the ladder rates and pairs bots: the constants of the program and of this
// server, and the document.
func (s *Site) getRatings(v *visit) error {
	d, err := v.documentOf("/ratings")
	if err != nil {
		return err
	}
	active, err := s.activeLadders(v.ctx())
	if err != nil {
		return err
	}
	return v.page(http.StatusOK, "ratings", ratingsPage{d, active, constants()})
}

// activeLadders returns the ladders that play.
func (s *Site) activeLadders(ctx context.Context) ([]store.LadderInfo, error) {
	all, err := s.Store.Ladders.List(ctx)
	return slices.DeleteFunc(all, func(l store.LadderInfo) bool { return !l.Active }), err
}

func constants() []constant {
	m := matchmaking.Constants()
	return []constant{
		{"anchor", ladder.Anchor},
		{"anchor-elo", rating.Current.Anchor},
		{"start", rating.Current.Start},
		{"newcomer", rating.Current.Newcomer},
		{"enough", ladder.EnoughMatches},
		{"half-urgent", m.HalfUrgent},
		{"uncertain", m.Uncertain},
		{"often", m.Often},
		{"related", m.Related},
		{"chance", m.Chance},
		{"share", ladder.UnratedShare},
	}
}

const (
	machineRows    = 50 // on a page
	machineMatches = 4  // of a machine that are named
)

type machinesPage struct {
	Machines []machineRow
	Pager    pager
	// Of all machines:
	Cores    int // that get matches
	Playing  int // matches
	LastHour int
}

// machineRow is a machine in the table.
type machineRow struct {
	ladder.Machine
	More int // matches that it plays and that are not named
}

// getMachines lists the machines that are there, and what they play.
func (s *Site) getMachines(v *visit) error {
	all, err := s.Machines()
	if err != nil {
		return fmt.Errorf("the machines: %w", err)
	}
	var page machinesPage
	var rows []machineRow
	for _, m := range all {
		if m.State == ladder.MachineAway {
			continue
		}
		if m.State == ladder.MachineReady {
			page.Cores += m.Cores
		}
		page.Playing += len(m.Playing)
		page.LastHour += m.LastHour
		row := machineRow{Machine: m, More: max(0, len(m.Playing)-machineMatches)}
		row.Playing = m.Playing[:min(len(m.Playing), machineMatches)]
		rows = append(rows, row)
	}
	page.Machines, page.Pager = paged(v, rows, machineRows)
	return v.page(http.StatusOK, "machines", page)
}
