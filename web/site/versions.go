package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
)

const versionsRows = 50 // versions on one page

type versionsPage struct {
	Bot         ladder.Bot
	IsOwner     bool
	Versions    []ladder.Version
	First, Next string // the addresses of the first and the next page; "" if there is none
}

func (s *Site) getVersions(v *visit, b ladder.Bot) error {
	page, before := versionsPage{Bot: b, IsOwner: v.Owns(b.PersonID)}, v.before()
	list, err := s.Store.Versions.List(v.ctx(), b.ID, int(before), versionsRows+1)
	if err != nil {
		return err
	}
	page.Versions, page.First, page.Next = rowsBefore(v, "before", list, before, versionsRows, func(x ladder.Version) int64 { return int64(x.Number) })
	return v.showPage(http.StatusOK, "versions", page)
}
