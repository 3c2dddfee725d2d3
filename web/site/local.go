package site

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// transport answers requests by a handler in this process. The body of an answer is read while
// the handler writes it. With page, the deadlines that the handler sets are those of the page's
// own request, whose body is that of the request.
type transport struct {
	handler http.Handler
	page    http.ResponseWriter
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.RequestURI = r.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, to := io.Pipe()
	w := &answer{header: http.Header{}, body: to, began: make(chan struct{})}
	var out http.ResponseWriter = w
	if t.page != nil {
		out = pacedAnswer{w, http.NewResponseController(t.page)}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if recover() != nil { // the API has logged it, and has begun an answer
				to.CloseWithError(io.ErrUnexpectedEOF)
			}
			to.Close()
			w.begin(http.StatusOK)
		}()
		defer r.Body.Close()
		t.handler.ServeHTTP(out, r)
	}()
	select {
	case <-w.began:
	case <-r.Context().Done():
		body.CloseWithError(r.Context().Err())
		<-done
		return nil, r.Context().Err()
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: answerBody{body, done}, ContentLength: -1, Request: r,
	}, nil
}

// answerBody is the body of an answer. After Close the handler has ended, so that nothing else reads
// the body of the request.
type answerBody struct {
	*io.PipeReader
	done <-chan struct{}
}

// Close implements io.Closer.
func (b answerBody) Close() error {
	b.PipeReader.Close()
	<-b.done
	return nil
}

// answer is a ResponseWriter whose body goes into a pipe.
type answer struct {
	header http.Header
	body   *io.PipeWriter

	once   sync.Once
	began  chan struct{} // closed when status and sent are set
	status int
	sent   http.Header
}

// pacedAnswer is an answer with the deadlines of a page's request.
type pacedAnswer struct {
	*answer
	page *http.ResponseController
}

// SetReadDeadline is for http.ResponseController.
func (w pacedAnswer) SetReadDeadline(at time.Time) error { return w.page.SetReadDeadline(at) }

// SetWriteDeadline is for http.ResponseController.
func (w pacedAnswer) SetWriteDeadline(at time.Time) error { return w.page.SetWriteDeadline(at) }

// Header implements http.ResponseWriter.
func (w *answer) Header() http.Header { return w.header }

func (w *answer) begin(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.began)
	})
}

// WriteHeader implements http.ResponseWriter.
func (w *answer) WriteHeader(status int) {
	if status >= 200 {
		w.begin(status)
	}
}

// Write implements http.ResponseWriter.
func (w *answer) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.body.Write(p)
}
