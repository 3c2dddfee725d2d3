package site

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/middleware"
)

// versionPage is the data of the page about a version of a bot. It shows the stages (unpack, build, check,
// trial), their logs and the reason of a failure only to the owner.
type versionPage struct {
	Bot     ladder.Bot
	Owner   string
	IsOwner bool
	Version ladder.Version
	Places  []ladder.Standing
	Stages  []ladder.Stage
}

// Training returns indented JSON that says how the version was trained. It returns "" if the version is not a model or
// does not say how it was trained.
func (p versionPage) Training() string { return trainingText(p.Version) }

// CanSeeUpload reports whether the visitor can see the upload: the visitor owns the bot, and the server has
// kept the upload.
func (p versionPage) CanSeeUpload() bool {
	return p.IsOwner && hasSource(p.Version)
}

// Usable reports whether the visitor can make the bot play with this version again.
func (p versionPage) Usable() bool {
	return p.IsOwner && usable(p.Version) && p.Bot.WithdrawnAt.IsZero()
}

// usable reports whether a bot has played with a version before and could do so again.
func usable(v ladder.Version) bool { return v.State == ladder.Retired && v.Hash != "" && !v.IsHouse() }

func (s *Site) getVersion(v *visit, b ladder.Bot) error {
	page := versionPage{Bot: b, IsOwner: v.Owns(b.PersonID)}
	number, err := middleware.PathID(v.r, "version")
	if err != nil {
		return err
	}
	if page.Version, err = s.Store.Versions.FindNumber(v.ctx(), b, int(number)); err != nil {
		return err
	}
	if page.Owner, err = s.ownerName(v, b); err != nil {
		return err
	}
	if page.Places, err = s.Store.Ladders.PlacesOf(v.ctx(), page.Version.ID); err != nil {
		return err
	}
	if page.IsOwner {
		if page.Stages, err = s.Store.Versions.Stages(v.ctx(), page.Version.ID); err != nil {
			return err
		}
	}
	return v.showPage(http.StatusOK, "version", page)
}
