package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/parameters"
)

const versionsRows = 50 // on a page

// versionsPage is the data of the page "versions".
type versionsPage struct {
	Bot         ladder.Bot
	Own         bool
	Versions    []ladder.Version
	First, Next string // addresses of pages, "" at the ends
}

// versions lists the versions of a bot, the last one first.
func (s *Site) versions(v *visit) error {
	page := versionsPage{}
	var err error
	if page.Bot, err = s.Store.Bot(v.ctx(), v.r.PathValue("bot")); err != nil {
		return err
	}
	q := v.query()
	before := readBefore(q)
	if err := q.Err(); err != nil {
		return err
	}
	page.Own = v.Owns(page.Bot.PersonID)
	if page.Versions, err = s.Store.VersionsBefore(v.ctx(), page.Bot.ID, int(before), versionsRows+1); err != nil {
		return err
	}
	page.Versions, page.First, page.Next = older(v, page.Versions, before, versionsRows, func(x ladder.Version) int64 { return int64(x.Number) })
	return v.page(http.StatusOK, "versions", page)
}

// versionPage is the data of the page "version". Stages, their logs and the reason are for the owner.
type versionPage struct {
	Bot     ladder.Bot
	Owner   string
	Own     bool
	Version ladder.Version
	Places  []ladder.Standing
	Stages  []ladder.Stage
}

// Usable reports whether the owner can make the version live again.
func (p versionPage) Usable() bool { return p.Own && usable(p.Version) && p.Bot.Withdrawn.IsZero() }

// usable reports whether a version has played and does not play now.
func usable(v ladder.Version) bool { return v.State == ladder.Resting && v.Hash != "" && !v.House() }

// version shows one version of a bot.
func (s *Site) version(v *visit) error {
	page := versionPage{}
	var err error
	if page.Bot, err = s.Store.Bot(v.ctx(), v.r.PathValue("bot")); err != nil {
		return err
	}
	number, err := parameters.PathID(v.r, "version")
	if err != nil {
		return err
	}
	if page.Version, err = s.Store.VersionOf(v.ctx(), page.Bot, int(number)); err != nil {
		return err
	}
	if page.Owner, err = s.ownerName(v, page.Bot); err != nil {
		return err
	}
	if page.Places, err = s.Store.PlacesOf(v.ctx(), page.Version.ID); err != nil {
		return err
	}
	if page.Own = v.Owns(page.Bot.PersonID); page.Own {
		if page.Stages, err = s.Store.Stages(v.ctx(), page.Version.ID); err != nil {
			return err
		}
	}
	return v.page(http.StatusOK, "version", page)
}
