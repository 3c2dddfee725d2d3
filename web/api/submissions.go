package api

import (
	"context"
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
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/web/api/wire"
)

// archives are the media types of uploads. What is in them is found out by looking.
var archives = []string{"application/gzip", "application/x-gzip", "application/x-gtar", "application/x-tar", "application/zip", "application/zstd", "application/octet-stream"}

// submit takes an archive in. It is refused by its length before a byte is read,
// where the length is told.
func (a *api) submit(w http.ResponseWriter, r *http.Request) error {
	q := newQuery(r)
	name := q.text("bot")
	if err := q.done(); err != nil {
		return err
	}
	if name != "" {
		if err := ladder.CheckName("bot", name); err != nil {
			return err
		}
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || !slices.Contains(archives, kind) {
		return ladder.Errorf(mediaType, "send a .tar.gz as application/gzip or a .zip as application/zip", "an archive's type cannot be %q", clip(r.Header.Get("Content-Type")))
	}
	limits := bundle.LimitsOf(a.Config.Limits)
	if r.ContentLength > limits.Upload {
		return ladder.Errorf(ladder.TooLarge, "leave out what the bot does not need: "+bundle.IgnoreFile+" names it",
			"archive: it has %s, more than the %s that are allowed", bundle.Size(r.ContentLength), bundle.Size(limits.Upload))
	}
	person := infoOf(r).person.ID
	if err := a.uploads.enter(person, "uploads"); err != nil {
		return err
	}
	defer a.uploads.leave(person)
	body := &slowReader{r: r.Body, rc: http.NewResponseController(w), began: time.Now(), grace: bodyGrace}
	var v ladder.Version
	_, err := bundle.Take(body, a.Dir, limits, func(saved bundle.Saved) (err error) {
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
		if name == "" {
			if name, err = a.manifestName(saved.SHA256, limits); err != nil {
				return err
			}
		}
		v, err = a.Store.AddVersion(r.Context(), person, store.NewVersion{Bot: name, Bundle: saved.SHA256}, a.Config.Limits)
		return err
	}, func(sum string) (bool, error) {
		sums, err := a.Store.Bundles(context.WithoutCancel(r.Context()))
		return slices.Contains(sums, sum), err
	})
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

// manifestName is the bot's name by its manifest. One without a name has to be
// named in the request.
func (a *api) manifestName(sum string, limits bundle.Limits) (string, error) {
	file, err := bundle.Path(a.Dir, sum)
	if err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(filepath.Join(a.Dir, "tmp"), "manifest-*")
	if err != nil {
		return "", &ladder.Error{Code: ladder.Unavailable, Text: "the upload cannot be unpacked", Hint: "try again later", Err: err}
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, unnamed)
	if _, err := bundle.Unpack(file, dir, limits); err != nil {
		return "", err
	}
	m, err := program.ReadManifest(dir)
	if err == nil && m.Name != unnamed {
		return m.Name, ladder.CheckName("bot", m.Name)
	}
	if _, missing := os.Stat(filepath.Join(dir, program.ManifestFile)); err != nil && missing == nil {
		return "", ladder.Errorf(ladder.Invalid, "mend it", "the bot has no name: %s", strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return "", ladder.Errorf(ladder.Invalid, "ask with ?bot=NAME, or write name into "+program.ManifestFile, "the bot has no name: its archive has no %s with one", program.ManifestFile)
}

// unnamed is a folder's name that no bot has, for a bot's name without a manifest
// is that of its folder.
const unnamed = "-"

func (a *api) submissionDoc(r *http.Request, v ladder.Version, own bool) (wire.Submission, error) {
	stages, err := a.Store.Stages(r.Context(), v.ID)
	doc := wire.Submission{ID: v.ID, Version: versionDoc(v, own), Done: !pending(v.State), Stages: []wire.Stage{}}
	for _, s := range stages {
		doc.Stages = append(doc.Stages, stageDoc(s, true))
	}
	return doc, err
}

// pending tells whether a version is on its way.
func pending(s ladder.State) bool {
	return slices.Contains([]ladder.State{ladder.Queued, ladder.Building, ladder.Checking, ladder.Trial}, s)
}

const (
	maxWait  = 60 * time.Second
	waitStep = 200 * time.Millisecond
)

// submission tells how far a submission has come. With wait it answers when it is
// done, or with If-None-Match as soon as anything is new.
func (a *api) submission(w http.ResponseWriter, r *http.Request) error {
	q := newQuery(r)
	wait := q.duration("wait", maxWait)
	if err := q.done(); err != nil {
		return err
	}
	id, err := pathID(r, "submission")
	if err != nil {
		return err
	}
	doc, err := a.ownSubmission(r, id)
	if err != nil {
		return err
	}
	data, tag, err := a.awaited(r, doc, wait)
	if err != nil {
		return err
	}
	w.Header().Set("ETag", tag)
	if matches(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(data)
	return gone(err)
}

func (a *api) ownSubmission(r *http.Request, id int64) (wire.Submission, error) {
	v, err := a.Store.Version(r.Context(), id)
	if ladder.CodeOf(err) == ladder.NotFound {
		return wire.Submission{}, ladder.Errorf(ladder.NotFound, "", "submission %d does not exist", id)
	}
	if err != nil {
		return wire.Submission{}, err
	}
	owner, err := a.ownerOf(r.Context(), id)
	if err != nil {
		return wire.Submission{}, err
	}
	if err := infoOf(r).mustOwn(owner, "a submission"); err != nil {
		return wire.Submission{}, err
	}
	return a.submissionDoc(r, v, true)
}

// awaited looks at a submission until there is something to tell, or the time is
// over.
func (a *api) awaited(r *http.Request, doc wire.Submission, wait time.Duration) (data []byte, tag string, err error) {
	encode := func() error {
		data, err = json.Marshal(doc)
		data = append(data, '\n')
		tag = etag(data)
		return err
	}
	if err := encode(); err != nil {
		return nil, "", err
	}
	settled := func() bool {
		if r.Header.Get("If-None-Match") != "" {
			return doc.Done || !matches(r, tag)
		}
		return doc.Done
	}
	if wait == 0 || settled() {
		return data, tag, nil
	}
	person := infoOf(r).person.ID
	if err := a.waits.enter(person, "requests that wait"); err != nil {
		return nil, "", err
	}
	defer a.waits.leave(person)
	over := time.After(wait)
	tick := time.NewTicker(waitStep)
	defer tick.Stop()
	for !settled() {
		select {
		case <-r.Context().Done():
			return nil, "", r.Context().Err()
		case <-over:
			return data, tag, nil
		case <-closing(r.Context()):
			return data, tag, nil
		case <-tick.C:
		}
		if doc, err = a.ownSubmission(r, doc.ID); err != nil {
			return nil, "", err
		}
		if err := encode(); err != nil {
			return nil, "", err
		}
	}
	return data, tag, nil
}
