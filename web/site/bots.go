package site

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/ladder/store"
)

const (
	botsRows          = 50 // bots on one page
	maxLanguages      = 40 // languages that the filter offers
	maxLanguageLength = 24 // characters; the filter does not offer languages with longer names
)

type botsPage struct {
	Query     string // a part of a bot's or an owner's name
	OwnerKind string // "people", "house", or "" for both
	Ladder    string
	Language  string
	Ladders   []store.LadderInfo
	Languages []string
	Bots      []store.ListedBot
	First     string // the address of the first page; "" on that page
	Next      string // the address of the next page; "" on the last one
}

// HasFilter reports whether the filter may leave out bots.
func (p botsPage) HasFilter() bool {
	return p.Query != "" || p.OwnerKind != "" || p.Ladder != "" || p.Language != ""
}

func (p botsPage) filter() store.BotFilter {
	f := store.BotFilter{Name: p.Query, Ladder: p.Ladder, Language: p.Language}
	if p.OwnerKind != "" {
		house := p.OwnerKind == "house"
		f.House = &house
	}
	return f
}

func (s *Site) getBots(v *visit) error {
	q := v.query()
	page := botsPage{Query: q.Text("q"), OwnerKind: q.Choice("who", "people", "house"), Ladder: q.Text("ladder"), Language: q.Text("language")}
	before := v.before()
	var err error
	if page.Ladders, err = s.Store.Ladders.List(v.ctx()); err != nil {
		return err
	}
	if page.Languages, err = s.Store.Bots.Languages(v.ctx(), maxLanguages); err != nil {
		return err
	}
	page.Languages = slices.DeleteFunc(page.Languages, func(name string) bool { return truncate(maxLanguageLength, name) != name })
	if page.Bots, err = s.Store.Bots.Search(v.ctx(), page.filter(), before, botsRows+1); err != nil {
		return err
	}
	page.Bots, page.First, page.Next = rowsBefore(v, "before", page.Bots, before, botsRows, func(b store.ListedBot) int64 { return b.ID })
	return v.showPage(http.StatusOK, "bots", page)
}

// before returns the query parameter "before", or 0 if it is missing. The parameter selects a page of a list: the
// page begins with the first row whose number, such as an ID, is smaller.
func (v *visit) before() int64 { return v.query().Number("before", 1, 1<<53-1, 0) }

// rowsBefore makes a page of a list. It returns the rows of the page, at most size of them, and the addresses of the
// first page and of the next page. first is "" on the first page, and next is "" on the last.
//
// The list is sorted by a number in each row, the largest first; key returns this number. before is the number in the
// last row of the previous page, or 0 on the first page. rows has the rows that follow, up to size+1 of them. name is
// the name of the query parameter for before.
func rowsBefore[T any](v *visit, name string, rows []T, before int64, size int, key func(T) int64) (shown []T, first, next string) {
	if before > 0 {
		first = addressWith(v.r, name, "")
	}
	if len(rows) > size {
		rows = rows[:size]
		next = addressWith(v.r, name, strconv.FormatInt(key(rows[size-1]), 10))
	}
	return rows, first, next
}
