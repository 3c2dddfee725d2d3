package api

import (
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/web/middleware"
)

// handler answers a request. If it returns an error, the caller answers with the error.
type handler func(http.ResponseWriter, *http.Request) error

// endpoint is a handler together with the Go types of its parameters, body and answer. The OpenAPI document is
// generated from these types.
type endpoint struct {
	serve    handler
	query    reflect.Type // the struct of the query parameters; nil if the endpoint has none
	body     reflect.Type // the type of the JSON document in the body; nil if there is none
	status   int          // the status of a success; 0 means 200
	contents []content    // the possible contents of a success; empty with the status 204
}

// content describes one possible content of a body or an answer. It has the media type, and either a schema or the Go
// type from which the schema is generated.
type content struct {
	kind   string
	doc    reflect.Type // nil if schema is set
	schema schema
}

// empty is a type without content. It stands for the parameters of an endpoint that has none, and for an answer
// without a document.
type empty struct{}

func jsonContent[D any]() content {
	return content{kind: "application/json", doc: reflect.TypeFor[D]()}
}

// raw returns an endpoint with query parameters of type Q. The function serve gets the parameters and writes the
// answer itself. contents are the possible contents of the answer. If the endpoint serves a list, kind is the prefix
// of the list's cursors, as in middleware.CursorOf; otherwise it is "".
func raw[Q any](kind string, serve func(http.ResponseWriter, *http.Request, Q) error, contents ...content) endpoint {
	return endpoint{query: reflect.TypeFor[Q](), contents: contents, serve: func(w http.ResponseWriter, r *http.Request) error {
		var q Q
		if err := readQuery(r, &q, kind); err != nil {
			return err
		}
		return serve(w, r, q)
	}}
}

func (e endpoint) withStatus(status int) endpoint {
	e.status = status
	return e
}

// plain returns an endpoint without query parameters. Its handler, serve, writes the answer itself. contents are the
// possible contents of the answer.
func plain(serve handler, contents ...content) endpoint {
	return raw("", func(w http.ResponseWriter, r *http.Request, _ empty) error { return serve(w, r) }, contents...)
}

// query returns an endpoint that calls find with the query parameters of the request and answers with the document
// that find returns. If the endpoint serves a list, kind is the prefix of the list's cursors; otherwise it is "".
func query[Q, D any](kind string, find func(*http.Request, Q) (D, error)) endpoint {
	return raw(kind, func(w http.ResponseWriter, r *http.Request, q Q) error {
		doc, err := find(r, q)
		if err != nil {
			return err
		}
		return respond(w, http.StatusOK, doc)
	}, jsonContent[D]())
}

func answer[D any](find func(*http.Request) (D, error)) endpoint {
	return query("", func(r *http.Request, _ empty) (D, error) { return find(r) })
}

// rawBody returns an endpoint whose handler, serve, reads the request body and writes the answer itself. A is the
// type of the body, D the type of the answer, and status the HTTP status of a success; only the OpenAPI document uses
// them.
func rawBody[A, D any](status int, serve handler) endpoint {
	e := plain(serve)
	e.body, e.status = reflect.TypeFor[A](), status
	if status != http.StatusNoContent {
		e.contents = []content{jsonContent[D]()}
	}
	return e
}

// withBody returns an endpoint that decodes the body of the request as a value of type A, calls do with it, and
// answers with the document that do returns. status is the HTTP status of a success.
func withBody[A, D any](status int, do func(w http.ResponseWriter, r *http.Request, asked A) (D, error)) endpoint {
	return rawBody[A, D](status, func(w http.ResponseWriter, r *http.Request) error {
		var asked A
		if err := decode(w, r, &asked); err != nil {
			return err
		}
		doc, err := do(w, r, asked)
		if err != nil {
			return err
		}
		return respond(w, status, doc)
	})
}

// noContent returns an endpoint without query parameters that calls do and answers with the status 204.
func noContent(do func(*http.Request) error) endpoint {
	return plain(func(w http.ResponseWriter, r *http.Request) error {
		if err := do(r); err != nil {
			return err
		}
		return respond(w, http.StatusNoContent, empty{})
	}).withStatus(http.StatusNoContent)
}

// readQuery reads the query parameters of r into a struct. The argument into is a pointer to the struct, whose tags
// describe the fields:
//
//	query    the name of the parameter
//	min, max the limits of a number; max also limits a duration
//	default  the value of a number if the parameter is missing; without the tag it is 0
//
// kind is the prefix of the cursor in the parameters. readQuery ignores all other tags, including required: they
// are only for the OpenAPI document (see memberSchema). If the struct has a method check, readQuery calls it at
// the end.
func readQuery(r *http.Request, into any, kind string) error {
	q := middleware.NewQuery(r)
	readFields(q, reflect.ValueOf(into).Elem(), kind)
	if c, ok := into.(interface{ check(*middleware.Query) }); ok {
		c.check(q)
	}
	return q.Check()
}

// readFields reads query parameters into the fields of to, a struct, and of the structs embedded in it; readQuery
// describes how. kind is the prefix of the list's cursors. q collects errors.
func readFields(q *middleware.Query, to reflect.Value, kind string) {
	for field, value := range to.Fields() {
		if field.Anonymous {
			readFields(q, value, kind)
			continue
		}
		tag := func(name string) string { return field.Tag.Get(name) }
		number := func(name string) int64 {
			n, _ := strconv.ParseInt(tag(name), 10, 64)
			return n
		}
		name := tag("query")
		switch p := value.Addr().Interface().(type) {
		case *cursor:
			*p = cursor(q.CursorID(name, kind))
		case *versionNumber:
			*p = versionNumber(q.Number(name, 1, service.MaxVersion, 0))
		case *ladder.MatchState:
			*p = ladder.MatchState(q.Choice(name, stringsOf(matchStates)...))
		case *int:
			value.SetInt(q.Number(name, number("min"), number("max"), number("default")))
		case **bool:
			*p = q.Flag(name)
		case *time.Duration:
			high, _ := time.ParseDuration(tag("max"))
			*p = q.Duration(name, high)
		case *string:
			*p = q.Text(name)
		}
	}
}

// cursor says where a page of a list starts. It is a number, such as the ID of the last item of the previous page.
// The first page has 0.
type cursor int64

// versionNumber is the number of a version of a bot; 0 means that the request names none.
type versionNumber int

// paging are the query parameters of a list: where its page starts, and how long it is.
type paging struct {
	From  cursor `query:"cursor" length:"128" doc:"'next' of the previous page."`
	Limit int    `query:"limit" min:"1" max:"500" default:"100" doc:"The largest number of items."`
}
