package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timba-arena/timba/ladder"
)

// respond answers with a document.
func respond(w http.ResponseWriter, status int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err = w.Write(append(data, '\n'))
	return gone(err)
}

// gone is the error of a client that no longer listens: nothing can be told it.
func gone(err error) error {
	if err == nil {
		return nil
	}
	panic(http.ErrAbortHandler)
}

// text answers with plain text.
func text(w http.ResponseWriter, data []byte) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write(data)
	return gone(err)
}

// etag is a weak one: the same document may be sent compressed in several ways.
func etag(data []byte) string {
	sum := sha256.Sum256(data)
	return `W/"` + hex.EncodeToString(sum[:12]) + `"`
}

// matches tells whether the client has the document with an ETag.
func matches(r *http.Request, tag string) bool {
	for _, t := range strings.Split(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		t = strings.TrimSpace(t)
		if t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// accepts chooses the first of the offered media types that the request accepts;
// the first of all where it does not say, or says that anything will do.
func accepts(r *http.Request, offered ...string) (string, error) {
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return offered[0], nil
	}
	best, quality := "", 0.0
	for _, part := range strings.Split(header, ",") {
		name, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := params["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		for _, o := range offered {
			major, _, _ := strings.Cut(o, "/")
			if (name == o || name == "*/*" || name == major+"/*") && q > quality {
				best, quality = o, q
				break
			}
		}
	}
	if best == "" {
		return "", ladder.Errorf(notAcceptable, "try "+strings.Join(offered, " or "), "there is nothing of the type %q", clip(header))
	}
	return best, nil
}

// maxDocument is the most that a JSON body may have.
const maxDocument = 64 << 10

// decode reads a JSON body; unknown members are refused.
func decode(w http.ResponseWriter, r *http.Request, v any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return ladder.Errorf(mediaType, "send Content-Type: application/json", "the body's type cannot be %q", clip(r.Header.Get("Content-Type")))
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxDocument))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		return ladder.Errorf(ladder.Invalid, "GET /api/v1/openapi.json tells its form", "the body cannot be read: %s", jsonFault(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return ladder.Errorf(ladder.Invalid, "send one document", "the body goes on after its document")
	}
	return nil
}

// jsonFault is what is wrong with a body, without Go's names for it.
func jsonFault(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		what, article := "the body", "a "
		if kind.Field != "" {
			what = strconv.Quote(kind.Field)
		}
		if strings.HasPrefix(kind.Value, "array") || strings.HasPrefix(kind.Value, "object") {
			article = "an "
		}
		return what + " cannot be " + article + kind.Value
	case errors.As(err, &syntax):
		return "it is not JSON at byte " + strconv.FormatInt(syntax.Offset, 10)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return "there is no member " + clip(strings.TrimPrefix(err.Error(), "json: unknown field "))
	case strings.Contains(err.Error(), "parsing time"):
		return "a time is not as in 2026-01-31T12:00:00Z"
	}
	return "it did not come whole, or has a value that does not fit"
}

// slowReader ends a body that comes too slowly: from the grace on, it must have
// come at the least rate all the time.
type slowReader struct {
	r     io.Reader
	rc    *http.ResponseController
	began time.Time
	grace time.Duration
	n     int64
}

const (
	bodyGrace = 15 * time.Second
	bodyRate  = 16 << 10 // bytes a second
)

func (s *slowReader) Read(p []byte) (int, error) {
	s.rc.SetReadDeadline(s.began.Add(s.grace + time.Duration(s.n)*time.Second/bodyRate))
	n, err := s.r.Read(p)
	s.n += int64(n)
	return n, err
}

// stream is a long answer: each part of it has a time of its own.
type stream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func newStream(w http.ResponseWriter) stream { return stream{w, http.NewResponseController(w)} }

func (s stream) Write(p []byte) (int, error) {
	s.rc.SetWriteDeadline(time.Now().Add(bodyTime))
	return s.w.Write(p)
}

// version of a bot as people write it: NAME, or NAME@N. The name of a house bot
// begins with @ itself.
func splitRef(ref string) (bot string, n int, err error) {
	at := strings.LastIndexByte(ref, '@')
	if at <= 0 {
		return ref, 0, nil
	}
	n, err = strconv.Atoi(ref[at+1:])
	if err != nil || n < 1 || n > maxVersion {
		return "", 0, ladder.Errorf(ladder.Invalid, "write NAME, or NAME@N with the number of a version", "bot cannot be %q", clip(ref))
	}
	return ref[:at], n, nil
}

const maxVersion = 1_000_000

func states[S ~string](all ...S) []string {
	var words []string
	for _, s := range all {
		words = append(words, string(s))
	}
	return slices.Clip(words)
}
