package site

import (
	"fmt"
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/middleware"
)

type filesPage struct {
	Version ladder.Version
	bundle.Tree
}

// getFiles lists the files in the upload of a version, for its owner.
func (s *Site) getFiles(v *visit) error {
	number, err := middleware.PathID(v.r, "version")
	if err != nil {
		return err
	}
	f, version, err := s.Service.OpenUpload(v.ctx(), v.Actor, v.r.PathValue("bot"), int(number))
	if err != nil {
		return err
	}
	defer f.Close()
	page := filesPage{Version: version}
	if page.Tree, err = bundle.List(f, bundle.LimitsOf(s.Config.Limits)); err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "files", page)
}

// getStderr sends what a bot of the visitor wrote to standard error in a game.
func (s *Site) getStderr(v *visit) error {
	game, err := middleware.PathID(v.r, "game")
	if err != nil {
		return err
	}
	seat, err := middleware.PathNumber(v.r, "seat", 0)
	if err != nil {
		return err
	}
	log, err := s.Service.GameLog(v.ctx(), v.Actor, game, seat)
	if err != nil {
		return err
	}
	return v.sendFile("text/plain; charset=utf-8", fmt.Sprintf("game-%d-seat%d.log", game, seat), log)
}
