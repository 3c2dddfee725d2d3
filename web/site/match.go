package site

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/rules"
	"github.com/timba-arena/timba/rules/games"
	"github.com/timba-arena/timba/web/middleware"
)

const (
	matchDeals  = 20 // deals on one page
	matchFaults = 5  // after so many faults, a page explains no further games
)

type matchPage struct {
	shownMatch
	Ladder            *store.LadderInfo // nil for an unrated match
	Options           [][2]string       // the names and values of options that are not the defaults, in the game's order
	State             string            // the state as in the keys of texts; see matchState
	LastAttempt       ladder.Attempt    // the latest attempt; zero if there is none
	IsLive            bool              // it can be watched now
	Seed              string            // the seed of LastAttempt; "" while it is secret
	DealRows          []dealRow
	Faults            []faultNote
	HasMoreFaults     bool // the page has more faults than it explains
	Disqualifications []disqualification
	Pager             pager
}

// dealRow is a row in the table of a match. It has one deal with its games, one for each rotation (seating of the
// bots), or several consecutive deals that ended in the same way.
type dealRow struct {
	FirstDeal int
	LastDeal  int // equal to FirstDeal if the row is a single deal
	Games     []dealGame
}

// dealGame is one game in a dealRow.
type dealGame struct {
	ladder.FinishedGame
	Slots [][]ladder.GameSeat // the seats of each slot
}

// disqualification counts the games of a match in which a bot was not started because of its earlier faults.
type disqualification struct {
	Bot   string
	Games int
}

// faultNote is a fault in a game with an explanation.
type faultNote struct {
	Game                      int64 // the ID of the game; 0 for a test game
	Deal, Rotation, Seat, Ply int
	Bot                       string
	Code                      string
	Text                      phrase.Text
	Advice                    []phrase.Text // what the author can change, the most likely remedy first
	Log                       string        // the end of the bot's standard error, which only the owner sees
	Edit                      string        // the address at which the owner edits the version; "" for others
}

func (s *Site) getMatch(v *visit) error {
	id, err := middleware.PathID(v.r, "match")
	if err != nil {
		return err
	}
	m, err := s.Store.Matches.Find(v.ctx(), id)
	if err != nil {
		return err
	}
	page := matchPage{shownMatch: shownMatch{Match: m}, State: matchState(m)}
	variant, err := m.Variant()
	if err != nil {
		return err
	}
	if page.Options, err = changedOptions(variant); err != nil {
		return err
	}
	if m.Ladder != "" {
		l, err := s.Store.Ladders.Find(v.ctx(), m.Ladder)
		if err != nil {
			return err
		}
		page.Ladder = &l
	}
	page.IsLive = m.State == ladder.Running && s.isLive(m.ID)
	if n := len(m.Attempts); n > 0 {
		page.LastAttempt = m.Attempts[n-1]
		if page.LastAttempt.Seed != nil {
			page.Seed = page.LastAttempt.Seed.String()
		}
	}
	if m.State == ladder.Finished {
		if err := s.addDeals(v, &page, variant); err != nil {
			return err
		}
	}
	return v.showPage(http.StatusOK, "match", page)
}

// changedOptions returns the names and values of those options of v that are not the defaults, in the game's order.
func changedOptions(v *rules.Variant) (changed [][2]string, err error) {
	usual, err := v.Game.Resolve(nil)
	if err != nil {
		return nil, err
	}
	for i, o := range v.Settings {
		if o.Value != usual.Settings[i].Value {
			changed = append(changed, [2]string{o.Name, o.Value})
		}
	}
	return changed, nil
}

// matchState returns the state of a match as it is written in the keys of texts: "waiting", "interrupted", "running",
// "finished" or "cancelled".
func matchState(m ladder.Match) string {
	switch {
	case m.State == ladder.Waiting && len(m.Attempts) > 0:
		return "interrupted"
	case m.State == ladder.Dropped:
		return "cancelled"
	}
	return string(m.State)
}

// addDeals adds to page the deals in the part of the table that the query parameter "page" selects, and the faults in
// their games. It also adds the outcome and the disqualifications of the whole match. variant is the game with the
// match's options.
func (s *Site) addDeals(v *visit, page *matchPage, variant *rules.Variant) error {
	deals := make([]int, page.Deals)
	for i := range deals {
		deals[i] = i
	}
	deals, page.Pager = rowsOfPage(v, deals, matchDeals)
	if len(deals) == 0 {
		return nil
	}
	list, err := s.Store.Matches.Games(v.ctx(), page.ID)
	if err != nil {
		return err
	}
	page.Outcome = outcomeOf(len(page.Bots), variant.Sides, list)
	markDisqualified(list)
	page.countDisqualifications(list)
	list = slices.DeleteFunc(list, func(g ladder.FinishedGame) bool { return !slices.Contains(deals, g.Deal) })
	for _, g := range list {
		game := dealGame{g, make([][]ladder.GameSeat, len(page.Bots))}
		for _, seat := range g.Seats {
			game.Slots[seat.Slot] = append(game.Slots[seat.Slot], seat)
		}
		if n := len(page.DealRows); n == 0 || page.DealRows[n-1].FirstDeal != g.Deal {
			page.DealRows = append(page.DealRows, dealRow{FirstDeal: g.Deal, LastDeal: g.Deal})
		}
		last := &page.DealRows[len(page.DealRows)-1]
		last.Games = append(last.Games, game)
	}
	page.DealRows = joinAlikeDeals(page.DealRows)
	return s.addFaults(v, page, slices.DeleteFunc(list, func(g ladder.FinishedGame) bool { return !hasFault(g) }))
}

// joinAlikeDeals joins consecutive deals into one row if their games ended in the same way without a move, for
// example because a bot is disqualified.
func joinAlikeDeals(rows []dealRow) (out []dealRow) {
	alike := func(a, b dealGame) bool {
		return a.Plies == 0 && b.Plies == 0 && reflect.DeepEqual(a.Slots, b.Slots)
	}
	for _, row := range rows {
		if n := len(out); n > 0 && slices.EqualFunc(out[n-1].Games, row.Games, alike) {
			out[n-1].LastDeal = row.FirstDeal
		} else {
			out = append(out, row)
		}
	}
	return out
}

// disqualified is what pages show in place of the code of a fault if the bot was not started because of its
// faults in earlier deals.
const disqualified = "disqualified"

// markDisqualified sets the fault code disqualified for each seat whose bot was not started because of its
// faults in earlier deals. games are all games of a match, in order.
func markDisqualified(games []ladder.FinishedGame) {
	faults := map[int][]int{} // the deals of the faults, by slot
	for i, g := range games {
		games[i].Seats = slices.Clone(g.Seats)
		for k, seat := range g.Seats {
			earlier := 0
			for _, deal := range faults[seat.Slot] {
				if deal < g.Deal {
					earlier++
				}
			}
			if seat.Fault != "" && earlier >= referee.MaxFaults {
				games[i].Seats[k].Fault = disqualified
			}
		}
		for _, seat := range g.Seats {
			for range seat.Faults {
				faults[seat.Slot] = append(faults[seat.Slot], g.Deal)
			}
		}
	}
}

// countDisqualifications counts, for each bot, the games of the match in which it was not started because of its
// earlier faults.
func (p *matchPage) countDisqualifications(games []ladder.FinishedGame) {
	left := make([]int, len(p.Bots))
	for _, g := range games {
		for _, seat := range g.Seats {
			if seat.Fault == disqualified {
				left[seat.Slot]++
			}
		}
	}
	for slot, n := range left {
		if n > 0 {
			p.Disqualifications = append(p.Disqualifications, disqualification{p.Bots[slot], n})
		}
	}
}

func hasFault(g ladder.FinishedGame) bool {
	return slices.ContainsFunc(g.Seats, func(s ladder.GameSeat) bool { return s.Fault != "" && s.Fault != disqualified })
}

// addFaults adds the faults in the games in list, with explanations, to page. It stops when page has at least
// matchFaults faults; if games remain then, it sets page.HasMoreFaults.
func (s *Site) addFaults(v *visit, page *matchPage, list []ladder.FinishedGame) error {
	for _, g := range list {
		if len(page.Faults) >= matchFaults {
			page.HasMoreFaults = true
			return nil
		}
		r, _, err := s.loadReplay(v, g.ID)
		if err != nil {
			return err
		}
		notes, err := s.explainFaults(v, page.Match, g, r)
		if err != nil {
			return err
		}
		page.Faults = append(page.Faults, notes...)
	}
	return nil
}

func (s *Site) explainFaults(v *visit, m ladder.Match, g ladder.FinishedGame, r *referee.Replay) (list []faultNote, err error) {
	for _, f := range r.Faults {
		n, err := s.explainFault(v, m, g, r, f)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// faultLog is the number of lines of a bot's standard error that the explanation of a fault contains.
const faultLog = 12

// explainFault returns the fault f in the replay r of game g with its text and advice. All pages explain faults
// through it. If the visitor owns the bot, the explanation includes the end of the bot's standard error and advice
// that follows from it.
func (s *Site) explainFault(v *visit, m ladder.Match, g ladder.FinishedGame, r *referee.Replay, f referee.Fault) (n faultNote, err error) {
	slot := g.Seats[f.Seat].Slot
	n = faultNote{Game: g.ID, Deal: g.Deal, Rotation: g.Rotation, Seat: f.Seat, Ply: f.Ply, Bot: m.Bots[slot], Code: string(f.Code), Text: phrase.Plain(f.Text)}
	if f.Reason.Kind == fault.Disqualified {
		n.Code = disqualified
	}
	version, err := s.Store.Versions.Find(v.ctx(), m.Versions[slot])
	if err != nil || f.Reason.Kind == "" {
		return n, err
	}
	log, err := s.Store.Matches.Log(v.ctx(), g.ID, f.Seat)
	if err != nil {
		return n, err
	}
	bot := match.Contestant{Language: version.Language, Sandbox: &match.Sandbox{Limit: s.Config.BotLimit()}}
	if version.Remote {
		bot.Sandbox = nil // it runs on its owner's machine
	}
	c := bot.InCompetition(r, f, log)
	if v.Owns(version.Owner) {
		n.Log = strings.Join(fault.LogEnd(c.Log.Lines, faultLog), "\n")
		if hasSource(version) {
			n.Edit = fmt.Sprintf("/games/%d/edit/%d", g.ID, f.Seat)
		}
	} else {
		c.Log = fault.BotLog{Private: true}
	}
	n.Text, n.Advice = f.TextIn(c), f.Reason.Advice(c)
	return n, nil
}

// titleOf returns the title of a game for people. claim is the name of the game, perhaps with options, such as
// "brisca players=2". If the game does not exist, titleOf returns claim.
func titleOf(claim string) string {
	name, options := rules.SplitClaim(claim)
	g, err := games.Find(name)
	if err != nil {
		return claim
	}
	if len(options) == 0 {
		return g.Display.Title
	}
	return g.Display.Title + " (" + rules.Settings(options).String() + ")"
}
