package site

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/middleware"
)

type submissionPage struct {
	service.SubmissionProgress
	Tag     string // identifies the state that the page shows; see progressTag
	Steps   []submissionStep
	Ladders []string // the ladders on which the bot plays, once it is live
}

// HasSource reports whether the server has the files of the version, so that it can be edited.
func (p submissionPage) HasSource() bool { return hasSource(p.Version) }

// submissionStep is one step of checking an upload (unpack, build, check, trial) with its state, whether or not
// it has started.
type submissionStep struct {
	ladder.Stage
	State string // "waiting", "running", "ok", "failed", or "left" if the submission ended before it
}

func (s *Site) getSubmission(v *visit) error { return s.showSubmission(v, "layout", "") }

// getProgress waits until the state of a submission changes, for at most progressWait. The query has the tag of the
// state that the page already shows. The answer is the part of the page that shows the new state; the page's module
// inserts it.
func (s *Site) getProgress(v *visit) error {
	return s.showSubmission(v, "progress", v.query().Text("tag"))
}

func (s *Site) showSubmission(v *visit, template, tag string) error {
	id, err := middleware.PathID(v.r, "submission")
	if err != nil {
		return err
	}
	var wait time.Duration
	if tag != "" {
		wait = progressWait
	}
	p, err := s.Middleware.AwaitSubmission(v.r, id, wait, func(p service.SubmissionProgress) bool { return progressTag(p) != tag })
	if err != nil {
		return err
	}
	page := submissionPage{SubmissionProgress: p, Tag: progressTag(p), Steps: steps(p)}
	if p.Version.State == ladder.Live {
		places, err := s.Store.Ladders.StandingsOf(v.ctx(), p.Version.BotID)
		if err != nil {
			return err
		}
		for _, place := range places {
			if place.Version == p.Version.Number && !slices.Contains(page.Ladders, place.Ladder) {
				page.Ladders = append(page.Ladders, place.Ladder)
			}
		}
	}
	return v.showTemplate(template, http.StatusOK, "submission", page, nil)
}

// progressWait is how long a request for the progress of a submission (an upload that is being checked) waits for
// a change.
const progressWait = 60 * time.Second

// progressTag returns a hash of everything that the page of a submission shows.
func progressTag(p service.SubmissionProgress) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %d", p.Version.State, p.Version.Reason, p.Place)
	for _, s := range p.Stages {
		fmt.Fprintf(h, " %s %t %s %q %q", s.Name, s.OK, s.EndedAt, s.Summary, s.Log)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

func steps(doc service.SubmissionProgress) (list []submissionStep) {
	for _, name := range ladder.StageNames {
		s := submissionStep{Stage: ladder.Stage{Name: name}, State: "waiting"}
		i := slices.IndexFunc(doc.Stages, func(g ladder.Stage) bool { return g.Name == name })
		switch {
		case i < 0 && doc.Done:
			s.State = "left"
		case i < 0:
		default:
			s.Stage = doc.Stages[i]
			switch {
			case s.OK:
				s.State = "ok"
			case s.EndedAt.IsZero() && !doc.Done:
				s.State = "running"
			default:
				s.State = "failed"
			}
		}
		list = append(list, s)
	}
	return list
}

// postSubmissionCancel cancels the submission of an uploaded version whose checks have not started.
func (s *Site) postSubmissionCancel(v *visit) error {
	id, err := middleware.PathID(v.r, "submission")
	if err != nil {
		return err
	}
	if _, err := s.Service.CancelSubmission(v.ctx(), v.Actor, id); err != nil {
		return err
	}
	return v.redirect("/submissions/" + strconv.FormatInt(id, 10))
}
