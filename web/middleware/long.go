package middleware

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/socket"
)

// Requests that take long are limited by Places.

// ReceiveUpload stores the upload u as the next version of a bot. size is its length in bytes, or negative if
// unknown. It fails if a limit of simultaneous uploads is reached, or if the upload is slower than Pace.
func (m *Middleware) ReceiveUpload(w http.ResponseWriter, r *http.Request, u service.Upload, size int64) (v ladder.Version, err error) {
	in := RequestOf(r)
	if err := m.Service.CheckSubmit(in.Actor, u.Bot, size); err != nil {
		return v, err
	}
	leave, err := m.Uploads.Enter(in.Visitor())
	if err != nil {
		return v, err
	}
	defer leave()
	received := func() { http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime)) }
	u.Content = m.PacedBody(w, u.Content)
	return m.Service.Submit(r.Context(), in.Actor, u, received)
}

// Upgrade turns a request into a WebSocket, as socket.Upgrade does. When the token or session of the request becomes
// invalid, the WebSocket is closed with the code CloseRefused.
func (m *Middleware) Upgrade(w http.ResponseWriter, r *http.Request, l socket.Limits) (*socket.Conn, error) {
	c, err := socket.Upgrade(w, m.ReadOrigin(r), l)
	if by := RequestOf(r).Actor; err == nil && (by.Token.ID != 0 || by.Session != 0) {
		go func() {
			if why := m.Service.AwaitAccessEnd(by, c.Done()); why != nil {
				c.Shut(socket.CloseRefused, why.Error())
			}
		}()
	}
	return c, err
}

// StartStream prepares a long answer. It counts the answer against the limit of simultaneous downloads, and
// makes writes fail if the client receives the answer more slowly than Pace. The caller must call leave at
// the end of the answer.
func (m *Middleware) StartStream(r *http.Request) (leave func(), err error) {
	in := RequestOf(r)
	if leave, err = m.Streams.Enter(in.Visitor()); err == nil {
		in.w.pace = m.Pace.start()
	}
	return leave, err
}

// SendUpload answers with the uploaded file of the version in the path, byte for byte. It returns an error unless the
// sender of the request owns the bot.
func (m *Middleware) SendUpload(w http.ResponseWriter, r *http.Request) error {
	number, err := PathID(r, "version")
	if err != nil {
		return err
	}
	f, v, err := m.Service.OpenUpload(r.Context(), RequestOf(r).Actor, r.PathValue("bot"), int(number))
	if err != nil {
		return err
	}
	defer f.Close()
	suffix, err := bundle.Suffix(f)
	if err != nil {
		return &ladder.Error{Code: ladder.Unavailable, Text: phrase.New("the upload cannot be read"), Hint: phrase.New("try again later"), Err: err}
	}
	leave, err := m.StartStream(r)
	if err != nil {
		return err
	}
	defer leave()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%d%s"`, v.Bot, v.Number, suffix))
	if _, err := io.Copy(w, f); err != nil {
		panic(http.ErrAbortHandler) // the client sees that the answer is incomplete
	}
	return nil
}

// AwaitSubmission waits until a submission (the build and checks of an uploaded version) is done or ready returns
// true for its progress, but no longer than wait. It returns the progress. id is the ID of the version. If wait is 0,
// it returns at once. It returns an error if the person or the address has too many waiting requests.
func (m *Middleware) AwaitSubmission(r *http.Request, id int64, wait time.Duration, ready func(service.SubmissionProgress) bool) (service.SubmissionProgress, error) {
	in := RequestOf(r)
	p, err := m.Service.Submission(r.Context(), in.Actor, id)
	if err != nil || wait == 0 || p.Done || ready(p) {
		return p, err
	}
	leave, err := m.Waits.Enter(in.Visitor())
	if err != nil {
		return p, err
	}
	defer leave()
	return m.Service.AwaitSubmission(r.Context(), in.Actor, id, wait, closing(r.Context()), ready)
}
