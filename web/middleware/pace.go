package middleware

import (
	"io"
	"net/http"
	"time"
)

// Pace is the least average speed of a transfer. The transfer may fall behind that speed by Window in total.
// Faster parts make up for slower ones, but never by more than Window.
type Pace struct {
	Rate   int64 // in bytes a second
	Window time.Duration
}

// pace is the state of one transfer with a Pace.
type pace struct {
	Pace
	slack time.Duration // part of the window that is left
}

// DefaultPace is slower than any connection that people use.
var DefaultPace = Pace{32 << 10, 10 * time.Second}

func (p Pace) start() *pace { return &pace{p, p.Window} }

func (p *pace) transferTime(bytes int) time.Duration {
	return time.Duration(float64(bytes) / float64(p.Rate) * float64(time.Second))
}

func (p *pace) countTransfer(bytes int, took time.Duration) {
	p.slack = min(p.Window, p.slack+p.transferTime(bytes)-took)
}

// PacedBody returns a body whose Read fails when the client sends it too slowly.
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

// write writes a part of an answer. It fails when the client receives it too slowly. Time between two writes
// does not count.
func (p *pace) write(w http.ResponseWriter, data []byte) (int, error) {
	rc := http.NewResponseController(w)
	began := time.Now()
	rc.SetWriteDeadline(began.Add(p.slack + p.transferTime(len(data))))
	n, err := w.Write(data)
	p.countTransfer(n, time.Since(began))
	rc.SetWriteDeadline(time.Now().Add(answerTime))
	return n, err
}
