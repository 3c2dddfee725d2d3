package site

import (
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
	matchDeals  = 20 // on a page
	matchFaults = 5  // on a page are explained in full, and the others of the same game
)

type matchPage struct {
	shownMatch
	Ladder            *store.LadderInfo // nil for an unrated match
	Options           [][2]string       // those that are not the usual ones, in the game's order
	State             string            // of the message: "waiting", "interrupted", "running", "finished", "cancelled"
	LastAttempt       ladder.Attempt    // the one that counts; zero before the first
	IsLive            bool              // it can be watched now
	Seed              string            // its seed, "" while it is secret
	DealRows          []dealRow
	Faults            []faultNote
	HasMoreFaults     bool // there are more faults on the page than are explained
	Disqualifications []disqualification
	Pager             pager
}

// dealRow is a deal in the table of a match, with its games by rotation.
type dealRow struct {
	FirstDeal int
	LastDeal  int // deal that the row stands for
	Games     []dealGame
}

// dealGame is a game of a deal.
type dealGame struct {
	ladder.FinishedGame
	Slots [][]ladder.GameSeat // the seats of each bot
}

// disqualification is a bot and in how many games of the match it was not started, for its faults before them.
type disqualification struct {
	Bot   string
	Games int
}

// faultNote is a fault of a game with what is to be said of it.
type faultNote struct {
	Game                      int64
	Deal, Rotation, Seat, Ply int
	Bot                       string
	Code                      string
	Text                      phrase.Text
	Advice                    []phrase.Text // what to change, the most likely first
	Log                       string        // the end of what the bot wrote to stderr, for its owner
}

// getMatch shows all that is known of a match.
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
	usual, err := variant.Game.Resolve(nil)
	if err != nil {
		return err
	}
	for i, o := range variant.Settings {
		if o.Value != usual.Settings[i].Value {
			page.Options = append(page.Options, [2]string{o.Name, o.Value})
		}
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

// matchState returns what a match is for people.
func matchState(m ladder.Match) string {
	switch {
	case m.State == ladder.Waiting && len(m.Attempts) > 0:
		return "interrupted"
	case m.State == ladder.Dropped:
		return "cancelled"
	}
	return string(m.State)
}

// addDeals adds the games of the deals that the parameter page names, and their faults.
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

// joinAlikeDeals joins deals that follow each other if their games ended alike without a move, as when a bot was disqualified.
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

// disqualified is the code of a fault for pages: the bot was not started, for its faults in deals before.
const disqualified = "disqualified"

// markDisqualified gives that code to the seats in all games of a match, in their order, whose bots were not started.
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

// countDisqualifications counts the games of a match in which bots were disqualified.
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

// hasFault reports whether a bot that was started has a fault in a game.
func hasFault(g ladder.FinishedGame) bool {
	return slices.ContainsFunc(g.Seats, func(s ladder.GameSeat) bool { return s.Fault != "" && s.Fault != disqualified })
}

// addFaults explains the faults of the first games.
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

// explainFaults returns the faults of a game with advice to the authors.
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

// faultLog is how many lines of what a bot wrote in a game a page shows.
const faultLog = 12

// explainFault returns a fault of a game with its text and advice. All pages that tell of a fault have it from here.
// Only the owner of the bot sees what it wrote to stderr, and what follows from that.
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
	} else {
		c.Log = fault.BotLog{Private: true}
	}
	n.Text, n.Advice = f.TextIn(c), f.Reason.Advice(c)
	return n, nil
}

// titleOf returns the name of a game for people.
func titleOf(name string) string {
	if g, err := games.Find(name); err == nil {
		return g.Display.Title
	}
	return name
}
