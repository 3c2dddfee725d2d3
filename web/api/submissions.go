package api

import (
	"encoding/json"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/program"
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
	if name != "" {
		if err := ladder.CheckName("bot", name); err != nil {
			return err
		}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || !slices.Contains(archives, kind) {
		return ladder.Errorf(problem.MediaType, "send a .tar.gz as application/gzip or a .zip as application/zip", "an archive's type cannot be %q", problem.Clip(r.Header.Get("Content-Type")))
	}
	limits := bundle.LimitsOf(a.Config.Limits)
	if r.ContentLength > limits.Upload {
		return ladder.Errorf(ladder.TooLarge, "leave out what the bot does not need: "+bundle.IgnoreFile+" names it",
			"archive: it has %s, more than the limit of %s", bundle.Size(r.ContentLength), bundle.Size(limits.Upload))
	}
	in := infoOf(r)
	leave, err := a.uploads.Enter(in.by())
	if err != nil {
		return err
	}
	defer leave()
	body := &pacedBody{r.Body, http.NewResponseController(w), newPace(a.Config.Limits)}
	upload, err := bundle.Receive(body, a.Store.Dir(), limits)
	if err != nil {
		return err
	}
	defer upload.Discard()
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	named, hash, err := a.look(upload.Path, limits)
	if name == "" {
		if err != nil {
			return err
		}
		name = named
	}
	v, err := a.Store.AddVersion(r.Context(), in.person.ID, store.NewVersion{Bot: name, Bundle: upload.SHA256, Hash: hash, Keep: upload.Keep}, a.Config.Limits)
	if err != nil {
		return err
	}
	a.Wake()
	doc, err := a.submissionDoc(r, v, true)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/v1/submissions/"+strconv.FormatInt(v.ID, 10))
	return respond(w, http.StatusAccepted, doc)
}

// look unpacks an archive for its bot's name in the manifest and the hash of its files; "" where
// they are not known. If there is no name, the request must contain it.
func (a *api) look(archive string, limits bundle.Limits) (name, hash string, err error) {
	tmp, err := a.Store.Dir().MkdirTemp("manifest-*")
	if err != nil {
		return "", "", &ladder.Error{Code: ladder.Unavailable, Text: "the upload cannot be unpacked", Hint: "try again later", Err: err}
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, unnamed)
	if _, err := a.unpack(archive, dir, limits); err != nil {
		return "", "", err
	}
	if hash, err = program.HashDir(dir); err != nil {
		hash = "" // the stages tell what is wrong with the files
	}
	m, err := program.ReadManifest(dir)
	if err == nil && m.Name != unnamed {
		return m.Name, hash, ladder.CheckName("bot", m.Name)
	}
	if _, missing := os.Stat(filepath.Join(dir, program.ManifestFile)); err != nil && missing == nil {
		return "", hash, ladder.Errorf(ladder.Invalid, "correct it", "the bot has no name: %s", strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return "", hash, ladder.Errorf(ladder.Invalid, "ask with ?bot=NAME, or write name into "+program.ManifestFile, "the bot has no name: its archive has no %s with one", program.ManifestFile)
}

// unnamed is the name of the unpacked directory. No bot may have it: a bot without a name in its
// manifest gets the name of its directory.
const unnamed = "-"

func (a *api) submissionDoc(r *http.Request, v ladder.Version, own bool) (wire.Submission, error) {
	stages, err := a.Store.Stages(r.Context(), v.ID)
	doc := wire.Submission{ID: v.ID, Version: a.versionDoc(v, own), Done: !pending(v.State), Stages: []wire.Stage{}}
	for _, s := range stages {
		doc.Stages = append(doc.Stages, stageDoc(s, true))
	}
	if err == nil && !doc.Done && len(stages) == 0 {
		doc.Place, err = a.Store.Place(r.Context(), v.ID)
	}
	return doc, err
}

// cancel ends a submission that waits to be begun.
func (a *api) cancel(w http.ResponseWriter, r *http.Request) error {
	if err := NewQuery(r).Done(); err != nil {
		return err
	}
	id, err := PathID(r, "submission")
	if err != nil {
		return err
	}
	v, err := a.ownVersion(r, id, "cancel a submission")
	if err != nil {
		return err
	}
	if err := a.Store.Cancel(r.Context(), v.ID); err != nil {
		return err
	}
	if v, err = a.Store.Version(r.Context(), v.ID); err != nil {
		return err
	}
	doc, err := a.submissionDoc(r, v, true)
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, doc)
}

// pending reports whether a version still has stages ahead.
func pending(s ladder.State) bool {
	return slices.Contains([]ladder.State{ladder.Queued, ladder.Building, ladder.Checking, ladder.Trial}, s)
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
	s, err := a.progress(r, id)
	if err == nil && wait > 0 && !s.ready(r) {
		s, err = a.awaitProgress(r, id, wait)
	}
	if err != nil {
		return err
	}
	w.Header().Set("ETag", s.tag)
	if matches(r, s.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(s.data)
	return gone(err)
}

// progress is the state of a submission, encoded for the answer.
type progress struct {
	done bool
	data []byte
	tag  string
}

// progress returns the state of a submission, for its owner.
func (a *api) progress(r *http.Request, id int64) (progress, error) {
	doc, err := a.ownSubmission(r, id)
	if err != nil {
		return progress{}, err
	}
	data, err := json.Marshal(doc)
	data = append(data, '\n')
	return progress{doc.Done, data, etag(data)}, err
}

// ready reports whether a request need not wait: the submission is done, or with If-None-Match
// anything has changed.
func (p progress) ready(r *http.Request) bool {
	return p.done || r.Header.Get("If-None-Match") != "" && !matches(r, p.tag)
}

// awaitProgress waits until the progress is ready, or the time is over.
func (a *api) awaitProgress(r *http.Request, id int64, wait time.Duration) (progress, error) {
	leave, err := a.waits.Enter(infoOf(r).by())
	if err != nil {
		return progress{}, err
	}
	defer leave()
	changes, stop := a.changes.Subscribe(1, func(e events.Event) bool { return e.Version == id || e.Kind == events.QueueMoved })
	defer stop()
	over := time.After(wait)
	for {
		s, err := a.progress(r, id) // what changes after this is an event
		if err != nil || s.ready(r) {
			return s, err
		}
		select {
		case _, more := <-changes:
			if !more { // the runner has stopped, and with it the server
				return s, nil
			}
		case <-over:
			return s, nil
		case <-closing(r.Context()):
			return s, nil
		case <-r.Context().Done():
			return s, r.Context().Err()
		}
	}
}

func (a *api) ownSubmission(r *http.Request, id int64) (wire.Submission, error) {
	v, err := a.ownVersion(r, id, "see a submission")
	if err != nil {
		return wire.Submission{}, err
	}
	return a.submissionDoc(r, v, true)
}

// ownVersion returns the version of a submission, for those who may do something
// with it.
func (a *api) ownVersion(r *http.Request, id int64, what string) (ladder.Version, error) {
	v, err := a.Store.Version(r.Context(), id)
	if ladder.CodeOf(err) == ladder.NotFound {
		return v, ladder.Errorf(ladder.NotFound, "", "submission %d does not exist", id)
	}
	if err != nil {
		return v, err
	}
	return v, infoOf(r).mustOwn(v.Owner, what)
}
