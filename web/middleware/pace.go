package middleware

import (
	"io"
	"net/http"
	"time"
)

// Pace is the slowest permitted speed of a transfer: Rate, in bytes a second. A transfer may be late by at most
// Window, compared with a transfer at exactly Rate. It catches up while it is faster than Rate.
type Pace struct {
	Rate   int64 // in bytes a second
	Window time.Duration
}

// pace checks whether one transfer keeps up with a Pace, the slowest permitted speed.
type pace struct {
	Pace
	slack time.Duration // how much longer than at Rate the rest of the transfer may take
}

// DefaultPace ends a transfer that is slower than 32 KiB a second by more than 10 seconds. Any usual connection is
// faster.
var DefaultPace = Pace{32 << 10, 10 * time.Second}

func (p Pace) start() *pace { return &pace{p, p.Window} }

func (p *pace) transferTime(bytes int) time.Duration {
	return time.Duration(float64(bytes) / float64(p.Rate) * float64(time.Second))
}

func (p *pace) countTransfer(bytes int, took time.Duration) {
	p.slack = min(p.Window, p.slack+p.transferTime(bytes)-took)
}

// PacedBody returns a reader of body, the body of a request, that fails when the client sends it more slowly
// than m.Pace. w is the writer of the answer to the request.
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

// write writes data, a part of an answer, to w. It fails when the client receives the answer more slowly than
// the pace. Time between two writes does not count.
func (p *pace) write(w http.ResponseWriter, data []byte) (int, error) {
	rc := http.NewResponseController(w)
	began := time.Now()
	rc.SetWriteDeadline(began.Add(p.slack + p.transferTime(len(data))))
	n, err := w.Write(data)
	p.countTransfer(n, time.Since(began))
	rc.SetWriteDeadline(time.Now().Add(answerTime))
	return n, err
}
