package site

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/sandbox"
	"github.com/timba-arena/timba/web/middleware"
)

type submitPage struct {
	Limits    ladder.Limits
	Archive   bundle.Limits
	Upload    string // the limits for people
	Files     string
	Memory    string
	Processes int
	Platform  string // of the program that can be downloaded
	Name      string
}

// getSubmit shows the form to upload a bot, to everybody what an upload may have.
func (s *Site) getSubmit(v *visit) error {
	return v.page(http.StatusOK, "submit", s.submitForm(v.query().Text("bot")))
}

func (s *Site) submitForm(name string) submitPage {
	l, archive := s.Config.Limits, bundle.LimitsOf(s.Config.Limits)
	return submitPage{
		Limits: l, Archive: archive, Name: name, Platform: s.programInfo().Platform, Processes: sandbox.DefaultLimit.Processes,
		Upload: bundle.Size(archive.Upload), Files: bundle.Size(archive.Unpacked), Memory: bundle.Size(int64(l.Memory)),
	}
}

// maxField is the largest size of a field of a form with a file, but the file.
const maxField = 1 << 10

// errNoFile is the error of a form without a file.
var errNoFile = ladder.Errorf(ladder.Invalid, "choose one, such as bot.py, or an archive", "the form has no file")

// postSubmit receives an upload, as a form that browsers send with or without scripts: the name of the bot,
// and the file.
func (s *Site) postSubmit(v *visit) error {
	name, made, err := v.upload()
	if err == nil {
		return v.redirect("/submissions/" + strconv.FormatInt(made.ID, 10))
	}
	drain(v.w, v.r.Body, int64(s.Config.Limits.Upload))
	return v.form(http.StatusOK, "submit", s.submitForm(name), err)
}

// upload reads the form, and takes its file in as it comes.
func (v *visit) upload() (name string, made ladder.Version, err error) {
	parts, err := v.r.MultipartReader()
	if err != nil {
		return "", made, errNoFile
	}
	for {
		p, err := parts.NextPart()
		if err != nil {
			return name, made, unreadable(err, errNoFile)
		}
		switch {
		case p.FormName() == "bot":
			if name, err = readField(p); err != nil {
				return name, made, err
			}
		case p.FormName() == "archive" && p.FileName() != "":
			made, err = v.site.Middleware.Receive(v.w, v.r, service.Upload{Bot: name, File: p.FileName(), Content: p}, -1)
			return name, made, err
		}
	}
}

// readField reads a field of a form with a file.
func readField(p *multipart.Part) (string, error) {
	data, err := io.ReadAll(io.LimitReader(p, maxField+1))
	if len(data) > maxField {
		return "", ladder.Errorf(ladder.TooLarge, "", "the field %q is larger than %s", ladder.Clip(p.FormName()), bundle.Size(maxField))
	}
	return string(data), unreadable(err, nil)
}

// unreadable returns the error for a form that cannot be read; at is that for its end.
func unreadable(err, at error) error {
	var large *http.MaxBytesError
	switch {
	case err == nil || errors.As(err, &large):
		return err
	case err == io.EOF && at != nil:
		return at
	}
	return ladder.Errorf(ladder.Invalid, "", "the form cannot be read")
}

// drainTime is how long drain reads on.
const drainTime = 10 * time.Second

// drain reads the rest of an upload that is refused, at most so many bytes: browsers show the
// answer only after they have sent everything.
func drain(w http.ResponseWriter, body io.Reader, most int64) {
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(drainTime))
	if _, err := io.CopyN(io.Discard, body, most); err != nil && err != io.EOF {
		rc.SetReadDeadline(time.Now()) // the server would wait for the rest before it answers
	}
}

type submissionPage struct {
	service.Progress
	Tag     string // of this state
	Steps   []step
	Ladders []string // on which the bot plays, once it is live
}

// step is a stage of a submission, also one that is still to come.
type step struct {
	ladder.Stage
	State string // "waiting", "running", "ok", "failed" or "left"
}

// stageNames are the stages in their order, as the API has them.
var stageNames = []string{"unpack", "build", "check", "trial"}

// getSubmission shows the stages of a submission, to its owner.
func (s *Site) getSubmission(v *visit) error { return s.showSubmission(v, "layout", "") }

// getProgress waits until a submission is no longer as a tag says, and answers with the part of the
// page that shows it, for the page's module.
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
	p, err := s.Middleware.Await(v.r, id, wait, func(p service.Progress) bool { return tagOf(p) != tag })
	if err != nil {
		return err
	}
	page := submissionPage{Progress: p, Tag: tagOf(p), Steps: steps(p)}
	if p.Version.State == ladder.Live {
		places, err := s.Store.Ladders.StandingsOf(v.ctx(), p.Version.BotID)
		if err != nil {
			return err
		}
		for _, at := range places {
			if at.Version == p.Version.Number && !slices.Contains(page.Ladders, at.Ladder) {
				page.Ladders = append(page.Ladders, at.Ladder)
			}
		}
	}
	return v.answer(template, http.StatusOK, "submission", page, nil)
}

// progressWait is how long a page waits for something to change before it asks again.
const progressWait = 60 * time.Second

// tagOf returns a text that is another one when anything of a submission has changed.
func tagOf(p service.Progress) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %d", p.Version.State, p.Version.Reason, p.Place)
	for _, s := range p.Stages {
		fmt.Fprintf(h, " %s %t %s %q %q", s.Name, s.OK, s.Ended, s.Summary, s.Log)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// steps returns all stages of a submission.
func steps(doc service.Progress) (list []step) {
	for _, name := range stageNames {
		s := step{Stage: ladder.Stage{Name: name}, State: "waiting"}
		at := slices.IndexFunc(doc.Stages, func(g ladder.Stage) bool { return g.Name == name })
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
		list = append(list, s)
	}
	return list
}

// postSubmissionCancel ends a submission that waits for its turn.
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
