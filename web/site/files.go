package site

import (
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/web/parameters"
)

type filesPage struct {
	Version ladder.Version
	bundle.Tree
}

// files lists what a version was uploaded as, for its owner.
func (s *Site) files(v *visit) error {
	f, version, err := s.openUpload(v)
	if err != nil {
		return err
	}
	defer f.Close()
	page := filesPage{Version: version}
	if page.Tree, err = bundle.List(f, bundle.LimitsOf(s.Config.Limits)); err != nil {
		return err
	}
	return v.page(http.StatusOK, "files", page)
}

// uploadOf answers with the upload of a version as it came, for its owner.
func (s *Site) uploadOf(v *visit) error {
	f, version, err := s.openUpload(v)
	if err != nil {
		return err
	}
	defer f.Close()
	suffix, err := bundle.Suffix(f)
	if err != nil {
		return err
	}
	leave, err := s.Middleware.Stream(v.r)
	if err != nil {
		return err
	}
	defer leave()
	v.download("application/octet-stream", fmt.Sprintf("%s-%d%s", version.Bot, version.Number, suffix))
	io.Copy(v.w, f) // a client that is gone gets no other answer
	return nil
}

func (s *Site) openUpload(v *visit) (*os.File, ladder.Version, error) {
	number, err := parameters.PathID(v.r, "version")
	if err != nil {
		return nil, ladder.Version{}, err
	}
	return s.Service.Upload(v.ctx(), v.Actor, v.r.PathValue("bot"), int(number))
}

// seatLog is what a bot of the visitor wrote to stderr in a game.
type seatLog struct {
	Seat int
	Bot  string
	Log  []byte
}

// logs returns those of the seats whose bots the visitor owns.
func (s *Site) logs(v *visit, m ladder.Match, g ladder.Game) (list []seatLog, err error) {
	for _, seat := range g.Seats {
		version, err := s.Store.Version(v.ctx(), m.Versions[seat.Slot])
		if err != nil {
			return nil, err
		}
		if !v.Owns(version.Owner) {
			continue
		}
		log, err := s.Store.Log(v.ctx(), g.ID, seat.Seat)
		if err != nil {
			return nil, err
		}
		list = append(list, seatLog{seat.Seat, version.Bot, log})
	}
	return list, nil
}

// stderr answers with all that a bot of the visitor wrote to stderr in a game.
func (s *Site) stderr(v *visit) error {
	page, _, err := s.readGame(v)
	if err != nil {
		return err
	}
	seat, err := parameters.PathNumber(v.r, "seat", 0)
	if err != nil {
		return err
	}
	if seat >= int64(len(page.Seats)) {
		return ladder.Errorf(ladder.NotFound, "", "game %d has no seat %d", page.ID, seat)
	}
	version, err := s.Store.Version(v.ctx(), page.Match.Versions[page.Seats[seat].Slot])
	if err != nil {
		return err
	}
	if err := v.MustOwn(version.Owner, "see what a bot wrote"); err != nil {
		return err
	}
	log, err := s.Store.Log(v.ctx(), page.ID, int(seat))
	if err != nil {
		return err
	}
	v.send("text/plain; charset=utf-8", fmt.Sprintf("game-%d-seat%d.log", page.ID, seat), log)
	return nil
}
