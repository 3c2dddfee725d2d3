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

// handler answers a request, or returns an error instead.
type handler func(http.ResponseWriter, *http.Request) error

// endpoint is a handler with the types that it takes and answers, from which the OpenAPI document is made.
type endpoint struct {
	serve    handler
	query    reflect.Type // a struct of the parameters; nil if the query is not read
	body     reflect.Type // of the document in the body; nil if there is none
	status   int          // of the answer; 0 means 200
	contents []content    // of the answer; none with the status 204
}

// content is a media type of an answer or a body, and its schema or the Go type of which the schema is made.
type content struct {
	kind   string
	doc    reflect.Type // nil if schema is given
	schema schema
}

// empty is the type of parameters or of a document where there are none.
type empty struct{}

// jsonContent returns the content of a JSON document.
func jsonContent[D any]() content {
	return content{kind: "application/json", doc: reflect.TypeFor[D]()}
}

// raw returns an endpoint whose handler is called with its parameters and answers by itself; cursors are of a kind.
func raw[Q any](kind string, serve func(http.ResponseWriter, *http.Request, Q) error, contents ...content) endpoint {
	return endpoint{query: reflect.TypeFor[Q](), contents: contents, serve: func(w http.ResponseWriter, r *http.Request) error {
		var q Q
		if err := readQuery(r, &q, kind); err != nil {
			return err
		}
		return serve(w, r, q)
	}}
}

// withStatus returns an endpoint that answers with a status.
func (e endpoint) withStatus(status int) endpoint {
	e.status = status
	return e
}

// plain returns an endpoint without parameters whose handler answers by itself.
func plain(serve handler, contents ...content) endpoint {
	return raw("", func(w http.ResponseWriter, r *http.Request, _ empty) error { return serve(w, r) }, contents...)
}

// query returns an endpoint that answers with what find returns for the parameters of the request; cursors are of a kind.
func query[Q, D any](kind string, find func(*http.Request, Q) (D, error)) endpoint {
	return raw(kind, func(w http.ResponseWriter, r *http.Request, q Q) error {
		doc, err := find(r, q)
		if err != nil {
			return err
		}
		return respond(w, http.StatusOK, doc)
	}, jsonContent[D]())
}

// answer returns an endpoint without parameters that answers with what find returns.
func answer[D any](find func(*http.Request) (D, error)) endpoint {
	return query("", func(r *http.Request, _ empty) (D, error) { return find(r) })
}

// rawBody returns an endpoint whose handler reads a document of type A in the body, and answers with one of type D.
func rawBody[A, D any](status int, serve handler) endpoint {
	e := plain(serve)
	e.body, e.status = reflect.TypeFor[A](), status
	if status != http.StatusNoContent {
		e.contents = []content{jsonContent[D]()}
	}
	return e
}

// withBody returns an endpoint that hands the document in the body to do, and answers with what do returns.
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

// noContent returns an endpoint without parameters that answers without a document.
func noContent(do func(*http.Request) error) endpoint {
	return plain(func(w http.ResponseWriter, r *http.Request) error {
		if err := do(r); err != nil {
			return err
		}
		return respond(w, http.StatusNoContent, empty{})
	}).withStatus(http.StatusNoContent)
}

// readQuery reads the parameters of a request into the fields of a struct, each by its type and its tags:
//
//	query    the name
//	min, max the limits of a number or of a duration
//	default  the number without the parameter, otherwise 0
//
// kind is the kind of the cursor in the parameters. The other tags only document: required, and those of memberSchema. If the struct has a method check, readQuery calls it at the end.
func readQuery(r *http.Request, into any, kind string) error {
	q := middleware.NewQuery(r)
	readFields(q, reflect.ValueOf(into).Elem(), kind)
	if c, ok := into.(interface{ check(*middleware.Query) }); ok {
		c.check(q)
	}
	return q.Check()
}

// readFields reads parameters into the fields of a struct whose cursors are of a kind.
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

// cursor is the key in a cursor; see middleware.Query.CursorID.
type cursor int64

// versionNumber is the number of a version of a bot, 0 if the request names none.
type versionNumber int

// paging is which part of a list is asked for.
type paging struct {
	From  cursor `query:"cursor" length:"128" doc:"'next' of the previous page."`
	Limit int    `query:"limit" min:"1" max:"500" default:"100" doc:"The largest number of items."`
}
