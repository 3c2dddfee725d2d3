package middleware

import (
	"io"
	"net/http"
	"time"
)

// Pace is the least rate at which a client has to send or take bytes. It may be late by a window in all; what it
// does faster makes up for that, and never for more.
type Pace struct {
	Rate   int64 // bytes a second
	Window time.Duration
}

// pace is a transfer at a Pace.
type pace struct {
	Pace
	slack time.Duration // that is left of the window
}

// DefaultPace is slower than any line that people use.
var DefaultPace = Pace{32 << 10, 10 * time.Second}

func (p Pace) start() *pace { return &pace{p, p.Window} }

// transferTime returns how long so many bytes may take.
func (p *pace) transferTime(bytes int) time.Duration {
	return time.Duration(float64(bytes) / float64(p.Rate) * float64(time.Second))
}

// countTransfer counts bytes and the time that they took.
func (p *pace) countTransfer(bytes int, took time.Duration) {
	p.slack = min(p.Window, p.slack+p.transferTime(bytes)-took)
}

// PacedBody returns a body that ends with an error when it comes too slowly.
func (m *Middleware) PacedBody(w http.ResponseWriter, body io.Reader) io.Reader {
	return &pacedBody{body, http.NewResponseController(w), m.Pace.start()}
}

type pacedBody struct {
	io.Reader
	rc *http.ResponseController
	*pace
}

func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	b.rc.SetReadDeadline(began.Add(b.slack))
	n, err := b.Reader.Read(p)
	b.countTransfer(n, time.Since(began))
	return n, err
}

// write writes a part of an answer, and fails when the client takes it too slowly.
// What the server does between two parts does not count.
func (p *pace) write(w http.ResponseWriter, data []byte) (int, error) {
	rc := http.NewResponseController(w)
	began := time.Now()
	rc.SetWriteDeadline(began.Add(p.slack + p.transferTime(len(data))))
	n, err := w.Write(data)
	p.countTransfer(n, time.Since(began))
	rc.SetWriteDeadline(time.Now().Add(answerTime))
	return n, err
}
