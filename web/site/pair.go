package site

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/rating"
)

const pairMatches = 20 // on a page

type pairPage struct {
	Ladder      store.LadderInfo
	One, Other  ladder.Version
	Met         store.Meeting
	Difference  rating.Estimate // of the Elo of One over that of Other, by these deals alone
	Bounded     bool            // the difference has an interval
	Matches     []shownMatch
	First, Next string
}

// pairPath returns the address of the page of two versions on a ladder.
func pairPath(on, one string, oneNumber int, other string, otherNumber int) string {
	part := func(bot string, number int) string { return url.PathEscape(bot + "@" + strconv.Itoa(number)) }
	return "/ladders/" + url.PathEscape(on) + "/pairs/" + part(one, oneNumber) + "/" + part(other, otherNumber)
}

// pair shows all that two versions have played against each other on a ladder.
func (s *Site) pair(v *visit, l store.LadderInfo) error {
	page := pairPage{Ladder: l}
	var err error
	if page.One, err = s.pathVersion(v, "one"); err != nil {
		return err
	}
	if page.Other, err = s.pathVersion(v, "other"); err != nil {
		return err
	}
	before := v.before()
	if page.Met, err = s.Store.Meeting(v.ctx(), l.Name, page.One.ID, page.Other.ID); err != nil {
		return err
	}
	if page.Met.Deals > 0 {
		pairs := []rating.Pair{{A: 0, B: 1, Deals: page.Met.Deals, Score: page.Met.Score, Squares: page.Met.Squares}}
		list, err := rating.FitPairs(2, pairs, &rating.Anchor{Bot: 1}).Intervals()
		if err != nil {
			return err
		}
		page.Difference = list[0]
		page.Bounded = whole(list[0].PlusMinus()) != none
	}
	list, err := s.Store.Matches(v.ctx(), store.MatchFilter{Ladder: l.Name, Version: page.One.ID, Against: page.Other.ID, Before: before, Limit: pairMatches + 1})
	if err != nil {
		return err
	}
	list, page.First, page.Next = older(v, "before", list, before, pairMatches, func(m ladder.Match) int64 { return m.ID })
	if page.Matches, err = s.shown(v.ctx(), list); err != nil {
		return err
	}
	return v.page(http.StatusOK, "pair", page)
}

// pathVersion returns the version that a part of the path names: "lola@2".
func (s *Site) pathVersion(v *visit, part string) (out ladder.Version, err error) {
	text := v.r.PathValue(part)
	at := strings.LastIndexByte(text, '@')
	number, err := strconv.Atoi(text[at+1:])
	if at < 0 || err != nil {
		return out, ladder.Errorf(ladder.NotFound, "name a version, as in lola@2", "version %q does not exist", ladder.Clip(text))
	}
	bot, err := s.Store.Bot(v.ctx(), text[:at])
	if err != nil {
		return out, err
	}
	return s.Store.VersionOf(v.ctx(), bot, number)
}
