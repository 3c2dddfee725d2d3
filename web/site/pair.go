package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/stats"
)

const pairMatches = 20 // matches on one page

type pairPage struct {
	Ladder      store.LadderInfo
	One, Other  ladder.Version
	Meeting     store.Meeting
	Difference  stats.Estimate // the Elo of One minus that of Other, estimated from their deals against each other alone
	Bounded     bool           // Difference has an interval
	Matches     []shownMatch
	First, Next string
}

// getPair shows the results of two versions against each other on a ladder.
func (s *Site) getPair(v *visit, l store.LadderInfo) error {
	page := pairPage{Ladder: l}
	var err error
	if page.One, err = s.pathVersion(v, "one"); err != nil {
		return err
	}
	if page.Other, err = s.pathVersion(v, "other"); err != nil {
		return err
	}
	before := v.before()
	met, err := s.Store.Ladders.Meetings(v.ctx(), l.Name, page.One.ID, page.Other.ID)
	if err != nil {
		return err
	}
	page.Meeting = met[[2]int64{page.One.ID, page.Other.ID}]
	if page.Meeting.Deals > 0 {
		pairs := []stats.Pair{{A: 0, B: 1, Deals: page.Meeting.Deals, Score: page.Meeting.Score, Squares: page.Meeting.Squares}}
		list, err := stats.FitPairs(2, pairs, &stats.Anchor{Bot: 1}).Intervals()
		if err != nil {
			return err
		}
		page.Difference = list[0]
		page.Bounded = wholeNumber(list[0].PlusMinus()) != unknownValue
	}
	list, err := s.Store.Matches.List(v.ctx(), store.MatchFilter{Ladder: l.Name, Version: page.One.ID, Opponent: page.Other.ID, BeforeID: before, Limit: pairMatches + 1})
	if err != nil {
		return err
	}
	list, page.First, page.Next = rowsBefore(v, "before", list, before, pairMatches, func(m ladder.Match) int64 { return m.ID })
	if page.Matches, err = s.withOutcomes(v.ctx(), list); err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "pair", page)
}

// pathVersion returns the version of a bot that a path parameter names, such as "lola@2".
func (s *Site) pathVersion(v *visit, part string) (ladder.Version, error) {
	bot, number, err := service.SplitRef(v.r.PathValue(part))
	if err != nil {
		return ladder.Version{}, err
	}
	return s.Service.FindVersion(v.ctx(), bot, number)
}
