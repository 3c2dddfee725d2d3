package site

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
)

type newMatchPage struct {
	Ladders []store.LadderInfo
	Ladder  string
	Picks   []string // the bots of the match, with "" for each empty field: as many as the largest ladder has slots
	Bots    []string // the bots to choose from
	Deals   string   // "" means as many as on the ladder
	Limit   int      // how many unfinished unrated matches a person may have
}

func (s *Site) getNewMatch(v *visit) error {
	q := v.query()
	return s.showNewMatch(v, newMatchPage{Ladder: q.Text("ladder"), Picks: []string{q.Text("bot")}}, nil)
}

func (s *Site) showNewMatch(v *visit, page newMatchPage, refused error) (err error) {
	if page.Ladders, err = s.activeLadders(v.ctx()); err != nil {
		return err
	}
	if page.Bots, err = s.botNames(v.ctx()); err != nil {
		return err
	}
	for _, l := range page.Ladders {
		page.Picks = append(page.Picks, make([]string, max(0, l.Bots-len(page.Picks)))...)
	}
	page.Limit = s.Config.Limits.UnratedMatches
	return v.showForm(http.StatusOK, "newmatch", page, refused)
}

func (s *Site) postNewMatch(v *visit) error {
	page := newMatchPage{Ladder: v.field("ladder"), Picks: splitNames(strings.Join(v.r.PostForm["bot"], " ")), Deals: v.field("deals")}
	deals, err := strconv.Atoi(cmp.Or(page.Deals, "0"))
	if err != nil {
		err = ladder.Errorf(ladder.Invalid, "", "deals cannot be %q", ladder.Clip(page.Deals))
	}
	var m ladder.Match
	if err == nil {
		m, err = s.Service.RequestMatch(v.ctx(), v.Actor, service.MatchRequest{Ladder: page.Ladder, Deals: deals, Bots: page.Picks})
	}
	if err != nil {
		return s.showNewMatch(v, page, err)
	}
	return v.redirect("/matches/" + strconv.FormatInt(m.ID, 10))
}

// splitNames returns the names of bots in text. Spaces and commas separate names. A word with "=", such as "depth=3",
// belongs to the name before it if that name has options already: "@champion:level=2,time=1s" is one name.
func splitNames(text string) (names []string) {
	for _, word := range strings.FieldsFunc(text, isNameSeparator) {
		if last := len(names) - 1; last >= 0 && strings.Contains(names[last], ":") && strings.Contains(word, "=") && word[0] != '@' {
			names[last] += "," + word
		} else {
			names = append(names, word)
		}
	}
	return names
}

// isNameSeparator reports whether r separates names of bots in a form field: a comma or a space.
func isNameSeparator(r rune) bool { return r == ',' || unicode.IsSpace(r) }
