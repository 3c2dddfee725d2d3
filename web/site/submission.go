package site

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/api"
	"github.com/timba-arena/timba/web/api/wire"
)

// submissionPage is the data of the page "submission".
type submissionPage struct {
	wire.Submission
	Tag     string // of this state
	Steps   []step
	Ladders []string // on which the bot plays, once it is live
}

// step is a stage of a submission, also one that is still to come.
type step struct {
	wire.Stage
	State string // "waiting", "running", "ok", "failed" or "left"
}

// stageNames are the stages in their order, as the API has them.
var stageNames = []string{"unpack", "build", "check", "trial"}

// submission shows the stages of a submission, to its owner.
func (s *Site) submission(v *visit) error { return s.showSubmission(v, "layout", "") }

// progress waits until a submission is no longer as a tag says, and answers with the part of the
// page that shows it, for the page's module.
func (s *Site) progress(v *visit) error {
	return s.showSubmission(v, "progress", v.query().Text("tag"))
}

func (s *Site) showSubmission(v *visit, template, tag string) error {
	id, err := api.PathID(v.r, "submission")
	if err != nil {
		return err
	}
	doc, next, err := v.client().Changed(v.ctx(), id, tag)
	if err == nil && next == tag { // nothing has changed in time
		doc, next, err = v.client().Changed(v.ctx(), id, "")
	}
	if err != nil {
		return err
	}
	page := submissionPage{Submission: doc, Tag: next, Steps: steps(doc)}
	if doc.Version.State == string(ladder.Live) {
		bot, err := s.Store.Bot(v.ctx(), doc.Version.Bot)
		if err != nil {
			return err
		}
		places, err := s.Store.StandingsOf(v.ctx(), bot.ID)
		if err != nil {
			return err
		}
		for _, p := range places {
			if p.Version == doc.Version.Version && !slices.Contains(page.Ladders, p.Ladder) {
				page.Ladders = append(page.Ladders, p.Ladder)
			}
		}
	}
	return v.pageAs(template, http.StatusOK, "submission", page)
}

// steps returns all stages of a submission.
func steps(doc wire.Submission) (list []step) {
	for i, name := range stageNames {
		s := step{Stage: wire.Stage{Name: name}, State: "waiting"}
		at := slices.IndexFunc(doc.Stages, func(g wire.Stage) bool { return g.Name == name })
		switch {
		case at < 0 && doc.Done:
			s.State = "left"
		case at < 0:
		default:
			s.Stage = doc.Stages[at]
			switch {
			case s.OK:
				s.State = "ok"
			case s.Ended.IsZero() && !doc.Done:
				s.State = "running"
			default:
				s.State = "failed"
			}
		}
		if len(doc.Stages) > 0 && i > 0 && s.State == "waiting" && doc.Done {
			s.State = "left"
		}
		list = append(list, s)
	}
	return list
}

// cancelSubmission ends a submission that waits for its turn.
func (s *Site) cancelSubmission(v *visit) error {
	id, err := api.PathID(v.r, "submission")
	if err != nil {
		return err
	}
	if _, err := v.client().CancelSubmission(v.ctx(), id); err != nil {
		return err
	}
	v.redirect("/submissions/" + strconv.FormatInt(id, 10))
	return nil
}
