package site

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/rules/games"
)

const (
	searchRows       = 25 // names of bots, and names of people
	minDocumentQuery = 3  // bytes; every document contains most shorter texts
)

type searchPage struct {
	Query        string
	Match        int64    // the ID of the match whose number was searched; 0 if there is none
	Games        []string // the names of games
	Ladders      []store.LadderInfo
	Bots, People []string
	Documents    []foundDocument
	RowLimit     int // the largest number of bots, and of people
}

// HasResults reports whether anything was found.
func (p searchPage) HasResults() bool {
	return p.Match > 0 || len(p.Games)+len(p.Ladders)+len(p.Bots)+len(p.People)+len(p.Documents) > 0
}

// getSearch finds games, with their rules, bots, people and ladders by a part of their names, matches by their numbers, and documents
// by their contents.
func (s *Site) getSearch(v *visit) error {
	page := searchPage{Query: v.query().Text("q"), RowLimit: searchRows}
	var err error
	if page.Bots, page.People, err = s.Store.Bots.SearchNames(v.ctx(), page.Query, searchRows); err != nil {
		return err
	}
	if page.Query == "" {
		return v.showPage(http.StatusOK, "search", page)
	}
	if id, err := strconv.ParseInt(strings.TrimPrefix(page.Query, "#"), 10, 64); err == nil {
		m, err := s.Store.Matches.Find(v.ctx(), id)
		if err != nil && ladder.CodeOf(err) != ladder.NotFound {
			return err
		}
		page.Match = m.ID
	}
	for _, g := range games.All() {
		if strings.Contains(strings.ToLower(g.Name+" "+rulesTitle(v.language, g.Name)), strings.ToLower(page.Query)) {
			page.Games = append(page.Games, g.Name)
		}
	}
	if page.Ladders, err = s.Store.Ladders.List(v.ctx()); err != nil {
		return err
	}
	page.Ladders = slices.DeleteFunc(page.Ladders, func(l store.LadderInfo) bool {
		return !strings.Contains(strings.ToLower(l.Name+" "+l.Title+" "+v.language.Translate(l.Title)), strings.ToLower(page.Query))
	})
	if len(page.Query) >= minDocumentQuery {
		if page.Documents, err = v.findDocuments(page.Query); err != nil {
			return err
		}
	}
	return v.showPage(http.StatusOK, "search", page)
}

// foundDocument is a document that contains the searched text. Headings has the headings of the first sections with
// the text, at most maxFoundHeadings of them.
type foundDocument struct {
	URL, Title, Lang string
	Headings         []heading
}

// findDocuments returns the documents that contain text, ignoring case.
func (v *visit) findDocuments(text string) (list []foundDocument, err error) {
	text = strings.ToLower(text)
	for _, p := range publications {
		d, err := v.documentOf(p.path)
		if err != nil {
			return nil, err
		}
		f := foundDocument{URL: p.path, Title: d.Title, Lang: d.Lang}
		contains := strings.Contains(strings.ToLower(d.Title), text)
		for part := range strings.SplitSeq(string(d.Body), "<h") { // each begins with its heading
			if !strings.Contains(strings.ToLower(html.UnescapeString(tags.ReplaceAllString("<h"+part, ""))), text) {
				continue
			}
			contains = true
			if m := headingID.FindStringSubmatch(part); m != nil && len(f.Headings) < maxFoundHeadings {
				i := slices.IndexFunc(d.Headings, func(h heading) bool { return h.ID == m[1] })
				if i >= 0 {
					f.Headings = append(f.Headings, d.Headings[i])
				}
			}
		}
		if contains {
			list = append(list, f)
		}
	}
	return list, nil
}

const maxFoundHeadings = 3 // headings of a document in the results of a search

var (
	tags      = regexp.MustCompile(`<[^>]*>`)
	headingID = regexp.MustCompile(`^[23] id="([^"]*)"`)
)
