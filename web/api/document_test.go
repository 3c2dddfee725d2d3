package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
)

// operation is one of the document, with what it demands.
type operation struct {
	pattern string // as net/http has it
	scope   string // "" for nobody's
	admin   bool
	owner   bool
	op      *openapi3.Operation
}

// strictDocument is the document with schemas that allow no members but those that
// they name, so that a test finds what is not written down.
var strictDocument = sync.OnceValues(func() (*openapi3.T, routers.Router) {
	var tree any
	if err := json.Unmarshal(Document, &tree); err != nil {
		panic(err)
	}
	seal(tree)
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

// seal closes every schema of an object that does not say whether it is open.
func seal(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["additionalProperties"]; v["type"] == "object" && !ok {
			v["additionalProperties"] = false
		}
		for _, child := range v {
			seal(child)
		}
	case []any:
		for _, child := range v {
			seal(child)
		}
	}
}

func init() {
	for _, kind := range []string{"application/x-ndjson", "application/zip", "application/gzip"} {
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.PlainBodyDecoder)
	}
}

// conforms checks an answer, and a request that succeeded, against the document.
func (w *world) conforms(r *http.Request, c call, rec *httptest.ResponseRecorder) {
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

// operations returns those of the document.
func operations(tb testing.TB) (ops []operation) {
	doc, _ := strictDocument()
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := operation{pattern: method + " " + path, op: op}
			_, o.admin = op.Extensions["x-admin"]
			_, o.owner = op.Extensions["x-owner"]
			if op.Security == nil {
				tb.Fatalf("%s does not say who may", o.pattern)
			}
			for _, s := range *op.Security {
				o.scope = s["bearer"][0]
			}
			ops = append(ops, o)
		}
	}
	slices.SortFunc(ops, func(a, b operation) int { return strings.Compare(a.pattern, b.pattern) })
	return ops
}

func TestDocumentIsOpenAPI(t *testing.T) {
	doc := kit.Get[*openapi3.T](t)(openapi3.NewLoader().LoadFromData(Document))
	kit.Must(t, doc.Validate(context.Background(), openapi3.IsOpenAPI31OrLater(), openapi3.EnableExamplesValidation()))
	ids := map[string]string{}
	for _, o := range operations(t) {
		if was, twice := ids[o.op.OperationID]; twice || o.op.OperationID == "" {
			t.Errorf("%s and %s have the operationId %q", was, o.pattern, o.op.OperationID)
		}
		ids[o.op.OperationID] = o.pattern
		if o.op.Responses.Default() == nil {
			t.Errorf("%s has no response for problems", o.pattern)
		}
	}
}

// TestRoutesAreTheDocument: neither has a route or a scope that the other has not. TestAccess
// has what is only for admins.
func TestRoutesAreTheDocument(t *testing.T) {
	type demand struct{ Pattern, Scope string }
	var documented, served []demand
	for _, o := range operations(t) {
		documented = append(documented, demand{o.pattern, o.scope})
	}
	a := newWorld(t, nil).api
	for _, rt := range a.routes() {
		served = append(served, demand{rt.pattern, string(rt.scope)})
	}
	slices.SortFunc(served, func(a, b demand) int { return strings.Compare(a.Pattern, b.Pattern) })
	if diff := cmp.Diff(documented, served); diff != "" {
		t.Errorf("the document (-) and the routes (+) differ:\n%s", diff)
	}
}

// The document that is served is openapi.yaml.
func TestDocumentIsFresh(t *testing.T) {
	source := kit.Get[[]byte](t)(os.ReadFile("openapi.yaml"))
	want := kit.Get[[]byte](t)(yaml.YAMLToJSON(source))
	if kit.Updating() {
		kit.Must(t, os.WriteFile("openapi.json", want, 0o644))
		return // the program has the file as it was
	}
	if !bytes.Equal(Document, want) {
		t.Error("openapi.yaml has changed: run go test ./web/api -run TestDocumentIsFresh -update")
	}
}
