package api

import (
	"context"
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

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// respond answers with the JSON document v. With the status 204 it answers without a document.
func respond(w http.ResponseWriter, status int, v any) error {
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return nil
	}
	data := encoded(v)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err := w.Write(data)
	return abortOnError(err)
}

// Docs calls doc for each of items and returns the results.
func Docs[T, D any](items []T, doc func(T) D) []D {
	out := make([]D, len(items))
	for i, item := range items {
		out[i] = doc(item)
	}
	return out
}

// list returns an endpoint that answers with a list in pages. all returns everything in the list that the actor (the
// sender of the request) may see. doc makes the document of each item. kind is the prefix of the list's cursors.
func list[T, D any](kind string, all func(context.Context, service.Actor) ([]T, error), doc func(T) D) endpoint {
	return query(kind, func(r *http.Request, p paging) (wire.Page[D], error) {
		items, err := all(r.Context(), middleware.RequestOf(r).Actor)
		return pageOfList(Docs(items, doc), p, kind), err
	})
}

// revoke returns an endpoint that calls f with the sender of the request and the ID in the path, and answers with
// the status 204. parameter is the name of the path parameter that has the ID.
func revoke(parameter string, f func(context.Context, service.Actor, int64) error) endpoint {
	return noContent(func(r *http.Request) error {
		id, err := middleware.PathID(r, parameter)
		if err != nil {
			return err
		}
		return f(r.Context(), middleware.RequestOf(r).Actor, id)
	})
}

// encoded returns v as JSON in one line. It panics if v cannot be encoded.
func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("api: " + err.Error()) // no document has values that JSON cannot represent
	}
	return append(data, '\n')
}

// respondWithETag answers with the JSON in data. If the header If-None-Match says that the client already has it, it
// answers with the status 304 instead.
func respondWithETag(w http.ResponseWriter, r *http.Request, data []byte) error {
	tag := etag(data)
	w.Header().Set("ETag", tag)
	if isUnmodified(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(data)
	return abortOnError(err)
}

// abortOnError returns nil if err is nil. Otherwise it aborts the handler with a panic. err must be an error of
// writing the answer: it means that the client is gone and cannot get another answer.
func abortOnError(err error) error {
	if err == nil {
		return nil
	}
	panic(http.ErrAbortHandler)
}

func text(w http.ResponseWriter, data []byte) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := w.Write(data)
	return abortOnError(err)
}

// etag returns a weak ETag of data. It is weak because the answer may be compressed in several ways.
func etag(data []byte) string {
	sum := sha256.Sum256(data)
	return `W/"` + hex.EncodeToString(sum[:12]) + `"`
}

// isUnmodified reports whether the client already has the answer whose ETag is tag: the header If-None-Match is "*"
// or contains tag, with or without the prefix W/.
func isUnmodified(r *http.Request, tag string) bool {
	for _, t := range strings.Split(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		t = strings.TrimSpace(t)
		if t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}

// preferredType returns the media type among offered that the header Accept of the request prefers. Without a
// preference it returns the first one. If several ranges in the header match a type, the most specific range counts.
// If the header allows none of the types, it returns an error.
func preferredType(r *http.Request, offered ...string) (string, error) {
	header := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(header) == "" {
		return offered[0], nil
	}
	type mediaRange struct {
		name    string
		quality float64
	}
	var ranges []mediaRange
	for _, part := range strings.Split(header, ",") {
		name, params, err := mime.ParseMediaType(part)
		quality := 1.0
		if text, ok := params["q"]; err == nil && ok {
			quality, err = strconv.ParseFloat(text, 64)
		}
		if err == nil {
			ranges = append(ranges, mediaRange{name, quality})
		}
	}
	narrowest := func(kind string) string {
		major, _, _ := strings.Cut(kind, "/")
		for _, name := range []string{kind, major + "/*"} {
			if slices.ContainsFunc(ranges, func(m mediaRange) bool { return m.name == name }) {
				return name
			}
		}
		return "*/*"
	}
	best, quality := "", 0.0
	for _, m := range ranges {
		for _, o := range offered {
			if m.quality > quality && m.name == narrowest(o) {
				best, quality = o, m.quality
			}
		}
	}
	if best == "" {
		return "", ladder.Errorf(middleware.NotAcceptable, "", "the type %q is not available", ladder.Clip(header)).Try("try %s", strings.Join(offered, " or "))
	}
	return best, nil
}

// maxDocument is the largest size of a JSON body in bytes.
const maxDocument = 64 << 10

// decode decodes the JSON body of r into v. An unknown member is an error, and so is anything after the document.
func decode(w http.ResponseWriter, r *http.Request, v any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return ladder.Errorf(middleware.MediaType, "send Content-Type: application/json", "the body's type cannot be %q", ladder.Clip(r.Header.Get("Content-Type")))
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxDocument))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return nil
		}
		if err == nil || errors.As(err, new(*json.SyntaxError)) {
			return ladder.Errorf(ladder.Invalid, "send one document", "the body has more after the document")
		}
	}
	if errors.As(err, new(*http.MaxBytesError)) {
		return err
	}
	return ladder.Errorf(ladder.Invalid, "GET /api/v1/openapi.json describes it", "the body cannot be read: %s", jsonFault(err))
}

// jsonFault describes what is wrong with a JSON body, without the names of Go types. err is the error of decoding it.
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
		return "unknown member " + ladder.Clip(strings.TrimPrefix(err.Error(), "json: unknown field "))
	case strings.Contains(err.Error(), "parsing time"):
		return "a time is not as in 2026-01-31T12:00:00Z"
	}
	return "it is incomplete, or has a value out of range"
}
