package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

type submissionQuery struct {
	Bot  string `query:"bot" length:"64"`
	File string `query:"file" length:"200"`
}

// postSubmission receives an archive, or a single file whose name is the parameter file. The content says which; the
// type of the request does not matter. If the request announces its length, an upload that is too large is refused
// before it is read.
func (a *API) postSubmission(w http.ResponseWriter, r *http.Request, q submissionQuery) error {
	u := service.Upload{Bot: q.Bot, File: q.File, Content: r.Body}
	v, err := a.Middleware.ReceiveUpload(w, r, u, r.ContentLength)
	if err != nil {
		return err
	}
	p, err := a.Service.Submission(r.Context(), middleware.RequestOf(r).Actor, v.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/v1/submissions/"+strconv.FormatInt(v.ID, 10))
	return respond(w, http.StatusAccepted, a.submissionDoc(p))
}

func (a *API) submissionDoc(p service.SubmissionProgress) wire.Submission {
	stages := Docs(p.Stages, func(s ladder.Stage) wire.Stage { return stageDoc(s, true) })
	return wire.Submission{ID: p.Version.ID, Version: a.versionDoc(p.Version, true), Done: p.Done, Place: p.Place, Stages: stages}
}

// deleteSubmission cancels the submission of a version, unless its checks have already started, and returns the
// canceled submission.
func (a *API) deleteSubmission(r *http.Request) (doc wire.Submission, err error) {
	id, err := middleware.PathID(r, "submission")
	if err != nil {
		return doc, err
	}
	p, err := a.Service.CancelSubmission(r.Context(), middleware.RequestOf(r).Actor, id)
	return a.submissionDoc(p), err
}

type waitQuery struct {
	Wait time.Duration `query:"wait" max:"60s" length:"16" doc:"A duration such as 30s, at most 60s."`
}

// getSubmission answers with the state of a submission: the build and checks of an uploaded version. The parameter
// wait makes it wait until the submission is done, but no longer than the given time. If the request also has the
// header If-None-Match, it answers as soon as the ETag of the state is another one.
func (a *API) getSubmission(w http.ResponseWriter, r *http.Request, q waitQuery) error {
	id, err := middleware.PathID(r, "submission")
	if err != nil {
		return err
	}
	changed := func(p service.SubmissionProgress) bool {
		return r.Header.Get("If-None-Match") != "" && !isUnmodified(r, etag(encoded(a.submissionDoc(p))))
	}
	p, err := a.Middleware.AwaitSubmission(r, id, q.Wait, changed)
	if err != nil {
		return err
	}
	return respondWithETag(w, r, encoded(a.submissionDoc(p)))
}
