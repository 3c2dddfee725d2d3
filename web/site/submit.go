package site

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/sandbox"
)

type submitPage struct {
	Limits    ladder.Limits
	Archive   bundle.Limits
	Upload    string // this and the next two are limits in words, such as "16 MB"
	Files     string
	Memory    string
	Processes int
	Platform  string // the platform of the program that can be downloaded
	Name      string
}

// getSubmit shows the form to upload a bot. Visitors who are not signed in see only what an upload may contain.
func (s *Site) getSubmit(v *visit) error {
	return v.showPage(http.StatusOK, "submit", s.submitForm(v.query().Text("bot")))
}

func (s *Site) submitForm(name string) submitPage {
	l, archive := s.Config.Limits, bundle.LimitsOf(s.Config.Limits)
	return submitPage{
		Limits: l, Archive: archive, Name: name, Platform: s.programInfo().Platform, Processes: sandbox.DefaultLimit.Processes,
		Upload: bundle.FormatSize(archive.UploadSize), Files: bundle.FormatSize(archive.UnpackedSize), Memory: bundle.FormatSize(int64(l.Memory)),
	}
}

// maxField is the largest size of a text field in a form with a file, in bytes.
const maxField = 1 << 10

// errNoFile is the error for a form without a file.
var errNoFile = ladder.Errorf(ladder.Invalid, "choose one, such as bot.py, or an archive", "the form has no file")

// postSubmit receives an upload from the form. The form must have the bot's name before the file.
func (s *Site) postSubmit(v *visit) error {
	name, made, err := v.receiveUpload()
	if err == nil {
		return v.redirect("/submissions/" + strconv.FormatInt(made.ID, 10))
	}
	drain(v.w, v.r.Body, int64(s.Config.Limits.Upload))
	return v.showForm(http.StatusOK, "submit", s.submitForm(name), err)
}

// receiveUpload reads the upload form, and submits the file in it while the file arrives. It returns the bot's name
// and the new version. If it fails after it has read the name in the form, it returns the name; otherwise name is "".
func (v *visit) receiveUpload() (name string, made ladder.Version, err error) {
	parts, err := v.r.MultipartReader()
	if err != nil {
		return "", made, errNoFile
	}
	for {
		p, err := parts.NextPart()
		if err != nil {
			return name, made, formError(err, errNoFile)
		}
		switch {
		case p.FormName() == "bot":
			if name, err = readField(p); err != nil {
				return name, made, err
			}
		case p.FormName() == "archive" && p.FileName() != "":
			made, err = v.site.Middleware.ReceiveUpload(v.w, v.r, service.Upload{Bot: name, File: p.FileName(), Content: p}, -1)
			return name, made, err
		}
	}
}

func readField(p *multipart.Part) (string, error) {
	data, err := io.ReadAll(io.LimitReader(p, maxField+1))
	if len(data) > maxField {
		return "", ladder.Errorf(ladder.TooLarge, "", "the field %q is larger than %s", ladder.Clip(p.FormName()), bundle.FormatSize(maxField))
	}
	return string(data), formError(err, nil)
}

// formError returns the error with which to answer if reading a form has failed with err:
//
//   - If err is nil or says that the form is too large, formError returns err.
//   - If err is io.EOF and atEnd is not nil, it returns atEnd.
//   - Otherwise it returns an error that says that the form cannot be read.
func formError(err, atEnd error) error {
	var large *http.MaxBytesError
	switch {
	case err == nil || errors.As(err, &large):
		return err
	case err == io.EOF && atEnd != nil:
		return atEnd
	}
	return ladder.Errorf(ladder.Invalid, "", "the form cannot be read")
}

// drainTime is the longest time for which drain reads.
const drainTime = 10 * time.Second

// drain reads up to limit bytes of an upload that was refused, because browsers show an answer only after they have
// sent the whole form. It stops after drainTime.
func drain(w http.ResponseWriter, body io.Reader, limit int64) {
	rc := http.NewResponseController(w)
	rc.SetReadDeadline(time.Now().Add(drainTime))
	if _, err := io.CopyN(io.Discard, body, limit); err != nil && err != io.EOF {
		rc.SetReadDeadline(time.Now()) // otherwise the server would wait for the rest before it answers
	}
}
