package site

import "net/http"

const searchRows = 25 // names of bots, and of people

// searchPage is the data of the page "search".
type searchPage struct {
	Query        string
	Bots, People []string
	Most         int // as many may be shown of each
}

// search finds bots and people by a part of their name.
func (s *Site) search(v *visit) error {
	q := v.query()
	page := searchPage{Query: q.Text("q"), Most: searchRows}
	if err := q.Err(); err != nil {
		return err
	}
	var err error
	if page.Bots, page.People, err = s.Store.Names(v.ctx(), page.Query, searchRows); err != nil {
		return err
	}
	return v.page(http.StatusOK, "search", page)
}
