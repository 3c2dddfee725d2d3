package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

const lostMatches = 20 // on a page

type lostPage struct {
	Bot         ladder.Bot
	Own         bool
	Games       []lostGame
	First, Next string
}

// lostGame is a game in which a bot did not come first.
type lostGame struct {
	ladder.Game
	Match  ladder.Match
	Number int // of the bot's version
	Seat   ladder.GameSeat
	Others []string // the bots that were ahead
	Best   float64  // the points of the best of them
	More   int      // later games of the match from which it was disqualified, too
}

// getLost lists the games that a bot has lost, those of the last match first.
func (s *Site) getLost(v *visit, b ladder.Bot) error {
	page, before := lostPage{Bot: b, Own: v.Owns(b.PersonID)}, v.before()
	list, err := s.Store.Matches.List(v.ctx(), store.MatchFilter{Bot: b.Name, State: ladder.Finished, BeforeID: before, Limit: lostMatches + 1})
	if err != nil {
		return err
	}
	list, page.First, page.Next = older(v, "before", list, before, lostMatches, func(m ladder.Match) int64 { return m.ID })
	ids := make([]int64, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	games, err := s.Store.Matches.GamesByMatch(v.ctx(), ids)
	if err != nil {
		return err
	}
	for _, m := range list {
		page.Games = append(page.Games, lostOf(m, games[m.ID], b.Name)...)
	}
	return v.page(http.StatusOK, "lost", page)
}

// Out reports whether the bot was not started, for its faults before.
func (g lostGame) Out() bool { return g.Seat.Fault == disqualified }

// lostOf returns the games of a match that a bot lost. The first from which a version was disqualified stands for all
// of those.
func lostOf(m ladder.Match, games []ladder.Game, bot string) (list []lostGame) {
	disqualify(games)
	out := map[int]int{} // by version, its place in the list
	for _, g := range games {
		for _, lost := range lostIn(m, g, bot) {
			if lost.Out() {
				if first, found := out[lost.Number]; found {
					list[first].More++
					continue
				}
				out[lost.Number] = len(list)
			}
			list = append(list, lost)
		}
	}
	return list
}

// lostIn returns what versions of a bot lost in a game: one entry for each slot.
func lostIn(m ladder.Match, g ladder.Game, bot string) (list []lostGame) {
	for slot, name := range m.Bots {
		if name != bot {
			continue
		}
		lost := lostGame{Game: g, Match: m, Number: m.Numbers[slot]}
		seen := false
		for _, seat := range g.Seats {
			if seat.Slot == slot && (!seen || seat.Fault != "") {
				lost.Seat, seen = seat, true
			}
			if seat.Rank == 1 && (len(lost.Others) == 0 || m.Bots[seat.Slot] != lost.Others[len(lost.Others)-1]) {
				lost.Others, lost.Best = append(lost.Others, m.Bots[seat.Slot]), seat.Points
			}
		}
		if seen && lost.Seat.Rank > 1 {
			list = append(list, lost)
		}
	}
	return list
}
