package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/timba-arena/timba/internal/kit"
)

// strictDocument returns the OpenAPI document with schemas that forbid all members that they do not name. So
// tests notice a handler that answers with another type than its route has.
var strictDocument = sync.OnceValues(func() (*openapi3.T, routers.Router) {
	var tree any
	if err := json.Unmarshal(Document(), &tree); err != nil {
		panic(err)
	}
	forbidUnknownMembers(tree)
	data, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		panic(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		panic(err)
	}
	return doc, router
})

// forbidUnknownMembers makes the schema of every object forbid further members, unless the schema says otherwise.
func forbidUnknownMembers(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["additionalProperties"]; v["type"] == "object" && !ok {
			v["additionalProperties"] = false
		}
		for _, child := range v {
			forbidUnknownMembers(child)
		}
	case []any:
		for _, child := range v {
			forbidUnknownMembers(child)
		}
	}
}

func init() {
	for _, kind := range []string{"application/x-ndjson", "application/zip", "application/gzip"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
	}
}

// checkConformity checks that an answer, and a successful request, conform to the document.
func (w *world) checkConformity(r *http.Request, c call, rec *httptest.ResponseRecorder) {
	w.tb.Helper()
	if rec.Header().Get("X-Content-Type-Options") != "nosniff" || rec.Header().Get("X-Request-Id") == "" {
		w.tb.Errorf("%s %s: headers are missing: %v", c.method, c.path, rec.Header())
	}
	_, router := strictDocument()
	again := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
	again.Header = r.Header.Clone()
	route, params, err := router.FindRoute(again)
	if err != nil || c.method == http.MethodHead {
		if rec.Code < 400 && c.method != http.MethodOptions && c.method != http.MethodHead {
			w.tb.Errorf("%s %s: %d, and the document does not know it: %v", c.method, c.path, rec.Code, err)
		}
		return
	}
	in := &openapi3filter.RequestValidationInput{
		Request: again, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, MultiError: true},
	}
	if rec.Code < 300 {
		if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
			w.tb.Errorf("%s %s: %d, and by the document the request is wrong: %v", c.method, c.path, rec.Code, err)
		}
	}
	if rec.Header().Get("Content-Encoding") != "" {
		return
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: rec.Code, Header: rec.Header(),
		Body: io.NopCloser(bytes.NewReader(rec.Body.Bytes())), Options: in.Options,
	})
	if err != nil {
		w.tb.Errorf("%s %s: %d, and by the document the answer is wrong: %v\n%s", c.method, c.path, rec.Code, err, rec.Body)
	}
}

// The document is valid OpenAPI. Each operation has a tag and a description of its success.
func TestDocumentIsOpenAPI(t *testing.T) {
	doc := kit.Get[*openapi3.T](t)(openapi3.NewLoader().LoadFromData(Document()))
	kit.Must(t, doc.Validate(context.Background(), openapi3.IsOpenAPI31OrLater(), openapi3.EnableExamplesValidation()))
	for _, rt := range newWorld(t, nil).api.routes() {
		if rt.id == "" || rt.summary == "" || rt.success == "" || rt.tags == "" {
			t.Errorf("%s is not described: its route needs id, tags, summary and answer", rt.pattern)
		}
		for name := range strings.FieldsSeq(rt.tags) {
			if !slices.Contains(groups, name) {
				t.Errorf("%s has the tag %q, which is not in groups", rt.pattern, name)
			}
		}
	}
}
