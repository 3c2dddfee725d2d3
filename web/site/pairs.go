package site

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
)

// pairsRows is how many versions the table of one page compares, each with a row and a column.
const pairsRows = 16

// cell is the score of the version in a row of the table against the version in a column.
type cell struct {
	store.Meeting
	Self bool   // row and column are the same version
	Tone string // "win", "loss" or "even"
	URL  string // the page about the two versions
}

// pairsRow is a version with its scores against the versions of the table's columns, in the order of the columns.
type pairsRow struct {
	ladder.Standing
	Cells []cell
}

type pairsPage struct {
	Ladder store.LadderInfo
	Rows   []pairsRow
	Pager  pager
}

// getPairs shows the score of each version of a ladder against each other version.
func (s *Site) getPairs(v *visit, l store.LadderInfo) error {
	page := pairsPage{Ladder: l}
	list, err := s.Store.Ladders.Standings(v.ctx(), l.Name)
	if err != nil {
		return err
	}
	list, page.Pager = rowsOfPage(v, list, pairsRows)
	var versions []int64
	for _, p := range list {
		versions = append(versions, p.VersionID)
	}
	met, err := s.Store.Ladders.Meetings(v.ctx(), l.Name, versions...)
	if err != nil {
		return err
	}
	for _, p := range list {
		row := pairsRow{Standing: p}
		for _, other := range list {
			c := cellOf(met[[2]int64{p.VersionID, other.VersionID}], p.VersionID == other.VersionID)
			c.URL = pairPath(l.Name, p.Bot, p.Version, other.Bot, other.Version)
			row.Cells = append(row.Cells, c)
		}
		page.Rows = append(page.Rows, row)
	}
	return v.showPage(http.StatusOK, "pairs", page)
}

func cellOf(t store.Meeting, self bool) cell {
	c := cell{Meeting: t, Self: self}
	switch {
	case t.Deals == 0:
	case t.Score > 0.55*t.Deals:
		c.Tone = "win"
	case t.Score < 0.45*t.Deals:
		c.Tone = "loss"
	default:
		c.Tone = "even"
	}
	return c
}

func pairPath(ladderName, one string, oneNumber int, other string, otherNumber int) string {
	part := func(bot string, number int) string { return url.PathEscape(bot + "@" + strconv.Itoa(number)) }
	return "/ladders/" + url.PathEscape(ladderName) + "/pairs/" + part(one, oneNumber) + "/" + part(other, otherNumber)
}
