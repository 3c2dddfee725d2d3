package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const lostMatches = 20 // matches whose games one page lists

type lostPage struct {
	Bot         ladder.Bot
	IsOwner     bool
	Games       []lostGame
	First, Next string
}

// lostGame is a game in which a bot did not come first.
type lostGame struct {
	ladder.FinishedGame
	Match        ladder.Match
	Version      int // the version of the bot
	Seat         ladder.GameSeat
	Winners      []string // the bots with rank 1
	WinnerPoints float64  // the points of the last of Winners
	MoreGames    int      // the number of later games in the match from which the bot was disqualified, too
}

func (s *Site) getLost(v *visit, b ladder.Bot) error {
	page, before := lostPage{Bot: b, IsOwner: v.Owns(b.PersonID)}, v.before()
	list, err := s.Store.Matches.List(v.ctx(), store.MatchFilter{Bot: b.Name, State: ladder.Finished, BeforeID: before, Limit: lostMatches + 1})
	if err != nil {
		return err
	}
	list, page.First, page.Next = rowsBefore(v, "before", list, before, lostMatches, func(m ladder.Match) int64 { return m.ID })
	ids := make([]int64, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	games, err := s.Store.Matches.GamesByMatch(v.ctx(), ids)
	if err != nil {
		return err
	}
	for _, m := range list {
		page.Games = append(page.Games, lostGamesOfMatch(m, games[m.ID], b.Name)...)
	}
	return v.showPage(http.StatusOK, "lost", page)
}

// IsDisqualified reports whether the bot was not started because of its earlier faults.
func (g lostGame) IsDisqualified() bool { return g.Seat.Fault == disqualified }

// lostGamesOfMatch returns the games of match m in which the bot called bot did not come first. If a version was
// disqualified from several games, only the first of these is listed; its field MoreGames counts the others.
func lostGamesOfMatch(m ladder.Match, games []ladder.FinishedGame, bot string) (list []lostGame) {
	markDisqualified(games)
	out := map[int]int{} // by version, the index of its first disqualification in the list
	for _, g := range games {
		for _, lost := range lostInGame(m, g, bot) {
			if lost.IsDisqualified() {
				if first, found := out[lost.Version]; found {
					list[first].MoreGames++
					continue
				}
				out[lost.Version] = len(list)
			}
			list = append(list, lost)
		}
	}
	return list
}

// lostInGame returns an entry for each version of the bot called bot that did not come first in game g of
// match m. There can be several, because a bot may play a match against itself.
func lostInGame(m ladder.Match, g ladder.FinishedGame, bot string) (list []lostGame) {
	for slot, name := range m.Bots {
		if name != bot {
			continue
		}
		lost := lostGame{FinishedGame: g, Match: m, Version: m.Numbers[slot]}
		seen := false
		for _, seat := range g.Seats {
			if seat.Slot == slot && (!seen || seat.Fault != "") {
				lost.Seat, seen = seat, true
			}
			if seat.Rank == 1 && (len(lost.Winners) == 0 || m.Bots[seat.Slot] != lost.Winners[len(lost.Winners)-1]) {
				lost.Winners, lost.WinnerPoints = append(lost.Winners, m.Bots[seat.Slot]), seat.Points
			}
		}
		if seen && lost.Seat.Rank > 1 {
			list = append(list, lost)
		}
	}
	return list
}
