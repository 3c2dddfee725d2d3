package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/web/wire"
)

// schema is a part of an OpenAPI document, as JSON.
type schema = map[string]any

func textContent(kind string) content { return content{kind: kind, schema: schema{"type": "string"}} }

func bytesContent(kind string) content {
	return content{kind: kind, schema: schema{"type": "string", "contentMediaType": kind}}
}

var (
	anyObject    = schema{"type": "object", "additionalProperties": true}
	replaySchema = schema{"type": "object", "additionalProperties": true, "required": []string{"timba", "game", "seed", "moves"}}
)

// intro is the description of the whole document.
const intro = "Lists come in pages: `items`, and `next` if there are more; ask again with `cursor=` and the value of `next`.\n" +
	"Times are RFC 3339, durations milliseconds, hashes and seeds hexadecimal.\n" +
	"Members may be added at any time: ignore those that you do not know.\n" +
	"Errors are RFC 9457 problems (`application/problem+json`); `hint`, if present, says what to try.\n" +
	"Above the rate limit the server answers 429 with `Retry-After`; `RateLimit` gives what is left.\n"

// groups are the tags by which the OpenAPI document groups the operations, in display order.
var groups = []string{"ladders", "bots", "matches", "replays", "machines", "submissions", "people", "admin", "operation"}

// sharedSchemas returns the schemas, by name, that several documents use for their fields. The tag ref of a struct
// field names one of these schemas.
func sharedSchemas() schema {
	milliseconds := schema{"type": "integer", "minimum": 0}
	hash := schema{"type": "string", "pattern": "^[0-9a-f]{64}$"}
	return schema{
		"ID":           schema{"type": "integer", "minimum": 1, "maximum": 1<<53 - 1},
		"Name":         schema{"type": "string", "minLength": 1, "maxLength": 64},
		"Cursor":       schema{"type": "string", "minLength": 1, "maxLength": 128},
		"Time":         schema{"type": "string", "format": "date-time"},
		"SHA256":       hash,
		"Options":      schema{"type": "object", "additionalProperties": schema{"type": "string", "maxLength": 200}, "maxProperties": 50},
		"Scope":        schema{"type": "string", "enum": stringsOf(tokenScopes)},
		"VersionState": schema{"type": "string", "enum": stringsOf(versionStates)},
		"MatchState":   schema{"type": "string", "enum": stringsOf(matchStates)},
		"Clock": schema{
			"type": "object", "required": []string{"margin", "startup"},
			"description": "In milliseconds. A time for each move, or a bank for the game and an increment.",
			"properties":  schema{"movetime": milliseconds, "bank": milliseconds, "inc": milliseconds, "margin": milliseconds, "startup": milliseconds},
		},
	}
}

var (
	tokenScopes   = []ladder.Scope{ladder.ScopeRead, ladder.ScopeSubmit, ladder.ScopeAll}
	matchStates   = []ladder.MatchState{ladder.Waiting, ladder.Running, ladder.Finished, ladder.Dropped}
	versionStates = []ladder.VersionState{
		ladder.Queued, ladder.Building, ladder.Checking, ladder.Trial, ladder.Live, ladder.Retired, ladder.Failed, ladder.Cancelled, ladder.Suspended,
	}
)

func stringsOf[T ~string](values []T) []string {
	return Docs(values, func(v T) string { return string(v) })
}

func versionSchema() schema {
	return schema{"type": "integer", "minimum": 1, "maximum": service.MaxVersion}
}

// pathParameters has the schema of each parameter in the patterns of routes, by name.
var pathParameters = schema{
	"ladder": ref("Name"), "person": ref("Name"), "bot": schema{"type": "string", "maxLength": 64},
	"version": versionSchema(),
	"match":   ref("ID"), "game": ref("ID"), "submission": ref("ID"), "token": ref("ID"), "invite": ref("ID"),
	"stage": schema{"type": "string", "enum": ladder.StageNames},
	"seat":  schema{"type": "integer", "minimum": 0, "maximum": 63},
}

func ref(name string) schema { return schema{"$ref": "#/components/schemas/" + name} }

// Document returns the OpenAPI 3.1 document of the API, as JSON. It is generated once, from the routes and
// from the types of package wire. The caller must not change it.
func Document() []byte {
	cachedDocument.Do(func() {
		a := &API{Options: Options{Metrics: http.NotFoundHandler()}}
		cachedDocument.document = encoded((&generator{sharedSchemas()}).document(a.routes()))
	})
	return cachedDocument.document
}

var cachedDocument struct {
	sync.Once
	document []byte
}

func (a *API) getDocument(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(Document())
	return err
}

// generator generates the OpenAPI document. It collects the named schemas to which the document refers.
type generator struct{ schemas schema }

func (g *generator) document(routes []route) schema {
	paths := schema{}
	for _, rt := range routes {
		method, path, _ := strings.Cut(rt.pattern, " ")
		item, ok := paths[path].(schema)
		if !ok {
			item = schema{}
			paths[path] = item
		}
		item[strings.ToLower(method)] = g.operation(path, rt)
	}
	g.typeSchema(reflect.TypeFor[wire.ReplayLine]())
	problem := g.typeSchema(reflect.TypeFor[wire.Problem]())
	var tags []schema
	for _, name := range groups {
		tags = append(tags, schema{"name": name})
	}
	return schema{
		"openapi": "3.1.0",
		"info": schema{
			"title": "timba", "version": "1", "description": intro, "license": schema{"name": "MIT", "identifier": "MIT"},
			"summary": "A competition between bots that play Brisca, Tute, La Podrida, Tebes and Teeko.",
		},
		"servers": []schema{{"url": "/"}},
		"tags":    tags,
		"paths":   paths,
		"components": schema{
			"schemas": g.schemas,
			"securitySchemes": schema{"bearer": schema{
				"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer timba_...`. Scopes are ordered: read, submit, all.",
			}},
			"responses": schema{"Problem": schema{
				"description": "What went wrong, and what to try.",
				"headers":     schema{"Retry-After": schema{"description": "Seconds, with 429 and 503.", "schema": schema{"type": "integer"}}},
				"content":     schema{wire.ProblemType: schema{"schema": problem}},
			}},
		},
	}
}

var pathParts = regexp.MustCompile(`{(\w+)}`)

func (g *generator) operation(path string, rt route) schema {
	op := schema{"operationId": rt.id, "tags": strings.Fields(rt.tags), "summary": rt.summary, "security": []schema{}}
	if rt.description != "" {
		op["description"] = rt.description
	}
	if rt.scope != "" {
		op["security"] = []schema{{"bearer": []string{string(rt.scope)}}}
	}
	if rt.owner {
		op["x-owner"] = true
	}
	if rt.admin {
		op["x-admin"] = true
	}
	var parameters []schema
	for _, m := range pathParts.FindAllStringSubmatch(path, -1) {
		parameters = append(parameters, schema{"name": m[1], "in": "path", "required": true, "schema": pathParameters[m[1]]})
	}
	if rt.query != nil {
		parameters = append(parameters, g.queryParameters(rt.query)...)
	}
	success := schema{"description": rt.success}
	if rt.notModified != "" {
		parameters = append(parameters, schema{"name": "If-None-Match", "in": "header", "schema": schema{"type": "string", "maxLength": 256}})
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	if rt.uploads != nil {
		op["requestBody"] = schema{"required": true, "content": g.content(rt.uploads)}
	}
	if rt.body != nil {
		body := g.typeSchema(rt.body)
		g.schemas[rt.body.Name()].(schema)["additionalProperties"] = false
		op["requestBody"] = schema{"required": true, "content": schema{"application/json": schema{"schema": body}}}
	}
	if rt.contents != nil {
		success["content"] = g.content(rt.contents)
	}
	headers := schema{}
	for _, name := range strings.Fields(rt.headers) {
		headers[name] = schema{"schema": schema{"type": "string"}}
		success["headers"] = headers
	}
	status := rt.status
	if status == 0 {
		status = http.StatusOK
	}
	responses := schema{strconv.Itoa(status): success, "default": schema{"$ref": "#/components/responses/Problem"}}
	if rt.notModified != "" {
		responses["304"] = schema{"description": rt.notModified}
	}
	op["responses"] = responses
	return op
}

func (g *generator) content(contents []content) schema {
	all := schema{}
	for _, c := range contents {
		s := c.schema
		if c.doc != nil {
			s = g.typeSchema(c.doc)
		}
		all[c.kind] = schema{"schema": s}
	}
	return all
}

// queryParameters returns the parameters of an endpoint for the OpenAPI document. query is the type of the struct
// into which readQuery reads them.
func (g *generator) queryParameters(query reflect.Type) (list []schema) {
	for f := range query.Fields() {
		if f.Anonymous {
			list = append(list, g.queryParameters(f.Type)...)
			continue
		}
		s := g.memberSchema(f)
		p := schema{"name": f.Tag.Get("query"), "in": "query", "schema": s}
		if doc, ok := s["description"]; ok {
			p["description"] = doc
			delete(s, "description")
		}
		if f.Tag.Get("required") != "" {
			p["required"] = true
		}
		list = append(list, p)
	}
	return list
}

// typeSchema returns the schema of values of type t. For a struct of package wire it adds the schema to
// g.schemas and returns a reference to it.
func (g *generator) typeSchema(t reflect.Type) schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return ref("Time")
	case reflect.TypeFor[referee.Clock]():
		return ref("Clock")
	case reflect.TypeFor[ladder.MatchState]():
		return ref("MatchState")
	case reflect.TypeFor[versionNumber]():
		return versionSchema()
	case reflect.TypeFor[fault.Reason]():
		return schema{"type": "object", "additionalProperties": true, "required": []string{"kind"}}
	case reflect.TypeFor[json.RawMessage]():
		return maps.Clone(anyObject)
	case reflect.TypeFor[cursor](), reflect.TypeFor[time.Duration]():
		return schema{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return schema{"type": "integer"}
	case reflect.Float64:
		return schema{"type": "number"}
	case reflect.String:
		return schema{"type": "string"}
	case reflect.Pointer:
		return g.typeSchema(t.Elem())
	case reflect.Slice:
		return schema{"type": "array", "items": g.typeSchema(t.Elem())}
	case reflect.Map:
		return schema{"type": "object", "additionalProperties": g.typeSchema(t.Elem())}
	}
	if strings.Contains(t.Name(), "[") { // a generic type, such as wire.Page, has no name of its own
		return g.structSchema(t)
	}
	if g.schemas[t.Name()] == nil {
		g.schemas[t.Name()] = schema{} // a recursive type finds this entry
		g.schemas[t.Name()] = g.structSchema(t)
	}
	return ref(t.Name())
}

func (g *generator) structSchema(t reflect.Type) schema {
	s, properties := schema{"type": "object"}, schema{}
	var required []string
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Name == "_":
			s["description"] = f.Tag.Get("doc")
			continue
		case f.Anonymous:
			continue // VisibleFields also returns the fields of embedded structs
		case options == "":
			required = append(required, name)
		}
		m := g.memberSchema(f)
		if f.Type == reflect.TypeFor[*float64]() && options == "" {
			m["type"] = []string{"number", "null"}
		}
		properties[name] = m
	}
	if required != nil {
		s["required"] = required
	}
	s["properties"] = properties
	return s
}

// memberSchema returns the schema of a struct field. Its type and these tags determine the schema:
//
//	ref                 the name of the schema in sharedSchemas that describes the field
//	doc                 the description; a word in single quotes becomes code, in backticks
//	min, max            the limits of a number
//	length              the largest number of characters, in an array of each item
//	minItems, maxItems  the limits of the length of an array
//	enum                the allowed values, separated by commas
//	pattern, format, default
func (g *generator) memberSchema(f reflect.StructField) schema {
	s := g.typeSchema(f.Type)
	if name := f.Tag.Get("ref"); name != "" {
		s = ref(name)
	}
	value := func(to schema, name, tag string, read func(string) any) {
		if text, ok := f.Tag.Lookup(tag); ok {
			to[name] = read(text)
		}
	}
	number := func(text string) any { return json.Number(text) }
	text := func(text string) any { return text }
	if _, isRef := s["$ref"]; isRef {
		if f.Tag.Get("doc") == "" {
			return s
		}
		s = schema{"allOf": []schema{s}}
	}
	if kind := s["type"]; kind == "integer" || kind == "number" {
		value(s, "minimum", "min", number)
		value(s, "maximum", "max", number)
	}
	item := s
	if items, ok := s["items"].(schema); ok {
		item = items
	}
	value(item, "maxLength", "length", number)
	value(s, "minItems", "minItems", number)
	value(s, "maxItems", "maxItems", number)
	value(s, "pattern", "pattern", text)
	value(s, "format", "format", text)
	value(s, "default", "default", func(text string) any { return json.RawMessage(text) })
	value(s, "enum", "enum", func(text string) any { return strings.Split(text, ",") })
	value(s, "description", "doc", func(text string) any { return quoted.ReplaceAllString(text, "`$1`") })
	return s
}

var quoted = regexp.MustCompile(`\B'(\w+)'\B`)
