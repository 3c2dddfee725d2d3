package api

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/problem"
)

// archives are the media types of uploads. The content decides the actual format.
var archives = []string{"application/gzip", "application/x-gzip", "application/x-gtar", "application/x-tar", "application/zip", "application/zstd", "application/octet-stream"}

// submit receives an archive. If the request states its length, an archive that is too large is
// rejected before it is read.
func (a *api) submit(w http.ResponseWriter, r *http.Request) error {
	q := NewQuery(r)
	name := q.Text("bot")
	if err := q.Done(); err != nil {
		return err
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || !slices.Contains(archives, kind) {
		return ladder.Errorf(problem.MediaType, "send a .tar.gz as application/gzip or a .zip as application/zip", "an archive's type cannot be %q", ladder.Clip(r.Header.Get("Content-Type")))
	}
	v, err := a.Receive(w, r, name, r.Body, r.ContentLength)
	if err != nil {
		return err
	}
	p, err := a.Service.Submission(r.Context(), infoOf(r).Actor, v.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/v1/submissions/"+strconv.FormatInt(v.ID, 10))
	return respond(w, http.StatusAccepted, a.submissionDoc(p))
}

// Receive takes an archive of so many bytes in, less than 0 where that is not known, as the next version of a bot.
// A person and an address have few uploads at the same time, and none that is too slow.
func (a *api) Receive(w http.ResponseWriter, r *http.Request, bot string, archive io.Reader, size int64) (v ladder.Version, err error) {
	in := infoOf(r)
	if err := a.Service.MaySubmit(in.Actor, bot, size); err != nil {
		return v, err
	}
	leave, err := a.uploads.Enter(in.by())
	if err != nil {
		return v, err
	}
	defer leave()
	rc := http.NewResponseController(w)
	body := &pacedBody{archive, rc, a.Pace.begin()}
	return a.Service.Submit(r.Context(), in.Actor, bot, body, func() { rc.SetWriteDeadline(time.Now().Add(answerTime)) })
}

func (a *api) submissionDoc(p service.Progress) wire.Submission {
	doc := wire.Submission{ID: p.Version.ID, Version: a.versionDoc(p.Version, true), Done: p.Done, Place: p.Place, Stages: []wire.Stage{}}
	for _, s := range p.Stages {
		doc.Stages = append(doc.Stages, stageDoc(s, true))
	}
	return doc
}

// cancel ends a submission that waits to be begun.
func (a *api) cancel(w http.ResponseWriter, r *http.Request) error {
	id, err := PathID(r, "submission")
	if err != nil {
		return err
	}
	p, err := a.Service.CancelSubmission(r.Context(), infoOf(r).Actor, id)
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, a.submissionDoc(p))
}

const maxWait = 60 * time.Second

// submission answers with the state of a submission. With wait it answers when the submission
// is done, or with If-None-Match as soon as anything changes.
func (a *api) submission(w http.ResponseWriter, r *http.Request) error {
	q := NewQuery(r)
	wait := q.duration("wait", maxWait)
	if err := q.Done(); err != nil {
		return err
	}
	id, err := PathID(r, "submission")
	if err != nil {
		return err
	}
	changed := func(p service.Progress) bool {
		return r.Header.Get("If-None-Match") != "" && !matches(r, etag(encoded(a.submissionDoc(p))))
	}
	p, err := a.Await(r, id, wait, changed)
	if err != nil {
		return err
	}
	data := encoded(a.submissionDoc(p))
	tag := etag(data)
	w.Header().Set("ETag", tag)
	if matches(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return gone(err)
}

// encoded returns a document of a submission as a line.
func encoded(doc wire.Submission) []byte {
	data, err := json.Marshal(doc)
	if err != nil {
		panic("api: " + err.Error()) // it has no such values
	}
	return append(data, '\n')
}

// Await returns how far a submission is when it is done or ready says so, or when the time is over. A person and
// an address have few requests that wait.
func (a *api) Await(r *http.Request, id int64, wait time.Duration, ready func(service.Progress) bool) (service.Progress, error) {
	in := infoOf(r)
	p, err := a.Service.Submission(r.Context(), in.Actor, id)
	if err != nil || wait == 0 || p.Done || ready(p) {
		return p, err
	}
	leave, err := a.waits.Enter(in.by())
	if err != nil {
		return p, err
	}
	defer leave()
	return a.Service.AwaitSubmission(r.Context(), in.Actor, id, wait, closing(r.Context()), ready)
}
